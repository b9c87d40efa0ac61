"""`jochi status`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

import typer
from rich.markup import escape

from jochi.cli.connection import job_verbs as jochi
from jochi.cli.jobs import mode_in_words, print_jobs
from jochi.cli.output import AsJson, finish_with_json, moment, out, say, shortened, some, table
from jochi.client.jobs import JobVerbs
from jochi.errors import JochiError
from jochi.jobs.results import JobState
from jochi.jobs.runs import AuditSize
from jochi.localserver.paths import apoc_conf_at
from jochi.operate.check import Check, Level
from jochi.operate.results import Accesses, Hygiene, Status
from jochi.operate.status import Overview, Versions, overview
from jochi.operate.work import Backlog
from jochi.use.sources import Unfinished

MOST_SHOWN = 20

_COLUMNS = 100

_FEW = 2
"""Of what is wrong, so many are named on one screen."""


def status(
    context: typer.Context,
    tiers: Annotated[
        bool, typer.Option(help="Sum up the tiers against their budgets; this reads every memory once.")
    ] = True,
    every: Annotated[
        bool, typer.Option("--all", help="Show the rest, too: all jobs, tiers, what is put aside, accesses, hygiene.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show the engine at a glance: what waits for a person, the backlog, the last runs that changed something, and the workers.

    Token budgets are per scope: `jochi budgets` shows what the next run would move.
    """
    with jochi(context) as client:
        found = overview(client, tiers=tiers and (every or as_json), apoc_conf_at=apoc_conf_at)
        size = _audit_size(client) if every and not as_json else None
    finish_with_json(found, as_json)
    if not every:
        print_glance(found)
    else:
        print_overview(found)
        if size is not None and size.ratio is not None:
            say(
                f"on record: {some(size.records, 'record', 'records')} of "
                f"{some(size.memories, 'memory', 'memories')} (most: {size.per_memory} each and "
                f"what tombstones need), about {size.ratio:.1%} of the data's bytes"
            )


def _audit_size(client: JobVerbs) -> AuditSize | None:
    """None where an older version is installed, or none."""
    try:
        return client.audit_size()
    except JochiError:
        return None


def print_glance(found: Overview) -> None:
    """One screen: what a person has to do comes first, and what is as it should be takes a line."""
    say(f"database {found.database} at {moment(found.at)}")
    _print_versions(found.versions)
    chain = found.migrations
    if chain is not None and (chain.outcome != "VALID" or not found.installed):
        say(f"migrations: {chain.outcome}, {chain.applied} applied, {chain.pending} pending")
    if not found.installed:
        say("jochi is not installed in this database: `jochi install` installs it")
    for name, word in list(found.not_installed.items())[:_FEW]:
        say(f"procedures: {name} is {word}")
    _print_check("pump", found.pump)
    if found.restart is not None and found.restart.level is not Level.OK:
        say(f"restart: {found.restart.found}")
    _print_inbox(found)
    if found.engine is not None:
        _print_amounts(found.engine, few=True)
        _print_work(found.work)
    _print_changes(found)
    _print_jobs_in_words(found.jobs)
    for note in found.notes[:_FEW]:
        out.print(f"[yellow]not readable:[/] {escape(note)}", soft_wrap=True)
    if found.installed:
        say("`jochi status --all` shows the rest")


def _print_changes(found: Overview) -> None:
    if not found.changes:
        if found.jobs:
            say("last runs that changed something: none")
        return
    say("last runs that changed something:")
    for run in found.changes:
        say(f"  {moment(run['started_at'])}  {run['id']}: {run['changed']:,} changed, {run['status']}")


def _print_jobs_in_words(jobs: Sequence[JobState]) -> None:
    if not jobs:
        return
    live = [job for job in jobs if not job.idle]
    say(f"jobs: {len(live)} live, {len(jobs) - len(live)} idle, which have nothing to work on yet")
    failing = [job for job in jobs if job.failures]
    for job in failing[:_FEW]:
        say(shortened(f"  {_failure(job)}", 100))
    if len(failing) > _FEW:
        say(f"  … and {len(failing) - _FEW} more fail")


def _failure(job: JobState) -> str:
    return f"{job.name} failed {job.failures} times in a row: {job.last_error or 'no error was kept'}"


def print_overview(found: Overview) -> None:
    """The overview as text and tables; what a person has to do comes first."""
    say(f"database {found.database} at {moment(found.at)}")
    _print_versions(found.versions)
    if found.migrations is not None:
        say(
            f"migrations: {found.migrations.outcome}, {found.migrations.applied} applied, {found.migrations.pending} pending"
        )
        for message in found.migrations.messages:
            say(f"  {message}")
    if not found.installed:
        say("jochi is not installed in this database: `jochi install` installs it")
    elif found.procedures or found.engine is not None:
        _print_engine(found)
    for note in found.notes:
        out.print(f"[yellow]not readable:[/] {escape(note)}", soft_wrap=True)


def _print_versions(versions: Versions) -> None:
    apoc = f"APOC {versions.apoc}" if versions.apoc else "no APOC"
    installed = "nothing" if versions.installed is None else f"jochi {versions.installed}, policy {versions.policy}"
    ours = f"jochi {versions.jochi}; installed: "
    if versions.installed == versions.jochi:
        ours = ""
    say(f"{ours}{installed}; Neo4j {versions.server} {versions.edition}, {apoc}")


def _print_engine(found: Overview) -> None:
    words = ", ".join(f"{n} {word}" for word, n in sorted(found.procedures.items()))
    say(f"procedures: {words or 'not readable'}")
    for name, word in found.not_installed.items():
        say(f"  {name} is {word}")
    _print_check("pump", found.pump)
    _print_check("after a restart", found.restart)
    _print_inbox(found)
    if found.mode is not None:
        say(mode_in_words(found.mode))
    if found.engine is not None:
        _print_amounts(found.engine)
    _print_work(found.work)
    _print_sources(found.sources)
    if found.accesses is not None:
        _print_accesses(found.accesses)
    if found.hygiene is not None:
        _print_hygiene(found.hygiene)
    if found.jobs:
        _print_changes(found)
        print_jobs(found.jobs)
        for job in found.jobs:
            if job.failures:
                say(_failure(job))
    _print_quarantined(found)
    _print_tiers(found)


def _print_check(title: str, check: Check | None) -> None:
    if check is None:
        return
    say(f"{title}: {check.found}")
    if check.fix and check.level is not Level.OK:
        say(f"  → {check.fix}")


def _print_inbox(found: Overview) -> None:
    if found.inbox is not None:
        say(found.inbox.sentence + (": `jochi inbox`" if found.inbox.counts else ""))
    for item in found.files[:_FEW]:
        say(f"  {item.what} (since {moment(item.since)})")
    if len(found.files) > _FEW:
        say(f"  … and {len(found.files) - _FEW} more files stand still")


def _print_amounts(engine: Status, *, few: bool = False) -> None:
    oldest = f", the oldest since {moment(engine.oldest_due)}" if engine.due else ""
    say(f"backlog: {some(engine.due, 'memory is', 'memories are')} due for a look{oldest}")
    gone = f", the oldest from {moment(engine.oldest_tombstone)}; {some(engine.tombstones_due, 'is', 'are')} due for the purge"
    if engine.tombstones or not few:
        say(f"tombstones: {engine.tombstones:,}" + (gone if engine.tombstones else ""))


def _print_sources(unfinished: Sequence[Unfinished]) -> None:
    if unfinished:
        table(
            "Sources that stand still; `jochi sources ls --state failed` or `stuck` lists them",
            ("state", "phase", "sources", "since", "why", "such as"),
            [(one.state, one.phase, one.n, moment(one.since), one.why, one.samples[0]) for one in unfinished],
            right=(2,),
        )


def _print_work(work: Mapping[str, Backlog]) -> None:
    """Backlog, pace and what was given up on, of all derivations; `jochi derive ls` has each."""
    waiting = {name: left.waiting + left.later for name, left in work.items() if left.waiting + left.later}
    oldest = min((left.oldest for left in work.values() if left.oldest is not None), default=None)
    aside = sum(left.put_aside for left in work.values())
    rejected = sum(n for left in work.values() for n in left.rejected.values())
    said = ", ".join(f"{n:,} {name}" for name, n in waiting.items()) or "nothing waits"
    since = f", the oldest wanted {moment(oldest)}" if oldest else ""
    pace = sum(left.an_hour for left in work.values())
    done = f"; {pace:,.0f} done within an hour" if pace >= 1 else ""
    refused = f"; {rejected:,} rejected today" if rejected else ""
    given_up = f"; {aside:,} put aside: `jochi derive ls`" if aside else ""
    say(f"for workers: {said}{since}{done}{refused}{given_up}")


def _print_accesses(found: Accesses) -> None:
    silent = (
        f"; access-based rules are off in {some(found.silent, 'scope', 'scopes')} that never did"
        if found.silent
        else ""
    )
    say(
        f"accesses: {some(found.waiting, 'touch waits', 'touches wait')} to be counted; "
        f"{some(found.reporting, 'scope reports', 'scopes report')} them{silent}"
    )


def _print_hygiene(found: Hygiene) -> None:
    if found.walked_at is None:
        return
    left = sum(fault.n for fault in found.reported)
    say(
        f"hygiene: the walk of {moment(found.walked_at)} repaired {some(found.repaired, 'fault', 'faults')}"
        + (f"; {some(left, 'is', 'are')} left to you: `jochi doctor` names them" if left else "")
    )


def _print_quarantined(found: Overview) -> None:
    if not found.quarantined:
        return
    rows = [
        (row.key + (" (tombstone)" if row.tombstone else ""), row.until, row.failures, row.run, row.error)
        for row in found.quarantined[:MOST_SHOWN]
    ]
    table(
        f"Put aside after a failure: {len(found.quarantined):,}",
        ("memory", "until", "failures", "run", "the run's last error"),
        rows,
        right=(2,),
    )


def _print_tiers(found: Overview) -> None:
    if found.tiers is None:
        return
    rows = [
        (row.tier or "(none)", row.n, row.tokens, row.uncounted, row.budget, row.scopes, row.over, row.most)
        for row in found.tiers
    ]
    table(
        "Tiers; budgets are tokens per scope",
        ("tier", "memories", "tokens", "no count", "budget", "scopes", "over budget", "largest scope"),
        rows,
        right=(1, 2, 3, 4, 5, 6, 7),
    )
    if found.budgets is not None and found.budgets.overflows:
        overflows = [(o.scope, o.tier, o.budget, o.held, o.above, moment(o.at)) for o in found.budgets.overflows]
        table(
            f"Pinned above a budget: {some(found.budgets.overflowing, 'scope', 'scopes')}",
            ("scope", "tier", "budget", "pinned tokens", "above", "found at"),
            overflows,
            right=(2, 3, 4),
        )
