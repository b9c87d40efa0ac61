"""`jochi engine intake install|list|remove|cost`: the optional triggers."""

from __future__ import annotations

from typing import Annotated

import typer

from jochi.cli.connection import jochi
from jochi.cli.output import AsJson, err, finish_with_json, out, table
from jochi.install import triggers

app = typer.Typer(no_args_is_help=True, help="Notice at once what apps write in plain Cypher: optional APOC triggers.")


@app.command()
def install(
    context: typer.Context,
    wait: Annotated[float, typer.Option(help="Seconds to wait until the database runs them.")] = 90,
    as_json: AsJson = False,
) -> None:
    """Install the triggers, or renew them after an upgrade. This needs apoc.trigger.enabled=true."""
    with jochi(context) as client, err.status("installing"):
        triggers.install_triggers(client.engine)
        running = triggers.await_running(client.engine, wait)
        rows = triggers.list_triggers(client.engine)
    _show(rows, as_json)
    if not running:
        err.print(
            "not running yet: the database reads its triggers every apoc.trigger.refresh; see `jochi engine intake list`"
        )


@app.command("list")
def list_command(context: typer.Context, as_json: AsJson = False) -> None:
    """Show what is stored of each trigger, and whether this database runs it by now."""
    with jochi(context) as client:
        _show(triggers.list_triggers(client.engine), as_json)


@app.command()
def remove(context: typer.Context, as_json: AsJson = False) -> None:
    """Drop the triggers. The database runs them until it notices (apoc.trigger.refresh)."""
    with jochi(context) as client:
        names = triggers.remove_triggers(client.engine)
    finish_with_json(names, as_json)
    out.print(f"removed: {', '.join(names) or 'there was none'}")


@app.command()
def cost(
    context: typer.Context,
    pairs: Annotated[int, typer.Option(min=1, max=100)] = 3,
    commits: Annotated[int, typer.Option(min=20, max=100_000, help="Commits in each block.")] = 300,
    wait: Annotated[float, typer.Option(help="Seconds to wait until the database notices a change.")] = 90,
    as_json: AsJson = False,
) -> None:
    """Measure what the triggers add to a small commit. Blocks with and without them alternate, so the triggers pause meanwhile."""
    with jochi(context) as client, err.status("measuring") as spinner:
        result = triggers.measure_cost(
            client.engine, pairs=pairs, commits=commits, wait_seconds=wait, on_progress=spinner.update
        )
    finish_with_json(result, as_json)
    out.print(
        f"a commit of one node: {result.without_ms:.2f} ms without, {result.with_ms:.2f} ms with; "
        f"added {result.added_ms:+.2f} ms ({result.added_low_ms:+.2f} to {result.added_high_ms:+.2f} "
        f"over {result.pairs} pairs of {result.commits} commits)"
    )


def _show(rows: list[triggers.TriggerStatus], as_json: bool) -> None:
    finish_with_json(rows, as_json)
    table("triggers", ("name", "phase", "status", "running"), [(r.name, r.phase, r.status, r.running) for r in rows])
