"""The verdict over one memory, what it leaves, and when it must be looked at again (DESIGN §8): what holds at the look decides.

Of the ten kinds of the value score it is that of value_and_ttl.py: its TTLs, what the score prunes, its step down.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from typing import Any

from tests.oracle.memory import Memory
from tests.oracle.rails import ARCHIVE_RAILS, FLAG_RAILS, TIER_RAILS, blocking_rails, ends
from tests.oracle.rules import Due, crossings, kind_of
from tests.oracle.rules_facts import state_after
from tests.oracle.rules_living import SALIENT
from tests.oracle.states import faded_at, settled
from tests.oracle.tiers import Move, demotions, step
from tests.oracle.value import TABLE
from tests.oracle.value import kind_of as scored_kind
from tests.oracle.value_and_ttl import moved, step_down

CLASS_MINUTES = {"Notification": 5, "SessionContext": 5, "Task": 15, "MemoryEntry": 15, "Reflection": 360, "Ticket": 5}
"""The seed's schedule by kind; everything else is looked at by the hour."""
OTHER_CLASS_MINUTES = 60
TIER_CLASS_MINUTES = 15
SHORTEST, LONGEST, GROWTH = timedelta(days=1), timedelta(days=30), 0.1
"""Of the horizon: a tenth of its age, within these."""
VOLATILE_KINDS = {"Notification", "SessionContext", "Task", "Ticket", "Fact"}


@dataclass(frozen=True)
class Change:
    """What happens to a memory that isn't pruned: archive | promote | demote (tiers) or flag | unflag | state (no tiers)."""

    action: str
    rule: str
    due: datetime | None
    from_: str | None = None
    to: str | None = None


@dataclass(frozen=True)
class Verdict:
    """``outcome``: prune | protected | paused | keep; ``met`` the pruning rule that is met first, or None; ``rails`` those that
    hold back something that is due, and ``held`` the names of the rules that they hold back."""

    outcome: str
    met: Due | None
    rails: frozenset[str]
    changes: tuple[Change, ...] = ()
    held: frozenset[str] = frozenset()


def judge(
    memory: Memory,
    now: datetime,
    paused: frozenset[str] = frozenset(),
    first: datetime | None = None,
    profile: str | None = "seed",
) -> Verdict:
    """What must happen to ``memory`` at ``now``. ``paused``: kill switches, `kind/<label>` and `scope/<scope>`; ``first``: when
    its scope first reported an access, None if it never did; ``profile``: of the score's bands, None: no score moves anything."""
    met = next((due for due in acting(memory, now, first, profile) if due.action == "prune" and due.at <= now), None)
    changes, blocking, held = _changes(memory, now, first, profile)
    if paused & ({f"kind/{label}" for label in memory.labels} | {f"scope/{memory.scope}"}):
        return Verdict("paused" if met or changes else "keep", met, frozenset())
    if met is None:
        return Verdict("keep", None, blocking, changes, held)
    rails = blocking_rails(memory, now)
    return Verdict("protected", met, rails, changes, held | {met.rule}) if rails else Verdict("prune", met, rails)


def is_scored(memory: Memory) -> bool:
    """Whether its score moves its TTLs and tiers."""
    return scored_kind(memory) in TABLE


def acting(memory: Memory, now: datetime, first: datetime | None, profile: str | None) -> list[Due]:
    """Everything that prunes or archives it, in order of precedence."""
    return moved(memory, now, first, profile) if profile and is_scored(memory) else crossings(memory, now, first)


def _tier_move(memory: Memory, now: datetime, first: datetime | None, profile: str | None) -> Move | None:
    return step(memory, now, first, step_down(memory, now, first, profile) if profile and is_scored(memory) else ())


def _changes(
    memory: Memory, now: datetime, first: datetime | None, profile: str | None
) -> tuple[tuple[Change, ...], frozenset[str], frozenset[str]]:
    """What changes, which rails hold back something else, and which rules those are. Archive goes before the tier rules: what it
    did leaves nothing for them at this look. Of several archives the one due first. Flags and states stand beside both."""
    rails = blocking_rails(memory, now)
    met = [due for due in crossings(memory, now, first) if due.at <= now]
    found = _state_of_a_fact(memory, now, first) if kind_of(memory) == "Fact" else _flags(memory, met)
    held = rails & FLAG_RAILS if found else frozenset()
    waiting = frozenset(change.rule for change in found) if held else frozenset()
    found = () if held else found
    due_now = [due for due in acting(memory, now, first, profile) if due.at <= now]
    archive = min((due for due in due_now if due.action == "archive"), key=lambda due: due.at, default=None)
    if archive and not rails & ARCHIVE_RAILS:
        found = tuple(change for change in found if change.action != "state")
        return (*found, Change("archive", archive.rule, archive.at, memory.get("tier"), "ARCHIVE")), held, waiting
    if archive:
        held, waiting = held | (rails & ARCHIVE_RAILS), waiting | {archive.rule}
    move = _tier_move(memory, now, first, profile)
    if move and not rails & TIER_RAILS:
        return (*found, Change(move.action, move.rule, move.due, move.from_, move.to)), held, waiting
    if move:
        held, waiting = held | (rails & TIER_RAILS), waiting | {move.rule}
    return found, held, waiting


def _state_of_a_fact(memory: Memory, now: datetime, first: datetime | None) -> tuple[Change, ...]:
    found = state_after(memory, now, first)
    return (Change("state", found[0].rule, found[0].at, to=found[1]),) if found else ()


def _flags(memory: Memory, met: list[Due]) -> tuple[Change, ...]:
    states = tuple(Change("state", due.rule, due.at) for due in met if due.action == "state")
    if states:
        return states
    if kind_of(memory) != "Reflection":
        return ()
    flagged = memory.get("needs_consolidation") is True
    flag = next((due for due in met if due.action == "flag"), None)
    if flag and not flagged:
        return (Change("flag", flag.rule, flag.at),)
    if flagged and memory.get("consolidated") is True:
        return (Change("unflag", "reflection.unconsolidated", None),)
    return ()


def left_by(memory: Memory, verdict: Verdict, now: datetime, first: datetime | None = None) -> Memory:
    """The memory after a look with this verdict (not `prune`)."""
    properties = dict(memory.properties)
    for change in verdict.changes:
        if change.action == "archive" and change.due and kind_of(memory) in SALIENT:
            properties |= faded_at(memory, change.due, first)
        if change.action == "flag":
            properties["needs_consolidation"] = True
        elif change.action == "unflag":
            properties.pop("needs_consolidation")
        elif change.action == "state" and kind_of(memory) == "Fact":
            properties |= {"state": change.to, "archived_at": None}
        elif change.action == "state":
            properties = dict(settled(memory, now).properties)
        else:
            archived: dict[str, Any] = {"state": "archived", "archived_at": now}
            properties |= archived if change.action == "archive" else {}
            properties |= {
                "tier": change.to,
                "tier_reason": change.rule,
                "tier_from": change.from_,
                "tier_at": now if change.action == "archive" else change.due,
            }
    properties = {name: value for name, value in properties.items() if value is not None}
    return replace(memory, properties=properties)


def latest_look(memory: Memory, now: datetime, first: datetime | None = None, profile: str | None = "seed") -> datetime:
    """The latest instant at which the look after the one at ``now`` may be: the horizon, the next clock that runs out, the end of
    the rails in the way, or at once where it changed its tier; each rounded up to the whole second and then to the class of the
    seed's schedule (moves down: every 15 minutes)."""
    own = 60 * max((CLASS_MINUTES[la] for la in memory.labels if la in CLASS_MINUTES), default=OTHER_CLASS_MINUTES)
    verdict = judge(memory, now, first=first, profile=profile)
    clocks = [due.at for due in [*acting(memory, now, first, profile), *crossings(memory, now, first)]]
    moves = demotions(memory, now, first)
    moves += step_down(memory, now, first, profile) if profile and is_scored(memory) else []
    if verdict.rails and verdict.rails <= ends(memory).keys():
        clocks.append(max(ends(memory)[rail] for rail in verdict.rails))
    bounds = [_rounded_up(at, own) for at in [now + horizon(memory, now), *clocks] if at > now]
    bounds += [
        _rounded_up(at, 60 * TIER_CLASS_MINUTES) for _, tier, _, at in moves if tier == memory.get("tier") and at > now
    ]
    changed = any(change.action in ("archive", "promote", "demote") for change in verdict.changes)
    return min([*bounds, *([_rounded_up(now + timedelta(seconds=1), 60 * OTHER_CLASS_MINUTES)] if changed else [])])


def horizon(memory: Memory, now: datetime) -> timedelta:
    """How late what decays can be seen."""
    made = memory.moment("created_at")
    volatile = bool(VOLATILE_KINDS & set(memory.labels))
    return SHORTEST if volatile or made is None else max(SHORTEST, min(LONGEST, GROWTH * (now - made)))


def _rounded_up(moment: datetime, seconds: int) -> datetime:
    epoch = datetime(1970, 1, 1, tzinfo=timezone.utc)
    micros = (moment - epoch) // timedelta(microseconds=1)
    return epoch + timedelta(seconds=math.ceil(math.ceil(micros / 1_000_000) / seconds) * seconds)
