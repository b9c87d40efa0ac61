"""`enrol --plan`: reads every node of the label once and says what enrolment would do. Writes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import datetime
from typing import Any

from jochi.database.engine import Engine
from jochi.policy.mapping import CONVERTED_TYPES
from jochi.write.enrolling.kinds import kind_of, mapped_moment
from jochi.write.enrolling.pages import CHUNK, node_ranges, pages
from jochi.write.enrolling.results import EnrolmentPlan, Problems
from jochi.write.importing.spool import SeenKeys

PAGE = 5_000


def plan_enrolment(
    engine: Engine,
    label: str,
    *,
    now: datetime,
    generate_ids: bool = False,
    on_progress: Callable[[int], None] | None = None,
    chunk: int = CHUNK,
) -> EnrolmentPlan:
    """Counts what `enrol` would find at ``now``. ``on_progress`` gets the nodes looked at.

    `UsageError` for a label that the policy doesn't have (with the TOML for it) or that is protected.
    """
    policy, _kind = kind_of(engine, label)
    expected = policy.policy.expected_types(label)
    troubles = Problems()
    types: Counter[tuple[str, str]] = Counter()
    readings: Counter[tuple[str, str]] = Counter()
    verdicts: Counter[tuple[str | None, str]] = Counter()
    nodes = curated = ready = with_content = longest = total = 0
    # On disk: a label may have millions.
    seen = SeenKeys()
    try:
        for stretch in node_ranges(engine.database, label, chunk):
            nodes += stretch.seen
            curated += stretch.seen - len(stretch.fresh)
            for page in pages(stretch.fresh, PAGE):
                row = _look(engine, label, page, now, generate_ids)
                troubles.add_rows(row["refused"])
                taken = set(row["taken"])
                doubles = [key for key in row["keys"] if not seen.add(key) or key in taken]
                troubles.add("duplicate", len(doubles), doubles[:20])
                ready += len(row["keys"]) - len(doubles)
                for entry in row["types"]:
                    types[entry["property"], entry["type"]] += entry["n"]
                    readings[entry["property"], entry["reading"]] += entry["n"]
                for entry in row["verdicts"]:
                    verdicts[entry["rule"], entry["outcome"]] += entry["n"]
                content = row["content"]
                with_content += content["n"]
                total += content["total"]
                longest = max(longest, content["longest"])
            if on_progress:
                on_progress(nodes)
    finally:
        seen.close()
    wrong: dict[str, dict[str, int]] = {}
    for (property, type), n in sorted(types.items()):
        if property in expected and type not in expected[property]:
            wrong.setdefault(property, {})[type.removesuffix(" NOT NULL")] = n
    current = policy.policy.conversions()[label]
    lines: dict[str, str | None] = {}
    for property, name in policy.policy.mapped_moments(label).items():
        if any(type != "NULL" for type in wrong.get(property, ())):
            best = max(CONVERTED_TYPES, key=lambda conversion: readings[property, conversion])
            better = readings[property, best] > readings[property, current.get(property, "")]
            lines[property] = mapped_moment(name, property, best) if better else None
    return EnrolmentPlan(
        label, nodes, curated, ready, troubles, wrong, lines, with_content, longest, total, dict(verdicts)
    )


def _look(engine: Engine, label: str, page: list[str], now: datetime, generate_ids: bool) -> dict[str, Any]:
    parameters = {"now": now, "nodes": page, "label": label, "make_ids": generate_ids}
    return engine.call("enrol/look", parameters, write=False)
