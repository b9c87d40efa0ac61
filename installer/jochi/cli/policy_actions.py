"""`jochi policy actions ls|try`: what agents may do with memories."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from jochi.cli.connection import jochi
from jochi.cli.options import options_of
from jochi.cli.output import AsJson, err, finish_with_json, out, say, table, write_json
from jochi.curate.actions import FALLBACK_ACTION, FALLBACK_ELIGIBILITY, Verdict, judge, parse_action, parse_eligibility
from jochi.errors import UsageError
from jochi.policy import load_policy
from jochi.policy.actions import Needs
from jochi.write.importing.jsonlines import json_value

app = typer.Typer(
    help="What agents may do with memories, by the eligibility that each action needs.", no_args_is_help=True
)

FELL_BACK, REFUSED = 3, 5


@app.command()
def ls(context: typer.Context, as_json: AsJson = False) -> None:
    """Show what each action needs, by the policy that --policy names, else the shipped one."""
    needs = (options_of(context).load_policy() or load_policy()).policy.actions.needs
    finish_with_json(needs.model_dump(mode="json"), as_json)
    rows = []
    for action in Needs.model_fields:
        need = getattr(needs, action)
        spans = [f"{span[0]:g} to {span[1]:g}" for span in (need.confidence, need.importance)]
        rows.append((action, *spans, " ".join(need.states) or "never", " ".join(need.sources) or "never"))
    table("Actions", ("action", "confidence", "importance", "lifecycleState", "source"), rows)
    back = FALLBACK_ELIGIBILITY
    out.print(
        f"What is none of these is judged as {FALLBACK_ACTION}; an eligibility that is none as confidence {back.confidence:g}, "
        f"{back.lifecycle_state}, importance {back.importance:g}, source {back.source}.",
        soft_wrap=True,
    )


@app.command("try")
def try_action(
    context: typer.Context,
    action: Annotated[
        str | None, typer.Argument(help="The action. Without it --json-in names it: {action, eligibility}.")
    ] = None,
    json_in: Annotated[
        str | None, typer.Option("--json-in", help="The eligibility as JSON; `-` reads standard input.")
    ] = None,
    confidence: Annotated[float | None, typer.Option(help="0 to 1.")] = None,
    state: Annotated[str | None, typer.Option(help="active, validated, candidate, stale or archived.")] = None,
    importance: Annotated[float | None, typer.Option(help="0 to 1.")] = None,
    source: Annotated[str | None, typer.Option(help="extraction, consolidation, replay, manual or unknown.")] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="What is invalid is an error (exit code 2) and doesn't fall back.")
    ] = False,
    installed: Annotated[
        bool, typer.Option("--installed", help="Ask the database, by the policy that is installed there.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Say whether an action is allowed, and by what rule. Nothing is written.

    Exit code 0: allowed as asked. 3: something invalid fell back, and what it fell back to is allowed. 5: refused.
    """
    given = {"confidence": confidence, "lifecycleState": state, "importance": importance, "source": source}
    eligibility: object = {name: value for name, value in given.items() if value is not None}
    asked: object = action
    if json_in is not None:
        if eligibility:
            raise UsageError("--json-in and options both say the eligibility", fix="give one of them")
        eligibility = _json(json_in, strict=strict)
        if action is None and isinstance(eligibility, dict):
            asked, eligibility = eligibility.get("action"), eligibility.get("eligibility")
    if strict:
        parse_action(asked)
        parse_eligibility(eligibility)
    if installed:
        with jochi(context) as client:
            verdict = client.may_act(asked, eligibility, record=False)
    else:
        verdict = judge((options_of(context).load_policy() or load_policy()).policy.actions, asked, eligibility)
    if as_json:
        write_json({**vars(verdict), "eligibility": verdict.eligibility.as_json()})
    else:
        _show(verdict)
    if not verdict.allowed:
        raise typer.Exit(REFUSED)
    if verdict.faults:
        raise typer.Exit(FELL_BACK)


def _json(text: str, *, strict: bool) -> object:
    raw = sys.stdin.buffer.read() if text == "-" else text.encode()
    try:
        return json_value(raw)
    except ValueError as error:
        if strict:
            raise UsageError(f"the text {error}", where="--json-in", fix="write one JSON object") from None
        err.print(f"the text {error}", markup=False, soft_wrap=True)
        return None


def _show(verdict: Verdict) -> None:
    for fault in verdict.faults:
        err.print(f"fell back: {fault}", markup=False, soft_wrap=True)
    word = "allowed" if verdict.allowed else "refused"
    needs = verdict.required
    because = (
        ""
        if needs is None
        else f": it needs {needs['least']:g} to {needs['most']:g}"
        if isinstance(needs, dict)
        else f": it needs one of {', '.join(needs) or 'nothing: it is never allowed'}"
    )
    say(f"{verdict.action} {word} by {verdict.rule}{because}")
