"""`jochi inbox`: all that waits for a person, in one list, each with the commands that decide it (docs/reference/inbox.md).

It reads. Counts stop at a limit, so they cost the same whatever is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import cached_property
from shlex import quote
from typing import TYPE_CHECKING, Any, Literal, get_args

from neo4j.exceptions import Neo4jError

from jochi.database.server_clock import ServerClock
from jochi.database.server_facts import ServerFacts, read_facts
from jochi.database.statements import statement
from jochi.errors import Refused, UsageError
from jochi.graph.driver_values import to_python
from jochi.jobs.arming import job_faults
from jochi.jobs.results import BROKEN_FROM
from jochi.operate.check import Level
from jochi.operate.checks_server import check_standstill
from jochi.operate.pump import check_pump
from jochi.operate.restart import ApocConfAt, restart_of, unread
from jochi.operate.waiting import switches, waiting

if TYPE_CHECKING:
    from jochi.client.jobs import JobVerbs

Kind = Literal[
    "pump",
    "guard",
    "go",
    "breaker",
    "pause",
    "job",
    "worker",
    "restart",
    "plan",
    "duplicate",
    "names",
    "forgetting",
    "replacement",
    "source",
    "work",
    "edit",
    "quarantined",
    "budget",
    "hygiene",
    "task",
]
KINDS: tuple[Kind, ...] = get_args(Kind)

STOPPING = frozenset[Kind]({"pump", "guard", "go", "breaker", "pause", "job", "worker", "restart"})
"""What keeps the engine, or a part of it, from working: these come first."""

MOST = 1_000
"""Of each kind so many are counted; "1,000+" means that there are more."""

_OF_NODES = frozenset[Kind]({"pump", "guard", "go", "breaker", "pause", "job", "restart"})
"""What the pump's own node and the jobs' say."""

_READ_APART: Mapping[str, frozenset[Kind]] = {
    "report/inbox_pairs": frozenset({"duplicate", "names", "replacement"}),
    "report/inbox_work": frozenset({"source", "work"}),
}
"""By procedure; the rest is in `report/inbox`. One text of all would be planned for seconds."""


@dataclass(frozen=True)
class Command:
    """A line for a shell, and what it does: `look`, which changes nothing, or the decision in a word or two."""

    does: str
    line: str


@dataclass(frozen=True)
class Item:
    """Something that waits. ``what`` is one sentence; ``since`` None: nobody noted when it began.

    ``key`` names it (a memory, a plan, a job, a worker), ``other`` the second memory of a pair. ``texts``: what these memories
    say now.
    """

    kind: Kind
    what: str
    since: datetime | None
    commands: tuple[Command, ...]
    key: str | None = None
    other: str | None = None
    run: str | None = None
    texts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Inbox:
    """``items``: what stops the engine first, then the oldest. ``counts``: by kind, those that there are, at most ``most`` of each:
    a kind in ``more`` has others."""

    at: datetime
    items: tuple[Item, ...]
    counts: Mapping[Kind, int]
    most: int = MOST
    more: frozenset[Kind] = frozenset()

    @property
    def size(self) -> int:
        """How many things wait, as far as they were counted."""
        return sum(self.counts.values())

    @property
    def amount(self) -> str:
        """The same for a person: 1,002+ where there are more than were counted."""
        return f"{self.size:,}{'+' if self.more else ''}"

    @property
    def sentence(self) -> str:
        """Such as: 1,002+ things wait for you."""
        if not self.counts:
            return "nothing waits for you"
        return f"{self.amount} {'thing waits' if self.size == 1 else 'things wait'} for you"


def inbox(
    client: JobVerbs,
    *,
    limit: int = 20,
    kinds: Sequence[str] | None = None,
    apoc_conf_at: ApocConfAt = unread,
    facts: ServerFacts | None = None,
) -> Inbox:
    """What waits for a person in this database. ``limit``: items of each kind, the oldest (0: only counts); ``kinds``: only these.

    `UsageError` for a kind that there is none of; `Refused` where jochi isn't installed. ``apoc_conf_at`` as for `examine`;
    ``facts`` of the server, where they are known already.
    """
    asked: frozenset[Kind] = frozenset(KINDS if kinds is None else [_kind(each) for each in kinds])
    most = max(MOST, limit)
    now = ServerClock(client.database).now().astimezone(timezone.utc)
    given = {"now": now, "pump": client.engine.pump, "kinds": sorted(asked), "most": most + 1, "limit": limit}
    row = to_python(client.engine.call("report/inbox", given, write=False))
    reading = _Reading(client, row["pump"] or {}, row["pauses"], now, apoc_conf_at, facts)
    rows: dict[str, Any] = dict(row["found"])
    for name, kinds_of in _READ_APART.items():
        if asked & kinds_of:
            rows |= to_python(client.engine.call(name, given, write=False))["found"]
    counts: dict[Kind, int] = {}
    items: list[Item] = []
    for kind in KINDS:
        if kind not in asked:
            continue
        if kind in _OF_NODES:
            found = list(reading.of(kind))
            counts[kind] = len(found)
        else:
            those = rows.get(kind) or {"n": 0, "items": []}
            counts[kind] = those["n"]
            found = [_item(kind, each) for each in those["items"]]
        items += sorted(found, key=_age)[:limit]
    items.sort(key=lambda item: (item.kind not in STOPPING, *_age(item)))
    more = frozenset(kind for kind, n in counts.items() if n > most)
    return Inbox(now, tuple(items), {kind: min(n, most) for kind, n in counts.items() if n}, most, more)


def _kind(name: str) -> Kind:
    if name not in KINDS:
        raise UsageError(f"there is no kind {name!r} of what waits", fix=f"one of: {', '.join(KINDS)}")
    return name


def _age(item: Item) -> tuple[bool, float]:
    """The oldest first; what nobody knows the age of before."""
    return (item.since is not None, 0.0 if item.since is None else item.since.timestamp())


class _Reading:
    """What the pump's node and the jobs' say, each read when it is asked for."""

    def __init__(
        self,
        client: JobVerbs,
        pump: Mapping[str, Any],
        pauses: Sequence[Mapping[str, Any]],
        now: datetime,
        apoc_conf_at: ApocConfAt,
        facts: ServerFacts | None,
    ) -> None:
        self._client, self._pump, self._pauses, self._now, self._apoc_conf_at = client, pump, pauses, now, apoc_conf_at
        self._known = facts
        self._jobs = client.jobs()
        self._waits = waiting(pump, self._jobs)

    def of(self, kind: Kind) -> Iterator[Item]:
        made: Iterator[Item] = getattr(self, kind)()
        return made

    @cached_property
    def _facts(self) -> ServerFacts:
        return self._known or read_facts(self._client.database)

    def go(self) -> Iterator[Item]:
        for wait in (each for each in self._waits if each.verb == "apply"):
            what = f"{wait.why}, so these jobs only plan: {', '.join(wait.jobs) or 'none'}"
            since = self._pump.get("waits_since") or self._pump.get("installed_at")
            yield Item("go", what, since, (_look("plan"), _does("go", "apply")))

    def guard(self) -> Iterator[Item]:
        for wait in (each for each in self._waits if each.verb == "approve"):
            commands = (_look("doctor", "--no-probe"), _does("go on", "approve"))
            yield Item("guard", f"the gap guard has stopped destructive jobs: {wait.why}", wait.since, commands)

    def breaker(self) -> Iterator[Item]:
        for wait in (each for each in self._waits if each.verb.startswith("approve ")):
            run = wait.verb.removeprefix("approve ")
            (job,) = wait.jobs
            commands = (_look("runs", "show", run), _does("let it go on", "approve", run))
            yield Item("breaker", f"the circuit breaker stopped {job}: {wait.why}", wait.since, commands, job, run=run)

    def pause(self) -> Iterator[Item]:
        for switch in switches(self._pump, self._jobs, self._pauses):
            words = {"all": ("resume", "--all"), "job": ("jobs", "resume", switch.name)}
            resume = words.get(switch.what, ("resume", f"--{switch.what}={switch.name}"))
            name = "everything" if switch.what == "all" else f"{switch.what} {switch.name}"
            what = f"{name} is paused by {switch.by or 'somebody'}"
            yield Item("pause", what, switch.since, (_look("status"), _does("resume", *resume)), switch.name or None)

    def job(self) -> Iterator[Item]:
        for job in self._jobs:
            if job.failures >= BROKEN_FROM:
                yield Item(
                    "job",
                    f"{job.name} failed {job.failures} times in a row: {_short(job.last_error or 'no error was kept')}",
                    job.last_finished_at,
                    (_look("jobs", "history", job.name), _does("run it now", "jobs", "run", job.name)),
                    job.name,
                )

    def pump(self) -> Iterator[Item]:
        if not self._pump.get("armed"):  # nobody wants it to be: jobs are driven from outside
            return
        if standstill := check_standstill(self._facts, self._client.database.name):
            what = f"{standstill.found}; {standstill.fix}"
            yield Item("pump", what, self._pump.get("last_tick"), (_look("doctor", "--no-probe"),))
            return
        try:
            faults = job_faults(self._client.engine)
        except (Refused, Neo4jError):
            faults = None
        stall_after = self._client.policy.policy.scheduler.stall_after
        found = check_pump(self._pump, faults, self._now, stall_after)
        if found.level is Level.FAIL:
            commands = (_look("doctor", "--no-probe"), _does("arm", "jobs", "arm"))
            yield Item(
                "pump", f"the database doesn't curate itself: {found.found}", self._pump.get("last_tick"), commands
            )

    def restart(self) -> Iterator[Item]:
        if not self._pump.get("armed"):
            return
        try:
            started = to_python(self._client.database.run(statement("server/started_at"))[0]["started_at"])
        except Neo4jError:
            return
        found = restart_of(self._client.database, self._facts, self._pump, started, self._apoc_conf_at)
        if found.level in (Level.WARN, Level.FAIL):
            yield Item("restart", f"{found.found}; {found.fix}", started, (_look("doctor", "--no-probe"),))


def _item(kind: Kind, row: Mapping[str, Any]) -> Item:
    """From an entry of `report/inbox`."""
    what, commands = _MADE[kind](row)
    texts = tuple(_short(text) for text in (row.get("text"), row.get("other_text")) if text is not None)
    return Item(kind, what, row.get("since"), commands, row.get("key"), row.get("other"), row.get("run"), texts)


_Made = tuple[str, tuple[Command, ...]]


def _plan(row: Mapping[str, Any]) -> _Made:
    cut_off = row["why"] == "applying"
    state = "was cut off while it was applied" if cut_off else "waits to be applied"
    until = "" if cut_off else f"; it expires by itself at {row['until']:%Y-%m-%d %H:%M} UTC"
    what = f"the plan {row['key']} of {row['name']} for {_some(row['n'], 'memory', 'memories')} {state}{until}"
    return what, (_look("plan", "show", row["key"]), _does("apply", "plan", "apply", row["key"]))


def _duplicate(row: Mapping[str, Any]) -> _Made:
    key, other = row["key"], row["other"]
    apart = _does("keep apart", "duplicates", "--reject", key, other)
    if row["name"] == "held":
        what = f"{key} and {other} may merge, and something keeps them from it that doesn't end by itself: {row['why']}"
        return what, (_look("explain", *_given(key)), apart)
    what = f"{key} and {other} may be one, and the guard isn't sure: {row['why'] or 'it gave no reason'}"
    return what, (_look("explain", *_given(key)), _does("merge", "duplicates", "--approve", key, other), apart)


def _names(row: Mapping[str, Any]) -> _Made:
    key, other = row["key"], row["other"]
    return (
        f"{key} and {other} may be two names of one: {row['why']}",
        (
            _look("explain", *_given(key)),
            _does("merge", "duplicates", "--approve", key, other),
            _does("keep apart", "duplicates", "--reject", key, other),
        ),
    )


def _forgetting(row: Mapping[str, Any]) -> _Made:
    if "n" not in row:
        whole, stays = (
            _does("forget it", "forget", f"--id={row['key']}"),
            _does("it stays", "inbox", f"--dismiss={row['why']}"),
        )
        return f"{row['key']} says more than what was to be forgotten, so it stayed", (
            _look("explain", *_given(row["key"])),
            whole,
            stays,
        )
    what = f"a forgetting of {row['name']} was cut off: {_some(row['n'], 'memory', 'memories')} may be on record still"
    key = row["key"]
    return what, (_look("receipts"), *(() if key is None else (_does("finish it", "forget", f"--id={key}"),)))


def _edit(row: Mapping[str, Any]) -> _Made:
    given = (f"--scope={row['scope']}", f"--out={row['key']}", *(["--include-sensitive"] if row["sensitive"] else []))
    again, stays = (
        _does("try again", row["name"], "sync" if row["name"] == "heartbeat" else "write", *given),
        _does("dismiss", "inbox", f"--dismiss={row['why']}"),
    )
    if row["name"] != "mirror":
        look = (
            _look("context", "show", given[0], *given[2:])
            if row["name"] == "context"
            else _look("heartbeat", "ls", given[0])
        )
        why = row.get("reason") or "what was edited in it can't be taken in"
        return f"{row['key']} stands still: {why}; the next try says what to do", (look, again, stays)
    n = _some(row["n"], "file", "files")
    return f"{n} in {row['key']} can't be taken in; the next try says why", (
        _look("mirror", "check", *given),
        again,
        stays,
    )


def _replacement(row: Mapping[str, Any]) -> _Made:
    newer, older, scope = row["key"], row["other"], f"--scope={row['scope']}"
    return (
        f"{newer} was said later than {older} of the same thing, and it isn't sure that it takes its place",
        (
            _look("observe", "--doubts", scope),
            _does("it does", "observe", "--replaces", newer, older),
            _does("both hold", "observe", "--both-hold", newer, older),
        ),
    )


def _source(row: Mapping[str, Any]) -> _Made:
    look = _look("sources", "show", *_given(row["key"]))
    if "n" not in row:
        what = f"workers gave up on the source {row['key']} in {row['name']}: {row['why']}"
        return what, (look, _does("try again", "sources", "retry", *_given(row["key"])))
    n = _some(row["n"], "source has", "sources have")
    what = f"{n} waited for {row['name']} for more than a day, such as {row['key']}: {row['why']}"
    return what, (look, _does("work", "worker", "--once"))


def _work(row: Mapping[str, Any]) -> _Made:
    n = _some(row["n"], "piece", "pieces")
    return (
        f"workers gave up on {n} of {row['name']}, such as of {row['key']}: {row['why']}",
        (_look("derive", "ls"), _does("try again", "derive", "retry", *_given(row["name"]))),
    )


def _quarantined(row: Mapping[str, Any]) -> _Made:
    why = _short(row["why"] or "no error was kept")
    what = f"{row['key']} was put aside by {row['name']} until {row['until']:%Y-%m-%d %H:%M} UTC: {why}"
    return what, (_look("explain", *_given(row["key"])), _look("runs", "show", row["run"]))


def _budget(row: Mapping[str, Any]) -> _Made:
    what = f"what is pinned in scope {row['scope']} is {_some(row['n'], 'token', 'tokens')} above its budgets"
    return what, (_look("budgets", f"--scope={row['scope']}"),)


def _hygiene(row: Mapping[str, Any]) -> _Made:
    what = f"{_some(row['n'], 'memory has', 'memories have')} the fault {row['name']}, such as {row['key']}"
    return what, (_look("doctor", "--no-probe"), _does("look again", "jobs", "run", "hygiene", "--drain"))


def _worker(row: Mapping[str, Any]) -> _Made:
    if failing := row.get("failing"):
        what = f"the worker {row['key']} can't write files of {' and '.join(failing)}: no room, or no right. Its log says where"
        return what, (_look("derive", "ls"),)
    what = f"the worker {row['key']} ({row['name'] or 'nothing to work'}) has gone without a word"
    return what, (_look("derive", "ls"), _does("start one", "worker"))


def _task(row: Mapping[str, Any]) -> _Made:
    scope = f"--scope={row['scope']}"
    id = row["key"].partition("/")[2]
    return (
        f"the task {row['key']} failed {row['n']} times in a row: {_short(row['why'] or 'no error was kept')}",
        (_look("heartbeat", "ls", scope), _does("pause", "heartbeat", "pause", scope, *_given(id))),
    )


_MADE: Mapping[Kind, Callable[[Mapping[str, Any]], _Made]] = {
    "plan": _plan,
    "duplicate": _duplicate,
    "names": _names,
    "forgetting": _forgetting,
    "edit": _edit,
    "replacement": _replacement,
    "source": _source,
    "work": _work,
    "quarantined": _quarantined,
    "budget": _budget,
    "hygiene": _hygiene,
    "worker": _worker,
    "task": _task,
}

_LONGEST = 200


def _short(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= _LONGEST else plain[: _LONGEST - 1] + "…"


def _some(n: int, one: str, many: str) -> str:
    return f"{n:,} {one if n == 1 else many}"


def _look(*words: str) -> Command:
    return _does("look", *words)


def _does(does: str, *words: str) -> Command:
    """A line that a shell takes as it stands, whatever the words are."""
    return Command(does, line(*words))


def _given(*words: str) -> tuple[str, ...]:
    """As arguments, also where one begins as an option does."""
    return ("--", *words) if any(word.startswith("-") for word in words) else words


def line(*words: str) -> str:
    """A call of `jochi` for a shell."""
    return " ".join(("jochi", *map(_word, words)))


def _word(text: str) -> str:
    """As one word for a shell. What can't be printed is written as its code: a key can hold anything."""
    if text.isprintable():
        return quote(text)
    return "$'" + "".join(_code(c) for c in text) + "'"


def _code(c: str) -> str:
    if c in "\\'":
        return f"\\{c}"
    return c if c.isprintable() else "".join(f"\\x{byte:02x}" for byte in c.encode())
