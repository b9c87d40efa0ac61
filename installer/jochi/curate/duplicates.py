"""Near duplicates as people see them: pairs with both texts, counts, and what they decide (docs/reference/duplicates.md)."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, get_args

from jochi import clock
from jochi.database.engine import Engine
from jochi.errors import UsageError
from jochi.graph.driver_values import read_as, to_python
from jochi.schema.constraints import holding_merges

PairStanding = Literal["waiting", "merge", "flag", "veto", "approved", "rejected", "merged"]
"""Where a pair stands: it waits for the worker, may merge, is only shown, must not merge; or what a person decided; or merged."""

Decision = Literal["approved", "rejected"]

MOST = 10_000
"""Pairs that one call lists, and decides over, at most."""


@dataclass(frozen=True)
class DuplicatePair:
    """Two memories that are near each other. ``score``: raw cosine, None where one of them has no vector.

    ``reasons``: codes, such as number or slot; ``guard``: who judged; ``merge_due``: since when the two may merge; ``held_by``:
    what stopped that last time; where that was a constraint, ``constraints`` names those that it can be. Of a merged pair ``left``
    is who was merged away and ``found_at`` says when.
    """

    left: str
    right: str
    scope: str
    kind: str
    left_content: str | None
    right_content: str | None
    left_hash: str | None
    right_hash: str | None
    score: float | None
    same_text: bool
    verdict: PairStanding
    reasons: tuple[str, ...]
    guard: str | None
    decided_by: str | None
    decided_at: datetime | None
    found_at: datetime | None
    judged_at: datetime | None
    merge_due: datetime | None
    held_by: tuple[str, ...]
    constraints: tuple[str, ...] = ()

    @property
    def held_in_words(self) -> str:
        """What holds it, and by which constraint."""
        return held_in_words(self.held_by, self.constraints)


def held_in_words(held_by: Sequence[str], constraints: Sequence[str]) -> str:
    """Such as: pinned; or: constraint (cites_ref: unique ref on CITES)."""
    return ", ".join(held_by) + (f" ({' or '.join(constraints)})" if constraints else "")


@dataclass(frozen=True)
class DuplicatePairs:
    """``pairs``, the nearest first; ``more``: there are others than were asked for."""

    pairs: tuple[DuplicatePair, ...]
    more: bool


@dataclass(frozen=True)
class DuplicateCount:
    """``n`` pairs of a kind that stand there for that reason; a pair counts once for each of its reasons."""

    kind: str
    verdict: PairStanding
    reason: str | None
    n: int


@dataclass(frozen=True)
class DuplicateCounts:
    """``pairs`` flagged in all, ``to_merge`` of them may merge, ``held`` of these were stopped last time; ``undecided``: what holds
    them only a person can end.

    Of all scopes and kinds: ``merged_contents`` that were merged away, memories that are ``looking`` for their duplicates,
    pairs that wait for a worker's judge and since when the oldest does.
    """

    counts: tuple[DuplicateCount, ...]
    pairs: int
    to_merge: int
    held: int
    merged_contents: int
    looking: int
    judge_waiting: int
    oldest_judge: datetime | None
    undecided: int = 0

    def of(self, verdict: PairStanding, reason: str | None = None) -> int:
        """How many pairs stand there; with a reason only those that have it. (Without one a pair counts once.)"""
        counted = [c for c in self.counts if c.verdict == verdict and reason in (None, c.reason)]
        return sum(count.n for count in counted)


@dataclass(frozen=True)
class PairToDecide:
    """Two keys in either order; with hashes it is only decided if the contents are still those that were seen."""

    left: str
    right: str
    left_hash: str | None = None
    right_hash: str | None = None


@dataclass(frozen=True)
class Decided:
    """What became of one pair.

    ``outcome``: approved | rejected, or why nothing was done: unknown | pruned | merged | no_pair | changed.
    ``missing``: which memory isn't there; ``into``: whom it was merged into.
    """

    left: str
    right: str
    outcome: str
    missing: str | None = None
    into: str | None = None

    @property
    def done(self) -> bool:
        return self.outcome in get_args(Decision)

    @property
    def sentence(self) -> str:
        """The outcome in words, with what to do."""
        both = f"{self.left} and {self.right}"
        return {
            "approved": f"{both}: may merge",
            "rejected": f"{both}: never merge, as long as both say what they say",
            "unknown": f"{both}: there is no memory {self.missing}; `jochi duplicates` lists the pairs",
            "pruned": f"{both}: {self.missing} was pruned; `jochi restore` brings it back",
            "merged": f"{both}: {self.missing} is merged into {self.into} already; unmerge it first to keep them apart",
            "no_pair": f"{both}: they aren't flagged as near duplicates; `jochi duplicates` lists the pairs",
            "changed": f"{both}: a content has changed since; look at the pair again with `jochi duplicates`",
        }[self.outcome]


def list_pairs(
    engine: Engine,
    *,
    scope: str | None = None,
    kind: str | None = None,
    verdict: PairStanding | None = None,
    reason: str | None = None,
    limit: int = 20,
) -> DuplicatePairs:
    """Pairs of memories that are near each other, the nearest first, with both texts; each filter that is given must hold.

    ``verdict``: where they stand; without one all but those that are merged. Reads every flag. `UsageError` for a verdict or
    limit (1 to 10,000) that can't be.
    """
    if verdict is not None and verdict not in get_args(PairStanding):
        raise UsageError(f"there is no verdict {verdict!r}", fix=f"one of: {', '.join(get_args(PairStanding))}")
    if not 1 <= limit <= MOST:
        raise UsageError(f"limit is {limit:,}", fix=f"1 to {MOST:,}")
    row = _report(engine, scope=scope, kind=kind, verdict=verdict, reason=reason, limit=limit)
    every = {name for entry in row["pairs"] for name in entry["held_by"]}
    constraints = holding_merges(engine.database, every)
    pairs = [
        DuplicatePair(
            **{**entry, "reasons": tuple(entry["reasons"]), "held_by": tuple(entry["held_by"])},
            constraints=constraints if "constraint" in entry["held_by"] else (),
        )
        for entry in row["pairs"]
    ]
    return DuplicatePairs(tuple(pairs), row["more"])


def count_pairs(engine: Engine, now: datetime, *, scope: str | None, kind: str | None) -> DuplicateCounts:
    """Counts as `report/duplicates` has them."""
    row = _report(engine, now=now, scope=scope, kind=kind, counts=True)
    return read_as(DuplicateCounts, row, pairs=row["n_pairs"])


def count_due_merges(engine: Engine, now: datetime, *, scope: str | None = None, kind: str | None = None) -> int:
    """How many pairs `merge_duplicates` would look at at ``now``; what then holds one up isn't asked."""
    return int(_report(engine, now=now, scope=scope, kind=kind, due=True)["due"])


def _report(engine: Engine, **asked: Any) -> dict[str, Any]:
    usual = {"now": clock.now(), "verdict": None, "reason": None, "limit": 0, "counts": False, "due": False}
    row: dict[str, Any] = to_python(engine.call("report/duplicates", usual | asked, write=False))
    return row


def decide_pairs(
    engine: Engine,
    pairs: Iterable[PairToDecide | Sequence[str]],
    decision: Decision,
    *,
    now: datetime,
    by: str,
) -> list[Decided]:
    """Decides, in the order of ``pairs``; a pair may be two keys. The call is a run, which `undo` takes back.

    `UsageError` for what is no pair or no decision.
    """
    if decision not in get_args(Decision):
        raise UsageError(f"there is no decision {decision!r}", fix="approved or rejected")
    asked = [_pair(pair) for pair in pairs]
    if not asked:
        raise UsageError("no pair named", fix="give the two keys of each, such as default/m1 default/m2")
    if len(asked) > MOST:
        raise UsageError(f"{len(asked):,} pairs at once", fix=f"give {MOST:,} at most")
    rows: list[Mapping[str, Any]] = [pair.__dict__ for pair in asked]
    given = {"now": now, "run": f"decide/{uuid.uuid4()}", "by": by, "decision": decision, "pairs": rows}
    row = engine.call("dedup/decide", given)
    return [Decided(**entry) for entry in row["results"]]


def _pair(given: PairToDecide | Sequence[str]) -> PairToDecide:
    if isinstance(given, PairToDecide):
        pair = given
    elif isinstance(given, str) or len(given) != 2 or not all(isinstance(key, str) for key in given):
        raise UsageError(f"{given!r} is no pair of keys", fix="give two keys, such as default/m1 default/m2")
    else:
        pair = PairToDecide(*given)
    if pair.left == pair.right:
        raise UsageError(f"{pair.left} twice is no pair", fix="give the keys of two memories")
    return pair
