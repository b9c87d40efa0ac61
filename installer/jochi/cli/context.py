"""`jochi context …`: what an agent starts with, and the file that is made from it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import typer

from jochi.cli.arguments import At, parse_moment
from jochi.cli.connection import answer, jochi
from jochi.cli.output import AsJson, err, moment, out, say, shortened, some, table
from jochi.context import WriteResult, as_json, as_prompt
from jochi.context.migration import Report
from jochi.context.writer import DONE, Outcome
from jochi.errors import UsageError
from jochi.files import place
from jochi.text.private_data import KINDS
from jochi.text.tokens import best_counter
from jochi.use.context import REASONS, Line
from jochi.use.recall import scope_known

app = typer.Typer(
    no_args_is_help=True, help="What an agent starts with, chosen from the graph within a limit of tokens."
)

Scope = Annotated[str, typer.Option("--scope", "-s", help="Whose context it is.")]
Sensitive = Annotated[bool, typer.Option("--include-sensitive", help="With memories whose access_tier is SENSITIVE.")]
MaxTokens = Annotated[
    int | None, typer.Option(min=1, help="Tokens that it has at most; default: what it had, else the policy's.")
]
AnotherFile = Annotated[
    bool, typer.Option("--another-file", help="Also where what the scope has stands in another file already.")
]


@app.command()
def show(
    context: typer.Context,
    scope: Scope = "default",
    include_sensitive: Sensitive = False,
    max_tokens: MaxTokens = None,
    at: At = None,
    form: Annotated[
        Literal["table", "json", "prompt"],
        typer.Option("--format", help="A table with reasons, JSON, or plain text for a system prompt."),
    ] = "table",
) -> None:
    """Show what would be chosen, and why. This writes nothing."""
    with jochi(context) as client:
        found = client.context(scope, include_sensitive=include_sensitive, max_tokens=max_tokens, at=parse_moment(at))
        if not found.entries and not found.version and not scope_known(client.engine, scope):
            raise UsageError(
                f"the scope {scope} has no memory, live or pruned, and no manifest",
                fix="is that its name? `jochi context ls` lists those with a manifest",
            )
    if form != "table":
        make = as_json if form == "json" else as_prompt
        out.print(
            make(found, best_counter().count, include_sensitive).text, markup=False, highlight=False, soft_wrap=True
        )
        return
    rows = [
        (each.section, each.key, each.tokens, f"{each.value:.3f}", REASONS[each.reason], shortened(each.text, 60))
        for each in found.entries
    ]
    tokens = sum(each.tokens for each in found.entries)
    table(
        f"{scope}, version {found.version}", ("section", "memory", "tokens", "value", "why", "text"), rows, right=(2, 3)
    )
    out.print(
        f"{some(len(rows), 'memory', 'memories')} with {tokens:,} tokens; the limit is {found.max_tokens:,} with the frame"
    )
    for key, status in found.unknown_statuses.items():
        out.print(
            f"{key}: its status {status!r} is unknown, so it counts as active; fix: put the word into [context.task_statuses]",
            markup=False,
            highlight=False,
            soft_wrap=True,
        )


@app.command()
def write(
    context: typer.Context,
    scope: Scope = "default",
    file: Annotated[Path, typer.Option("--out", help="The file; it is made, or its edits are taken in first.")] = Path(
        "MEMORY.md"
    ),
    include_sensitive: Sensitive = False,
    max_tokens: MaxTokens = None,
    strike_many: Annotated[
        bool, typer.Option("--strike-many", help="Also where many lines of the file are gone, or its end.")
    ] = False,
    another_file: AnotherFile = False,
    as_json: AsJson = False,
) -> None:
    """Take in what a person changed in the file, and write it anew, never over its tokens."""
    done = answer(
        context,
        as_json,
        lambda client: client.write_context(
            file,
            scope,
            include_sensitive=include_sensitive,
            max_tokens=max_tokens,
            strike_many=strike_many,
            another_file=another_file,
        ),
    )
    _print_written(file, done)


def _print_written(file: Path, done: WriteResult) -> None:
    for edit in done.taken_in:
        out.print(taken_in(edit), markup=False)
    for note in done.notes:
        err.print(note, markup=False)
    for key, why in done.left_out:
        err.print(f"left out: {key}: {why}", markup=False)
    said = "written" if done.rewritten else "is up to date"
    say(f"{place(file)} {said}: version {done.version}, {done.tokens:,} tokens")


def taken_in(edit: Outcome) -> str:
    """One edit, in one line: what became of which memory, and its first words."""
    why = "" if edit.outcome == DONE else f" ({edit.outcome})"
    return f"{edit.edit}: {edit.key} {shortened(edit.text, 60)}".rstrip() + why


@app.command()
def diff(
    context: typer.Context,
    scope: Scope = "default",
    before: Annotated[int | None, typer.Option(help="The older version; default: the one before the newest.")] = None,
    after: Annotated[int | None, typer.Option(help="The newer version; default: the newest.")] = None,
    include_sensitive: Sensitive = False,
    as_json: AsJson = False,
) -> None:
    """Show what came into the context and what left it between two versions, and why."""
    found = answer(
        context, as_json, lambda client: client.context_diff(scope, before, after, include_sensitive=include_sensitive)
    )
    rows = [
        (sign, line.section, line.key, line.reason, _text(line))
        for sign, lines in (("+", found.came), ("-", found.left), ("~", found.moved))
        for line in lines
    ]
    table(f"{scope}: {found.before} → {found.after}", ("", "section", "memory", "why", "says today"), rows)


@app.command()
def ls(context: typer.Context, as_json: AsJson = False) -> None:
    """List the manifests that the job make_manifests keeps up to date."""
    found = answer(context, as_json, lambda client: client.contexts())
    rows = [
        (
            each.scope + (" (with SENSITIVE)" if each.include_sensitive else ""),
            each.version,
            each.memories,
            f"{each.current_tokens:,} of {each.max_tokens:,}",
            moment(each.generated_at),
            moment(each.due),
        )
        for each in found
    ]
    table("Contexts", ("scope", "version", "memories", "tokens", "changed", "looked at again"), rows, right=(1, 2, 3))


@app.command()
def metrics(context: typer.Context, as_json: AsJson = False) -> None:
    """Show how well the contexts are used: tokens, values, graph against files, loaded tasks."""
    found = answer(context, as_json, lambda client: client.context_metrics())
    used = "" if found.utilisation is None else f", {found.utilisation:.0%} of {found.max_tokens:,}"
    out.print(f"{some(found.manifests, 'manifest', 'manifests')} with {found.tokens:,} tokens{used}")
    each = "" if found.ratio is None else f", {found.ratio:,.0f} for each of these"
    out.print(f"{some(found.in_files, 'memory is', 'memories are')} in files; the graph has {found.memories:,}{each}")
    rows = [(one.tier, one.memories, f"{one.value:.3f}") for one in found.values]
    table("Values", ("retention tier", "memories", "average"), rows, right=(1, 2))
    tasks = found.tasks
    ran = "" if tasks.executions is None else f", {tasks.executions:.1f} executions each"
    out.print(
        f"{tasks.all:,} tasks: the definitions of {tasks.loaded:,} were loaded, of {tasks.never_loaded:,} never{ran}"
    )


@app.command()
def drop(context: typer.Context, scope: Scope = "default", include_sensitive: Sensitive = False) -> None:
    """Keep the manifest of a scope up to date no longer. Memories and files stay."""
    with jochi(context) as client:
        gone = client.drop_context(scope, include_sensitive=include_sensitive)
    out.print(f"the manifest of {scope} is gone" if gone else f"{scope} has no manifest", markup=False)


@app.command()
def migrate(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="A MEMORY.md or a file like it.")],
    scope: Scope = "default",
    include_sensitive: Sensitive = False,
    max_tokens: MaxTokens = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would become of what.")] = False,
    shrink: Annotated[bool, typer.Option("--shrink", help="Some of it may be in the graph alone.")] = False,
    another_file: AnotherFile = False,
    as_json: AsJson = False,
) -> None:
    """Take over a file that people or agents wrote: its lines become memories, and the old file stays beside it."""
    done = answer(
        context,
        as_json,
        lambda client: _masked(
            client.migrate_context(
                file,
                scope,
                include_sensitive=include_sensitive,
                max_tokens=max_tokens,
                dry_run=dry_run,
                shrink=shrink,
                another_file=another_file,
            )
        ),
    )
    if done.already:
        out.print(f"{file} is Jochi's already, of scope {scope}: nothing to do", markup=False)
        return
    rows = [(each.lines, each.section, key or "(dry run)", shortened(each.text, 60)) for each, key in done.memories]
    rows += [(each.lines, each.section, "stays in the file", shortened(each.text, 60)) for each in done.personal]
    left = [((first, last), "", "left out", why) for first, last, why in done.skipped]
    shown = [(_lines(lines), *rest) for lines, *rest in sorted([*rows, *left])]
    table(str(file), ("lines", "section", "became", "text"), shown)
    if dry_run:
        out.print(
            f"Private by their form: {', '.join(KINDS)}. Names, places and what has no form aren't known.", markup=False
        )
    if done.left_out and dry_run:
        lost, all_of_them = len(done.left_out), len(done.memories)
        out.print(f"{lost} of {all_of_them} have no room: that needs --max-tokens, or --shrink", markup=False)
    for each in done.left_out:
        out.print(f"not in the file, or not whole: line {each.lines[0]}, {shortened(each.text, 60)}", markup=False)
    if done.kept:
        out.print(f"the old file is {done.kept}", markup=False)


def _masked(done: Report) -> Report:
    """Values that must not be seen don't stand in a terminal's log or in JSON either: their kinds stand in their place."""
    hidden = (replace(each, text=", ".join(each.private) or "personal", headings=()) for each in done.personal)
    return replace(done, personal=tuple(hidden))


def _lines(lines: tuple[int, int]) -> str:
    return str(lines[0]) if lines[0] == lines[1] else f"{lines[0]}-{lines[1]}"


def _text(line: Line) -> str:
    return "(gone or hidden)" if line.text is None else shortened(line.text, 60)
