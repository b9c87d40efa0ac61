"""`jochi metrics`: what is to be watched from outside, once, as a file, or served to Prometheus."""

from __future__ import annotations

import signal
from pathlib import Path
from threading import Event
from typing import Annotated

import typer
from prometheus_client import CollectorRegistry, generate_latest

from jochi.cli.connection import jochi, waiting_jochi
from jochi.cli.output import err
from jochi.errors import ConnectionFailed, UsageError
from jochi.files import write_atomically
from jochi.operate.metrics import MOST_SCOPES, Metrics, openmetrics, why_not_ready
from jochi.operate.metrics_server import KEPT, Server, address


def metrics(
    context: typer.Context,
    serve: Annotated[
        str | None, typer.Option(help="Serve /metrics, /healthz and /readyz at [HOST:]PORT until Ctrl-C.")
    ] = None,
    textfile: Annotated[
        Path | None, typer.Option(help="Write this file for node_exporter's textfile collector, such as jochi.prom.")
    ] = None,
    by_scope: Annotated[
        int,
        typer.Option(min=0, max=MOST_SCOPES, help="Show memories and tokens of so many of the largest scopes, too."),
    ] = 0,
) -> None:
    """Show what is to be watched from outside, as OpenMetrics text: memories, jobs, runs, workers, and what waits for a person.

    With --serve Prometheus fetches it: on loopback unless a host is named, and without a login of its own. Nothing that a
    memory says is in it."""
    if serve is not None and textfile is not None:
        raise UsageError("--serve and --textfile don't go together", fix="run one process for each")
    at = None if serve is None else address(serve)
    if at is None and textfile is None:
        with jochi(context) as client:
            typer.echo(openmetrics(client, by_scope=by_scope), nl=False)
        return
    # Also while the database is away: then that is what is to be seen.
    with waiting_jochi(context) as client:
        collector = Metrics(client, by_scope=by_scope, keep=0.0 if at is None else KEPT)
        registry = CollectorRegistry(auto_describe=False)
        registry.register(collector)
        if textfile is not None:
            write_atomically(textfile, generate_latest(registry).decode("utf-8"))
            if collector.fault is not None:
                raise ConnectionFailed(
                    collector.fault, fix="the file says jochi_up 0; `jochi doctor` looks for the cause"
                )
            return
        assert at is not None
        with Server(registry, lambda: why_not_ready(collector), *at) as server:
            err.print(f"http://{server.host}:{server.port}/metrics", markup=False)
            over = Event()
            signal.signal(signal.SIGTERM, lambda *_: over.set())  # the first process of a container has no other end
            over.wait()
