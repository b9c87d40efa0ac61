"""The fixed memories of a generated team (`edges.toml`): each stands at the edge of a rule or under a rail of seed 000."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from jochi.policy.durations import parse_duration
from jochi.toml import beside
from jochi.write.record import MemoryRecord, Relationship


def edge_cases(start: datetime, end: datetime, agents: Sequence[str], scope: str) -> list[MemoryRecord]:
    """One memory a case, as old as the generated time allows; ids begin with `edge_`."""
    words = {"all agents": list(agents), "the last agent": agents[-1], "number of agents": len(agents)}

    def value_of(name: str, value: Any) -> Any:
        if name.endswith("_at"):
            origin, _, rest = value.partition(" ")
            sign, _, span = rest.partition(" ")
            offset = parse_duration(span or "0s")
            at = (start if origin == "start" else end) + (-offset if sign == "-" else offset)
            return max(start, at)
        return words.get(value, value) if isinstance(value, str) else value

    made = []
    for id, case in beside(__file__, "edges.toml").items():
        own = {name: value_of(name, value) for name, value in case.items() if name not in ("kind", "links")}
        properties = {"content": "", "created_at": start, "author": agents[0], "generated": True, **own}
        links = tuple(Relationship(type, scope, f"edge_{to}") for type, to in case.get("links", ()))
        made.append(MemoryRecord(case["kind"], f"edge_{id}", scope, properties, links))
    return made
