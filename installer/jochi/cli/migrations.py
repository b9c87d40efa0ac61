"""`jochi engine migrations ls|apply|validate|repair`: the fixed constraints and indexes, over `jochi.schema.migrations`."""

from __future__ import annotations

from datetime import timezone
from typing import Annotated

import typer

from jochi.cli.asking import ask
from jochi.cli.connection import connect
from jochi.cli.output import table
from jochi.errors import Refused, UsageError
from jochi.schema import migrations
from jochi.schema.migrations.lock import describe
from jochi.schema.migrations.results import (
    ApplyOutcome,
    ApplyResult,
    ChainName,
    Listing,
    Progress,
    RepairAction,
    RepairOutcome,
    RepairResult,
    Step,
    Validation,
)

app = typer.Typer(
    name="migrations", help="The fixed constraints and indexes, as a chain of migrations.", no_args_is_help=True
)

AsJson = Annotated[bool, typer.Option("--json", help="Write the result as JSON.")]
Chain = Annotated[
    ChainName | None,
    typer.Option(
        "--chain",
        envvar="JOCHI_CHAIN",
        help="The chain to record in: jochi, beside the chain of an application. Later it is found by itself.",
    ),
]
Wait = Annotated[float, typer.Option(min=0, help="Seconds to wait while somebody else migrates.")]
BreakLock = Annotated[
    bool, typer.Option("--break-lock", help="Remove a lock that a dead run left behind. A living run keeps its lock.")
]


@app.command("ls")
def list_migrations(context: typer.Context, chain: Chain = None, as_json: AsJson = False) -> None:
    """Show every migration and its state. This only reads: it takes no lock and writes nothing."""
    with connect(context) as database:
        found = migrations.listing(database, chain=chain)
    if as_json:
        typer.echo(found.model_dump_json(indent=2))
    else:
        _print_listing(found)


@app.command("apply")
def apply_migrations(
    context: typer.Context,
    wait: Wait = 30,
    break_lock: BreakLock = False,
    placeholder: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="A value for ${nm:KEY} in the files; repeatable.")
    ] = None,
    chain: Chain = None,
    as_json: AsJson = False,
) -> None:
    """Apply pending migrations. It is safe to repeat this and to run it twice at once."""
    values = _placeholders(placeholder or [])
    with connect(context) as database:
        result = migrations.apply(
            database,
            wait_for_lock_seconds=wait,
            break_lock=break_lock,
            placeholders=values,
            chain=chain,
            on_progress=None if as_json else _print_progress,
        )
    if as_json:
        typer.echo(result.model_dump_json(indent=2))
    else:
        _print_result(result)


@app.command("validate")
def validate_migrations(context: typer.Context, chain: Chain = None, as_json: AsJson = False) -> None:
    """Check whether the database is exactly as the files say. The exit code is 0 if it is, and 5 if not. This only reads."""
    with connect(context) as database:
        result = migrations.validate(database, chain=chain)
    if as_json:
        typer.echo(result.model_dump_json(indent=2))
    else:
        typer.echo(f"{result.outcome.value} ({_place(result)})")
        _print_notes(result.messages, result.warnings)
    if not result.valid:
        raise typer.Exit(Refused.exit_code)


@app.command("repair")
def repair_migrations(
    context: typer.Context,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what it would do and write nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Don't ask.")] = False,
    wait: Wait = 30,
    break_lock: BreakLock = False,
    chain: Chain = None,
    as_json: AsJson = False,
) -> None:
    """Make the record in the database fit the files. It never runs a file, and it shows its plan and asks first."""
    with connect(context) as database:
        plan = migrations.planned_repair(database, chain=chain)
        result = plan
        if not dry_run and (plan.steps or break_lock):
            if not as_json:
                _print_repair(plan)
            ask("Change the record of migrations so?", yes=yes)
            result = migrations.repair(
                database,
                agreed=plan,
                wait_for_lock_seconds=wait,
                break_lock=break_lock,
                chain=chain,
                on_progress=None if as_json else _print_progress,
            )
    if as_json:
        typer.echo(result.model_dump_json(indent=2))
    elif result.outcome is RepairOutcome.REPAIRED:
        typer.echo(f"repaired ({_place(result)})")
        _print_notes(result.messages, result.warnings)
    else:
        _print_repair(result)


def _print_repair(result: RepairResult) -> None:
    for step in result.steps:
        name = step.source or step.version
        typer.echo(f"{step.action.value.lower().replace('_', ' ')} {name} ({step.version}): {step.detail}")
    if any(step.action in (RepairAction.INSERT, RepairAction.REWRITE) for step in result.steps):
        typer.echo("no file is run: what an inserted or changed one would create may be missing in the database")
    if not result.steps:
        typer.echo(f"nothing to repair ({_place(result)})")
    if result.pending:
        typer.echo(f"stays pending, for `jochi engine migrations apply`: {', '.join(result.pending)}")
    _print_notes(result.messages, result.warnings)


def _place(result: Listing | Validation | ApplyResult | RepairResult) -> str:
    own = "" if result.chain is ChainName.DEFAULT else f", chain {result.chain.value}"
    return f"database {result.database}{own}"


def _placeholders(pairs: list[str]) -> dict[str, str]:
    values: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not key or not equals:
            raise UsageError(f"--placeholder takes KEY=VALUE, not {pair!r}")
        values[key] = value
    return values


def _print_listing(found: Listing) -> None:
    rows = [
        (
            row.version,
            row.description,
            row.state.value,
            row.applied_at and row.applied_at.astimezone(timezone.utc),
            row.applied_by and f"{row.applied_by}/{row.connected_as}",
            row.milliseconds,
            row.source,
        )
        for row in found.migrations
    ]
    table("Migrations", ("version", "description", "state", "applied at", "by", "ms", "source"), rows, right=(5,))
    typer.echo(f"{found.outcome.value} ({_place(found)})")
    if found.lock is not None:
        typer.echo(f"locked by {describe(found.lock)}")
    _print_notes(found.messages, found.warnings)


def _print_progress(progress: Progress) -> None:
    if progress.step is Step.WAITING:
        typer.echo(f"waiting for {progress.message}", err=True)
    elif progress.step is Step.RUNNING:
        typer.echo("changing the record" if progress.source is None else f"applying {progress.source}", err=True)


def _print_result(result: ApplyResult) -> None:
    for done in result.applied:
        typer.echo(f"applied {done.source}: {done.statements} statements, {done.milliseconds} ms")
    if result.outcome is ApplyOutcome.NOTHING_TO_DO:
        typer.echo(f"nothing to do ({_place(result)})")
    _print_notes(result.messages, result.warnings)


def _print_notes(messages: tuple[str, ...], warnings: tuple[str, ...]) -> None:
    for message in messages:
        typer.echo(message)
    for warning in warnings:
        typer.echo(f"warning: {warning}", err=True)
