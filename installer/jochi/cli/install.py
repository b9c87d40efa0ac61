"""`jochi install`, `jochi uninstall`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from jochi.cli.asking import ask
from jochi.cli.connection import jochi
from jochi.cli.migrations import Chain
from jochi.cli.output import AsJson, err, out, some, write_json
from jochi.compile.registry import Status
from jochi.install.preview import InstallPreview, Names


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
    if as_json:
        write_json(
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
            }
        )
        return
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
            out.print(f"  {row.name} is no longer shipped: `jochi procedures prune` removes it")
    if result.procedures_removed:
        out.print(f"procedures: {len(result.procedures_removed)} that this version no longer has are removed")
    if result.settings_added:
        count = some(len(result.settings_added), "setting is", "settings are")
        _say(f"policy: {count} new and as in the shipped policy: {', '.join(result.settings_added)}")
    if result.settings_dropped:
        _say(f"policy: dropped {'; '.join(result.settings_dropped)}")
    for change in result.indexes:
        out.print(f"index {change.name}: {change.done} ({change.why})")
    if result.obstacle:
        out.print(f"[yellow]not armed:[/] {result.obstacle}")
    elif arm:
        out.print(f"armed: {', '.join(result.armed) or 'was armed already'}")
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
        _say(f"index {change.name}: {change.done} ({change.why})")
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
        _say(f"{what}: {len(names)}: {', '.join(names[:_AT_MOST])}{more}")


def _say(text: str) -> None:
    out.print(text, soft_wrap=True, markup=False)


def uninstall(
    context: typer.Context,
    yes: Annotated[bool, typer.Option("--yes", help="Don't ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Bring tombstones back and leave no object of Jochi in the database. You can stop it and run it again."""
    ask(
        "Remove Jochi from this database and bring all tombstones back? Seals and receipts of forgetting go too: "
        "what was forgotten could be learned again (save `jochi receipts --json` first).",
        yes=yes,
    )
    with jochi(context) as client, err.status("uninstalling") as spinner:
        result = client.uninstall(on_progress=spinner.update)
    if as_json:
        write_json(result)
        return
    out.print(
        f"{some(result.restored, 'tombstone', 'tombstones')} brought back, "
        f"{some(result.unenrolled, 'memory', 'memories')} released, "
        f"{some(result.deleted, 'node', 'nodes')} of the engine deleted"
    )
    if result.unmerged:
        out.print(f"{result.unmerged:,} of the tombstones had been merged away: they have their relationships again")
    for key in result.not_unmerged:
        out.print(f"{key}: came back without the relationships that had moved in a merge", markup=False)
