"""`jochi memory score|levels|originals|history|touch|topics|edges`: one memory at a time, and what is less often asked."""

from __future__ import annotations

from itertools import islice
from typing import Annotated

import typer

from jochi import clock
from jochi.cli.arguments import At, keys_of, parse_moment
from jochi.cli.connection import answer, jochi
from jochi.cli.output import AsJson, finish_with_json, moment, out, printable, shortened, some, table, write_json
from jochi.curate.score import Scored
from jochi.errors import PartlyDone, UsageError


def score(
    context: typer.Context,
    memories: Annotated[list[str] | None, typer.Argument(help="Keys scope/id, or ids in the scope default.")] = None,
    scope: Annotated[
        str | None,
        typer.Option("--scope", "-s", help="Scope, where only ids are given (default); with --improve: only this one."),
    ] = None,
    improve: Annotated[
        bool, typer.Option("--improve", help="List the memories to which something could be added, and what.")
    ] = False,
    most: Annotated[int, typer.Option("--limit", "-n", min=1, help="With --improve: how many.")] = 50,
    at: At = None,
    as_json: AsJson = False,
) -> None:
    """Show what memories are worth, term by term, and what follows from it. This writes nothing."""
    if improve == bool(memories):
        raise UsageError(
            "name memories, or --improve", fix="`jochi memory score default/m1`, or `jochi memory score --improve`"
        )
    if improve:
        _improvable(context, scope, most, as_json)
        return
    keys = keys_of(memories or [], scope or "default")
    with jochi(context) as client:
        found = client.score(keys, at=parse_moment(at))
    if missing := sorted(set(keys) - {one.key for one in found}):
        raise UsageError(f"no live memory has the key {missing[0]}", fix="`jochi explain KEY` says what became of it")
    finish_with_json(found, as_json)
    for one in found:
        _print_score(one)


def _improvable(context: typer.Context, scope: str | None, most: int, as_json: bool) -> None:
    with jochi(context) as client:
        found = list(islice(client.improvable(scope), most + 1))
    finish_with_json(found[:most], as_json)
    rows = [(one.key, one.kind, ", ".join(one.missing), None if one.mvs is None else f"{one.mvs:.4f}") for one in found]
    table("What could be added", ("memory", "kind", "missing", "score"), rows[:most], right=(3,))
    if len(found) > most:
        out.print(f"… and more: -n {most * 10}")


def _print_score(found: Scored) -> None:
    rows = [
        (
            name.replace("_", " "),
            f"{-term.value if name == 'bloat' else term.value:.4f}",
            "" if term.known else f"up to {term.most:.4f}",
        )
        for name, term in found.terms.items()
    ]
    table(found.key, ("term", "adds", "unknown"), [*rows, ("score", f"{found.mvs:.4f}", "")], right=(1,))
    read = f"{found.above:.4f} above its type weight" if found.profile == "relative" else f"{found.mvs:.4f}"
    asks = found.action + (f": {', '.join(found.missing)}" if found.action == "improve" else "")
    out.print(f"{read} is in the band {found.band.replace('_', ' ')}; it asks for: [bold]{asks.replace('_', ' ')}[/]")
    if found.acting != found.band:
        best = found.above_most if found.profile == "relative" else found.most
        out.print(f"as something is unknown, it is judged by what it may be worth: {best:.4f}, {found.acting}")
    out.print(f"{found.tokens:,} tokens of {found.target:,}")
    if found.rails:
        out.print(f"protected, whatever it is worth: {', '.join(sorted(found.rails))}")


_LONGEST_LEVEL = 120


def levels(
    context: typer.Context,
    key: Annotated[
        str, typer.Argument(help="Key scope/id of a context, source or batch of turns, of its summary or its keywords.")
    ],
    as_json: AsJson = False,
) -> None:
    """Show the levels of a context, from its whole text to its keywords, and its neighbours in time. This writes nothing."""
    found = answer(context, as_json, lambda client: client.levels(key))
    rows = [
        (
            f"{one.level} *" if one.key == key else one.level,
            one.key,
            one.token_count,
            None if one.ratio is None else f"{one.ratio:.1%}",
            one.content_type,
            one.access_tier,
            one.access_count,
            shortened(one.content, _LONGEST_LEVEL),
        )
        for one in found.levels
    ]
    titles = ("level", "key", "tokens", "of the longer", "holds", "for", "accesses", "content")
    table(f"Levels of {key}", titles, rows, right=(2, 3, 6))
    for way, neighbour in (("before it", found.previous), ("after it", found.next)):
        if neighbour:
            out.print(printable(f"{way} in time: {neighbour}"), markup=False)


_LONGEST_ORIGINAL = 160


def originals(
    context: typer.Context,
    key: Annotated[
        str, typer.Argument(help="Key scope/id of what was made: an insight, a summary, a storyline, a theme.")
    ],
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=1_000, help="So many at most, the newest first.")
    ] = 20,
    as_json: AsJson = False,
) -> None:
    """Show the sources that a memory was made of, archived ones too. `--json` has their whole text. This writes nothing."""
    found = answer(context, as_json, lambda client: client.originals(key, limit=limit))
    rows = [
        (
            one.key,
            f"{one.at:%Y-%m-%d}" if one.at else "",
            "pruned" if one.pruned else one.state,
            one.title,
            shortened(one.content, _LONGEST_ORIGINAL),
        )
        for one in found.originals
    ]
    table(f"Originals of {key}", ("key", "from", "state", "title", "content"), rows)
    out.print(f"{len(rows):,} of {found.total:,}", markup=False)


def history(
    context: typer.Context,
    scope: Annotated[str, typer.Argument(help="Whose facts.")],
    subject: Annotated[str, typer.Argument(help="Of what or whom, such as Ann. Case and blanks make no difference.")],
    attribute: Annotated[str, typer.Argument(help="What of it, such as city.")],
    at: At = None,
    as_json: AsJson = False,
) -> None:
    """Show what held of a subject's attribute, and when. With --at, show only what held then. This writes nothing."""
    when = parse_moment(at)
    found = answer(context, as_json, lambda client: client.history_of(scope, subject, attribute, when))
    now = when or clock.now()
    rows = [
        (each.value, each.valid_from, each.valid_to, "yes" if each.holds(now) else "", each.keys[0], len(each.keys) - 1)
        for each in found
    ]
    table(
        f"{attribute} of {subject} in {scope}",
        ("value", "from", "to", "holds", "key", "confirmed"),
        rows,
        right=(5,),
    )


def touch(
    context: typer.Context,
    keys: Annotated[
        list[str], typer.Argument(help="Keys scope/id of memories, or ids in the scope that --scope names.")
    ],
    recalled: Annotated[
        bool,
        typer.Option(
            "--recalled", help="They were only shown and not used. This counts as a recall and not as an access."
        ),
    ] = False,
    agent: Annotated[str | None, typer.Option(help="Who used them.")] = None,
    batch: Annotated[
        str | None,
        typer.Option(help="A text of your own. If you send the same command with it again, it counts nothing."),
    ] = None,
    scope: Annotated[str, typer.Option("--scope", "-s", help="Scope, where only the id is given.")] = "default",
    at: At = None,
    as_json: AsJson = False,
) -> None:
    """Report that memories were used, so that the engine reinforces and protects them."""
    named = [key if "/" in key else f"{scope}/{key}" for key in keys]
    with jochi(context) as client:
        done = client.touch(named, used=not recalled, agent=agent, batch=batch, now=parse_moment(at))
    if as_json:
        write_json(done)
    else:
        again = f"; {some(done.repeated, 'was', 'were')} taken before under this batch" if done.repeated else ""
        they = "it is" if done.touched == 1 else "they are"
        taken = some(done.touched, "touch", "touches")
        out.print(f"{taken} taken{again}; {they} counted within seconds", soft_wrap=True)
    if done.unknown:
        raise PartlyDone(
            f"no memory has {', '.join(done.unknown_samples)}{', …' if done.unknown > len(done.unknown_samples) else ''}",
            fix="look at the spelling; `jochi recall` finds memories by their words",
        )
    if done.rejected:
        raise PartlyDone(
            f"{done.rejected:,} can't be keys (such as {done.samples[0]!r})", fix="a key is scope/id: default/m1"
        )


def topics(
    context: typer.Context,
    scope: Annotated[str | None, typer.Option("--scope", "-s", help="Only this scope.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=10_000, help="So many scopes at most.")] = 100,
    as_json: AsJson = False,
) -> None:
    """Show what the memories of each scope are about, and the newest of each topic."""
    found = answer(context, as_json, lambda client: client.topics(scope=scope, limit=limit))
    if not found:
        out.print("none yet: the job index_topics finds them; `jochi jobs run index_topics` does it now")
    for index in found:
        title = f"{printable(index.scope)}: {some(index.read, 'memory', 'memories')} read {moment(index.at)}"
        rows = [(printable(each.topic), each.n, "\n".join(each.newest)) for each in index.topics]
        table(f"{title}{', and it has more' if index.cut else ''}", ("topic", "memories", "newest"), rows, right=(1,))


def edges(context: typer.Context, at: At = None, as_json: AsJson = False) -> None:
    """Show how many edges there are of each declared type, how many are due, and which have waited longest."""
    found = answer(context, as_json, lambda client: client.edges(parse_moment(at)))
    rows = [
        (t.type, "one way" if t.one_way else "both ways", t.lifecycle, t.stored, t.due, moment(t.next_due))
        for t in found.types
    ]
    table("Edges", ("type", "recall follows it", "time takes its", "stored", "due", "next due"), rows, right=(3, 4))
    waiting = [
        (t.type, e.start, e.end, e.confidence, moment(e.anchor), moment(e.next_due))
        for t in found.types
        for e in t.samples
    ]
    if waiting:
        table("Longest due", ("type", "from", "to", "confidence", "counted from", "due since"), waiting, right=(3,))
    out.print(f"edges that something else wrote were last looked for at {moment(found.walked_at)}")
