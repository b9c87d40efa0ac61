"""`jochi explore`: what happened, as sources, storylines or themes (seed 002, Retrieval Granularity Controls)."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from jochi.cli.arguments import PROVIDERS, parse_moment
from jochi.cli.connection import jochi
from jochi.cli.output import AsJson, err, finish_with_json, out, printable, say, shortened, table, write_json
from jochi.cli.recall import AskXRay, embedded, show_xray
from jochi.errors import Refused, UsageError
from jochi.use.explore import Member, Place

_LONGEST = 160
_LEVELS: dict[str, Any] = {"1": 1, "2": 2, "3": 3, "auto": "auto"}


def explore(
    context: typer.Context,
    text: Annotated[str, typer.Argument(help="What to look for; with --drill the key of what to look into.")],
    scope: Annotated[str, typer.Option("--scope", "-s", help="Whose memories.")] = "default",
    granularity: Annotated[str, typer.Option(help="1: sources, 2: storylines, 3: themes, or auto.")] = "1",
    drill: Annotated[bool, typer.Option("--drill", help="Show what lies beneath the memory with this key.")] = False,
    k: Annotated[int, typer.Option("--limit", "-n", help="How many at most.")] = 10,
    include_archived: Annotated[bool, typer.Option("--include-archived", help="Find archived memories, too.")] = False,
    since: Annotated[str | None, typer.Option(help="Only what was created at this moment or later.")] = None,
    until: Annotated[str | None, typer.Option(help="Only what was created before this moment.")] = None,
    provider: Annotated[
        str | None,
        typer.Option(help=f"Search by meaning, too: embed the text with {PROVIDERS}."),
    ] = None,
    xray: AskXRay = False,
    as_json: AsJson = False,
) -> None:
    """Find what happened: storylines and themes say it in short, and --drill leads from them to the sources. This writes
    nothing."""
    if granularity not in _LEVELS:
        raise UsageError(f"{granularity!r} is no granularity", fix="give 1, 2, 3 or auto")
    with jochi(context) as client:
        if drill:
            found = client.drill_down([text])
            if not found:
                raise Refused("no live memory has this key", where=text, fix="`jochi explain` says what became of one")
            if as_json:
                write_json(found[0])
            else:
                _place(found[0])
            return
        vector = None if provider is None else embedded(text, provider, client.policy.policy.embedding)
        explored = client.explore(
            text,
            vector=vector,
            scope=scope,
            granularity=_LEVELS[granularity],
            k=k,
            include_archived=include_archived,
            since=parse_moment(since),
            until=parse_moment(until),
            xray=xray,
        )
    finish_with_json(explored, as_json)
    _rows(f"{len(explored.places)} of {scope}, granularity {explored.granularity}", explored.places)
    if xray:
        show_xray(explored.hits)
        for level, cosine in (explored.nearest or {}).items():
            out.print(f"granularity {level}: best cosine {'–' if cosine is None else f'{cosine:.4f}'}")
    for said in (explored.degraded, explored.hint):
        if said:
            err.print(said, style="yellow", markup=False)


def _place(place: Place) -> None:
    for text in (place.title, place.summary, place.content):
        for line in (text or "").splitlines():
            say(printable(line))
    _rows(f"Beneath {place.key}", place.members)


def _rows(title: str, places: tuple[Member, ...]) -> None:
    rows = [
        (
            one.key,
            one.kind,
            one.title,
            f"{one.started_at:%Y-%m-%d}" if one.started_at else "",
            f"{one.ended_at:%Y-%m-%d}" if one.ended_at else "",
            one.source_count,
            shortened((one.summary if isinstance(one, Place) else None) or one.content, _LONGEST),
        )
        for one in places
    ]
    table(title, ("key", "kind", "title", "from", "to", "sources", "content"), rows, right=(5,))
