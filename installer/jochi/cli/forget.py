"""`jochi forget` and `jochi receipts`."""

from __future__ import annotations

import re
import string
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from jochi.cli.arguments import PROVIDERS
from jochi.cli.asking import ask
from jochi.cli.connection import answer, jochi
from jochi.cli.output import AsJson, err, finish_with_json, out, printable, shortened, some, table, write_json
from jochi.cli.recall import embedder_of
from jochi.client import Jochi
from jochi.database.questions import about_forgetting
from jochi.errors import JochiError, PartlyDone, Refused, UsageError
from jochi.forgetting import (
    Candidate,
    ForgetResult,
    ForgettingPlan,
    ImportSummary,
    Mention,
    Request,
    Target,
    key_file,
    read_export,
    write_export,
)
from jochi.forgetting.parts import parts_of
from jochi.policy.forgetting import Forgetting
from jochi.toml import beside

_SHOWN = 50
_LONGEST = 100
_ANSWER = "numbers with commas, each with the letter of a part where not all of it is meant"
_NAME_THEM = "where nobody can answer, name what is meant with --id: the ids stand above"
"""Not --yes alone: with --about that takes only what is meant without doubt."""
_WHY: Mapping[str, str] = beside(__file__, "sentences.toml")["forget_why"]
_FORMS: Mapping[str, str] = beside(__file__, "sentences.toml")["forget_forms"]


def forget(
    context: typer.Context,
    request_in_words: Annotated[
        str | None,
        typer.Argument(metavar="[REQUEST]", help="What is to be forgotten, in your words: the same as --about."),
    ] = None,
    ids: Annotated[
        list[str] | None, typer.Option("--id", help="Key of a memory, scope/id. Can be given several times.")
    ] = None,
    scope: Annotated[
        str | None,
        typer.Option(
            "--scope", "-s", help="Everything in this scope. With --match, --hash or --about: only in this scope."
        ),
    ] = None,
    content_hash: Annotated[str | None, typer.Option("--hash", help="All memories of this content hash.")] = None,
    match: Annotated[
        str | None,
        typer.Option(
            help="Everything that says these words, such as alice@acme.io or 5 Elm St. - reads them from standard input."
        ),
    ] = None,
    about: Annotated[
        str | None,
        typer.Option(
            help="What is to be forgotten, in your words: all that it names, or what it describes. The command shows it and asks."
        ),
    ] = None,
    provider: Annotated[
        str | None,
        typer.Option(help=f"With --about: search by meaning, too, with {PROVIDERS}."),
    ] = None,
    k: Annotated[int, typer.Option("--limit", "-n", min=1, max=100, help="With --about: how many to show.")] = 5,
    everywhere: Annotated[bool, typer.Option("--everywhere", help="With --match or --hash: in all scopes.")] = False,
    whole: Annotated[
        bool,
        typer.Option("--whole", help="With --match or --about: delete whole memories instead of cutting a clause out."),
    ] = False,
    verify: Annotated[
        bool,
        typer.Option("--verify", help="Then look through every text in the store. With --dry-run, do only that."),
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be forgotten.")] = False,
    lift: Annotated[bool, typer.Option("--lift", help="Let it be learned again.")] = False,
    again: Annotated[
        Path | None,
        typer.Option(
            help="After a restore: bring the seals and receipts of this file back, and forget again what it has seals of "
            "(a file of `jochi receipts export`)."
        ),
    ] = None,
    yes: Annotated[
        bool,
        typer.Option(
            "--yes", help="Don't ask. With --about only what is meant without doubt is forgotten, else nothing."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Forget something for good, with all that was made of it, and never learn it again. This can't be undone."""
    if request_in_words is not None:
        if about is not None:
            raise UsageError("the request is there twice", fix="leave --about out")
        about = request_in_words
    if again is not None:
        if ids or scope is not None or content_hash is not None or match is not None or about is not None or lift:
            raise UsageError("--again says by itself what is to be forgotten", fix="leave the others out")
        with jochi(context) as client:
            _forget_again(client, again, verify=verify, dry_run=dry_run, yes=yes, as_json=as_json)
        return
    if (match is not None or content_hash is not None) and not lift and (scope is None) == (not everywhere):
        raise UsageError("say where", fix="--scope SCOPE, or --everywhere for all scopes")
    if about is not None and (ids or match is not None or content_hash is not None):
        raise UsageError("--about finds memories by itself", fix="leave --id, --match and --hash out")
    if match == "-":
        match = typer.get_text_stream("stdin").read().strip()
    with jochi(context) as client:
        if about is not None:
            request = _resolved(client, about, scope or "default", k, provider, whole=whole, yes=yes, as_json=as_json)
        else:
            request = Request(tuple(ids or ()), scope, content_hash, match, clauses=not whole)
        if lift:
            lifted = client.allow_again(request)
            if as_json:
                write_json({"lifted": lifted})
            else:
                out.print(f"may be learned again: {lifted} seals taken off")
            return
        plan = client.plan_forgetting(request)
        if dry_run:
            left = client.verify_forgotten(request) if verify else []
            _dry(plan, left, verify, as_json)
            return
        if not as_json:
            _show(plan)
        if plan.new_key:
            err.print(
                f"a key of forgetting is made on this machine: {key_file()}\n"
                "  → copy it to every machine that remembers, imports or runs a worker; without it they refuse to write",
                markup=False,
            )
        if about is not None:
            ask(_question(plan), yes=yes, fix=_NAME_THEM)
        else:
            ask(_question(plan), yes=yes)
        request, they_stay = _unsure(request, plan, yes)
        with err.status("forgetting") as spinner:
            done = client.forget(
                request,
                verify=verify,
                on_page=lambda n: spinner.update(f"forgetting: {some(n, 'memory is', 'memories are')} gone"),
            )
        if they_stay:
            client.dismiss(*(about_forgetting(target.key) for target in done.asked))
    _told(done, verify, as_json)
    if _taken(done):
        return
    if request.form == "scope":
        raise PartlyDone(
            f"nothing is in the scope {request.scope}; its name is sealed from now on: nothing of it will be remembered",
            fix=f"if that is a typo, take it back: jochi forget --lift --scope {quote(str(request.scope))}",
        )
    if request.form in ("keys", "hash"):
        raise PartlyDone(
            "there was nothing to forget: no memory, tombstone or record has "
            + (request.hash or ", ".join(request.keys)),
            fix="look at the spelling; what was forgotten before is in `jochi receipts`",
        )


def _forget_again(client: Jochi, file: Path, *, verify: bool, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Shows what would go, asks once, imports the file, and forgets until nothing is left that hasn't been tried."""
    export = read_export(file)
    requests = client.requests_of_export(export)
    plans = [client.plan_forgetting(request) for request in requests]
    if dry_run:
        finish_with_json({"requests": [{"targets": plan.targets, "counts": plan.counts()} for plan in plans]}, as_json)
        for plan in plans:
            _show(plan)
        out.print(f"would be forgotten again: {_requested(plans)}")
        return
    if not as_json:
        for plan in plans:
            _show(plan)
    seals = some(len(export.seals), "seal", "seals")
    todo = f"Forget again for good {_requested(plans)}" if plans else "Nothing is left of it: only"
    ask(f"{todo}{' and' if plans else ''} bring {seals} and {_receipts(len(export.receipts))} back?", yes=yes)
    imported = client.import_receipts(export)
    results: list[ForgetResult] = []
    tried: set[Request] = set()
    while open_ := [request for request in requests if request not in tried]:
        with err.status("forgetting again"):
            results += [client.forget(request, verify=verify) for request in open_]
        tried.update(open_)
        requests = client.requests_of_export(export)
    if as_json:
        write_json({"imported": imported, "forgotten": results})
    else:
        _show_imported(imported)
        if not results:
            out.print("nothing is left of what was forgotten: nothing to do")
    problems: list[str] = []
    for done in results:
        try:
            _told(done, verify, as_json, silent=as_json)
        except PartlyDone as problem:
            problems.append(problem.what)
    if problems:
        raise PartlyDone("; ".join(dict.fromkeys(problems)), fix="the lines above say what is left, and where")


def _requested(plans: Sequence[ForgettingPlan]) -> str:
    going = {target.key for plan in plans for target in plan.targets if target.outcome == "forget"}
    cut = {target.key for plan in plans for target in plan.targets if target.outcome == "cut"} - going
    records = sum(plan.records for plan in plans)
    said = [some(len(going), "memory", "memories")]
    if cut:
        said.append(f"a part of {some(len(cut), 'memory', 'memories')}")
    if records:
        said.append(some(records, "record", "records"))
    return ", ".join(said)


def _receipts(n: int) -> str:
    return some(n, "receipt", "receipts")


def _show_imported(imported: ImportSummary) -> None:
    out.print(f"brought back: {some(imported.seals, 'seal', 'seals')}, {_receipts(imported.receipts)}")
    if imported.apart:
        out.print(
            f"{_receipts(imported.apart)} of the file can't go into the chain, as others have these numbers here: keep the file. "
            "A receipt says so"
        )


def _unsure(request: Request, plan: ForgettingPlan, yes: bool) -> tuple[Request, bool]:
    """Asks what becomes of memories that say more and can't be cut, and whether a person says that they stay; where nobody can
    answer they stay, and the inbox asks."""
    n = plan.counts().get("ask", 0)
    if not n or yes:
        return request, False
    question = f"forget {some(n, 'memory that says', 'memories that say')} more as a whole, too?"
    try:
        return (replace(request, unsure="whole"), False) if typer.confirm(question, err=True) else (request, True)
    except typer.Abort:
        raise Refused("nothing was changed", fix="pass --yes where nobody can answer: these stay then") from None


def _taken(done: ForgetResult) -> bool:
    """Whether anything was there: a memory, or a record of one. Only the receipt counts the records."""
    counts = {**done.counts, **(done.receipt.body.get("counts", {}) if done.receipt else {})}
    return any(n for name, n in counts.items() if name != "sealed")


receipts = typer.Typer(help="Show, check, export and import the receipts of what was forgotten.")


@receipts.callback(invoke_without_command=True)
def show_receipts(context: typer.Context, as_json: AsJson = False) -> None:
    """Show the receipts of what was forgotten, and check that none was changed or removed."""
    if context.invoked_subcommand is not None:
        return
    with jochi(context) as client:
        chain = client.receipts()
    if as_json:
        write_json(chain)
    else:
        rows = [
            (
                each.number,
                each.at,
                each.body.get("form"),
                each.body.get("by"),
                _counted(each.body.get("counts", {})),
                each.hash[:12],
            )
            for each in chain.receipts
        ]
        table(f"{len(rows)} receipts", ("number", "at", "asked by", "who", "what", "hash"), rows, right=(0,))
    if chain.broken_at is not None:
        raise JochiError(
            f"receipt {chain.broken_at} doesn't fit to the one before it: it or another was changed or taken out",
            fix="compare with the receipts that you keep elsewhere (`jochi receipts --json`)",
        )


@receipts.command("export")
def export_receipts(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="The file to write; one that is there is replaced.")],
    as_json: AsJson = False,
) -> None:
    """Write seals and receipts into a file, without a word of what was forgotten. Do it after each forgetting: a backup of the
    database is older."""
    with jochi(context) as client:
        export = client.export_receipts()
    write_export(file, export)
    finish_with_json({"seals": len(export.seals), "receipts": len(export.receipts), "key": export.key_id}, as_json)
    out.print(f"{some(len(export.seals), 'seal', 'seals')}, {_receipts(len(export.receipts))}: {file}", markup=False)


@receipts.command("import")
def import_receipts(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="A file of `jochi receipts export`.")],
    as_json: AsJson = False,
) -> None:
    """Bring seals and receipts of a file back, as after an install. After a restore take `jochi forget --again FILE`, which forgets
    again as well."""
    export = read_export(file)
    imported = answer(context, as_json, lambda client: client.import_receipts(export))
    _show_imported(imported)


def _resolved(
    client: Jochi, about: str, scope: str, k: int, provider: str | None, *, whole: bool, yes: bool, as_json: bool
) -> Request:
    """What a person means by a request in words: all that it names, or what is chosen; of a machine what is meant without doubt,
    else `PartlyDone`."""
    policy = client.policy.policy
    with embedder_of(provider, policy.embedding) as embed:
        reading = client.read_request(about, scope=scope, k=k, embed=embed)
    if reading.request is not None and reading.request.phrase is not None:
        return replace(reading.request, clauses=not whole)
    candidates = list(reading.candidates)
    if not candidates:
        raise UsageError(f"nothing in {scope} is about that", fix="use other words, or --match, --id")
    if reading.named:
        err.print(f"read as named: {', '.join(map(printable, reading.named[:5]))}", markup=False)
    show_candidates(candidates)
    if reading.request is not None and yes:
        return replace(reading.request, statements=()) if whole else reading.request
    if yes:
        if as_json:
            write_json({"candidates": [one.as_dict() for one in candidates], "reason": reading.reason})
        raise PartlyDone(f"nothing was forgotten: {reading.reason}", fix=_NAME_THEM)
    if reading.reason is not None:
        err.print(reading.reason, markup=False)
    try:
        said = typer.prompt(f"which of these ({_ANSWER}, or all)", default="none", err=True)
    except typer.Abort:
        raise Refused("nothing was changed", fix=_NAME_THEM) from None
    if said.strip().lower() == "all":
        picked = [(one.key, one.statement) for one in candidates]
    else:
        picked = [chosen(candidates, each) for each in said.split(",") if each.strip()]
    if not picked:
        raise Refused("nothing was changed: none was chosen", fix=f"answer with {_ANSWER}, or all")
    stated = tuple((key, words) for key, words in picked if words is not None and not whole)
    return Request(tuple(dict.fromkeys(key for key, _ in picked)), statements=stated)


def chosen(candidates: Sequence[Candidate], answer: str) -> tuple[str, str | None]:
    """The memory that an answer such as `2` names, and of it the statement or the part that it names (`2b`)."""
    found = re.fullmatch(r"\s*(\d{1,3})([a-z]?)\s*", answer.lower())
    one = candidates[int(found[1]) - 1] if found and 1 <= int(found[1]) <= len(candidates) else None
    if found is None or one is None or (found[2] and ord(found[2]) - ord("a") >= len(one.parts)):
        raise Refused("nothing was changed: none was chosen", fix=f"answer with {_ANSWER}")
    return one.key, one.parts[ord(found[2]) - ord("a")] if found[2] else one.statement


def unsure(policy: Forgetting) -> str:
    """Why nothing was done without a person."""
    return f"which one is meant isn't sure (a score of {policy.sure:g} and {policy.margin:g} before the next is needed)"


def show_candidates(candidates: Sequence[Candidate]) -> None:
    """A line for each: what it says, which statement is meant, its score, its margin to the others, in what it differs; below it
    its parts."""
    for number, one in enumerate(candidates, 1):
        stated = "" if one.statement is None else f" → {_short(one.statement)}"
        but = "".join(f"; {each}" for each in one.differs)
        err.print(
            f"{number:3}  {one.key} ({one.kind}): {_short(one.content)}{stated}  [{one.score:.2f}, {one.margin:+.2f}{but}]",
            markup=False,
        )
        for letter, part in zip(string.ascii_lowercase, parts_of(one.content or ""), strict=False):
            err.print(f"     {number}{letter} only: {_short(part.text)}; left: {_short(part.rest)}", markup=False)


def _question(plan: ForgettingPlan) -> str:
    counts = plan.counts()
    if plan.request.form == "scope" and not plan.targets:
        return f"no memory is in the scope {plan.request.scope}: seal its name all the same?"
    said = [f"forget {some(counts.get('forget', 0), 'memory', 'memories')} for good"]
    if counts.get("ask"):
        said.append(f"leave {counts['ask']:,} that say more as they are")
    if counts.get("cut"):
        said.append(f"cut {counts['cut']:,}")
    if plan.records:
        said.append(f"delete {some(plan.records, 'record that says', 'records that say')} it")
    return ", ".join(said) + "? This can't be undone."


def _show(plan: ForgettingPlan) -> None:
    for each in plan.spellings:
        forms = ", ".join(_FORMS[kind] for kind in each.kinds())
        told = "" if each.source_key is None else f", which is the same by {each.source_key}"
        alone = "; of several countries, so only without one" if each.national_only else ""
        out.print(f"looked for: {printable(each.text)}{told} ({forms}{alone})", markup=False)
    for target in plan.targets[:_SHOWN]:
        out.print(_line(target), markup=False)
    if len(plan.targets) > _SHOWN:
        out.print(f"… and {len(plan.targets) - _SHOWN:,} more: --dry-run --json names all")
    if plan.near:
        near = some(
            len(plan.near),
            "has these words only as part of others and stays",
            "have these words only as part of others and stay",
        )
        out.print(f"{near}: {', '.join(plan.near[:5])}", markup=False)
    if plan.alike:
        said = ", ".join(f"{printable(each.text)} ({each.key})" for each in plan.alike[:5])
        out.print(f"sounds alike, and is not forgotten: {said}", markup=False)
    if plan.records:
        out.print(
            some(
                plan.records,
                "record or copy of the engine says it and goes",
                "records and copies of the engine say it and go",
            )
            + ": what was kept there can't be brought back"
        )


def _line(target: Target) -> str:
    head = f"{target.key} ({target.kind or 'no memory'}, {_WHY[target.why]})"
    if target.kind is None and target.reason is not None and target.why == "asked":
        return f"{target.key}: {target.reason}; what the engine keeps of it goes"
    if target.outcome == "mark":
        return f"{head}: stays, rests on others as well; marked to be derived anew"
    if target.outcome == "ask":
        return f"{head}: asks you, {target.reason}. {_short(target.content)}"
    if target.outcome == "cut":
        what = "; ".join(f"{name}: {_short(str(value)) if value else 'nothing'}" for name, value in target.left.items())
        return f"{head}: only the clause goes. Left: {what}"
    more = f" (as a whole: {target.reason})" if target.reason else ""
    return f"{head}: goes{more}. {_short(target.content)}"


def _dry(plan: ForgettingPlan, left: list[Mention], verify: bool, as_json: bool) -> None:
    finish_with_json(
        {
            "targets": plan.targets,
            "near": plan.near,
            "alike": plan.alike,
            "spellings": [
                {"text": each.text, "told_by": each.source_key, "forms": each.kinds()} for each in plan.spellings
            ],
            "counts": plan.counts(),
            "records": plan.records,
            "mentions": left,
        },
        as_json,
    )
    _show(plan)
    nothing = "records only" if plan.records else "nothing says it"
    counts = ", ".join(f"{outcome} {n:,}" for outcome, n in sorted(plan.counts().items())) or nothing
    out.print(f"would be: {counts}")
    if verify:
        _places(left, "is said")


def _told(done: ForgetResult, verify: bool, as_json: bool, *, silent: bool = False) -> None:
    if silent:
        pass
    elif as_json:
        write_json(done)
    else:
        out.print(f"forgotten: {_counted(done.counts)}")
        if verify:
            _places(done.left, "is left")
        if done.elsewhere:
            out.print(
                f"{done.elsewhere} transactions that began before are still open: forget the same again when they have ended"
            )
        if done.receipt is not None:
            out.print(f"receipt {done.receipt.number}, {done.receipt.hash}")
    for key, rails in sorted(done.held.items()):
        err.print(f"{key} stays: {', '.join(rails)}", markup=False)
    for target in done.asked:
        err.print(f"{target.key} stays: {target.reason}", markup=False)
    if done.asked:
        raise PartlyDone(
            some(len(done.asked), "memory says", "memories say") + " it among other things, and nothing was done to it",
            fix="write it anew without that, or forget it as a whole: --id with its key",
        )
    if done.held or done.left or done.elsewhere:
        raise PartlyDone("not all of it is gone", fix="the lines above say what is left, and where")


def _places(left: Sequence[Mention], words: str) -> None:
    if not left:
        out.print(
            "looked through every text in the store: nothing is left"
            if words == "is left"
            else "nothing in the store says it"
        )
    for mention in left[:_SHOWN]:
        out.print(f"{words} in {':'.join(mention.place)}: {', '.join(mention.names)} ({mention.id})", markup=False)
    if len(left) > _SHOWN:
        out.print(f"… and in {len(left) - _SHOWN:,} more places")


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {n:,}" for name, n in counts.items() if n) or "nothing"


def _short(text: str | None) -> str:
    return printable(shortened(text, _LONGEST))
