"""What score, TTLs and tiers together do to a memory, and when (seed 000, Phase 2: "Scoring overrides TTL"; DESIGN §8, Order of
precedence).

rails > keep_forever > ephemeral deadline and expires_at > score keeps > TTL > score prunes > score demotes > tier rules. Ours,
where the seed is silent or contradicts itself:
- The score moves the TTLs of the ten kinds of its table and no others'. Facts, notes and what has salience have a measure of
  their own that says when they go (seeds 002 and 003); of all others nobody stated a worth. There the score is reported, and
  decides who survives a merge.
- Score keeps: at 8.0 and above a TTL waits, prune or archive, until the score is below it, and for another TTL at most: twice
  its length in all. Without a maximum a TTL would be void, for most of a score never falls: an Analysis of confidence 0.5
  stands at 8.0 for ever.
- Score prunes: a score moves a TTL by a factor of two at most, this way, too: not before half of it is over. Below 0.5
  Notification and SessionContext go at once: this is what "immediate" means here. MemoryEntry and Recommendation have no TTL;
  their score alone decides.
- The score changes when, never whether: a kind with rows in the TTL table is pruned by its score only while one of its rules is
  on its way to prune it. So no score prunes what is critical and unread, unconsolidated, has a Recommendation, was used often
  enough, or is a Task.
- The seed's Phase 2 says of a low score "demoted faster" only; its bands and DESIGN §8 say PRUNE, too. These win, within these
  bounds.
- Score demotes: below 3.0 one tier down from where the tier rules have it then, once for each fall: what was moved since isn't
  moved again, and only a use lets it fall anew. Not before a day is over (rail 9's: fresh memories start near 3.0 in
  "relative"), nor while an active session or a task in progress hangs on it, which would bring it back. What is to be pruned
  and is protected goes down all the same.
- Pruning and demoting read the score at best, keeping the score itself (value.py). So in a scope that never reported an access
  the score takes nothing and keeps only what is worth it unused (DESIGN §8).
- A late look leaves what looks in time would have left: tier rules up to the fall, the step, tier rules from then on.
- Rails stop the prune, the rails of archive the archive, the rails of tiers the step; what is stopped is "protected".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
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
from tests.oracle.rails import ARCHIVE_RAILS, GRACE, TIER_RAILS, blocking_rails, ends
from tests.oracle.rules import crossings
from tests.oracle.tiers import TIERS, demotions, net_move
from tests.oracle.value import TABLE, kind_of
from tests.oracle.value_bands import AT_ONCE, LEAST, falls_below, next_crossing

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


@dataclass(frozen=True)
class Look:
    """``outcome``: prune | archive | protected | keep, by ``rule``, which was ``due``; ``kept``: the TTL rules that the score holds
    back; ``rails``: those that stop something; ``tier``, ``tier_rule``, ``tier_at``: where it stands afterwards, if it moves;
    ``next``: the earliest instant at which time alone may change any of that, or the band of its score."""

    outcome: str
    rule: str | None = None
    due: datetime | None = None
    kept: tuple[str, ...] = ()
    rails: frozenset[str] = frozenset()
    tier: str | None = None
    tier_rule: str | None = None
    tier_at: datetime | None = None
    next: datetime | None = None


def look(memory: Memory, now: datetime, first: datetime | None, profile: str = "seed") -> Look:
    """What happens at ``now``; ``first``: when its scope first reported an access, None if it never did."""
    rails = blocking_rails(memory, now)
    found = [due for due in moved(memory, first, profile) if due.at <= now]
    kept = tuple(due.rule for due in _ttls(memory, first) if due.at <= now and due.rule not in {f.rule for f in found})
    prune = next((due for due in found if due.action == "prune"), None)
    archive = min((due for due in found if due.action == "archive"), key=lambda due: due.at, default=None)
    following = next_change(memory, now, first, profile)
    if prune and not rails:
        return Look("prune", prune.rule, prune.at, kept)
    if archive and not rails & ARCHIVE_RAILS:
        return Look("archive", archive.rule, archive.at, kept, tier="ARCHIVE", tier_rule=archive.rule, next=following)
    stopped = prune or archive
    outcome, stopping = ("protected", rails if prune else rails & ARCHIVE_RAILS) if stopped else ("keep", frozenset())
    rule, due = (stopped.rule, stopped.at) if stopped else (None, None)
    step = tier_after(memory, now, first, profile)
    if step and rails & TIER_RAILS:
        stopping, step = stopping | (rails & TIER_RAILS), None
    tier, tier_rule, tier_at = step or (None, None, None)
    return Look(outcome, rule, due, kept, stopping, tier, tier_rule, tier_at, following)


def left_by(memory: Memory, seen: Look) -> Memory:
    """The memory after a look that kept it where it is or moved its tier."""
    if seen.tier is None or seen.outcome in ("prune", "archive"):
        return memory
    moved_by = {"tier": seen.tier, "tier_reason": seen.tier_rule, "tier_at": seen.tier_at}
    return replace(memory, properties=memory.properties | moved_by)


def moved(memory: Memory, first: datetime | None, profile: str) -> list[Due]:
    """Everything that prunes or archives it, in order of precedence, at the instants that the score gives it."""
    rules = [due for due in crossings(memory, first) if due.action in ("prune", "archive")]
    deadlines = [due for due in rules if due.rule == "any.expires_at" or due.rule.endswith(".ephemeral")]
    others = [due for due in rules if due not in deadlines and due.rule not in SPANS]
    ttls = [replace(due, at=kept_until(memory, due, first, profile)) for due in _ttls(memory, first)]
    early = prunes_at(memory, first, profile)
    return deadlines + others + ttls + ([Due(PRUNES, early)] if early else [])


def _ttls(memory: Memory, first: datetime | None) -> list[Due]:
    return [due for due in crossings(memory, first) if due.rule in SPANS]


def kept_until(memory: Memory, due: Due, first: datetime | None, profile: str) -> datetime:
    """When a TTL takes effect: the score keeps it from that while it is 8.0 or above, and no longer than the TTL again."""
    latest = due.at + (MOST_LIVES - 1) * SPANS[due.rule]
    falls = falls_below(memory, LEAST["keep"], first, profile)
    return latest if falls is None else max(due.at, min(latest, falls))


def prunes_at(memory: Memory, first: datetime | None, profile: str) -> datetime | None:
    """When its score prunes it; None: never as it is now."""
    kind, made = kind_of(memory), memory.moment("created_at")
    low = falls_below(memory, LEAST["demote"], first, profile, best=True)
    ttl = next((due for due in _ttls(memory, first) if due.action == "prune"), None)
    if made is None or low is None or kind is None or (ttl is None and kind not in WITHOUT_TTL):
        return None
    at = max(low, made)
    if ttl is None:
        return at
    at = max(at, ttl.at - SPANS[ttl.rule] / MOST_LIVES)
    nothing = falls_below(memory, LEAST["prune"], first, profile, best=True) if kind in AT_ONCE else None
    return at if nothing is None else min(at, max(nothing, made))


def demotes_at(memory: Memory, first: datetime | None, profile: str) -> datetime | None:
    """When its score takes it down a tier; None: never as it is now, or it was moved since."""
    made = memory.moment("created_at")
    if kind_of(memory) not in TABLE or made is None or active_session(memory) or in_progress_task(memory):
        return None
    low = falls_below(memory, LEAST["improve"], first, profile, best=True)
    if low is None:
        return None
    at = max(low, made + GRACE)
    if memory.get("tier_at") is None:
        return at
    since = memory.moment("tier_at")
    return None if since is None or since >= at else at


def tier_after(memory: Memory, now: datetime, first: datetime | None, profile: str) -> tuple[str, str, datetime] | None:
    """(tier, rule, since when) where tier rules and the score's step take it; None: it stays."""
    falls, tier, usual = demotes_at(memory, first, profile), memory.get("tier"), net_move(memory, now, first)
    plain = (usual.to, usual.rule, usual.due) if usual else None
    if tier not in TIERS or falls is None or falls > now:
        return plain
    before = net_move(memory, falls, first)
    stands = before.to if before else tier
    if stands == TIERS[-1]:
        return plain
    below = TIERS[TIERS.index(stands) + 1]
    after = net_move(left_by(memory, Look("keep", tier=below, tier_rule=DEMOTES, tier_at=falls)), now, first)
    if after is None:
        return (below, DEMOTES, falls) if below != tier else None
    return (after.to, after.rule, max(after.due, falls)) if after.to != tier else None


def next_change(memory: Memory, now: datetime, first: datetime | None, profile: str) -> datetime | None:
    """The earliest instant after ``now`` at which time alone may change a look."""
    tier = memory.get("tier")
    below = TIERS[TIERS.index(tier) : -1] if tier in TIERS else ()
    moments = [
        *(due.at for due in moved(memory, first, profile)),
        *(at for _rule, from_, _to, at in demotions(memory, first) if from_ in below),
        demotes_at(memory, first, profile) if below else None,
        next_crossing(memory, now, first, profile).at,
        *ends(memory),
    ]
    return min((at for at in moments if at is not None and at > now), default=None)
