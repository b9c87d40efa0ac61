"""`jochi server …`: a local Neo4j for development and tests (extra `jochi[server]`)."""

from __future__ import annotations

import json
import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jochi.cli.asking import ask
from jochi.cli.progress import screen

if TYPE_CHECKING:
    from jochi.localserver import LocalServer, Running, Upgrade

app = typer.Typer(
    help="A local Neo4j with APOC: loopback only, with a password. A development default, not for production.",
    no_args_is_help=True,
)

_NOT_RUNNING = 4  # no connection to the database, as everywhere in Jochi
_FOLLOW_SECONDS = 0.5

Name = Annotated[str, typer.Option("--name", help="Which instance; each has its own data, port and password.")]


@contextmanager
def _server(name: str) -> Iterator[LocalServer]:
    from jochi.localserver import LocalServer

    with screen() as shown:
        yield LocalServer(name, report=shown)


@app.command()
def start(
    name: Name = "default",
    port: Annotated[int | None, typer.Option(help="Default: the last port if it is free, else any free port.")] = None,
    version: Annotated[
        str | None, typer.Option(help="Neo4j version. Default: the pinned one. 2025 and 2026 come without APOC.")
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(help="key=value for neo4j.conf (apoc.…: apoc.conf), for this start; `key=` drops a default."),
    ] = None,
    wait: Annotated[float, typer.Option(help="Longest time to wait for a ready server, in seconds.", min=1)] = 120.0,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Don't ask before a newer version upgrades the data.")
    ] = False,
) -> None:
    """Starts the instance and prints how to connect. An instance that already runs stays as it is.

    A newer --version upgrades the data, which nothing takes back; they are copied first, to an instance of their own.
    """
    with _server(name) as server:
        from jochi.localserver.conf import parse_settings

        settings = parse_settings(setting) if setting else None
        running = server.start(
            port,
            version=version,
            settings=settings,
            wait_seconds=wait,
            before_upgrade=lambda upgrade: ask(_question(upgrade), yes=yes),
        )
    for line in _how_to_connect(name, running):
        typer.echo(line)


def _question(upgrade: Upgrade) -> str:
    megabytes = max(1, upgrade.size // 1_000_000)
    return (
        f"Neo4j {upgrade.after} upgrades the data of the local server {upgrade.name!r}, and {upgrade.before} can't open "
        f"them afterwards. Copy them ({megabytes:,} MB) to the local server {upgrade.copy!r} and go on?"
    )


def _how_to_connect(name: str, running: Running) -> Iterator[str]:
    apoc = f"APOC {running.apoc}" if running.apoc else "no APOC"
    state = "is already running" if running.already_running else "is ready"
    yield f"Local server {name!r} {state}: Neo4j {running.version}, {apoc}, pid {running.pid}."
    if running.apoc is None:
        yield "There is no APOC for this version: jobs can't be armed here, the database won't curate itself."
    yield "A development default, not for production: one machine, no TLS, no backups, little memory."
    yield ""
    yield f"export JOCHI_URI={running.uri}"
    yield f"export JOCHI_USER={running.user}"
    yield f"export JOCHI_PASSWORD_FILE={shlex.quote(str(running.password_file))}"


@app.command()
def stop(name: Name = "default") -> None:
    """Stops the instance. Ends only the process that `jochi server start` started for it."""
    with _server(name) as server:
        stopped = server.stop()
    typer.echo(
        f"Local server {name!r} is stopped; its data stays." if stopped else f"Local server {name!r} did not run."
    )


@app.command()
def status(
    name: Name = "default", as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False
) -> None:
    """Says what the instance is doing. Ends with 0 when it runs and answers, else with 4."""
    with _server(name) as server:
        found = server.status()
    if as_json:
        typer.echo(json.dumps(found.as_dict(), indent=2))
    else:
        said = {
            "running": "is running",
            "starting": "has a process that does not answer (yet)",
            "stopped": "is stopped",
            "stale": "is stopped; its process went away without being asked",
        }[found.state]
        typer.echo(f"Local server {name!r} {said}.")
        for key, value in found.as_dict().items():
            if value is not None and key not in ("name", "state"):
                typer.echo(f"  {key:<14} {value}")
    if found.state != "running":
        raise typer.Exit(_NOT_RUNNING)


@app.command()
def logs(
    name: Name = "default",
    lines: Annotated[int, typer.Option("-n", "--lines", min=0, help="How many of the last lines.")] = 100,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until Ctrl-C.")] = False,
) -> None:
    """Prints what the server said since its last start (details: debug.log beside it)."""
    with _server(name) as server:
        log = server.layout.console_log
        for line in server.logs(lines):
            typer.echo(line)
    if not log.exists():
        typer.echo(f"No log yet: {log}", err=True)
    if follow:
        try:
            _follow(log)
        except KeyboardInterrupt:
            raise typer.Exit(0) from None


def _follow(log: Path) -> None:
    """Prints what is added to ``log``; a restart begins a new file, which is then read from its start."""
    position = log.stat().st_size if log.exists() else 0
    while True:
        if log.exists():
            if log.stat().st_size < position:
                position = 0
            with log.open("rb") as file:
                file.seek(position)
                added = file.read()
            position += len(added)
            sys.stdout.write(added.decode("utf-8", errors="replace"))
            sys.stdout.flush()
        time.sleep(_FOLLOW_SECONDS)


@app.command()
def reset(name: Name = "default", yes: Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.")] = False) -> None:
    """Stops the instance and deletes its data, password and logs. The downloads stay."""
    with _server(name) as server:
        folder = server.layout.root
        if folder.exists():
            ask(f"Delete all data of the local server {name!r} in {folder}?", yes=yes)
        existed = server.reset()
    typer.echo(f"Local server {name!r} is gone with its data." if existed else f"There is no local server {name!r}.")
