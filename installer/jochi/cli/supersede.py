"""`jochi supersede`."""

from __future__ import annotations

from typing import Annotated

import typer

from jochi.cli.arguments import PROVIDERS, keys_of
from jochi.cli.asking import ask
from jochi.cli.connection import jochi
from jochi.cli.forget import chosen, show_candidates, unsure
from jochi.cli.output import AsJson, err, out, printable, shortened, some, write_json
from jochi.cli.recall import embedder_of
from jochi.client import Jochi
from jochi.errors import PartlyDone, Refused
from jochi.write.replacement import ReplaceResult

_LONGEST = 160
_NAME_IT = (
    "name the memory with --key: the keys stand above. If it says several things of the kind, give OLD in its own words"
)


def supersede(
    context: typer.Context,
    old: Annotated[
        str,
        typer.Argument(
            help="What is said until now: its words, such as 'lives in Lyon', or others: 'where Ann lives'."
        ),
    ],
    new: Annotated[str, typer.Argument(help="What is said from now on, as a sentence: 'Ann lives in Oslo.'")],
    scope: Annotated[str, typer.Option("--scope", "-s", help="Whose memories.")] = "default",
    key: Annotated[str | None, typer.Option("--key", help="Only in this memory, by its key or id.")] = None,
    provider: Annotated[str | None, typer.Option(help=f"Look by meaning, too, with {PROVIDERS}.")] = None,
    plan: Annotated[bool, typer.Option("--plan", help="Only show what would be said.")] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Don't ask. Only what is meant without doubt is replaced, else nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Replace one statement wherever it is said, and leave what else is said there. `jochi undo` takes it back."""
    named = keys_of([key], scope)[0] if key is not None else None
    with jochi(context) as client, embedder_of(provider, client.policy.policy.embedding) as embed:
        words: str | None = None

        def asked(*, dry_run: bool) -> ReplaceResult:
            return client.supersede(old, new, scope=scope, key=named, statement=words, embed=embed, dry_run=dry_run)

        found = asked(dry_run=True)
        if found.candidates:
            show_candidates(found.candidates)
            named, words = _picked(client, found, yes=yes, plan=plan, as_json=as_json)
            found = asked(dry_run=True)
        if plan:
            _told(client, found, as_json, done=False)
            return
        if found.replaced or found.superseded:
            if not as_json:
                _show(found, done=False)
            ask(f"say the new in {some(len(found.replaced) + len(found.superseded), 'memory', 'memories')}?", yes=yes)
            found = asked(dry_run=False)
        _told(client, found, as_json, done=True)


def _picked(client: Jochi, found: ReplaceResult, *, yes: bool, plan: bool, as_json: bool) -> tuple[str, str | None]:
    """The memory that a person means, and the statement or part of it; `PartlyDone` where nobody can say."""
    if not (yes or plan):
        try:
            said = typer.prompt("which of these (a number, or with the letter of a part)", default="none", err=True)
        except typer.Abort:
            raise Refused("nothing was changed", fix=_NAME_IT) from None
        return chosen(found.candidates, said)
    if as_json:
        write_json({"candidates": [one.as_dict() for one in found.candidates], "already": found.already})
    raise PartlyDone(f"nothing was replaced: {unsure(client.policy.policy.forgetting)}", fix=_NAME_IT)


def _show(found: ReplaceResult, *, done: bool) -> None:
    says = "says now" if done else "would say"
    for key, text in sorted(found.replaced.items()):
        out.print(f"{key} {says}: {printable(shortened(text, _LONGEST))}", markup=False)
    for key, following in sorted(found.superseded.items()):
        out.print(f"{key} is a fact in a slot: {following or 'another fact'} holds from now on", markup=False)


def _told(client: Jochi, found: ReplaceResult, as_json: bool, *, done: bool) -> None:
    if as_json:
        write_json(
            {
                "replaced": found.replaced,
                "superseded": found.superseded,
                "asked": [{"key": each.key, "reason": each.reason, "content": each.content} for each in found.asked],
                "candidates": [one.as_dict() for one in found.candidates],
                "already": found.already,
                "remade": found.remade,
                "run": found.run,
            }
        )
    else:
        _show(found, done=done)
        if found.remade:
            out.print(f"made anew: {', '.join(found.remade)}", markup=False)
        if found.run:
            out.print(f"run {found.run}: `jochi undo {found.run}` takes it back", markup=False)
    for target in found.asked:
        err.print(f"{target.key} stays as it is: {target.reason}", markup=False)
    if found.candidates:
        show_candidates(found.candidates)
        raise PartlyDone(f"nothing was replaced: {unsure(client.policy.policy.forgetting)}", fix=_NAME_IT)
    if found.asked:
        raise PartlyDone(
            some(len(found.asked), "memory has", "memories have") + " the old words and stays as it is",
            fix="name one with --key and what it says in its own words, or write it anew",
        )
    if not (found.replaced or found.superseded):
        if not found.already:
            raise PartlyDone("nothing says that", fix="use other words; `jochi recall` shows what is said")
        if not as_json:
            out.print(f"nothing to do: {', '.join(found.already)} says it already", markup=False)
