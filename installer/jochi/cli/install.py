"""`jochi install`, `jochi uninstall`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from jochi.cli.asking import ask
from jochi.cli.connection import jochi
from jochi.cli.migrations import Chain
from jochi.cli.output import AsJson, err, finish_with_json, forbidden_by, out, say, some, write_json
from jochi.compile.registry import Status
from jochi.errors import PartlyDone, Refused
from jochi.forgetting import Export, write_export
from jochi.install.preview import InstallPreview, Names
from jochi.install.uninstall import UninstallResult
from jochi.operate.restart import KEEP_ARMED


def install(
    context: typer.Context,
    arm: Annotated[bool, typer.Option(help="Arm the jobs in the database.")] = True,
    chain: Chain = None,
    pin: Annotated[
        bool | None,
        typer.Option(
            "--pin/--no-pin",
            help="Print the line for apoc.conf with a hash of what is installed: nothing else runs with the server's rights.",
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would change, and change nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Install or upgrade: migrations, procedures, policy, jobs; then arm the jobs. Safe to repeat.

    Without --policy an installed policy stays. A fresh database gets the shipped policy.
    """
    if dry_run:
        with jochi(context) as client, err.status("reading what is there"):
            found = client.preview_install(chain=chain)
        if as_json:
            write_json({**asdict(found), "changes": found.changes})
        else:
            _show_preview(found)
        return
    with jochi(context) as client, err.status("installing") as spinner:
        result = client.install(arm=arm, chain=chain, pin=pin, on_progress=spinner.update)
    finish_with_json(
        {
            "server": result.facts.as_dict(),
            "migrations_applied": result.migrations_applied,
            "chain": result.chain.value,
            "procedures": {row.name: row.status.value for row in result.procedures},
            "verdict_changed": result.verdict_changed,
            "needs_apply": result.needs_apply,
            "armed": result.armed,
            "indexes": {change.name: f"{change.done}: {change.why}" for change in result.indexes},
            "obstacle": result.obstacle,
            "pin_line": result.pin_line,
            "procedures_removed": result.procedures_removed,
            "settings_added": result.settings_added,
            "settings_dropped": result.settings_dropped,
        },
        as_json,
    )
    facts = result.facts
    apoc = f"APOC {facts.apoc}" if facts.apoc else "no APOC"
    out.print(f"Neo4j {facts.version} {facts.edition}, {apoc}, database {client.database.name}")
    applied = ", ".join(result.migrations_applied)
    out.print(f"migrations: applied {applied}" if applied else "migrations: nothing to do")
    renewed = [row for row in result.procedures if row.status in (Status.MISSING, Status.OUTDATED, Status.MODIFIED)]
    out.print(f"procedures: {len(renewed)} installed or renewed, {len(result.procedures) - len(renewed)} were right")
    for row in result.procedures:
        if row.status is Status.MODIFIED:
            out.print(f"  {row.name} had been edited in the database and is as shipped again")
        if row.status is Status.PRUNE and row.name not in result.procedures_removed:
            out.print(f"  {row.name} is no longer shipped: `jochi engine procedures prune` removes it")
    if result.procedures_removed:
        out.print(f"procedures: {len(result.procedures_removed)} that this version no longer has are removed")
    if result.settings_added:
        count = some(len(result.settings_added), "setting is", "settings are")
        say(f"policy: {count} new and as in the shipped policy: {', '.join(result.settings_added)}")
    if result.settings_dropped:
        say(f"policy: dropped {'; '.join(result.settings_dropped)}")
    for change in result.indexes:
        out.print(f"index {change.name}: {change.done} ({change.why})")
    if result.obstacle:
        out.print(f"[yellow]not armed:[/] {result.obstacle}")
    elif arm:
        out.print(f"armed: {', '.join(result.armed) or 'was armed already'}")
        if facts.aura:
            say(f"Aura has no apoc.conf, so a restart or a pause ends them: {KEEP_ARMED}")
    if result.pin_line:
        out.print("pinned: put this line into apoc.conf in place of the one before; it counts from the next restart on")
        out.print(result.pin_line, markup=False, highlight=False, soft_wrap=True)
    if result.needs_apply:
        out.print("Nothing is pruned yet: look at `jochi plan`, then say go with `jochi apply`.")


def _show_preview(found: InstallPreview) -> None:
    if not found.changes:
        out.print(f"Nothing would change: jochi {found.version} is installed as it should be.")
        return
    there = f"jochi {found.installed}" if found.installed else "no Jochi"
    out.print(f"In the database is {there}; this is jochi {found.version}. Nothing was written. Install would change:")
    out.print(f"migrations: {', '.join(found.migrations) or 'nothing to do'}")
    for change in found.indexes:
        say(f"index {change.name}: {change.done} ({change.why})")
    for what in ("procedures", "jobs", "policy"):
        names: Names = getattr(found, what)
        for word in ("new", "changed", "gone"):
            _show_names(f"{what} {word}", getattr(names, word))
    if found.decides_anew:
        out.print("What decides over memories changes: nothing is pruned until `jochi apply`.")
    if found.obstacle:
        out.print(f"[yellow]would not be armed:[/] {found.obstacle}")


_AT_MOST = 12
"""Names that a line shows; `--json` has all of them."""


def _show_names(what: str, names: tuple[str, ...]) -> None:
    if names:
        more = f" and {len(names) - _AT_MOST} more (--json shows all)" if len(names) > _AT_MOST else ""
        say(f"{what}: {len(names)}: {', '.join(names[:_AT_MOST])}{more}")


def uninstall(
    context: typer.Context,
    yes: Annotated[bool, typer.Option("--yes", help="Don't ask.")] = False,
    receipts: Annotated[
        Path | None,
        typer.Option(
            help="Write seals and receipts of forgetting into this file first: `jochi receipts import` brings them back."
        ),
    ] = None,
    no_receipts: Annotated[
        bool, typer.Option("--no-receipts", help="Let them go: what was forgotten can be learned again.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Bring tombstones back and leave no object of Jochi in the database. You can stop it and run it again."""
    question = "Remove Jochi from this database and bring all tombstones back?"
    with jochi(context) as client:
        export = client.export_receipts()
        if receipts is None and (export.seals or export.receipts):
            lost = (
                f"{some(len(export.seals), 'seal', 'seals')} and {some(len(export.receipts), 'receipt', 'receipts')} of "
                "forgetting go, too: what was forgotten can be learned again"
            )
            if yes and not no_receipts:
                raise Refused(
                    f"nothing was changed: {lost}",
                    fix="--receipts FILE keeps them in a file; --no-receipts lets them go",
                )
            question += f" {lost} (--receipts FILE keeps them in a file)."
        ask(question, yes=yes)
        if receipts is not None:
            write_export(receipts, export)
        with err.status("uninstalling") as spinner:
            result = client.uninstall(on_progress=spinner.update)
    if as_json:
        write_json(result)
    else:
        _show_uninstalled(result, export, receipts)
    if result.forbidden:
        raise PartlyDone(
            some(len(result.forbidden), "memory", "memories") + " could not become what they were",
            fix="they keep the label Tombstone: when there is room for one, give it the labels that its tombstone_labels names",
        )


def _show_uninstalled(result: UninstallResult, export: Export, receipts: Path | None) -> None:
    if receipts is not None:
        out.print(
            f"{some(len(export.seals), 'seal', 'seals')} and {some(len(export.receipts), 'receipt', 'receipts')} of forgetting "
            f"are in {receipts}; after another install: jochi receipts import {receipts}",
            markup=False,
            soft_wrap=True,
        )
    out.print(
        f"{some(result.restored, 'tombstone', 'tombstones')} brought back, "
        f"{some(result.unenrolled, 'memory', 'memories')} released, "
        f"{some(result.deleted, 'node', 'nodes')} of the engine deleted"
    )
    if result.unmerged:
        out.print(f"{result.unmerged:,} of the tombstones had been merged away: they have their relationships again")
    for key in result.not_unmerged:
        out.print(f"{key}: came back without the relationships that had moved in a merge", markup=False)
    for each in result.forbidden:
        why = forbidden_by(each.constraint, each.holder)
        out.print(f"{each.key}: not brought back, {why}", markup=False)
