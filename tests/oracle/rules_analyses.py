"""Analysis (seed 000, TTL Rules; the medium one is DESIGN §9's)."""

from __future__ import annotations

from datetime import datetime, timedelta

from tests.oracle.due import Due, after, since
from tests.oracle.memory import Memory
from tests.oracle.predicates import recommendation

AFTER = {
    "low": ("analysis.minor", timedelta(days=60)),
    "info": ("analysis.minor", timedelta(days=60)),
    "medium": ("analysis.medium", timedelta(days=120)),
    "high": ("analysis.major", timedelta(days=180)),
    "critical": ("analysis.major", timedelta(days=180)),
}


def analysis(memory: Memory, _now: datetime, _first: datetime | None) -> list[Due]:
    """By its severity, unless a Recommendation hangs on it."""
    severity = memory.get("severity")
    if not isinstance(severity, str) or severity not in AFTER or recommendation(memory):
        return []
    rule, span = AFTER[severity]
    return after(rule, since(memory, ("created_at",)), span)
