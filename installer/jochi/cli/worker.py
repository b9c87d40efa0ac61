"""`jochi worker`: does what the database can't, and says how much of it is left."""

from __future__ import annotations

import logging
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from time import monotonic
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any, Literal, TextIO

import typer

from jochi.cli.arguments import PROVIDERS
from jochi.cli.connection import jochi
from jochi.cli.context import taken_in
from jochi.cli.output import err, out, some
from jochi.client import Jochi
from jochi.errors import JochiError, PartlyDone, UsageError
from jochi.operate.metrics import Metrics, why_not_ready
from jochi.operate.metrics_server import KEPT, Server, address

if TYPE_CHECKING:
    from jochi.context.writer import Outcome
    from jochi_workers.context_files import Files
    from jochi_workers.handler import Handler
    from jochi_workers.worker import Progress, Stop, Worker

_REPORT_EVERY = 10.0  # seconds between two lines of progress where there is no terminal


def worker(
    context: typer.Context,
    provider: Annotated[str | None, typer.Option(help=f"Embed, too, with {PROVIDERS}.")] = None,
    model: Annotated[
        str | None, typer.Option(help="The model of the provider. It must be the one in the policy.")
    ] = None,
    base_url: Annotated[str | None, typer.Option(help="Address of an OpenAI-compatible endpoint.")] = None,
    key_variable: Annotated[str | None, typer.Option(help="Environment variable that holds its key.")] = None,
    key_file: Annotated[Path | None, typer.Option(help="File that holds its key.")] = None,
    dimensions: Annotated[int | None, typer.Option(min=1, help="Ask the endpoint for vectors of this length.")] = None,
    requests_per_minute: Annotated[int | None, typer.Option(min=1, help="Requests to the endpoint at most.")] = None,
    tokens_per_minute: Annotated[
        int | None, typer.Option(min=1, help="Tokens that are sent to the endpoint at most.")
    ] = None,
    download: Annotated[bool, typer.Option("--download", help="Let sentence-transformers download a model.")] = False,
    device: Annotated[str | None, typer.Option(help="Device for sentence-transformers: cpu, cuda, mps.")] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Cores for minilm and e5.")] = None,
    compress: Annotated[
        str,
        typer.Option(help="Who makes texts: extractive, anthropic or openai. none leaves that to other workers."),
    ] = "extractive",
    compress_model: Annotated[str | None, typer.Option(help="Model that shortens.")] = None,
    compress_base_url: Annotated[str | None, typer.Option(help="Address of its endpoint.")] = None,
    compress_key_variable: Annotated[str | None, typer.Option(help="Environment variable that holds its key.")] = None,
    compress_key_file: Annotated[Path | None, typer.Option(help="File that holds its key.")] = None,
    contexts: Annotated[
        Path | None, typer.Option(help="A table of MEMORY.md files that it keeps up to date (TOML).")
    ] = None,
    mirror: Annotated[
        Path | None, typer.Option(help="A table of folders with files of memories that it keeps up to date (TOML).")
    ] = None,
    heartbeats: Annotated[
        Path | None, typer.Option(help="A table of HEARTBEAT.md files that it keeps up to date (TOML).")
    ] = None,
    arm: Annotated[
        bool, typer.Option("--arm", help="Only keep the jobs of the database armed, and do nothing else.")
    ] = False,
    once: Annotated[bool, typer.Option("--once", help="End when nothing is due.")] = False,
    batch: Annotated[int, typer.Option(min=1, max=1000, help="Memories leased at once.")] = 200,
    interval: Annotated[float, typer.Option(min=0.1, help="Seconds between looks at an empty queue.")] = 5.0,
    limit_rate: Annotated[float | None, typer.Option(min=0.01, help="Embeddings a second at most.")] = None,
    metrics: Annotated[
        str | None, typer.Option(help="Serve /metrics, /healthz and /readyz of this process at [HOST:]PORT.")
    ] = None,
    log_format: Annotated[
        Literal["json", "text"] | None,
        typer.Option(help="Write a line a batch to standard output, and nothing else: for what collects logs."),
    ] = None,
) -> None:
    """Do what a database can't: count tokens, hash contents, judge near duplicates, embed and shorten. Works until Ctrl-C.

    Any number of workers may run at once, on any machine. What one holds when it dies comes back after `work.lease` of
    the policy. Each also arms the jobs of the database again when a restart, a pause or somebody has ended them; with --arm it
    does only that."""
    given: dict[str, Any] = {
        "base_url": base_url,
        "key_variable": key_variable,
        "key_file": key_file,
        "dimensions": dimensions,
        "requests_per_minute": requests_per_minute,
        "tokens_per_minute": tokens_per_minute,
        "download": download or None,
        "device": device,
        "threads": threads,
    }
    options = {name: value for name, value in given.items() if value is not None}
    if provider is None and (model or options or limit_rate):
        raise UsageError("options of a provider, --model and --limit-rate go with --provider")
    if arm and (provider or contexts or mirror or heartbeats or compress != "extractive"):
        raise UsageError(
            "a worker with --arm does nothing else", fix="leave --arm out: every worker keeps the jobs armed"
        )
    from jochi_workers import context_files, heartbeat_files, mirrors
    from jochi_workers.job_armer import JobArmer, require_armable
    from jochi_workers.sign_of_life import SignOfLife
    from jochi_workers.worker import Stop, Worker

    tables = (
        () if contexts is None else context_files.read_table(contexts),
        () if mirror is None else mirrors.read_table(mirror),
        () if heartbeats is None else heartbeat_files.read_table(heartbeats),
    )
    stop = Stop()
    at = None if metrics is None else address(metrics)
    with jochi(context) as client, _stopped_by_signals(stop):
        every = client.policy.policy.scheduler.watch_every
        if arm:
            require_armable(client.engine)
            seconds = f"{every.total_seconds():g} s"
            err.print(
                f"jobs: looked at every {seconds}, and armed where they aren't; nothing else is done", markup=False
            )
        handlers = [] if arm else _handlers(client, stop, provider, model, options)
        shortening = {
            "model": compress_model,
            "base_url": compress_base_url,
            "key_variable": compress_key_variable,
            "key_file": compress_key_file,
        }
        handlers += [] if arm else making(client, stop, compress, shortening)
        with _shown() if log_format is None else logged(log_format) as show:
            tell = _tell if log_format is None else None
            files: list[context_files.Files] = (
                [context_files.ContextFiles(tables[0], client.write_context, taken_in=tell)] if contexts else []
            )
            files += [mirrors.Mirrors(tables[1], client.write_mirror)] if mirror else []
            files += [heartbeat_files.HeartbeatFiles(tables[2], client.heartbeat.sync)] if heartbeats else []
            files.append(JobArmer(client.engine, every))
            running = Worker(
                client.engine,
                handlers,
                batch=batch,
                interval=interval,
                rates={} if limit_rate is None else {"embed": limit_rate},
                files=files,
                stop=stop,
                on_progress=show,
            )
            with ExitStack() as beside:
                if at is not None:
                    beside.enter_context(_served(client, running, files, at))
                if not once:
                    names = [handler.name for handler in handlers]
                    failing = partial(_failing, files)
                    beside.enter_context(SignOfLife(client.database, names, failing=failing))
                running.run(once=once)
    for line in _lines(running.progress) if log_format is None else ():
        out.print(line, markup=False)
    standing = sum(len(each.failed) for each in files if each.on_disk)
    if once and standing:
        raise PartlyDone(
            f"{some(standing, 'file stands', 'files stand')} still",
            fix="`jochi inbox` names them, and the lines above say why and what to do",
        )
    if stop.asked():
        err.print("stopped; what wasn't done has been given back")


def _tell(file: Path, edit: Outcome) -> None:
    err.print(f"{file}: {taken_in(edit)}", markup=False)


def _failing(files: Sequence[Files]) -> list[str]:
    """What can't be written at the moment, such as context: a full disk, or no right."""
    return [each.name for each in files if each.on_disk and each.failed]


def _served(client: Jochi, running: Worker, files: Sequence[Files], at: tuple[str, int]) -> Server:
    """The worker's own metrics; ready is who reaches a database whose engine works."""
    from jochi_workers.metrics import WorkerMetrics

    counted = WorkerMetrics(running.progress, files)
    running.on_batch = counted.took
    # A client of its own: what it has read of the engine is read by another thread.
    database = Metrics(Jochi(client.database.driver, client.database.name), keep=KEPT)
    server = Server(counted.registry, lambda: why_not_ready(database), *at)
    err.print(f"metrics: http://{server.host}:{server.port}/metrics", markup=False)
    return server


def _handlers(
    client: Jochi, stop: Stop, provider: str | None, model: str | None, options: Mapping[str, Any]
) -> list[Handler]:
    from jochi_workers.guard import GUARD_VERSION
    from jochi_workers.judge import JudgeHandler
    from jochi_workers.prepare import PrepareHandler
    from jochi_workers.resolve import ResolveHandler

    prepare, judge = PrepareHandler(stopping=stop.asked), JudgeHandler(stopping=stop.asked)
    err.print(f"prepare: content hashes, tokens by {prepare.counter.name}", markup=False)
    err.print(f"judge: near duplicates, guard {GUARD_VERSION}", markup=False)
    handlers: list[Handler] = [prepare, judge]
    if client.policy.policy.resolved_labels():
        try:
            handlers.append(ResolveHandler(stopping=stop.asked))
            err.print("resolve: names of people, concepts and entities", markup=False)
        except JochiError as error:  # this machine lacks it: all else goes on
            err.print(f"resolve: {error.what}; {error.fix}", markup=False)
    if provider is None:
        return handlers
    from jochi_workers.embeddings.handler import with_provider

    policy = client.policy.policy.embedding
    if not policy.enabled:
        raise UsageError("embeddings are switched off in the policy", fix="set embedding.enabled = true and install")
    embed = with_provider(provider, model, policy, stopping=stop.asked, **options)
    err.print(f"embed: {policy.model} by {provider}", markup=False)
    return [*handlers, embed]


def making(
    client: Jochi, stop: Stop, name: str, options: Mapping[str, Any], *, only: str | None = None
) -> list[Handler]:
    """The handlers that make texts, by the provider ``name``: compression and the derivations that the policy switches on.

    ``only``: the one that is asked for.
    """
    given = {option: value for option, value in options.items() if value is not None}
    if name == "none":
        if given:
            raise UsageError("options of a provider don't go with --compress none", fix="leave them out")
        return []
    from jochi.text.tokens import best_counter
    from jochi_workers.derive import derivation
    from jochi_workers.derive.compress import CompressHandler, language_model
    from jochi_workers.derive.compress import provider as summaries
    from jochi_workers.derive.derivation import ModelMaker, OfflineMaker
    from jochi_workers.derive.handler import DeriveHandler
    from jochi_workers.models.timing import interruptible

    policy = client.policy.policy
    counter, prompts = best_counter(), policy.work.prompts
    given |= {"lease": policy.work.lease, "waiting": interruptible(stop.asked)}
    made = summaries(name, counter=counter, prompts=prompts, **given)
    names = [each for each, derived in policy.derive.items() if derived.deriving]
    if not policy.compression.compressing and not names and name != "extractive":
        raise UsageError(
            "nothing makes texts: compression and all derivations are switched off in the policy",
            fix="set compression.compressing = true, or deriving = true of a derivation, and install",
        )
    about = "" if made.model is None else f" {made.model}"
    handlers: list[Handler] = []
    if policy.compression.compressing and only in (None, "compress"):
        err.print(f"compress: long memories of the archive, by {made.name}{about}", markup=False)
        handlers.append(CompressHandler(made, policy.compression, counter, stopping=stop.asked))
    for each in names if only is None else [each for each in names if each == only]:
        try:
            found = derivation(each)
        except UsageError as error:  # this machine lacks it: all else goes on
            err.print(f"{each}: {error.what}; {error.fix}", markup=False)
            continue
        model = language_model(name, **given)
        numbers = policy.derive[each].numbers
        by_model = partial(
            ModelMaker,
            found,
            prompt=found.prompt(prompts),
            together=found.batch_prompt(prompts),
            at_once=int(numbers.get("together", 1)),
        )
        maker = OfflineMaker(found, counter) if model is None else by_model(model)
        little = None if model is None else policy.derive[each].small_model
        small = language_model(name, **{**given, "model": little}) if little else None
        of_few = None if small is None else by_model(small)
        who = "without a model" if model is None else f"by {maker.name}{about}"
        err.print(f"{each}: {who}{f', what is little by {little}' if little else ''}", markup=False)
        room = int(numbers.get("together_tokens", 0))
        handlers.append(DeriveHandler(found, maker, counter, small=of_few, room=room, stopping=stop.asked))
    return handlers


@contextmanager
def _stopped_by_signals(stop: Stop) -> Iterator[None]:
    """The first Ctrl-C or SIGTERM asks the worker to end; a second one ends it on the spot."""

    def asked(_number: int, _frame: FrameType | None) -> None:
        if stop.asked():
            raise KeyboardInterrupt
        stop.now()

    before = {number: signal.signal(number, asked) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _shown() -> Iterator[Callable[[Mapping[str, Progress]], None]]:
    """One line that is kept up to date on a terminal; elsewhere a line now and then."""
    if err.is_terminal:
        with err.status("looking for work") as line:
            yield lambda progress: line.update("  ".join(_lines(progress)))
        return
    last = monotonic()

    def print_now_and_then(progress: Mapping[str, Progress]) -> None:
        nonlocal last
        if monotonic() - last >= _REPORT_EVERY:
            last = monotonic()
            for line in _lines(progress):
                err.print(line, markup=False)

    yield print_now_and_then


class _Handler(logging.StreamHandler[TextIO]):
    def handleError(self, record: logging.LogRecord) -> None:
        """Nobody reads the log: the work goes on all the same."""


@contextmanager
def logged(form: Literal["json", "text"]) -> Iterator[Callable[[Mapping[str, Progress]], None]]:
    """The lines of the logger `jochi.worker` on standard output; progress isn't shown besides."""
    from jochi.operate.run_lines import LineFormatter

    handler, lines = _Handler(sys.stdout), logging.getLogger("jochi.worker")
    handler.setFormatter(LineFormatter(as_json=form == "json"))
    before = lines.level, lines.propagate
    lines.addHandler(handler)
    lines.setLevel(logging.INFO)
    lines.propagate = False
    try:
        yield lambda _progress: None
    finally:
        lines.removeHandler(handler)
        lines.setLevel(before[0])
        lines.propagate = before[1]


def _lines(progress: Mapping[str, Progress]) -> list[str]:
    # Of the database's own jobs there is something to say only where somebody disturbed them.
    return [f"{name}: {_sentence(of)}" for name, of in progress.items() if name != "jobs" or of.done or of.note]


def _sentence(of: Progress) -> str:
    parts = [f"{of.done:,} done"]
    beside = {
        "duplicates": of.duplicates,
        "outdated": of.outdated,
        "without need": of.dropped,
        "failed": of.failed,
        "put aside": of.quarantined,
    }
    parts += [f"{count:,} {word}" for word, count in beside.items() if count]
    parts += [f"{count:,} rejected: {reason}" for reason, count in sorted(of.reasons.items())]
    if of.tokens_in or of.tokens_out:
        parts.append(f"{of.tokens_in:,} tokens sent, {of.tokens_out:,} received")
    return ", ".join(parts) + (f" ({of.note})" if of.note else "")
