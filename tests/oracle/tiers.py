"""The tier rules of seed 000, one step a look (DESIGN §8): up as far as its uses carry it, then one rule down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from tests.oracle.counts import uses_in_7_days
from tests.oracle.due import EVER, idle_since
from tests.oracle.fact_tiers import PROMOTE_AT, is_little, old_from, value
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
    """A move, its rule and the instant that it gives."""

    rule: str
    due: datetime
    from_: str
    to: str

    @property
    def action(self) -> str:
        """promote: nearer than before; demote: farther."""
        return "promote" if TIERS.index(self.to) < TIERS.index(self.from_) else "demote"


Demotion = tuple[str, str, str, datetime]
"""rule, from, to, and the instant at which it is due."""


def step(memory: Memory, now: datetime, first: datetime | None, also: Sequence[Demotion] = ()) -> Move | None:
    """Where a look at ``now`` takes it; None where it stays, or is in a tier that nobody knows. ``also``: moves down besides."""
    tier = memory.get("tier")
    if not isinstance(tier, str) or tier not in TIERS:
        return None
    at, rule = tier, ""
    for name, from_, to in _promotions(memory, now, first):
        if at == from_:
            at, rule = to, name
    due = now
    for name, from_, to, when in (*demotions(memory, now, first), *also):
        if at == from_ and when <= now:
            at, rule, due = to, name, when
            break
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
            _is_fact(memory) and value(memory, now) >= PROMOTE_AT and first is not None and used_again,
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


def _used_since_the_move(memory: Memory) -> bool:
    used, moved = memory.moment("last_accessed_at"), memory.moment("tier_at")
    return used is not None and moved is not None and used > moved


def demotions(memory: Memory, now: datetime, first: datetime | None) -> list[Demotion]:
    """Those whose conditions hold at ``now``. Where what decays has its say, due is not before ``now``."""
    if active_session(memory):
        return []
    never, in_task, uses = not memory.has("last_accessed_at"), in_progress_task(memory), uses_in_7_days(memory, now)
    found = []
    old = old_from(memory, first) if _is_fact(memory) and not in_task and is_little(memory, now) else None
    if old is not None:
        found.append(("tier.fact_of_little_value", "HOT", "COLD", max(old, now)))
    rarely = uses is not None and uses < STILL_USED
    for name, from_, to, clock, span, holds, seen in (
        ("tier.hot_idle", "HOT", "WARM", _USED_OR_MADE, HOT_IDLE, not in_task, EVER),
        ("tier.warm_idle", "WARM", "COLD", _USED_OR_MADE, WARM_IDLE, rarely, now),
        ("tier.cold_idle", "COLD", "ARCHIVE", ("last_accessed_at",), COLD_IDLE, not never, EVER),
        ("tier.cold_never", "COLD", "ARCHIVE", ("created_at",), COLD_NEVER, never, EVER),
    ):
        start = idle_since(memory, clock, first)
        if holds and start is not None:
            found.append((name, from_, to, max(start + span, seen)))
    return found
