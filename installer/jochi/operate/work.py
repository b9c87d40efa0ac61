"""How much is left for workers, by derivation (DESIGN §13; docs/reference/work.md)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any

from pydantic import BaseModel, ConfigDict

from jochi.database.engine import Engine
from jochi.database.server_clock import ServerClock
from jochi.graph.driver_values import to_python


class Backlog(BaseModel):
    """How much of a derivation is left, as `work/status` counts it. ``an_hour``: done within the last hour, about.

    ``money``: None where the policy has no prices.
    """

    model_config = ConfigDict(frozen=True)

    waiting: int
    later: int
    unsure: int
    put_aside: int
    oldest: Any
    an_hour: float
    spent: Mapping[str, Any] | None
    money: float | None

    @property
    def rejected(self) -> dict[str, int]:
        """Why outputs were refused today, with how often."""
        found = (self.spent or {}).items()
        return {
            name.removeprefix("rejected_").replace("_", " "): n for name, n in found if name.startswith("rejected_")
        }


EVERY = 2**62
"""As many as there are."""


def status(
    engine: Engine, now: datetime | None = None, *, most: int = EVERY, looked: int = EVERY
) -> dict[str, Backlog]:
    """What is left of each derivation; no more than ``most`` are counted of each, nor more than ``looked`` read for that."""
    moment = now or ServerClock(engine.database).now().astimezone(timezone.utc)
    row = engine.call("work/status", {"now": moment, "most": most, "looked": looked}, write=False)
    return {entry["name"]: Backlog.model_validate(to_python(entry)) for entry in row["derivations"]}
