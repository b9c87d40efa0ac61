"""`jochi recall`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated

import typer

from jochi.cli.arguments import PROVIDERS, parse_moment
from jochi.cli.connection import answer, jochi
from jochi.cli.output import AsJson, err, shortened, table, write_json
from jochi.errors import UsageError
from jochi.policy.settings import Embedding
from jochi.use.recall import Hit, Match, SpreadMatch
from jochi.use.xray import XRay

_LONGEST = 120

AskXRay = Annotated[bool, typer.Option("--xray", help="Show what each score is made of, and what it isn't made of.")]


def recall(
    context: typer.Context,
    text: Annotated[
        str | None, typer.Argument(help="What to look for, in plain words. Nothing in it is syntax.")
    ] = None,
    scope: Annotated[str, typer.Option("--scope", "-s", help="Whose memories.")] = "default",
    k: Annotated[int, typer.Option("--limit", "-n", help="How many at most.")] = 10,
    kinds: Annotated[
        list[str] | None, typer.Option("--kind", "-k", help="Only this kind. Can be given several times.")
    ] = None,
    tiers: Annotated[
        list[str] | None, typer.Option("--tiers", help="Only this tier. Can be given several times.")
    ] = None,
    include_archived: Annotated[bool, typer.Option("--include-archived", help="Find archived memories, too.")] = False,
    include_superseded: Annotated[
        bool, typer.Option("--include-superseded", help="Find facts that no longer hold or do not hold yet, too.")
    ] = False,
    since: Annotated[
        str | None, typer.Option(help="Only what was created at this moment or later: 2026-12-24T18:00:00Z.")
    ] = None,
    until: Annotated[str | None, typer.Option(help="Only what was created before this moment.")] = None,
    min_score: Annotated[
        float | None,
        typer.Option("--min-score", help="Raw cosine that each hit must reach, from -1 to 1. Needs --provider."),
    ] = None,
    provider: Annotated[
        str | None,
        typer.Option(help=f"Search by meaning, too: embed the text with {PROVIDERS}."),
    ] = None,
    hops: Annotated[
        int,
        typer.Option(
            help="Follow edges from the hits for so many steps, and show the way with the confidence of each edge."
        ),
    ] = 0,
    xray: AskXRay = False,
    box: Annotated[
        str | None,
        typer.Option(help="Instead of looking: what lies in this memory box (SCOPE/ID), by when it was said."),
    ] = None,
    trace: Annotated[str | None, typer.Option(help="The same of all boxes of this trace.")] = None,
    as_json: AsJson = False,
) -> None:
    """Find memories of a scope by their words, and with --provider by their meaning. This writes nothing."""
    if sum(each is not None for each in (text, box, trace)) != 1:
        raise UsageError("nothing to recall, or too much", fix="give a text, --box, or --trace")
    if key := box or trace:
        _contents(context, key, include_superseded, as_json)
        return
    with jochi(context) as client:
        found = client.recall(
            text,
            vector=None
            if provider is None or text is None
            else embedded(text, provider, client.policy.policy.embedding),
            scope=scope,
            k=k,
            kinds=kinds or None,
            tiers=tiers or None,
            include_archived=include_archived,
            include_superseded=include_superseded,
            since=parse_moment(since),
            until=parse_moment(until),
            min_score=min_score,
            hops=hops,
            xray=xray,
        )
    if as_json:
        followed = {"reached": list(found.reached), "cut_off": found.cut_off} if hops else {}
        write_json({"hits": list(found), "degraded": found.degraded, "hint": found.hint, **followed})
        return
    rows = [(hit.key, hit.kind, hit.tier, hit.created_at, _content(hit)) for hit in found]
    table(f"{len(found)} of {scope}", ("key", "kind", "tier", "created", "content"), rows)
    if hops:
        ways = [
            (one.key, one.kind, f"{one.score:.4f}", one.path, shortened(one.content, _LONGEST)) for one in found.reached
        ]
        table(f"{len(ways)} more along edges", ("key", "kind", "score", "way", "content"), ways, right=(2,))
        if found.cut_off:
            err.print("[yellow]there were more edges than recall reads: these are of the strongest part[/]")
    if xray:
        show_xray([*found, *found.reached])
    for said in (found.degraded, found.hint):
        if said:
            err.print(said, style="yellow", markup=False)


def _content(hit: Hit) -> str:
    """What it says, and what was said since."""
    later = (f"later: {shortened(one.content, _LONGEST)}" for one in hit.later)
    return "\n".join((shortened(hit.content, _LONGEST), *later))


def show_xray(found: Sequence[Match]) -> None:
    """A line for each term of each score, and what is known of the memory that doesn't move it."""
    rows: list[tuple[object, ...]] = []
    for one in found:
        if one.xray is None:
            continue
        rows.append((one.key, f"{one.score:.5f}", "=", _beside(one)))
        rows += [("", f"{part.amount:+.5f}", part.name, _why(one, part.name)) for part in one.xray.parts]
        rows += [("", f"({seed.amount:.5f})", "activation by", seed.name) for seed in one.xray.seeds]
    table("X-ray", ("key", "score", "part", ""), rows, right=(1,))


def _why(one: Match, part: str) -> str:
    """What a term was made of."""
    if isinstance(one, SpreadMatch):
        if part == "activation":
            return one.path
        return "kept: it leads to none of the others" if part == one.key else "flows from it along edges"
    if not isinstance(one, Hit):
        return ""
    cosine = "" if one.cosine is None else f", cosine {one.cosine:.4f}"
    return {
        "vector": f"rank {one.vector_rank}{cosine}",
        "text": f"rank {one.text_rank}" + ("" if one.text_score is None else f", Lucene {one.text_score:.3f}"),
        "state": str(one.state),
    }.get(part, "")


def _beside(one: Match) -> str:
    xray = one.xray or XRay(())
    known = {
        "tier": one.tier,
        "salience": None if xray.salience is None else f"{xray.salience:.3f}",
        "MVS": None if xray.mvs is None else f"{xray.mvs:.1f}",
        "value": None if xray.value is None else f"{xray.value:.2f} {xray.retention}",
    }
    return "beside it: " + ", ".join(f"{name} {value}" for name, value in known.items() if value is not None)


def _contents(context: typer.Context, key: str, include_superseded: bool, as_json: bool) -> None:
    found = answer(context, as_json, lambda client: client.box_contents(key, include_superseded=include_superseded))
    boxes = [(one.key, one.state, one.memory_count, shortened(", ".join(one.topics), _LONGEST)) for one in found.boxes]
    table(f"{len(boxes)} boxes", ("key", "state", "memories", "topics"), boxes, right=(2,))
    rows = [(one.key, one.category, one.said_at, shortened(one.content, _LONGEST)) for one in found.memories]
    table(f"{len(rows)} of {key}", ("key", "category", "said", "content"), rows)


def embedded(text: str, provider: str, policy: Embedding) -> list[float]:
    """The text, a question, as a vector of the policy's model; no other can be compared with what is stored."""
    with embedder(provider, policy) as embed:
        return embed(text)


@contextmanager
def embedder_of(provider: str | None, policy: Embedding) -> Iterator[Callable[[str], list[float]] | None]:
    """The same, or None where nobody is named."""
    if provider is None:
        yield None
    else:
        with embedder(provider, policy) as embed:
            yield embed


@contextmanager
def embedder(provider: str, policy: Embedding) -> Iterator[Callable[[str], list[float]]]:
    """What makes questions such vectors."""
    from jochi_workers import embeddings

    made = embeddings.provider(provider, model=None if provider in embeddings.ONE_MODEL else policy.model)
    try:
        if made.model != policy.model:
            raise UsageError(
                f"{provider} is the model {made.model}, and the vectors in this database are of {policy.model}",
                fix="name another --provider, or leave it out to look by words only",
            )
        yield lambda text: embeddings.embed_question(made, text)
    finally:
        made.close()
