"""Verbs that decide: `jochi apply`, `jochi approve`, `jochi restore`, `jochi unmerge`, `jochi run`, `jochi pause`, `jochi
resume`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated

import typer

from jochi.cli.asking import ask
from jochi.cli.connection import jochi
from jochi.cli.look import print_plan
from jochi.cli.output import AsJson, out, some, table, write_json
from jochi.errors import PartlyDone, UsageError
from jochi.jobs.results import Switch
from jochi.jobs.runner import Run


def add_to(app: typer.Typer) -> None:
    """Adds the commands to the tree."""
    app.command()(apply)
    app.command()(approve)
    app.command()(restore)
    app.command()(unmerge)
    app.command()(decompress)
    app.command()(run)
    app.command()(pause)
    app.command()(resume)


def apply(context: typer.Context, yes: Annotated[bool, typer.Option("--yes", help="Don't ask.")] = False) -> None:
    """Say go: show the plan, ask, and let destructive jobs run from now on."""
    with jochi(context) as client:
        found = client.plan()
        print_plan(found)
        ask("Prune like this from now on?", yes=yes)
        applied = client.apply(found)
    out.print(
        f"applied: {some(applied.prunes, 'memory', 'memories')} may be pruned now, and later ones as they come due"
    )


def approve(
    context: typer.Context,
    run: Annotated[
        str | None, typer.Argument(help="Id of a run that the circuit breaker stopped: `jochi status` names it.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Let a job go on that the circuit breaker stopped. Without RUN, open the gap guard again after a jump of the clock, a long
    silence or a copied store."""
    with jochi(context) as client:
        if run is not None:
            approved = client.approve_run(run)
            if as_json:
                write_json(approved)
                return
            for lift in approved.lifts:
                out.print(f"lifted for {lift.n:,} of {lift.kind} in scope {lift.scope}", markup=False)
            out.print(f"approved: {approved.run}; {approved.job} goes on", markup=False)
            return
        was = client.approve()
    if as_json:
        write_json({"was": was})
        return
    out.print("the guard was open" if was is None else f"approved: {was}")


def restore(
    context: typer.Context,
    keys: Annotated[list[str], typer.Argument(help="Keys scope/id of pruned memories.")],
    audit: Annotated[str | None, typer.Option(help="Audit id of one prune, if a key has several tombstones.")] = None,
    as_json: AsJson = False,
) -> None:
    """Bring pruned memories back as they were."""
    if audit is not None and len(keys) != 1:
        raise UsageError("--audit goes with exactly one key")
    words = {
        "restored": "restored",
        "not_found": "there is no tombstone of this key",
        "taken": "not restored: the key is in use by a live memory",
        "purging": "not restored: it is being deleted for good",
        "merged": "not restored: it was merged into another memory; `jochi unmerge` takes that back",
    }
    with jochi(context) as client:
        results = client.restore(keys, audit=audit)
    if as_json:
        write_json(results)
    else:
        for result in results:
            owner = f"; {result.duplicate_of} has the same content" if result.duplicate_of else ""
            out.print(f"{result.key}: {words[result.outcome]}{owner}", markup=False)
    failed = sum(result.outcome != "restored" for result in results)
    if failed:
        raise PartlyDone(
            f"{failed} of {len(results)} were not restored",
            fix=_look(result.key for result in results if result.outcome == "not_found"),
        )


def unmerge(
    context: typer.Context,
    keys: Annotated[list[str], typer.Argument(help="Keys scope/id of memories that were merged into others.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would come back.")] = False,
    as_json: AsJson = False,
) -> None:
    """Take merges back: both memories become what they were. What changed since stays and is named."""
    words = {
        "unmerged": "apart from {into} again, with {n:,} relationships",
        "would_unmerge": "would part from {into}, with {n:,} relationships",
        "not_merged": "no memory of this key was merged into another",
        "taken": "not taken back: the key is in use by a live memory",
        "survivor_gone": "not taken back: what it was merged into is gone",
        "purging": "not taken back: it is being deleted for good",
        "merged_on": "not taken back: {into} was merged away itself; take that back first",
        "busy": "not taken back: relationships of {into} are being moved; try again when that is done",
        "no_record": "not taken back: there is no record of what the merge changed",
    }
    with jochi(context) as client:
        results = client.unmerge(keys, dry_run=dry_run)
    if as_json:
        write_json(results)
    else:
        for result in results:
            said = words[result.outcome].format(into=result.into, n=result.relationships)
            out.print(f"{result.key}: {said}", markup=False)
            _print_changed(result.changed)
    failed = sum(result.outcome not in ("unmerged", "would_unmerge") for result in results)
    if failed:
        raise PartlyDone(
            f"{failed} of {len(results)} were not taken back",
            fix=_look(result.key for result in results if result.outcome == "not_merged"),
        )


def decompress(
    context: typer.Context,
    keys: Annotated[list[str], typer.Argument(help="Keys scope/id of memories whose content was shortened.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would come back.")] = False,
    as_json: AsJson = False,
) -> None:
    """Bring contents back that a compression shortened. A content that was written since stays."""
    words = {
        "decompressed": "whole again, {tokens:,} tokens",
        "would_decompress": "would be whole again, {tokens:,} tokens",
        "not_found": "there is no live memory of this key",
        "not_compressed": "it isn't compressed",
        "changed": "left as it is: another content was written since",
    }
    with jochi(context) as client:
        results = client.decompress(keys, dry_run=dry_run)
    if as_json:
        write_json(results)
    else:
        for result in results:
            out.print(f"{result.key}: {words[result.outcome].format(tokens=result.tokens or 0)}", markup=False)
            _print_changed(result.changed)
    failed = sum(result.outcome not in ("decompressed", "would_decompress") for result in results)
    if failed:
        raise PartlyDone(
            f"{failed} of {len(results)} were not decompressed",
            fix=_look(result.key for result in results if result.outcome in ("not_found", "not_compressed")),
        )


def _look(unknown: Iterable[str]) -> str | None:
    """What to look at where a key isn't what the command is for; None where the lines above say it all."""
    key = next(iter(unknown), None)
    return (
        None
        if key is None
        else f"`jochi explain {key}` says what is known of a key; `jochi runs ls` what was done lately"
    )


def _print_changed(names: Iterable[str]) -> None:
    for name in names:
        out.print(f"  changed since, left as it is: {name}", markup=False)


def run(
    context: typer.Context,
    job: Annotated[str, typer.Argument(help="Name of the job: `jochi jobs ls` lists them.")],
    drain: Annotated[bool, typer.Option("--drain", help="Go on until nothing is left to do.")] = False,
    as_json: AsJson = False,
) -> None:
    """Run a job from here, with the same texts, leases and rails as in the database. Needs no APOC."""
    with jochi(context) as client:
        runs = client.run(job, drain=drain)
    if as_json:
        write_json(runs)
    else:
        rows = [(r.id, r.status, r.batches, r.selected, r.changed, _tally(r), r.error) for r in runs]
        table("Runs", ("run", "status", "batches", "looked at", "changed", "what", "error"), rows, right=(2, 3, 4))
    if any(r.status not in {"ok", "breaker"} for r in runs):
        raise PartlyDone("not everything went well: see the runs above", fix=f"`jochi jobs history {job}`")


_TOLD: Mapping[str, str] = {
    "keep": "kept",
    "archive": "archived",
    "promote": "promoted",
    "demote": "demoted",
    "flag": "flagged",
    "unflag": "unflagged",
    "state": "state changed",
    "unknown": "where a rule can't tell",
}
"""What a run counts under words of its own, as a person says it."""


def _tally(run: Run) -> str:
    told = {**_TOLD, "unknown": "of unknown keys"} if run.job == "fold_accesses" else _TOLD
    return ", ".join(f"{told.get(name, name)} {n:,}" for name, n in sorted(run.tally.items()))


def pause(
    context: typer.Context,
    kind: Annotated[str | None, typer.Option(help="Pause one kind.")] = None,
    scope: Annotated[str | None, typer.Option(help="Pause one scope.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Pause everything.")] = False,
) -> None:
    """Stop a kind, a scope or everything (a kill switch). For a single job: `jochi jobs pause`."""
    switch = _switch(kind, scope, everything)
    with jochi(context) as client:
        client.pause(switch)
    out.print(
        f"paused: {switch.what} {switch.name}".rstrip() + "; a run in progress ends after its batch", markup=False
    )


def resume(
    context: typer.Context,
    kind: Annotated[str | None, typer.Option(help="Resume one kind.")] = None,
    scope: Annotated[str | None, typer.Option(help="Resume one scope.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Resume everything.")] = False,
) -> None:
    """Take a pause back."""
    switch = _switch(kind, scope, everything)
    with jochi(context) as client:
        was_paused = client.resume(switch)
    out.print(f"{'resumed' if was_paused else 'was not paused'}: {switch.what} {switch.name}".rstrip(), markup=False)


def _switch(kind: str | None, scope: str | None, everything: bool) -> Switch:
    given = [
        switch
        for switch, is_given in (
            (Switch("kind", kind or ""), kind is not None),
            (Switch("scope", scope or ""), scope is not None),
            (Switch("all"), everything),
        )
        if is_given
    ]
    if len(given) != 1:
        raise UsageError("name exactly one: --kind, --scope or --all", fix="for one job: `jochi jobs pause NAME`")
    return given[0]
