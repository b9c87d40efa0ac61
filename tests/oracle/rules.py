"""The rule table of seed 000, TTL Rules, with DESIGN §9's answers to its holes, and expires_at; one file a domain."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from tests.oracle import notes
from tests.oracle.due import Due, after
from tests.oracle.memory import Memory
from tests.oracle.rules_analyses import analysis
from tests.oracle.rules_beliefs import belief
from tests.oracle.rules_facts import fact
from tests.oracle.rules_living import LIVING, diary, living
from tests.oracle.rules_messages import notification, session, ticket
from tests.oracle.rules_reflections import reflection
from tests.oracle.rules_tasks import task
from tests.oracle.rules_texts import context, synthesis

KINDS: dict[str, Callable[[Memory, datetime, datetime | None], list[Due]]] = {
    "Notification": notification,
    "SessionContext": session,
    "Task": task,
    "Belief": belief,
    "Reflection": reflection,
    "Analysis": analysis,
    "Synthesis": synthesis,
    "CompressedContext": context,
    "Ticket": ticket,
    **dict.fromkeys(LIVING, living),
    "Note": notes.crossings,
    "Fact": fact,
    "Diary": diary,
}
"""The kinds with rules of their own, in the policy's order: the first that a memory carries decides."""


def crossings(memory: Memory, now: datetime, first: datetime | None = None) -> list[Due]:
    """The rules that apply at ``now``, in order of precedence. A rule whose state or clock is unknown is not among them.

    ``first``: when the memory's scope first reported an access, None if it never did: then rules of accesses are off.
    """
    found = after("any.expires_at", memory.moment("expires_at"), notes.longest_wait(memory))
    kind = kind_of(memory)
    return found + (KINDS[kind](memory, now, first) if kind else [])


def kind_of(memory: Memory) -> str | None:
    """The kind whose rules hold for it."""
    return next((label for label in KINDS if label in memory.labels), None)
