"""What recall does with a fact's states (seed 003, Retrieval Integration; peers A3, Recall score deltas).

Ours, where the seed is silent:
- A state that is absent or unknown adds nothing and filters nothing ("fail-open"). disputed adds its own, beside the state's.
- Status archived counts as state archived. Archived and superseded are left out unless asked for (DESIGN §4 and §9: recall returns
  the current value); asked for, archived has its delta and superseded the one of its lifecycle, if it has one.
- The filter leaves out stale and archived, even where archived was asked for; it is off by default.
- A score is not held to any range.
"""

from __future__ import annotations

from tests.oracle.fact_states import status_of
from tests.oracle.memory import Memory

DELTAS = {"active": 0.05, "validated": 0.03, "candidate": -0.01, "stale": -0.06, "archived": -0.08}
DISPUTED = -0.12


def delta(fact: Memory) -> float:
    """What its states add to its score."""
    state = "archived" if status_of(fact) == "archived" else fact.get("state")
    by_state = DELTAS.get(state, 0.0) if isinstance(state, str) else 0.0
    return by_state + (DISPUTED if fact.get("verification_state") == "disputed" else 0.0)


def is_found(
    fact: Memory, *, filter_stale: bool = False, include_archived: bool = False, include_superseded: bool = False
) -> bool:
    """Whether recall may return it."""
    status = status_of(fact)
    if filter_stale and (status == "archived" or fact.get("state") == "stale"):
        return False
    asked = {"archived": include_archived, "superseded": include_superseded}
    return asked.get(status or "", True)
