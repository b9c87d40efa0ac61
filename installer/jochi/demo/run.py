"""Runs the demonstration: server, install, import, replay, then the database on its own."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neo4j.exceptions import TransientError

from jochi import clock
from jochi.client import Jochi
from jochi.curate.plan import Applied, Plan
from jochi.database.connection import ConnectionSettings, connected
from jochi.database.statements import statement
from jochi.demo import embedding
from jochi.demo.source import Source
from jochi.demo.story import (
    Budgets,
    Embeddings,
    JobTimes,
    LiveRun,
    NearTokens,
    Start,
    Story,
    with_arrivals,
)
from jochi.demo.survey import EVERY, LIVE_FOR, Parts, Survey, look, on_schedule
from jochi.errors import JochiError, Refused
from jochi.install.install import prune_procedures
from jochi.jobs.arming import take_off_list
from jochi.jobs.results import Switch
from jochi.jobs.runner import ReplayStep, replay
from jochi.localserver.report import Report, Silent
from jochi.operate.report.figures import read_changes
from jochi.operate.report.span import Intervals
from jochi.operate.results import TierReport
from jochi.policy import LoadedPolicy, load_policy
from jochi.policy.model import ORPHAN_RULE
from jochi.policy.rules import TIERS
from jochi.version import __version__
from jochi.write import importing

if TYPE_CHECKING:
    from jochi.localserver import LocalServer, Running

INSTANCE = "demo"
"""The local server's name: a database of its own, emptied at the start of every demonstration."""
POLICY = Path(__file__).with_name("policy.toml")
REPLAY_JOBS = ("curate_due", "enforce_budgets", "purge_tombstones")
SHOWN_JOBS = frozenset({"enforce_budgets", "find_duplicates", "merge_duplicates", "sweep_orphans"})
"""What the memories give something to do besides `curate_due`: each has a turn before the report is written."""

SHORTEST_STEP = timedelta(hours=6)
STEPS = 400
"""The replay of a long history takes at most about so many steps."""
LOOK_BACK = timedelta(days=31)
"""The replay goes on so long after the last memory, until tombstones of the default policy are purged."""

LIVE_RUNS = 3
LIVE_SECONDS = 300.0
_POLL_SECONDS = 0.5
_HISTORY = 1_000
_ANY_TIME = datetime(9999, 1, 1, tzinfo=timezone.utc)


@dataclass
class Demo:
    """What one demonstration is made of. ``server`` is started, and stopped at the end unless ``keep``."""

    server: LocalServer
    source: Source
    watcher: Report = field(default_factory=Silent)
    seed: int | None = None
    keep: bool = False
    live_runs: int = LIVE_RUNS
    live_seconds: float = LIVE_SECONDS
    phases: dict[str, float] = field(default_factory=dict)
    running: Running | None = None

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Times a part and tells the watcher about it."""
        self.watcher.phase(name)
        self.phases.setdefault(name, 0.0)  # now, so that a part of a part stands after it
        began = time.monotonic()
        yield
        self.phases[name] += time.monotonic() - began


def server_for(watcher: Report, home: Path | None = None) -> LocalServer:
    """The demonstration's local server; `MissingExtra` without the extra [server]."""
    from jochi.localserver import LocalServer

    return LocalServer(INSTANCE, home=home, report=watcher)


def run_demo(demo: Demo) -> Story:
    """Runs all of it. What fails is a `JochiError` of a telling class; the server is stopped then too, unless ``keep``.

    Works on the instance's own database only and empties that first, so that it can be run again at any time.
    """
    policy = load_policy(POLICY)
    began_at = clock.now()
    with demo.phase("reading the memories"):
        demo.watcher.doing(f"reading {demo.source.name}")
        survey = look(demo.source, now=began_at, policy=policy.policy)
        if survey.generated:
            demo.source = replace(demo.source, generated=True)
    try:
        with demo.phase("starting the server"):
            demo.running = demo.server.start()
        story = _with_server(demo, policy, survey, began_at)
    finally:
        if not demo.keep:
            with demo.phase("stopping the server"):
                demo.server.stop()
    return story


def _with_server(demo: Demo, policy: LoadedPolicy, survey: Survey, began_at: datetime) -> Story:
    try:
        return _attempt(demo, policy, survey, began_at)
    except _CannotInstall as found:
        # An older version's store, or one that something else has written to: only its own old data is in the way.
        demo.watcher.say(f"the demonstration's database is made anew: {found.refused.what}")
    with demo.phase("starting the server"):
        demo.server.reset()
        demo.running = demo.server.start()
    try:
        return _attempt(demo, policy, survey, began_at)
    except _CannotInstall as found:
        raise found.refused from None


class _CannotInstall(Exception):
    def __init__(self, refused: Refused) -> None:
        super().__init__(refused.what)
        self.refused = refused


def _attempt(demo: Demo, policy: LoadedPolicy, survey: Survey, began_at: datetime) -> Story:
    assert demo.running is not None
    running = demo.running
    with connected(ConnectionSettings(running.uri, running.user, running.password)) as database:
        client = Jochi(database.driver, database.name, policy=policy)
        with demo.phase("installing Jochi"):
            demo.watcher.doing("emptying the demonstration's database")
            _wipe(client)
            try:
                installed = client.install(on_progress=demo.watcher.doing)
            except Refused as refused:
                raise _CannotInstall(refused) from refused
            if installed.obstacle is not None:
                raise JochiError(
                    f"this server can't run jobs: {installed.obstacle}",
                    where=f"local server {INSTANCE!r}",
                    fix=f"jochi server reset --name {INSTANCE}, then run the demonstration again",
                )
            # An unreleased state of this version may have left what an install doesn't drop.
            prune_procedures(client.database, policy)
            # Off the list until the replay is done, which has a clock of its own. Paused besides: a tick that is under way
            # puts the jobs back on the list.
            client.pause(Switch("all"))
            take_off_list(client.engine)
        return _Play(demo, client, survey, began_at, running.version, running.apoc or "–").story()


def _wipe(client: Jochi) -> None:
    """Empties the database. Cheaper than a new store: that costs a slower start and all migrations besides."""
    for attempt in range(5):
        take_off_list(client.engine)
        try:
            client.database.autocommit(statement("demo/wipe"))
            return
        except TransientError:  # a job of the last demonstration was still running
            if attempt == 4:
                raise
            time.sleep(_POLL_SECONDS)


class _Play:
    """The part that needs a database: import, replay, live."""

    def __init__(self, demo: Demo, client: Jochi, survey: Survey, began_at: datetime, version: str, apoc: str) -> None:
        self.demo = demo
        self.client = client
        self.survey = survey
        self.began_at = began_at
        self.versions = {"jochi": __version__, "Neo4j": version, "APOC": apoc}
        self.parts = Parts(demo.source.records(lambda _bad: None), survey.held_back)
        self.times = {job: JobTimes() for job in REPLAY_JOBS}
        self.stopped_by_breaker = 0
        policy = client.policy.policy
        rules = [*policy.all_rules(), *policy.tier_rules]
        self.rules = {_tally_name(name): name for name in (*(rule.name for rule in rules), ORPHAN_RULE)}
        self.rules |= {f"{one}_to_{other}": f"{one} → {other}" for one in TIERS for other in TIERS}
        self.near: list[NearTokens] = []

    def story(self) -> Story:
        demo, client, survey = self.demo, self.client, self.survey
        with demo.phase("importing"):
            first = self._import()
            imported = client.tiers()
        with demo.phase("replaying"):
            step, until, caught_up_at = self._replay()
            after_replay = client.tiers()
        with demo.phase("letting the database run"):
            live = self._let_it_run()
            start, end = survey.span()
            steps = Intervals((*_every(step, start, until), caught_up_at), live.begun_at, step)
            replayed = read_changes(client.engine, steps)
            alone = read_changes(client.engine, Intervals((live.begun_at,), clock.now(), LIVE_FOR))
            after = client.tiers()
            budgets = self._budgets()
            starts = tuple(self._starts())
        return Story(
            source=demo.source.name,
            generated=demo.source.generated,
            licence=demo.source.licence,
            seed=demo.seed,
            versions=self.versions,
            began_at=self.began_at,
            policy=client.policy.label,
            memories=first.written + live.written,
            relationships=first.relationships.written + live.relationships,
            bad_count=survey.bad_count + first.bad_count,
            bad=tuple(survey.bad),
            span=(start, end),
            replayed_until=until,
            caught_up_at=caught_up_at,
            step=step,
            breaker=self._breaker(live.stopped_by_breaker),
            imported=with_arrivals(imported, after_replay, live.begun_with),
            after_replay=after_replay,
            after=after,
            created=dict(survey.created),
            steps=steps,
            replayed=replayed,
            alone=alone,
            examples=tuple(self._pruned_alone(live.runs)),
            near=tuple(self.near),
            budgets=budgets,
            starts=starts,
            held_back=dict(survey.held_back_kinds),
            plan=live.plan,
            applied=live.applied.prunes,
            armed_at=live.armed_at,
            live_until=live.until,
            runs=live.runs,
            replay_jobs=tuple(times.line(job, "replay") for job, times in self.times.items()),
            embeddings=live.embeddings,
            phases=demo.phases,
            kept=demo.keep,
        )

    def _pruned_alone(self, runs: Sequence[LiveRun]) -> Iterator[str]:
        """Keys of memories that one of these runs pruned."""
        last = next((run for run in reversed(runs) if run.job == "curate_due" and run.changed), None)
        for one in self.client.runs(last.id)[0].done if last is not None else ():
            if one.action == "prune":
                yield from one.keys[:3]

    def _budgets(self) -> Budgets:
        tiers, plan = self.client.policy.policy.tiers, self.client.plan_budgets(most=0)
        return Budgets({"HOT": tiers.HOT, "WARM": tiers.WARM, "COLD": tiers.COLD}, plan.scopes, plan.overflowing)

    def _starts(self) -> Iterator[Start]:
        for row in self._read("demo/starts"):
            chosen = self.client.context(row["scope"])
            tokens = sum(entry.tokens for entry in chosen.entries)
            yield Start(row["scope"], len(chosen.entries), tokens, chosen.max_tokens, row["memories"], row["tokens"])

    def _import(self) -> importing.ImportResult:
        total = self.survey.memories - len(self.survey.held_back)

        def on_progress(progress: importing.Progress) -> None:
            if progress.phase == "memories":
                self.demo.watcher.doing(f"importing {self.demo.source.memories}", progress.memories, total)
            else:
                self.demo.watcher.doing("importing relationships", progress.done, progress.total)

        return importing.write(self.client.database, self.parts.early(), now=self.began_at, on_progress=on_progress)

    def _replay(self) -> tuple[timedelta, datetime, datetime]:
        """All days from the first memory on; then the step to the time it is now, if that is far away."""
        start, end = self.survey.span()
        now = clock.now()
        until = min(now, end + LOOK_BACK)
        step = step_of(until - start)
        intervals = {"curate_due": step, "enforce_budgets": 4 * step, "purge_tombstones": 4 * step}
        whole = (until - start).total_seconds() or 1.0
        pruned = 0
        last = time.monotonic()

        def on_step(made: ReplayStep) -> None:
            nonlocal last, pruned
            ended = time.monotonic()
            self.times[made.job].add(ended - last, made.selected, made.changed)
            last = ended
            pruned += made.tally.get("pruned", 0)
            self.stopped_by_breaker += made.tally.get("breaker", 0)
            text = f"replaying {made.at:%Y-%m-%d}: {pruned:,} pruned"
            self.demo.watcher.doing(text, (min(made.at, until) - start).total_seconds(), whole)
            if made.job == "enforce_budgets":
                by_tier = self.client.tiers().by_tier()
                self.near.append(NearTokens(made.at, {tier: by_tier.get(tier, (0, 0))[1] for tier in TIERS}))
                last = time.monotonic()

        def arrive(at: datetime) -> None:
            nonlocal last
            self._arrive(at, at)
            last = time.monotonic()

        label = self.client.policy.label
        run = self.client.engine, intervals
        self.client.database.autocommit(statement("demo/wait"), {"now": start})
        replay(*run, start=start, end=until, policy=label, on_step=on_step, before=arrive)
        caught_up_at = clock.now()
        self._arrive(caught_up_at, _ANY_TIME)
        replay(*run, start=caught_up_at, end=caught_up_at, policy=label, on_step=on_step)
        return step, until, caught_up_at

    def _arrive(self, now: datetime, until: datetime) -> None:
        self.client.database.run(statement("demo/arrive"), {"now": now, "until": until})

    def _read(self, name: str) -> list[dict[str, Any]]:
        return self.client.database.run(statement(name), write=False)

    def _let_it_run(self) -> _Live:
        demo, client = self.demo, self.client
        begins = clock.now()
        late = importing.write(client.database, self.parts.late(on_schedule(begins)), now=begins)
        begun_with = client.tiers()
        demo.watcher.say(
            f"{len(self.survey.held_back):,} of the newest {demo.source.memories} were held back; they come in now, and the "
            f"demonstration gives them an expiry over the next {LIVE_FOR // timedelta(minutes=1)} minutes, so that there is "
            "something to watch"
        )
        plan = client.plan(begins + LIVE_FOR + EVERY)
        demo.watcher.say(
            f"plan until {plan.at:%H:%M:%S}Z: {plan.looked_at:,} are due, {plan.prunes:,} would be pruned ("
            + (
                ", ".join(f"{group.rule} {group.n:,} {group.kind}" for group in plan.groups if group.outcome == "prune")
                or "none"
            )
            + "); applied"
        )
        applied = client.apply(plan)
        embeds = embedding.handler(client, demo.watcher)
        armed_at = clock.now()
        client.resume(Switch("all"))
        if embeds is not None:
            embedding.queue_all(client)
        client.ensure_jobs()
        embeddings = None
        if embeds is not None:
            with demo.phase("of that: embedding"):
                embeddings = embedding.embed(client, embeds, demo.watcher)
        runs = self._wait(armed_at)
        return _Live(
            begins,
            late.written,
            late.relationships.written,
            begun_with,
            plan,
            applied,
            armed_at,
            clock.now(),
            runs,
            sum(node.get("breaker", 0) for node in self._nodes(armed_at)),
            embeddings,
        )

    def _nodes(self, since: datetime) -> list[dict[str, Any]]:
        """The ended runs that the database made on its own since then, oldest first."""
        found = self.client.history(limit=_HISTORY)
        own = [node for node in found if node["runner"] == "pump" and node.get("finished_at") is not None]
        return [node for node in reversed(own) if node["started_at"].to_native() >= since]

    def _wait(self, armed_at: datetime) -> tuple[LiveRun, ...]:
        """Looks until the database has made its runs; writes nothing."""
        deadline = time.monotonic() + self.demo.live_seconds
        seen = -1
        while True:
            runs = tuple(LiveRun.from_node(node, armed_at, self.rules) for node in self._nodes(armed_at))
            changing = [run for run in runs if run.job == "curate_due" and run.changed > 0]
            if len(changing) > seen:
                seen = len(changing)
                last = f"; the last changed {changing[-1].changed}" if changing else ""
                text = f"the database alone: {seen} of {self.demo.live_runs} runs that changed something{last}"
                self.demo.watcher.doing(text, seen, self.demo.live_runs)
            if len(changing) >= self.demo.live_runs and {run.job for run in runs} >= SHOWN_JOBS:
                return runs
            if time.monotonic() > deadline:
                if not changing:
                    raise self._too_few(0)
                # What was seen so far is worth its report: the machine is slow, not the demonstration wrong.
                waiting = ", ".join(sorted(SHOWN_JOBS - {run.job for run in runs}))
                self.demo.watcher.say(
                    f"the database made {seen} of {self.demo.live_runs} runs that changed something within "
                    f"{self.demo.live_seconds:.0f} s{f', and none of {waiting}' if waiting else ''}; "
                    "this machine is busy, and the report is of what there is"
                )
                return runs
            time.sleep(_POLL_SECONDS)

    def _too_few(self, runs: int) -> JochiError:
        jobs = "\n".join(
            f"    {job.name}: last {job.last_status or 'never'}, next start {job.next_start}, "
            f"waits for {job.waits_for or 'nothing'}, failures {job.failures}"
            + (f", error: {job.last_error}" if job.last_error else "")
            for job in self.client.jobs()
        )
        return JochiError(
            f"the database made {runs} of {self.demo.live_runs} runs that changed something within "
            f"{self.demo.live_seconds:.0f} s; `jochi jobs ls` says:\n{jobs}",
            where=f"local server {INSTANCE!r}",
            fix=f"jochi server logs --name {INSTANCE}; on a very busy machine try again later",
        )

    def _breaker(self, live: int) -> dict[str, int]:
        found = {"replay": self.stopped_by_breaker, "database": live}
        return {who: n for who, n in found.items() if n}


@dataclass(frozen=True)
class _Live:
    """What the live part came to. ``begun_at``: when what was held back came in."""

    begun_at: datetime
    written: int
    relationships: int
    begun_with: TierReport
    plan: Plan
    applied: Applied
    armed_at: datetime
    until: datetime
    runs: tuple[LiveRun, ...]
    stopped_by_breaker: int
    embeddings: Embeddings | None


def _every(step: timedelta, start: datetime, end: datetime) -> Iterator[datetime]:
    """The moments of the replay."""
    while start <= end:
        yield start
        start += step


def _tally_name(rule: str) -> str:
    """What a run counts a rule under."""
    return "rule_" + rule.replace(".", "_")


def step_of(span: timedelta) -> timedelta:
    """How far the replay moves its clock at a time: whole hours, so that a long history takes about `STEPS` steps."""
    hours = -(-span // (STEPS * timedelta(hours=1)))
    return max(SHORTEST_STEP, timedelta(hours=hours))
