"""`Jochi.recall`: asks `memory/recall`, and `memory/recall_spread` where edges are to be followed, and gives the answers types.

Where an index isn't built yet, or a memory holds a vector that nothing can be compared with, the server refuses the
procedure; then it is asked again in a way that does without, and the result says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, overload

from neo4j.exceptions import Neo4jError

from jochi import clock
from jochi.database.engine import Engine
from jochi.database.statements import statement
from jochi.errors import JochiError, UsageError
from jochi.graph.driver_values import fixed_offset, to_python, zoned
from jochi.schema.indexes import TEXT_INDEX, VECTOR_INDEX, read
from jochi.use.edges import Edge
from jochi.use.xray import XRay, values_of, with_values, xray_of

_INCOMPARABLE = "vector.similarity.cosine"
_MOST_LATER = 20
"""Of so many hits, the best, it is told what was said later."""
_MOST_EACH = 5
_NOT_READY = ("There is no such", "come online")
"""What the index procedures say of an index that is missing, or that is still being built after half a minute."""


@dataclass(frozen=True)
class Match:
    """A memory that recall returns, as a hit or beyond one. ``created_at`` may be None: an app need not have set it."""

    key: str
    kind: str | None
    content: str | None
    tier: str | None
    state: str | None
    created_at: datetime | None
    score: float
    xray: XRay | None = field(default=None, kw_only=True)
    """What the score is made of, where ``xray`` was asked for."""


@dataclass(frozen=True)
class Later:
    """A statement that was made later than another of the same thing and may take its place. It holds from ``at`` on (None: it
    says nothing of when)."""

    key: str
    content: str | None
    at: datetime | None


@dataclass(frozen=True)
class Hit(Match):
    """One memory that was found.

    ``score`` combines cosine and text score, each scaled by the best that was found (docs/reference/recall.md); comparable
    within one result only, like ``text_score``, which is Lucene's. ``vector_rank`` and ``text_rank`` count from 1 and are None
    where that list didn't hold it. ``cosine`` is raw, −1 to 1, None where there is no vector of the policy's model to compare.
    ``later``: what was said since of the same thing: first what may replace it, the newest first, then the nearest
    (`[recall] later`). What is told with a hit is no hit of its own behind it.
    """

    cosine: float | None
    vector_rank: int | None
    text_score: float | None
    text_rank: int | None
    later: tuple[Later, ...] = ()

    @property
    def text(self) -> str:
        """What to hand to an agent: the content, and what was said later of the same thing, a line each."""
        return "\n".join(
            (
                self.content or "",
                *(f"later{f', {one.at:%Y-%m-%d}' if one.at else ''}: {one.content}" for one in self.later),
            )
        )

    @classmethod
    def from_row(cls, row: dict[str, Any]) -> Hit:
        """A hit as `memory/recall` returns it."""
        plain = to_python(row)
        later = tuple(Later(**one) for one in plain.pop("later"))
        return cls(xray=xray_of(plain), later=later, **plain)


@dataclass(frozen=True)
class Step:
    """One edge that recall followed. ``forward``: from its start to its end; ``confidence`` is 1.0 where it has none.

    ``state``: candidate, active, core or archived; None where edges of its type have no salience.
    """

    type: str
    forward: bool
    confidence: float
    weight: float
    state: str | None = None

    def __str__(self) -> str:
        line = f"{self.type} conf={self.confidence:.2f}" + ("" if self.weight == 1 else f" weight={self.weight:g}")
        line += "" if self.state is None else f" {self.state}"
        return f"-[{line}]->" if self.forward else f"<-[{line}]-"


@dataclass(frozen=True)
class SpreadMatch(Match):
    """A memory that edges lead to from a hit.

    ``activation`` is what arrives of the hits' scores, ``score`` the same after the refinement, both on the scale of `Hit.score`.
    ``seed`` is the hit and ``keys`` are the memories on the way that is shown, from it to this one, with ``edges`` between
    them: the shortest, then the strongest. ``hops`` is their number.
    """

    activation: float
    hops: int
    seed: str
    keys: tuple[str, ...]
    edges: tuple[Step, ...]

    @classmethod
    def from_row(cls, row: dict[str, Any]) -> SpreadMatch:
        """As `memory/recall_spread` returns it."""
        plain = to_python(row)
        edges = tuple(Step(**edge) for edge in plain["edges"])
        return cls(xray=xray_of(plain), **{**plain, "keys": tuple(plain["keys"]), "edges": edges})

    @property
    def path(self) -> str:
        """The way in one line: `s/a -[SAME_ENTITY conf=0.87]-> s/b`."""
        return self.keys[0] + "".join(f" {edge} {key}" for edge, key in zip(self.edges, self.keys[1:], strict=True))

    @property
    def links(self) -> list[Edge]:
        """The edges of the way as `Jochi.reinforce` takes them: say so when what was reached was used."""
        steps = zip(self.edges, self.keys, self.keys[1:], strict=False)
        return [Edge(*((a, step.type, b) if step.forward else (b, step.type, a))) for step, a, b in steps]


@dataclass(frozen=True)
class RecallResult(Sequence[Hit]):
    """The hits, best first. ``vector_by``: 'scope' (its memories compared one by one), 'index', or None: not asked by meaning.

    ``text_by``: 'index' or None: not asked by words, because there was no word, or because the index is still being built, which
    ``degraded`` says in a sentence. ``neighbours``: how many the vector index was asked for.
    """

    hits: tuple[Hit, ...]
    vector_by: str | None = None
    text_by: str | None = None
    neighbours: int = 0
    degraded: str | None = None
    reached: tuple[SpreadMatch, ...] = ()
    """What edges lead to from the hits, best first; empty unless ``hops`` was asked for. None of them is a hit."""
    cut_off: bool = False
    """The neighbourhood was larger than `[edges]` lets recall read: ``reached`` is of its strongest part."""
    hint: str | None = None
    """Why nothing was found, in a sentence, where the scope has no memory at all, or containers alone that fit."""
    left_out: tuple[str, ...] = ()
    """The kinds of containers, which weren't looked for because ``kinds`` named none."""

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, index: int | slice) -> Hit | tuple[Hit, ...]:
        return self.hits[index]

    def __len__(self) -> int:
        return len(self.hits)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    @property
    def keys(self) -> list[str]:
        """The hits' keys, best first: what `Jochi.touch` takes. Without those that were only reached."""
        return [hit.key for hit in self.hits]


def recall(
    engine: Engine,
    text: str | None = None,
    *,
    vector: Sequence[float] | None = None,
    scope: str = "default",
    k: int = 10,
    kinds: Sequence[str] | None = None,
    tiers: Sequence[str] | None = None,
    include_archived: bool = False,
    include_superseded: bool = False,
    include_containers: bool = False,
    since: datetime | None = None,
    until: datetime | None = None,
    min_score: float | None = None,
    hops: int = 0,
    later: int | None = None,
    xray: bool = False,
) -> RecallResult:
    """The ``k`` memories of ``scope`` that fit best by words (``text``), by meaning (``vector``), or by both.

    Containers (raw sources and turns, boxes, traces, quotations) come only where ``kinds`` names them, or with
    ``include_containers``. ``vector`` is as long as the policy says and made by its model. ``since`` ≤ created_at < ``until``;
    ``min_score`` is a raw cosine. Never a tombstone; archived ones, and facts that don't hold (any more), on request. Writes
    nothing: `touch` reports what was used. `UsageError` for a request that makes no sense (a vector of another length, NaN, k
    out of range).

    ``later``: of each fact among the best hits, so many of the nearest statements that were made later (`Hit.later`), 0 to 5;
    None: as many as `[recall] later` says, none with ``include_superseded``, which shows each by itself. What is told with a
    hit isn't a hit of its own besides.

    ``hops`` follows the edges of the policy's types from the hits on, so many steps: up to ``k`` more memories are in
    `RecallResult.reached`, each with the way to it and every edge's confidence. ``xray``:
    each says in `Match.xray` what its score is made of.
    """
    for name, moment in (("since", since), ("until", until)):
        if moment is not None:
            zoned(moment, name, where="recall")
    engine.text("memory/recall")  # says at once where it isn't installed
    request: dict[str, Any] = {
        "scope": scope,
        "text": text,
        "vector": None if vector is None else _floats(vector),
        "k": k,
        "more": 0,
        "kinds": _names("kinds", kinds),
        "tiers": _names("tiers", tiers),
        "include_archived": include_archived,
        "include_superseded": include_superseded,
        "include_containers": include_containers,
        "since": None if since is None else fixed_offset(since),
        "until": None if until is None else fixed_offset(until),
        "min_score": min_score,
        "careful": False,
        "xray": xray,
    }
    if not isinstance(hops, int) or isinstance(hops, bool) or hops < 0:
        raise UsageError(f"hops is {hops!r}", where="recall", fix="give 0 (edges are not followed), or 1, 2, 3")
    if later is not None and (not isinstance(later, int) or isinstance(later, bool) or not 0 <= later <= _MOST_EACH):
        raise UsageError(f"later is {later!r}", where="recall", fix=f"give an integer from 0 to {_MOST_EACH}")
    later = 0 if later is None and include_superseded else later
    ready = _ready(engine, request)
    result = _ask(engine, *ready)
    if later != 0:
        found = _with_later(engine, result, k, later)
        if len(found) < len(result):  # others take the places of those that are told with a hit
            wider = {**ready[0], "more": min(k, _MOST_LATER)}
            found = _with_later(engine, _ask(engine, wider, ready[1]), k, later)
        result = found
    if hops:
        result = _spread(engine, result, request, hops)
    if xray and result:
        result = _with_values(engine, result)
    return result if result else replace(result, hint=_hint(engine, request, result))


def _hint(engine: Engine, request: dict[str, Any], result: RecallResult) -> str | None:
    """Why nothing was found, as far as that is known."""
    if result.left_out and (raw := _ask(engine, {**request, "k": 1, "more": 0, "include_containers": True}, None)):
        return (
            f"only what was said word for word fits, and no statement was made of it yet (a {raw[0].kind}): "
            f"name kinds to find it: {', '.join(result.left_out)}"
        )
    if not scope_known(engine, request["scope"]):
        return f"the scope {request['scope']!r} has no memory, live or pruned: is that its name?"
    return None


def _with_later(engine: Engine, result: RecallResult, k: int, most: int | None) -> RecallResult:
    """The first ``k`` hits, each with what was said later of the same thing."""
    told: set[str] = set()
    hits: list[Hit] = []
    for hit in _later_of(engine, result.hits, most):
        if hit.key not in told and len(hits) < k:
            hits.append(hit)
            told |= {one.key for one in hit.later}
    return replace(result, hits=tuple(hits))


def _later_of(engine: Engine, hits: Sequence[Hit], most: int | None) -> list[Hit]:
    asked = [hit.key for hit in hits if hit.kind == "Fact"][:_MOST_LATER]
    if not asked:
        return list(hits)
    rows = engine.call("memory/later", {"now": clock.now(), "keys": asked, "most": most}, write=False)["results"]
    found = {
        row["key"]: [Later(one["key"], one["content"], to_python(one["at"])) for one in row["later"]] for row in rows
    }
    return [replace(hit, later=_joined(hit.later, found.get(hit.key, ()))) for hit in hits]


def _joined(first: Sequence[Later], further: Sequence[Later]) -> tuple[Later, ...]:
    return tuple(
        {one.key: one for one in (*further, *first)}[key]
        for key in dict.fromkeys(one.key for one in (*first, *further))
    )


def _with_values(engine: Engine, result: RecallResult) -> RecallResult:
    more = values_of(engine, [one.key for one in (*result.hits, *result.reached)])
    return replace(
        result,
        hits=tuple(replace(hit, xray=with_values(hit.xray, more.get(hit.key))) for hit in result.hits),
        reached=tuple(replace(one, xray=with_values(one.xray, more.get(one.key))) for one in result.reached),
    )


def scope_known(engine: Engine, scope: str) -> bool:
    """Whether anything was ever written to the scope, but for what was purged or forgotten since."""
    return bool(engine.database.run(statement("memory/scope_known"), {"prefix": f"{scope}/"}, write=False)[0]["known"])


def _spread(engine: Engine, result: RecallResult, parameters: dict[str, Any], hops: int) -> RecallResult:
    include = ("include_archived", "include_superseded", "include_containers")
    shared = ("scope", "k", "kinds", "tiers", *include, "since", "until", "xray")
    # What its state took below 0 leads nowhere.
    seeds = [{"key": hit.key, "score": max(hit.score, 0.0)} for hit in result]
    request = {**{name: parameters[name] for name in shared}, "seeds": seeds, "hops": hops}
    row = engine.call("memory/recall_spread", {"now": clock.now(), "asked": request}, write=False)
    if row["refused"] is not None:
        raise UsageError(
            f"recall can't be asked like this: {row['refused']}", where="recall", fix="change that argument"
        )
    return replace(
        result, reached=tuple(SpreadMatch.from_row(entry) for entry in row["reached"]), cut_off=row["cut_off"]
    )


def _ready(engine: Engine, request: dict[str, Any]) -> tuple[dict[str, Any], str | None]:
    """The request without the indexes that aren't built yet: asked, the server would wait for them. Looked at until all are."""
    if engine.indexes_ready:
        return request, None
    online = {row["name"] for row in read(engine.database) if row["state"] == "ONLINE"}
    engine.indexes_ready = {TEXT_INDEX, VECTOR_INDEX} <= online
    why: list[str] = []
    if request["vector"] is not None and VECTOR_INDEX not in online:
        request, reason = _one_by_one(request)
        why.append(reason)
    if request["text"] is not None and TEXT_INDEX not in online:
        request, reason = _without_text(request)
        why.append(reason)
    return request, "; ".join(why) or None


def _ask(engine: Engine, request: dict[str, Any], degraded: str | None) -> RecallResult:
    try:
        row = engine.call("memory/recall", {"now": clock.now(), "asked": request}, write=False)
    except Neo4jError as error:
        without, why = _without(request, error)
        return _ask(engine, without, why if degraded is None else f"{degraded}; {why}")
    if row["refused"] is not None:
        raise UsageError(
            f"recall can't be asked like this: {row['refused']}", where="recall", fix="change that argument"
        )
    hits = tuple(Hit.from_row(hit) for hit in row["hits"])
    return RecallResult(
        hits, row["vector_by"], row["text_by"], row["neighbours"], degraded, left_out=tuple(row["left_out"])
    )


def _without(request: dict[str, Any], error: Neo4jError) -> tuple[dict[str, Any], str]:
    """The request that does without what the server stumbled over, and why; ``error`` itself where that isn't known."""
    message = error.message or ""
    not_ready = any(words in message for words in _NOT_READY)
    if not request["careful"]:
        if _INCOMPARABLE in message:
            why = "a memory's vector can't be compared (all zeros or NaN) and was passed over"
            return {**request, "careful": True}, why
        if "db.index.vector." in message and not_ready:
            return _one_by_one(request)
    if "db.index.fulltext." in message and not_ready and request["text"] is not None:
        return _without_text(request)
    raise error


def _one_by_one(request: dict[str, Any]) -> tuple[dict[str, Any], str]:
    return {**request, "careful": True}, f"the index {VECTOR_INDEX} isn't ready: the scope was compared one by one"


def _without_text(request: dict[str, Any]) -> tuple[dict[str, Any], str]:
    if request["vector"] is None:
        raise JochiError(
            "the full-text index isn't there, or isn't built yet",
            where=f"index {TEXT_INDEX}",
            fix="`jochi doctor` shows its state; `jochi install` makes it",
        )
    return {**request, "text": None}, f"the index {TEXT_INDEX} isn't ready: only the vector was looked for"


def _floats(vector: Sequence[float]) -> list[float]:
    """Plain floats, also of a numpy array's elements, which the driver would not take one by one."""
    try:
        if isinstance(vector, str | bytes):
            raise TypeError("a text")
        return [float(value) for value in vector]
    except (TypeError, ValueError):
        raise UsageError("the vector isn't a list of numbers", where="recall", fix="give a list of floats") from None


def _names(what: str, names: Sequence[str] | None) -> list[str] | None:
    if isinstance(names, str):
        raise UsageError(f"{what} is one text", where="recall", fix=f"give a list: [{names!r}]")
    return None if names is None else list(names)
