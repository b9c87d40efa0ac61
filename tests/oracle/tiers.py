"""The tier rules of seed 000: promotions first, then demotions, one after the other; what is written is the net move."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from tests.oracle.counts import falls_below, uses_in_7_days
from tests.oracle.due import EVER, idle_since
from tests.oracle.fact_tiers import PROMOTE_AT, little_from, value_at_best
from tests.oracle.memory import Memory
from tests.oracle.predicates import active_session, in_progress_task

TIERS = ("HOT", "WARM", "COLD", "ARCHIVE")
"""From near to far."""
HOT_IDLE = timedelta(hours=12)
WARM_IDLE = timedelta(hours=48)
COLD_IDLE = timedelta(days=90)
COLD_NEVER = timedelta(days=7)
TO_WARM = 3
TO_HOT = 10
STILL_USED = 2
_USED_OR_MADE = ("last_accessed_at", "created_at")


@dataclass(frozen=True)
class Move:
    """A net move by the last rule of its chain, and the instant that rule gives."""

    rule: str
    due: datetime
    from_: str
    to: str

    @property
    def action(self) -> str:
        """promote: nearer than before; demote: farther."""
        return "promote" if TIERS.index(self.to) < TIERS.index(self.from_) else "demote"


def net_move(memory: Memory, now: datetime, first: datetime | None) -> Move | None:
    """Where the tier rules take it at ``now``; None where that is the tier it has, or a tier that nobody knows."""
    tier = memory.get("tier")
    if not isinstance(tier, str) or tier not in TIERS:
        return None
    at, rule, due = tier, "", EVER
    for name, from_, to in _promotions(memory, now, first):
        if at == from_:
            at, rule, due = to, name, now
    for name, from_, to, crossing in demotions(memory, first):
        uses = uses_in_7_days(memory, now)
        still_used = name == "tier.warm_idle" and (uses is None or uses >= STILL_USED)
        if at == from_ and crossing <= now and not still_used:
            at, rule, due = to, name, crossing
    return Move(rule, due, tier, at) if at != tier else None


def _promotions(memory: Memory, now: datetime, first: datetime | None) -> list[tuple[str, str, str]]:
    """Those whose condition holds: (rule, from, to). None for what was archived: recall leaves it out."""
    if memory.get("state") == "archived":
        return []
    uses = uses_in_7_days(memory, now) if first is not None else None
    since_move = _used_since_the_move(memory)
    used_again = since_move or not memory.has("tier_at")
    pushed_out = memory.has("tier_reason") and not (
        isinstance(memory.get("tier_reason"), str) and not memory.get("tier_reason").startswith("budget.")
    )
    near = since_move or not pushed_out
    candidates = [
        ("tier.archive_used", "ARCHIVE", "WARM", uses is not None and uses >= TO_WARM and used_again),
        (
            "tier.fact_of_value",
            "COLD",
            "HOT",
            _is_fact(memory) and _of_value(memory) and first is not None and used_again,
        ),
        ("tier.cold_used", "COLD", "WARM", uses is not None and uses >= TO_WARM and used_again),
        ("tier.archive_in_session", "ARCHIVE", "WARM", active_session(memory) and near),
        ("tier.cold_in_session", "COLD", "WARM", active_session(memory) and near),
        ("tier.warm_used", "WARM", "HOT", uses is not None and uses >= TO_HOT and used_again),
        ("tier.warm_in_task", "WARM", "HOT", in_progress_task(memory) and near),
    ]
    return [(name, from_, to) for name, from_, to, holds in candidates if holds]


def _is_fact(memory: Memory) -> bool:
    return "Fact" in memory.labels


def _of_value(memory: Memory) -> bool:
    return value_at_best(memory) >= PROMOTE_AT


def _used_since_the_move(memory: Memory) -> bool:
    used, moved = memory.moment("last_accessed_at"), memory.moment("tier_at")
    return used is not None and moved is not None and used > moved


def demotions(memory: Memory, first: datetime | None) -> list[tuple[str, str, str, datetime]]:
    """Those that nothing hanging on it forbids: (rule, from, to, the instant from which time makes it due)."""
    if active_session(memory):
        return []
    never = not memory.has("last_accessed_at")
    starts = {
        "tier.hot_idle": ("HOT", "WARM", _USED_OR_MADE, HOT_IDLE, not in_progress_task(memory)),
        "tier.warm_idle": ("WARM", "COLD", _USED_OR_MADE, WARM_IDLE, True),
        "tier.cold_idle": ("COLD", "ARCHIVE", ("last_accessed_at",), COLD_IDLE, not never),
        "tier.cold_never": ("COLD", "ARCHIVE", ("created_at",), COLD_NEVER, never),
    }
    found = []
    little = little_from(memory, first) if _is_fact(memory) and not in_progress_task(memory) else None
    if little is not None:
        found.append(("tier.fact_of_little_value", "HOT", "COLD", little))
    for name, (from_, to, clock, span, holds) in starts.items():
        start = idle_since(memory, clock, first)
        if holds and start is not None:
            fallen = falls_below(memory, STILL_USED) if name == "tier.warm_idle" else None
            found.append((name, from_, to, max(start + span, fallen or EVER)))
    return found
