"""What the rules of seed 002 say of kinds with salience, as the other rule tables do: states.py has the decisions."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from tests.oracle.due import Due, after
from tests.oracle.memory import Memory
from tests.oracle.policies import EPISODIC, is_owner
from tests.oracle.states import archivals, owner_settled

LIVING = ("Source", "Artifact", "Person", "Concept", "Entity", "Storyline", "Macro")
SALIENT = (*LIVING, "Diary")
"""And a kind of the tests' policy, which has a rule of its own before those of its lifecycle."""
READ_LIFE = timedelta(days=120)


def living(memory: Memory, now: datetime, first: datetime | None) -> list[Due]:
    """The owner's state, hard expiry and what has faded."""
    family = "episodic" if EPISODIC & set(memory.labels) else "semantic"
    created = memory.moment("created_at")
    owner = (
        [Due("semantic.owner", created, "state")] if is_owner(memory) and created and not owner_settled(memory) else []
    )
    return owner + [replace(due, rule=f"{family}.{due.rule}") for due in archivals(memory, now, first)]


def diary(memory: Memory, now: datetime, first: datetime | None) -> list[Due]:
    """One that was read goes after 120 days; else it lives as what is known does."""
    read = after("diary.read", memory.moment("created_at"), READ_LIFE) if memory.get("read") is True else []
    return read + living(memory, now, first)
