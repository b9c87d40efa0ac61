"""Plays activity against a database whose jobs run at their intervals, all on a clock of its own."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from tests.exit_criteria.activity import Event

from jochi import Jochi
from jochi.jobs.runner import run_job
from jochi.write import importing

_SET = "UNWIND $rows AS row MATCH (m:Curated {key: row.key}) SET m += row.properties, m.next_due = $now"


@dataclass
class Played:
    """What the jobs did: ``runs`` and ``changed`` by job, ``approved``: how often the breaker asked and a person let it go on, the
    runs that went wrong, and what a look after each step found."""

    runs: Counter[str] = field(default_factory=Counter)
    changed: Counter[str] = field(default_factory=Counter)
    approved: Counter[str] = field(default_factory=Counter)
    tally: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)


def play(
    client: Jochi,
    events: Sequence[Event],
    jobs: Mapping[str, timedelta],
    *,
    start: datetime,
    end: datetime,
    after: Callable[[str, datetime], None] | None = None,
) -> Played:
    """Every event at its time and every job at its interval from ``start`` to ``end``; ``after`` looks after each job's run."""
    played = Played()
    due = dict.fromkeys(jobs, start)
    waiting = list(reversed(events))
    while (at := min(due.values())) <= end:
        happened = []
        while waiting and waiting[-1].at <= at:
            happened.append(waiting.pop())
        _happen(client, happened, at)
        for job in [name for name in jobs if due[name] == at]:
            _run(client, job, at, played)
            due[job] = at + jobs[job]
            if after is not None:
                after(job, at)
    return played


def _run(client: Jochi, job: str, at: datetime, played: Played) -> None:
    """A job's run. Where the breaker stops it, somebody looks and lets it go on at once: nobody waits in a play."""
    stopped = True
    while stopped:
        stopped = False
        for run in run_job(client.engine, job, now=at, drain=True):
            played.runs[job] += 1
            played.changed[job] += run.changed
            played.tally.update(run.tally)
            if run.status == "breaker" and run.error is None:
                client.approve_run(run.id, now=at)
                played.approved[job] += 1
                stopped = True
            elif run.error is not None or run.status != "ok":
                played.errors.append(f"{job} at {at}: {run.status} {run.error or ''}")


def _happen(client: Jochi, events: Sequence[Event], now: datetime) -> None:
    born = [event.record for event in events if event.record is not None]
    if born:
        importing.write(client.database, iter(born), now=now)
    rows = [{"key": event.key, "properties": event.properties} for event in events if event.properties is not None]
    if rows:
        client.database.run(_SET, {"rows": rows, "now": now})
    used: dict[tuple[datetime, str | None], list[str]] = defaultdict(list)
    for event in events:
        if event.record is None and event.properties is None:
            used[event.at, event.agent].append(event.key)
    for (at, agent), keys in used.items():
        client.touch(keys, used=True, agent=agent, now=at)
