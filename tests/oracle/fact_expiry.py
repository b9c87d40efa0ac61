"""What seed 003 removes or archives by age (Expiry and Archival; peers A3, Other).

Ours, where the seed is silent:
- "Removed" and "auto-expire" are a prune: soft, and stopped by every rail (DESIGN §8 and §9). "Archived" is the action archive.
- Confirmed is: a confirmed_at, or verification state user_confirmed. A confirmed_at that can't be read may be one. What the
  system inferred by itself confirms nothing; a confidence that rose to 0.40 ends the tier, and with it the deadline.
- Policy class protected stops both removals; protected categories stop archival only, as the seed has it.
- Resolved is `resolved = true`; its clock is resolved_at, else updated_at. Neither: it stays.
- "Age > 90 days" is met at its instant, as 30 and 90 days of the removals are. Age runs from created_at here: archival asks
  how old a fact is, not how fresh its text.
- Archival reads accesses: it is off in a scope that never reported one, and counts from no earlier than the first (DESIGN §8).
  Absent accesses are 0, absent importance is 0.5 and so never archived; what can't be read is unknown and archives nothing.
- Archival is for status active, whatever the lifecycle: stale facts, too. A state that nobody knows holds it back.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from tests.oracle.due import Due, after
from tests.oracle.fact_states import PROTECTED, is_protected, is_settled
from tests.oracle.facts import DEFAULT_IMPORTANCE, confidence_tier
from tests.oracle.memory import Memory
from tests.oracle.rails import ARCHIVE_RAILS, blocking_rails
from tests.oracle.reading import number, text

SPECULATIVE_LIFE = timedelta(days=30)
RESOLVED_LIFE = timedelta(days=90)
ARCHIVAL_AGE = timedelta(days=90)
ARCHIVAL_IMPORTANCE = 0.3
ARCHIVAL_ACCESSES = 2


def is_confirmed(fact: Memory) -> bool:
    """By a later extraction or by the user."""
    return fact.get("confirmed_at") is not None or fact.get("verification_state") == "user_confirmed"


def removals(fact: Memory) -> list[Due]:
    """The rules that remove it: speculative and unconfirmed, or a commitment that is resolved."""
    found: list[Due] = []
    if text(fact, "policy_class", "") in (None, "protected"):
        return found
    if confidence_tier(fact) == "speculative" and not is_confirmed(fact):
        found += after("fact.speculative", fact.moment("created_at"), SPECULATIVE_LIFE)
    if fact.get("category") == "commitment" and fact.get("resolved") is True:
        resolved = fact.moment("resolved_at" if fact.get("resolved_at") is not None else "updated_at")
        found += after("fact.resolved", resolved, RESOLVED_LIFE)
    return found


def expires(fact: Memory) -> datetime | None:
    """When it is removed."""
    return min((due.at for due in removals(fact)), default=None)


def unimportant_at(fact: Memory, first: datetime | None) -> datetime | None:
    """From when all of seed 003's conditions of Fact Archival hold; None: as it is now, never."""
    made = fact.moment("created_at")
    importance = number(fact, "importance", DEFAULT_IMPORTANCE, most=1)
    accesses = number(fact, "access_count", 0)
    if first is None or made is None or importance is None or accesses is None:
        return None
    little = importance < ARCHIVAL_IMPORTANCE and accesses <= ARCHIVAL_ACCESSES
    plain = not is_protected(fact) and fact.get("category") not in PROTECTED | {"correction"}
    return max(made, first) + ARCHIVAL_AGE if little and plain and not is_settled(fact) else None


def is_to_archive(fact: Memory, now: datetime, first: datetime | None) -> bool:
    """Whether they hold (rails aside)."""
    at = unimportant_at(fact, first)
    return at is not None and at <= now


def outcome(fact: Memory, now: datetime, first: datetime | None) -> str:
    """prune | archive | protected | keep. Removal goes before archival."""
    rails = blocking_rails(fact, now)
    over = expires(fact)
    if over is not None and over <= now:
        return "protected" if rails else "prune"
    if is_to_archive(fact, now, first):
        return "protected" if rails & ARCHIVE_RAILS else "archive"
    return "keep"
