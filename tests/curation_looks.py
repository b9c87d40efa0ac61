"""One look of curate_due at memories that a test wrote, for the tests of rules and tiers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

from tests.oracle import Memory, graph

from jochi import Jochi
from jochi.graph.driver_values import to_python
from jochi.jobs.runner import run_job

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=timezone.utc)
HAIR = timedelta(microseconds=1)
SECOND = timedelta(seconds=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
OLD = NOW - 400 * DAY
"""When the scopes first reported an access, unless a test says otherwise, and when what is old was made."""


@dataclass(frozen=True)
class Left:
    """What a look left of a memory; ``properties`` as plain Python."""

    live: bool
    properties: dict[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.properties.get(name)

    @property
    def moved(self) -> tuple[Any, Any, Any, Any]:
        """tier, tier_reason, tier_from, tier_at."""
        return self["tier"], self["tier_reason"], self["tier_from"], self["tier_at"]


def set_batches(client: Jochi, batch_size: int, max_batches: int, *, job: str) -> None:
    """How many keys a batch of ``job`` takes, and how many batches a run."""
    client.database.run(
        "MATCH (j:JochiJob {name: $job}) SET j.batch_size = $size, j.max_batches = $most",
        {"job": job, "size": batch_size, "most": max_batches},
    )


def write(client: Jochi, memories: Iterable[Memory], *, first: datetime | None = OLD, now: datetime = NOW) -> None:
    """The memories, due at ``now``; their scopes with ``first`` as their first reported access, None: never."""
    some = list(memories)
    graph.write(
        client.database, some, due=now.astimezone(timezone.utc)
    )  # as the engine writes it, whatever the clock's zone
    graph.write_scopes(client.database, {memory.scope: first for memory in some})


def look(client: Jochi, now: datetime = NOW) -> dict[str, Left]:
    """Runs the queue at ``now``, and says by id what is left; nothing may fail, nor change by looking again."""
    runs = run_job(client.engine, "curate_due", now=now, drain=True)
    assert [run.error for run in runs if run.error] == []
    state = graph.state(client.database)
    again = run_job(client.engine, "curate_due", now=now, drain=True)
    assert sum(run.selected + run.changed for run in again) == 0
    return {key.split("/", 1)[1]: Left(stored.live, to_python(stored.properties)) for key, stored in state.items()}


def curate(client: Jochi, *memories: Memory, first: datetime | None = OLD, now: datetime = NOW) -> dict[str, Left]:
    """Writes the memories and looks at them once."""
    write(client, memories, first=first, now=now)
    return look(client, now)


def look_on(client: Jochi, now: datetime = NOW) -> dict[str, Left]:
    """A look and the looks that follow it at once, four in an hour: what is left when nothing is left to do."""
    left = look(client, now)
    for minutes in (15, 30, 45):
        left = look(client, now + timedelta(minutes=minutes))
    return left


def due_again(client: Jochi, now: datetime) -> None:
    """Puts every memory back into the queue, as the intake or a model would after a change."""
    client.database.run("MATCH (m:Curated) SET m.next_due = $now", {"now": now})


def pruned(left: Mapping[str, Left]) -> set[str]:
    """Ids of which only a tombstone is left."""
    return {id for id, memory in left.items() if not memory.live}


def archived(left: Mapping[str, Left]) -> set[str]:
    """Ids of live memories whose state is archived by this look or before."""
    return {id for id, memory in left.items() if memory.live and memory["state"] == "archived"}
