"""What stands still until a person says something: a go, the gap guard, runs that the breaker stopped, kill switches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from shlex import quote
from typing import Any

from jochi.jobs.results import JobState


@dataclass(frozen=True)
class Waiting:
    """What waits for a person: ``verb`` is `apply`, `approve` or `approve RUN`, ``why``
    what the engine says, ``jobs`` those that stand still."""

    verb: str
    why: str
    since: datetime | None
    jobs: list[str]


@dataclass(frozen=True)
class Paused:
    """A kill switch that is on: ``what`` is job, kind, scope or all; ``resume`` the command that takes it back."""

    what: str
    name: str
    since: datetime | None
    by: str | None
    resume: str


def waiting(pump: Mapping[str, Any], jobs: Sequence[JobState]) -> list[Waiting]:
    """What waits for `jochi apply`, `jochi approve` or `jochi approve RUN`, and why. All can be needed."""
    stopped = [job.name for job in jobs if job.destructive]
    found = []
    if pump and pump.get("applied_at") is None:
        found.append(Waiting("apply", "nobody has said go under this policy", None, stopped))
    if pump.get("guard") is not None:
        found.append(Waiting("approve", pump["guard"], pump.get("guard_at"), stopped))
    for job in jobs:
        if job.stopped_run is not None:
            why = "; ".join(stop.words for stop in job.stops) or "the circuit breaker stopped it"
            found.append(Waiting(f"approve {job.stopped_run}", why, job.stopped_at, [job.name]))
    return found


def switches(pump: Mapping[str, Any], jobs: Sequence[JobState], pauses: Sequence[Mapping[str, Any]]) -> list[Paused]:
    """The kill switches that are on, the widest first."""
    found = []
    if pump and not pump.get("enabled", True):
        found.append(Paused("all", "", pump.get("paused_at"), pump.get("paused_by"), "jochi resume --all"))
    for row in sorted(pauses, key=lambda row: (row["what"], row["name"])):
        command = f"jochi resume --{row['what']} {quote(row['name'])}"
        found.append(Paused(row["what"], row["name"], row.get("since"), row.get("by"), command))
    for job in jobs:
        if job.paused_at is not None:
            found.append(Paused("job", job.name, job.paused_at, job.paused_by, f"jochi jobs resume {job.name}"))
    return found
