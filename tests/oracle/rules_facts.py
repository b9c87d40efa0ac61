"""What seed 003 does to facts, as the other rule tables say it: fact_expiry.py and fact_states.py have the decisions.

The first state that holds decides. What heat and decay say is due at the look that finds it so.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from tests.oracle.due import Due, after
from tests.oracle.fact_expiry import removals, unimportant_at
from tests.oracle.fact_states import (
    ARCHIVE_DECAY,
    PROMOTE_HEAT,
    STALE_DECAY,
    is_protected,
    is_settled,
    is_vouched_for,
    next_state,
)
from tests.oracle.facts import decay, heat
from tests.oracle.memory import Memory

AT_ONCE = timedelta(0)


def fact(memory: Memory, now: datetime, first: datetime | None) -> list[Due]:
    """Removal, archival and what makes it stale."""
    found = removals(memory)
    unimportant = unimportant_at(memory, first)
    found += [Due("fact.unimportant", unimportant, "archive", unimportant)] if unimportant else []
    if is_settled(memory):
        return found
    made, disputed = memory.moment("created_at"), memory.get("verification_state") == "disputed"
    decayed = decay(memory, now, first)
    if decayed >= ARCHIVE_DECAY and not disputed and not is_protected(memory):
        found += after("fact.faded", made, AT_ONCE, "archive", now)
    found += after("fact.disputed", made, AT_ONCE, "state") if disputed else []
    return found + (after("fact.stale", made, AT_ONCE, "state", now) if decayed >= STALE_DECAY else [])


def state_after(memory: Memory, now: datetime, first: datetime | None) -> tuple[Due, str] | None:
    """The state that a look sets which doesn't archive it, and the rule that does; None: it stays as it is."""
    wanted = None if is_settled(memory) else next_state(memory, now, first)
    state = "stale" if wanted == "archived" else wanted
    if state is None or state == (memory.get("state") or "candidate"):
        return None
    return next(due for due in _states(memory, now, first) if due.at <= now), state


def _states(memory: Memory, now: datetime, first: datetime | None) -> list[Due]:
    """The rules that set a state, in order of precedence."""
    found = [due for due in fact(memory, now, first) if due.action == "state"]
    vouched = is_vouched_for(memory.get("verification_state"))
    warm = "fact.warm_and_vouched_for" if vouched else "fact.warm"
    hot = heat(memory, now) >= PROMOTE_HEAT
    return found + (after(warm, memory.moment("created_at"), AT_ONCE, "state", now) if hot else [])
