"""What seed 003 does to facts, as the other rule tables say it: fact_expiry.py and fact_states.py have the decisions.

The first state that holds decides. Heat is judged at its best, so its two rules hold from when it was made.
"""

from __future__ import annotations

from datetime import datetime, timezone

from tests.oracle.due import Due
from tests.oracle.fact_expiry import removals, unimportant_at
from tests.oracle.fact_states import (
    ARCHIVE_DECAY,
    PROMOTE_HEAT,
    STALE_DECAY,
    faded_at,
    is_protected,
    is_settled,
    is_vouched_for,
    next_state,
)
from tests.oracle.facts import heat_at_best
from tests.oracle.memory import Memory

_LATE = datetime(9000, 1, 1, tzinfo=timezone.utc)


def fact(memory: Memory, first: datetime | None) -> list[Due]:
    """Removal, archival and what makes it stale."""
    found = removals(memory)
    unimportant = unimportant_at(memory, first)
    found += [Due("fact.unimportant", unimportant, "archive")] if unimportant else []
    disputed = memory.get("verification_state") == "disputed"
    faded = None if disputed or is_protected(memory) else faded_at(memory, ARCHIVE_DECAY, _LATE, first)
    found += [Due("fact.faded", faded, "archive")] if faded else []
    made = memory.moment("created_at")
    found += [Due("fact.disputed", made, "state")] if disputed and made and not is_settled(memory) else []
    stale = faded_at(memory, STALE_DECAY, _LATE, first)
    return found + ([Due("fact.stale", stale, "state")] if stale else [])


def state_after(memory: Memory, now: datetime, first: datetime | None) -> tuple[Due, str] | None:
    """The state that a look sets which doesn't archive it, and the rule that does; None: it stays as it is."""
    wanted = None if is_settled(memory) else next_state(memory, now, first)
    state = "stale" if wanted == "archived" else wanted
    if state is None or state == (memory.get("state") or "candidate"):
        return None
    return next(due for due in _states(memory, now, first) if due.at <= now), state


def _states(memory: Memory, now: datetime, first: datetime | None) -> list[Due]:
    """The rules that set a state, in order of precedence."""
    found = [due for due in fact(memory, first) if due.action == "state"]
    made = memory.moment("created_at")
    vouched = is_vouched_for(memory.get("verification_state"))
    warm = "fact.warm_and_vouched_for" if vouched else "fact.warm"
    return found + ([Due(warm, made, "state")] if made and heat_at_best(memory) >= PROMOTE_HEAT else [])
