"""Names of Jochi's objects in a database."""

from __future__ import annotations


def pump_name(database: str) -> str:
    """The repeat job that runs due jobs; APOC's list is one for the whole server, so the database is in the name."""
    return f"jochi.pump.{database}"


def watch_name(database: str) -> str:
    """The repeat job that arms the pump again when it is gone."""
    return f"jochi.watch.{database}"


REPEATED = frozenset({"scheduler/pump", "scheduler/watch"})
"""The procedures that APOC's repeat runs itself: only these carry the language prefix (`ServerFacts.language_prefix`)."""
