"""The rails: the ten of seed 000 (Never-Prune Safety Rails) and those that DESIGN §8 adds.

Unknown blocks. A wrong type of what a rail reads always protects. Absence protects for created_at and for the state that
the kind's rail reads, and means false, empty or zero for pinned, keep_forever, hold_until, locked_by, agents, access_count.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from tests.oracle.memory import Memory, is_moment, is_number
from tests.oracle.task_statuses import ACTIVE, task_status

GRACE = timedelta(hours=24)
LOCK = timedelta(minutes=10)
NEVER = None


@dataclass(frozen=True)
class Rail:
    """A rail that blocks, and the instant from which it no longer does; None where time alone never ends it."""

    name: str
    until: datetime | None


def _kind(label: str) -> Callable[[Memory, datetime], bool]:
    return lambda memory, _now: label in memory.labels


def _active_task(memory: Memory, _now: datetime) -> bool:
    return "Task" in memory.labels and task_status(memory.get("status")) in ACTIVE


def _active_session(memory: Memory, _now: datetime) -> bool:
    return "SessionContext" in memory.labels and memory.get("active") is not False


def _confident_belief(memory: Memory, _now: datetime) -> bool:
    if "Belief" not in memory.labels:
        return False
    state, confidence = memory.get("state"), memory.get("confidence")
    if (state is not None and not isinstance(state, str)) or (confidence is not None and not is_number(confidence)):
        return True
    may_be_active = state is None or state in {"active", "core", "validated"}
    return may_be_active and (confidence is None or confidence >= 0.9)


def _proven_reflection(memory: Memory, _now: datetime) -> bool:
    if "Reflection" not in memory.labels:
        return False
    consolidated, accesses = memory.get("consolidated"), memory.get("access_count")
    if (consolidated is not None and not isinstance(consolidated, bool)) or (
        accesses is not None and not is_number(accesses)
    ):
        return True
    return consolidated is not False and (accesses or 0) > 5


def _grace(memory: Memory, now: datetime) -> bool:
    created = memory.moment("created_at")
    return created is None or now < created + GRACE


def _consensus(memory: Memory, _now: datetime) -> bool:
    agents = memory.get("agents")
    if agents is None:
        agents = []
    if not isinstance(agents, list) or not all(isinstance(agent, str) for agent in agents):
        return True
    return len(set(agents) | set(memory.linked)) >= 4


def _pinned(memory: Memory, _now: datetime) -> bool:
    return memory.has("pinned") and memory.get("pinned") is not False


def _keep_forever(memory: Memory, _now: datetime) -> bool:
    policy = memory.get("ttl_policy")
    if "Person" in memory.labels and memory.get("is_owner") is True:
        return True
    return policy is not None and (not isinstance(policy, str) or policy == "keep_forever")


def _hold(memory: Memory, now: datetime) -> bool:
    if not memory.has("hold_until"):
        return False
    until = memory.moment("hold_until")
    return until is None or now < until


def _locked(memory: Memory, now: datetime) -> bool:
    holder = memory.get("locked_by")
    if memory.has("locked_at") and not is_moment(memory.get("locked_at")):
        return True
    if holder is None:
        return False
    since = memory.moment("locked_at")
    return not isinstance(holder, str) or since is None or now < since + LOCK


def _touched(memory: Memory, _now: datetime) -> bool:
    return memory.touched


def _quarantined(memory: Memory, now: datetime) -> bool:
    if not memory.has("quarantined_until"):
        return False
    until = memory.moment("quarantined_until")
    return until is None or now < until


RAILS: dict[str, Callable[[Memory, datetime], bool]] = {
    "agent_identity": _kind("Agent"),
    "agent_key": _kind("AgentKey"),
    "active_task": _active_task,
    "active_session": _active_session,
    "confident_belief": _confident_belief,
    "proven_reflection": _proven_reflection,
    "migration": _kind("Migration"),
    "system_config": _kind("SystemConfig"),
    "grace": _grace,
    "consensus": _consensus,
    "pinned": _pinned,
    "keep_forever": _keep_forever,
    "hold": _hold,
    "locked": _locked,
    "unfolded_access": _touched,
    "quarantined": _quarantined,
}
"""Every rail by name: whether it blocks a memory at an instant."""


def blocking_rails(memory: Memory, now: datetime) -> frozenset[str]:
    """The names of the rails that block."""
    return frozenset(name for name, blocks in RAILS.items() if blocks(memory, now))


ARCHIVE_RAILS = frozenset({"pinned", "keep_forever", "hold", "locked", "unfolded_access", "quarantined"})
"""What stops the action archive, which forgets nothing."""

TIER_RAILS = ARCHIVE_RAILS - {"keep_forever"}
"""What stops the tier rules."""

FLAG_RAILS = frozenset({"locked", "quarantined"})
"""What stops a flag: whoever has the memory, has it; a flag takes nothing away."""


def ends(memory: Memory) -> dict[str, datetime]:
    """The rails of time and when each is over, where that can be read."""
    rails = {"grace": ("created_at", GRACE), "locked": ("locked_at", LOCK)}
    rails |= {"hold": ("hold_until", timedelta(0)), "quarantined": ("quarantined_until", timedelta(0))}
    moments = [(rail, memory.moment(name), after) for rail, (name, after) in rails.items()]
    return {rail: moment + after for rail, moment, after in moments if moment is not None}
