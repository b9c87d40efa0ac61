"""`jochi enrol LABEL`, `jochi disenrol LABEL`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.progress import MofNCompleteColumn

from jochi.cli.asking import ask
from jochi.cli.connection import jochi
from jochi.cli.output import AsJson, err, forbidden_by, out, some, table, write_json
from jochi.cli.progress import bar
from jochi.errors import PartlyDone
from jochi.write.enrolling import OBJECT_MAPPERS, WARNING, EnrolmentPlan
from jochi.write.enrolling.results import DisenrolResult

Label = Annotated[str, typer.Argument(help="A label that the installed policy has a kind for.")]
Yes = Annotated[bool, typer.Option("--yes", help="Don't ask.")]


def enrol(
    context: typer.Context,
    label: Label,
    plan: Annotated[bool, typer.Option("--plan", help="Only show what it would do.")] = False,
    yes: Yes = False,
    generate_ids: Annotated[
        bool, typer.Option("--generate-ids", help="Make an id for nodes that have none, instead of refusing them.")
    ] = False,
    page: Annotated[int, typer.Option("--page", min=1, max=10_000, help="Nodes in one transaction.")] = 2_000,
    as_json: AsJson = False,
) -> None:
    """Make memories of nodes that exist. The command shows a plan and asks first. You can stop it and run it again.

    Nodes that can't be enrolled are counted and listed, and the others are enrolled: exit code 3.
    """
    with jochi(context) as client:
        with err.status(f"looking at the nodes with {label}"):
            planned = client.plan_enrolment(label, generate_ids=generate_ids)
        if plan or not as_json:
            write_json(planned.as_dict()) if as_json else _show(planned, mappers=plan)
        if plan:
            return
        if planned.ready and not as_json:
            out.print(f"{WARNING}; `jochi enrol {label} --plan` says more", markup=False)
        ask(f"Enrol {some(planned.ready, 'node', 'nodes')}?", yes=yes)
        with _bar("enrolling", planned.nodes - planned.curated, hidden=as_json) as advance:
            result = client.enrol(
                label,
                generate_ids=generate_ids,
                page=page,
                on_progress=lambda r: advance(r.enrolled + r.passed + r.troubles.total),
            )
    if as_json:
        write_json({**asdict(result), "object_mappers": WARNING})
    else:
        before = some(result.already, "was a memory", "were memories")
        out.print(f"{some(result.enrolled, 'node', 'nodes')} enrolled, {before} before")
    if result.troubles.total:
        raise PartlyDone(
            f"{some(result.troubles.total, 'node was', 'nodes were')} not enrolled: "
            + "; ".join(result.troubles.lines()),
            fix="set right what they lack and run the same command again",
        )


def disenrol(
    context: typer.Context,
    label: Label,
    keep_tombstones: Annotated[
        bool, typer.Option("--keep-tombstones", help="Leave pruned nodes pruned instead of bringing them back first.")
    ] = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Take back what enrolment added to the nodes of a label. What apps wrote stays. You can stop it and run it again."""
    ask(f"Release all nodes of {label} that were enrolled?", yes=yes)
    with jochi(context) as client, err.status("releasing") as spinner:
        result = client.disenrol(
            label,
            keep_tombstones=keep_tombstones,
            on_progress=lambda r: spinner.update(f"releasing: {r.released:,}"),
        )
    if as_json:
        write_json(result)
    else:
        _show_released(result)
    if result.forbidden:
        raise PartlyDone(
            some(len(result.forbidden), "node", "nodes") + " could not become what they were",
            fix="make room for each, and run the same command again before they are purged",
        )


def _show_released(result: DisenrolResult) -> None:
    out.print(
        f"{some(result.released, 'node', 'nodes')} released, {result.restored:,} of them brought back from pruning"
    )
    if result.left:
        left = some(result.left, "memory of this kind stays: it was", "memories of this kind stay: they were")
        out.print(f"{left} remembered or imported, not enrolled")
    if result.kept:
        out.print(f"{some(result.kept, 'tombstone stays and is', 'tombstones stay and are')} purged in time")
    for each in result.forbidden:
        out.print(f"{each.key}: stays as it is, {forbidden_by(each.constraint, each.holder)}", markup=False)


@contextlib.contextmanager
def _bar(text: str, total: int, *, hidden: bool) -> Iterator[Any]:
    with bar(MofNCompleteColumn(), hidden=hidden) as shown:
        task = shown.add_task(text, total=total)
        yield lambda done: shown.update(task, completed=done)


def _show(plan: EnrolmentPlan, *, mappers: bool) -> None:
    """The plan on a terminal; ``mappers``: with what it means for apps' object mappers."""
    are = some(plan.curated, "is a memory", "are memories")
    out.print(f"{some(plan.nodes, 'node', 'nodes')} with {plan.label}: {are}, {plan.ready:,} can be enrolled")
    for line in plan.troubles.lines():
        out.print(f"  not enrolled: {line}", markup=False)
    if plan.with_content:
        mean = plan.total_content / plan.with_content
        out.print(
            f"content: {plan.with_content:,} have one, {mean:,.0f} characters on average, longest {plan.longest_content:,}"
        )
    wrong = [
        (property, type.lower() if type != "NULL" else "absent", n)
        for property, types in plan.wrong_types.items()
        for type, n in types.items()
    ]
    if wrong:
        table("absent, or of a type that rules and rails can't use", ("property", "type", "nodes"), wrong, right=(2,))
    for property, entry in plan.mapping.items():
        line = f"to have it read, put this among `properties` of [kinds.{plan.label}]: {entry}"
        none = "no `as` reads it, and a wrong type protects the memory: have the app write a zoned datetime"
        out.print(f"  {property}: {line if entry else none}", markup=False)
    due = [(rule, outcome, n) for (rule, outcome), n in sorted(plan.verdicts.items(), key=str) if rule]
    if due:
        table("due at once", ("rule", "outcome", "nodes"), due, right=(2,))
    if mappers:
        out.print(
            "object mappers: each enrolled node carries one label more, :Curated; a pruned one has :Tombstone alone"
        )
        for each in OBJECT_MAPPERS:
            out.print(f"  {each.mapper}: {each.effect}", markup=False)
            for line in each.remedy:
                out.print(f"    {line}", markup=False)
