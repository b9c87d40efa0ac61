"""What the rules of seed 002 say of kinds with salience, as the other rule tables do: states.py has the decisions."""

from __future__ import annotations

from datetime import datetime

from tests.oracle.due import Due
from tests.oracle.memory import Memory
from tests.oracle.policies import EPISODIC, is_owner
from tests.oracle.states import archivals, owner_settled

LIVING = ("Source", "Artifact", "Person", "Concept", "Entity", "Storyline", "Macro")


def living(memory: Memory, first: datetime | None) -> list[Due]:
    """The owner's state, hard expiry and what has faded."""
    family = "episodic" if EPISODIC & set(memory.labels) else "semantic"
    created = memory.moment("created_at")
    owner = (
        [Due("semantic.owner", created, "state")] if is_owner(memory) and created and not owner_settled(memory) else []
    )
    return owner + [Due(f"{family}.{due.rule}", due.at, due.action) for due in archivals(memory, first)]
