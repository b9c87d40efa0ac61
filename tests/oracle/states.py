"""States of seed 002, Memory Lifecycle: candidate → active → core → archived, and back to active by a used recall.

Ours, where the seed is silent or contradicts itself:
- Only a use moves a state up, and only a use that counts reinforces (DESIGN §9; the counts are capped per window). A mere recall
  changes nothing that a rule reads.
- A use leaves archived as active, whatever the count; else the count decides: 10 or more core, else active. So what was archived
  with 12 uses becomes core at the next one. Nothing falls back from core but to archived.
- Salience below 0.01 archives a candidate, too: the seed's table names active and core only, its examples archive candidates.
- Decay archives, it never deletes. Rails that stop the action archive stop it here, too (DESIGN §8).
- Archiving sets a new anchor at the instant it was due: of hard expiry its deadline, so that any cadence leaves the same salience;
  of what has faded the look that found it so.
- A use finds what the last look left: a use that is reported before the look keeps a memory that had faded (DESIGN §8, a touch that
  isn't folded yet protects). A late use is added at the anchor.
- Revived, it loses archived_at and keeps its tier: being active is one thing, being near the context another (DESIGN §4).
- An ephemeral memory past its deadline stays archived: a use reinforces it, and "archival guaranteed" wins.
- keep_forever doesn't bring back what was archived before; a use does. The owner is core again at the next look, which no rail but
  an agent's lock or quarantine stops: it takes nothing away.
- Of salience and hard expiry the one that fell due first archives; at one instant hard expiry.
- A state that is no text stays as it is, and so does a text that the seed doesn't know, until it is used or fades.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from tests.oracle.due import Due, after
from tests.oracle.memory import Memory
from tests.oracle.policies import deadline, is_owner
from tests.oracle.rails import ARCHIVE_RAILS, FLAG_RAILS, blocking_rails
from tests.oracle.reading import number, text
from tests.oracle.salience import MOST, anchor_of, falls_from, is_faint, reinforced, salience_now
from tests.oracle.spacing import spaced

CORE_FROM = 10
"""Seed 002, State Definitions: retrieved 10+ times."""


def state_after_use(state: str, access_count: float) -> str:
    """``access_count`` with this use in it."""
    if state == "archived":
        return "active"
    return "core" if state == "core" or access_count >= CORE_FROM else "active"


def archivals(memory: Memory, now: datetime, first: datetime | None) -> list[Due]:
    """When salience and hard expiry archive it; nothing if it is archived already, or if that can't be known."""
    state = text(memory, "state", "candidate")
    if state in (None, "archived"):
        return []
    faint = falls_from(memory, first) if is_faint(memory, now, first) else None
    return after("ephemeral", deadline(memory), timedelta(0), "archive") + after(
        "faded", faint, timedelta(0), "archive", now
    )


def archived_from(memory: Memory, now: datetime, first: datetime | None) -> Due | None:
    """Which of the two archives it first, and when; None if neither does."""
    return min(archivals(memory, now, first), key=lambda due: due.at, default=None)


def owner_settled(memory: Memory) -> bool:
    """Whether the owner is what the owner always is."""
    return text(memory, "state", "candidate") == "core" and memory.get("salience") == MOST


def settled(memory: Memory, now: datetime) -> Memory:
    """The owner after a look: core, and worth 1.0."""
    return _with(memory, state="core", archived_at=None, salience=MOST, salience_at=now)


def faded_at(memory: Memory, due: datetime, first: datetime | None) -> dict[str, Any]:
    """The salience that archiving leaves, from when on: it falls at the plain rate from then."""
    anchor = anchor_of(memory)
    if anchor is None or (value := salience_now(memory, at := max(anchor, due), first)) is None:
        return {}
    return {"salience": value, "salience_at": at}


def looked_at(memory: Memory, now: datetime, first: datetime | None) -> Memory:
    """What a look at ``now`` leaves. It never deletes."""
    if is_owner(memory):
        if owner_settled(memory) or memory.moment("created_at") is None or blocking_rails(memory, now) & FLAG_RAILS:
            return memory
        return settled(memory, now)
    due = archived_from(memory, now, first)
    if due is None or due.at > now or blocking_rails(memory, now) & ARCHIVE_RAILS:
        return memory
    return _with(memory, state="archived", archived_at=now, tier="ARCHIVE", **faded_at(memory, due.at, first))


def recalled(memory: Memory, at: datetime) -> Memory:
    """A recall that nobody used: it is counted and nothing else."""
    newest = max(at, memory.moment("last_recalled_at") or at)
    return _with(memory, recall_count=int(number(memory, "recall_count", 0) or 0) + 1, last_recalled_at=newest)


def used(memory: Memory, at: datetime, first: datetime | None) -> Memory:
    """A use that counts, at ``at`` (seed 002, Salience Updates, for DESIGN §9's used recalls)."""
    anchor = anchor_of(memory)
    when = at if anchor is None else max(at, anchor)
    changes: dict[str, Any] = dict(spaced(memory, at))
    value = salience_now(memory, when, first)
    if value is not None:
        changes |= {"salience": reinforced(value), "salience_at": when}
    count = (number(memory, "access_count", 0) or 0) + 1
    recalls = (number(memory, "recall_frequency", count - 1) or 0) + 1
    changes |= {"access_count": int(count), "recall_frequency": int(recalls)}
    state = text(memory, "state", "candidate")
    if state is not None:
        expired = deadline(memory)
        stays = state == "archived" and expired is not None and expired <= at
        changes["state"] = state if stays else state_after_use(state, count)
    if changes.get("state") == "active":
        changes["archived_at"] = None
    return _with(recalled(memory, at), **changes, **_moments(memory, at))


def in_default_search(memory: Memory) -> bool:
    """Archived is "excluded from default searches" (seed 002, State Definitions); a link to it still leads there."""
    return bool(memory.get("state") != "archived")


def _moments(memory: Memory, at: datetime) -> dict[str, datetime]:
    """The newest and the second newest distinct moment of use, late ones included."""
    known = {at, memory.moment("last_accessed_at"), memory.moment("prev_accessed_at")} - {None}
    newest = sorted((moment for moment in known if moment), reverse=True)
    return dict(zip(("last_accessed_at", "prev_accessed_at"), newest, strict=False))


def _with(memory: Memory, **changes: Any) -> Memory:
    properties = {name: value for name, value in (memory.properties | changes).items() if value is not None}
    return replace(memory, properties=properties)
