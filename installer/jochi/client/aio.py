"""`AsyncJochi`: the verbs of `Jochi` for a program with an event loop. Each is the same function, run in a thread: arguments,
results and docstrings stand there alone (docs/how-to/use-from-async-code.md).

>>> from neo4j import GraphDatabase
>>> from jochi import AsyncJochi
>>> driver = GraphDatabase.driver(uri, auth=(user, password))  # doctest: +SKIP
>>> async with AsyncJochi(driver) as jochi:  # doctest: +SKIP
...     print(await jochi.recall("where does Ann live?"))
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import wraps
from threading import Event
from typing import Any, Concatenate, ParamSpec, TypeVar

import neo4j

from jochi.client.client import Jochi
from jochi.database.database import STOP
from jochi.errors import UsageError
from jochi.heartbeat import Heartbeat
from jochi.policy import LoadedPolicy
from jochi.store import Items

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

THREADS = 16
"""So many verbs of one client run at once, and so many connections it uses at most; the driver's own limit is 100."""


class Threads:
    """The threads of one client. What is more than they are waits, in order, and holds no connection."""

    def __init__(self, size: int) -> None:
        if not isinstance(size, int) or size < 1:
            raise UsageError("threads is a whole number from 1", where="AsyncJochi", fix=f"such as {THREADS}")
        self._pool = ThreadPoolExecutor(size, thread_name_prefix="jochi")
        self._open = True

    async def call(self, work: Callable[[], R]) -> R:
        """``work`` in a thread. Cancelled, it ends after the transaction under way (`jochi.database.database.STOP`), and only then
        does this: nothing of it goes on behind its caller's back. What has not begun doesn't begin."""
        if not self._open:
            raise UsageError("this client is closed", where="AsyncJochi", fix="make another one")
        stop, context = Event(), copy_context()
        context.run(STOP.set, stop)
        running = self._pool.submit(context.run, work)
        waiting = asyncio.wrap_future(running)
        try:
            return await asyncio.shield(waiting)
        except asyncio.CancelledError:
            if not running.cancel():
                stop.set()
                while not waiting.done():
                    try:
                        await asyncio.wait([waiting])
                    except asyncio.CancelledError:  # cancelled once more
                        continue
                waiting.exception()  # it was given up with its outcome
            raise

    async def close(self) -> None:
        """Waits for what runs; then no verb runs any more."""
        self._open = False
        await asyncio.to_thread(self._pool.shutdown)


class AsyncVerbs:
    """Verbs of ``subject``, which is asked for in a thread as well."""

    def __init__(self, subject: Callable[[], Any], threads: Threads) -> None:
        self._subject = subject
        self._threads = threads

    async def _call(self, verb: Callable[..., R], *args: Any, **kwargs: Any) -> R:
        _check(verb, *args, *kwargs.values())
        return await self._threads.call(lambda: verb(self._subject(), *args, **kwargs))


def _check(verb: Callable[..., object], *given: object) -> None:
    """A thread can neither await what it calls nor read what comes asynchronously."""
    for each in given:
        asynchronous = inspect.iscoroutinefunction(each) or inspect.iscoroutinefunction(type(each).__call__)
        if asynchronous or hasattr(each, "__aiter__"):
            what = "function that is called" if asynchronous else "source that is read"
            raise UsageError(
                f"a {what} in a verb's thread can't be asynchronous",
                where=verb.__name__,
                fix="give a plain function: `asyncio.run_coroutine_threadsafe(…, loop).result()` awaits in it"
                if asynchronous
                else "collect it first: `[each async for each in …]`",
            )


def awaitable(verb: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[AsyncVerbs, P], Coroutine[Any, Any, R]]:
    """The same verb, to be awaited."""

    @wraps(verb)
    async def method(self: AsyncVerbs, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await self._call(verb, *args, **kwargs)

    return method


def asynchronous(
    verb: Callable[Concatenate[Any, P], R], of: Callable[[Callable[[], R], Threads], T]
) -> Callable[Concatenate[AsyncVerbs, P], Coroutine[Any, Any, T]]:
    """The same verb, to be awaited, whose result has verbs to be awaited: ``of`` makes it."""

    @wraps(verb)
    async def method(self: AsyncVerbs, /, *args: P.args, **kwargs: P.kwargs) -> T:
        found = await self._call(verb, *args, **kwargs)
        return of(lambda: found, self._threads)

    return method


def iterable(
    verb: Callable[Concatenate[Any, P], Iterator[R]],
) -> Callable[Concatenate[AsyncVerbs, P], AsyncIterator[R]]:
    """The same verb, for `async for`: each page is read in a thread when its turn comes."""

    @wraps(verb)
    async def method(self: AsyncVerbs, /, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[R]:
        found, end = await self._call(verb, *args, **kwargs), object()
        while (each := await self._threads.call(lambda: next(found, end))) is not end:
            yield each  # type: ignore[misc]

    return method


class AsyncItems(AsyncVerbs):
    """`jochi.store.Items`, its verbs to be awaited."""

    put = awaitable(Items.put)
    put_all = awaitable(Items.put_all)
    get = awaitable(Items.get)
    search = awaitable(Items.search)
    delete = awaitable(Items.delete)
    namespaces = awaitable(Items.namespaces)


class AsyncHeartbeat(AsyncVerbs):
    """`jochi.heartbeat.Heartbeat`, its verbs to be awaited."""

    add = awaitable(Heartbeat.add)
    add_all = awaitable(Heartbeat.add_all)
    pause = awaitable(Heartbeat.pause)
    resume = awaitable(Heartbeat.resume)
    task = awaitable(Heartbeat.task)
    ls = iterable(Heartbeat.ls)
    start = awaitable(Heartbeat.start)
    due = awaitable(Heartbeat.due)
    load = awaitable(Heartbeat.load)
    done = awaitable(Heartbeat.done)
    failed = awaitable(Heartbeat.failed)
    sync = awaitable(Heartbeat.sync)
    replace = awaitable(Heartbeat.replace)


class AsyncJochi(AsyncVerbs):
    """Memory curation in one database, each verb of `Jochi` to be awaited: the same arguments, results and errors.

    ``driver`` is neo4j's, not its AsyncDriver; it stays the caller's, who closes it. ``threads``: so many verbs run at once, each
    on one connection; the others wait. Functions that a verb is given (``on_page``, ``embed``) are called in its thread.

    A task that is cancelled or runs out of time while it awaits a verb goes on when the transaction under way is over, committed or
    rolled back as a whole; no further one begins, and what has not begun doesn't. So the same verb can be called again.
    """

    def __init__(
        self,
        driver: neo4j.Driver,
        database: str | None = None,
        *,
        policy: LoadedPolicy | None = None,
        threads: int = THREADS,
    ) -> None:
        if isinstance(driver, neo4j.AsyncDriver):
            raise UsageError(
                "the driver is an AsyncDriver", where="AsyncJochi", fix="give it one of `neo4j.GraphDatabase.driver(…)`"
            )
        self._jochi = Jochi(driver, database, policy=policy)
        super().__init__(lambda: self._jochi, Threads(threads))

    async def __aenter__(self) -> AsyncJochi:
        return self

    async def __aexit__(self, *failure: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Waits for the verbs that run, and gives the threads back. The driver stays open."""
        await self._threads.close()

    @property
    def policy(self) -> Coroutine[Any, Any, LoadedPolicy]:
        """The policy that was given, else the installed one, else the shipped one: `await jochi.policy`."""
        return self._threads.call(lambda: self._jochi.policy)

    @property
    def heartbeat(self) -> AsyncHeartbeat:
        """Tasks of agents, with definitions in the graph: `await jochi.heartbeat.add(…)`."""
        return AsyncHeartbeat(lambda: self._jochi.heartbeat, self._threads)

    # jochi.client.actions
    may_act = awaitable(Jochi.may_act)
    report_action = awaitable(Jochi.report_action)
    add_actions = awaitable(Jochi.add_actions)
    actions = awaitable(Jochi.actions)
    guidelines = awaitable(Jochi.guidelines)

    # jochi.client.agents
    items = asynchronous(Jochi.items, AsyncItems)
    migrate_heartbeat = awaitable(Jochi.migrate_heartbeat)
    observe = awaitable(Jochi.observe)
    flush = awaitable(Jochi.flush)
    doubts = awaitable(Jochi.doubts)
    decide_doubts = awaitable(Jochi.decide_doubts)

    # jochi.client.forget
    candidates = awaitable(Jochi.candidates)
    read_request = awaitable(Jochi.read_request)
    plan_forgetting = awaitable(Jochi.plan_forgetting)
    forget = awaitable(Jochi.forget)
    verify_forgotten = awaitable(Jochi.verify_forgotten)
    allow_again = awaitable(Jochi.allow_again)
    export_receipts = awaitable(Jochi.export_receipts)
    import_receipts = awaitable(Jochi.import_receipts)
    requests_of_export = awaitable(Jochi.requests_of_export)
    receipts = awaitable(Jochi.receipts)

    # jochi.client.undo
    restore = awaitable(Jochi.restore)
    undo = awaitable(Jochi.undo)
    unmerge = awaitable(Jochi.unmerge)
    decompress = awaitable(Jochi.decompress)

    # jochi.client.context
    context = awaitable(Jochi.context)
    write_context = awaitable(Jochi.write_context)
    migrate_context = awaitable(Jochi.migrate_context)
    context_diff = awaitable(Jochi.context_diff)
    contexts = awaitable(Jochi.contexts)
    context_metrics = awaitable(Jochi.context_metrics)
    drop_context = awaitable(Jochi.drop_context)

    # jochi.client.ingest
    ingest = awaitable(Jochi.ingest)
    take_source = awaitable(Jochi.take_source)
    sources = awaitable(Jochi.sources)
    source = awaitable(Jochi.source)

    # jochi.client.write
    remember = awaitable(Jochi.remember)
    supersede = awaitable(Jochi.supersede)
    history_of = awaitable(Jochi.history_of)
    plan_enrolment = awaitable(Jochi.plan_enrolment)
    enrol = awaitable(Jochi.enrol)
    disenrol = awaitable(Jochi.disenrol)

    # jochi.client.look
    status = awaitable(Jochi.status)
    tiers = awaitable(Jochi.tiers)
    pruned = awaitable(Jochi.pruned)
    hygiene = awaitable(Jochi.hygiene)
    edges = awaitable(Jochi.edges)
    explain = awaitable(Jochi.explain)
    score = awaitable(Jochi.score)
    improvable = awaitable(Jochi.improvable)

    # jochi.client.use
    recall = awaitable(Jochi.recall)
    box_contents = awaitable(Jochi.box_contents)
    explore = awaitable(Jochi.explore)
    drill_down = awaitable(Jochi.drill_down)
    levels = awaitable(Jochi.levels)
    originals = awaitable(Jochi.originals)
    topics = awaitable(Jochi.topics)
    touch = awaitable(Jochi.touch)
    salience = awaitable(Jochi.salience)
    reinforce = awaitable(Jochi.reinforce)
    edge_salience = awaitable(Jochi.edge_salience)

    # jochi.client.jobs
    jobs = awaitable(Jochi.jobs)
    inbox = awaitable(Jochi.inbox)
    dismiss = awaitable(Jochi.dismiss)
    metrics = awaitable(Jochi.metrics)
    history = awaitable(Jochi.history)
    runs = awaitable(Jochi.runs)
    audit_size = awaitable(Jochi.audit_size)
    run = awaitable(Jochi.run)
    run_due = awaitable(Jochi.run_due)
    pause = awaitable(Jochi.pause)
    resume = awaitable(Jochi.resume)
    mode = awaitable(Jochi.mode)
    pin_mode = awaitable(Jochi.pin_mode)

    # jochi.client.plan
    plan = awaitable(Jochi.plan)
    save_plan = awaitable(Jochi.save_plan)
    plans = awaitable(Jochi.plans)
    show_plan = awaitable(Jochi.show_plan)
    plan_entries = awaitable(Jochi.plan_entries)
    plan_budgets = awaitable(Jochi.plan_budgets)
    apply = awaitable(Jochi.apply)
    exclude = awaitable(Jochi.exclude)
    apply_plan = awaitable(Jochi.apply_plan)
    approve = awaitable(Jochi.approve)
    approve_run = awaitable(Jochi.approve_run)
    duplicates = awaitable(Jochi.duplicates)
    count_duplicates = awaitable(Jochi.count_duplicates)
    decide_duplicates = awaitable(Jochi.decide_duplicates)

    # jochi.client.install
    install = awaitable(Jochi.install)
    preview_install = awaitable(Jochi.preview_install)
    uninstall = awaitable(Jochi.uninstall)
    ensure_jobs = awaitable(Jochi.ensure_jobs)
    armed = awaitable(Jochi.armed)

    # jochi.client.mirror
    write_mirror = awaitable(Jochi.write_mirror)
    check_mirror = awaitable(Jochi.check_mirror)
