"""What score, TTLs and tiers together do to a memory (seed 000, Phase 2: "Scoring overrides TTL"; DESIGN §8, Order of precedence).

rails > keep_forever > ephemeral deadline and expires_at > score keeps > TTL > score prunes > score demotes > tier rules. The score
is that of the look; clocks are exact. Ours, where the seed is silent or contradicts itself:
- The score moves the TTLs of the ten kinds of its table and no others'. Facts, notes and what has salience have a measure of
  their own that says when they go (seeds 002 and 003); of all others nobody stated a worth. There the score is reported, and
  decides who survives a merge.
- Score keeps: at 8.0 and above a TTL, prune or archive, waits, and for another TTL at most: twice its length in all. Without a
  maximum a TTL would be void, for most of a score never falls: an Analysis of confidence 0.5 stands at 8.0 for ever.
- Score prunes: a score moves a TTL by a factor of two at most, this way, too: not before half of it is over. Below 0.5
  Notification and SessionContext go at once: this is what "immediate" means here. MemoryEntry and Recommendation have no TTL;
  their score alone decides.
- The score changes when, never whether: a kind with rows in the TTL table is pruned by its score only while one of its rules is
  on its way to prune it. So no score prunes what is critical and unread, unconsolidated, has a Recommendation, was used often
  enough, or is a Task.
- The seed's Phase 2 says of a low score "demoted faster" only; its bands and DESIGN §8 say PRUNE, too. These win, within these
  bounds.
- Score demotes: below 3.0 one tier down where no tier rule moves it, once for each fall: not if it was moved since a look first
  found it low (``mvs_low_at``). Not before a day is over (rail 9's: fresh memories start near 3.0 in "relative"), nor while an
  active session or a task in progress hangs on it, which would bring it back. What is to be pruned and is protected goes down all
  the same.
- Pruning and demoting read the score at best, keeping the score itself (value.py). So in a scope that never reported an access
  the score takes nothing and keeps only what is worth it unused (DESIGN §8).
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from tests.oracle import (
    rules_analyses,
    rules_beliefs,
    rules_messages,
    rules_reflections,
    rules_tasks,
    rules_texts,
)
from tests.oracle.due import Due
from tests.oracle.memory import Memory
from tests.oracle.predicates import active_session, in_progress_task
from tests.oracle.rails import GRACE
from tests.oracle.rules import crossings
from tests.oracle.tiers import TIERS, Demotion
from tests.oracle.value import kind_of, numbers
from tests.oracle.value_bands import AT_ONCE, LEAST, measured

MOST_LIVES = 2
"""A score that keeps makes a TTL so many times as long, at most; one that prunes cuts it to that part, at most."""
SPANS = {
    "notification.read": rules_messages.READ,
    "notification.unread": rules_messages.UNREAD,
    "session.inactive": rules_messages.INACTIVE,
    "task.completed": rules_tasks.COMPLETED,
    "task.failed": rules_tasks.FAILED,
    "belief.archived": rules_beliefs.ARCHIVED,
    "belief.weak": rules_beliefs.IDLE,
    "reflection.consolidated": rules_reflections.CONSOLIDATED,
    **dict(rules_analyses.AFTER.values()),
    "synthesis.old": rules_texts.SYNTHESIS,
    "context.keywords": rules_texts.KEYWORDS,
}
"""The TTLs that a score moves (seed 000, TTL Rules)."""
WITHOUT_TTL = frozenset({"MemoryEntry", "Recommendation"})
"""The kinds of the table for which seed 000 has no TTL at all."""
PRUNES, DEMOTES = "score.prunes", "score.demotes"


def moved(memory: Memory, now: datetime, first: datetime | None, profile: str) -> list[Due]:
    """Everything that prunes or archives it, in order of precedence, as its score leaves it."""
    found = [due for due in crossings(memory, now, first) if due.action in ("prune", "archive")]
    ttls = [due for due in found if due.rule in SPANS]
    keeps = measured(numbers(memory, now, first), profile) >= LEAST["keep"]
    waiting = [replace(due, at=max(due.at, due.over + (MOST_LIVES - 1) * SPANS[due.rule])) for due in ttls]
    early = _prunes(memory, now, first, profile, next((due for due in ttls if due.action == "prune"), None))
    return [due for due in found if due not in ttls] + (waiting if keeps else ttls) + early


def kept(memory: Memory, now: datetime, first: datetime | None, profile: str) -> frozenset[str]:
    """The TTL rules that have run out and that the score holds back."""
    waiting = {due.rule for due in moved(memory, now, first, profile) if due.at > now}
    return frozenset(due.rule for due in crossings(memory, now, first) if due.at <= now and due.rule in waiting)


def _prunes(memory: Memory, now: datetime, first: datetime | None, profile: str, ttl: Due | None) -> list[Due]:
    kind, made = kind_of(memory), memory.moment("created_at")
    best = measured(numbers(memory, now, first), profile, best=True)
    if best >= LEAST["demote"] or made is None or (ttl is None and kind not in WITHOUT_TTL):
        return []
    at_once = ttl is None or (kind in AT_ONCE and best < LEAST["prune"])
    clock = made if ttl is None or at_once else ttl.over - SPANS[ttl.rule] / MOST_LIVES
    return [Due(PRUNES, max(clock, now))]


def is_low(memory: Memory, now: datetime, first: datetime | None, profile: str) -> bool:
    """Whether its score at best is below where it would be improved."""
    return measured(numbers(memory, now, first), profile, best=True) < LEAST["improve"]


def low_since(memory: Memory, now: datetime, first: datetime | None, profile: str) -> datetime | None:
    """When a look first found it low, this one or one before; None: it isn't."""
    return (memory.moment("mvs_low_at") or now) if is_low(memory, now, first, profile) else None


def _went_down_otherwise(memory: Memory) -> bool:
    """Whether its last move was down, by another rule: the look that found it low may have made it."""
    reason, from_ = memory.get("tier_reason"), memory.get("tier_from")
    return reason not in (None, DEMOTES) and from_ in TIERS[: TIERS.index(str(memory.get("tier")))]


def step_down(memory: Memory, now: datetime, first: datetime | None, profile: str) -> list[Demotion]:
    """The tier that its score takes it to."""
    made, tier, since = memory.moment("created_at"), memory.get("tier"), low_since(memory, now, first, profile)
    if tier not in TIERS[:-1] or made is None or since is None or active_session(memory) or in_progress_task(memory):
        return []
    moved_at = memory.moment("tier_at")
    if memory.get("tier_at") is not None and (moved_at is None or moved_at > since):
        return []
    if moved_at == since and not _went_down_otherwise(memory):
        return []
    return [(DEMOTES, tier, TIERS[TIERS.index(tier) + 1], max(made + GRACE, now))]
