"""How good a judge is: precision of "merge" with its lower bound, and recall of true duplicates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tests.merge_pairs.bound import lower_bound
from tests.merge_pairs.judges import Judge
from tests.merge_pairs.pair import READ_LANGUAGES, Pair


@dataclass(frozen=True)
class Ruled:
    """A pair and what became of it."""

    pair: Pair
    verdict: str


@dataclass(frozen=True)
class Share:
    """``part`` of ``whole``."""

    part: int
    whole: int

    @property
    def value(self) -> float | None:
        """None of nothing."""
        return self.part / self.whole if self.whole else None

    @property
    def bound(self) -> float:
        """Its 95 % lower bound."""
        return lower_bound(self.part, self.whole)


def rule(judge: Judge, pairs: Iterable[Pair]) -> list[Ruled]:
    """What the judge says of each pair."""
    return [Ruled(pair, judge.judge(pair.left, pair.right).verdict) for pair in pairs]


def precision(ruled: Sequence[Ruled]) -> Share:
    """Of the merges, those that may be."""
    merged = [one.pair.may_merge for one in ruled if one.verdict == "merge"]
    return Share(sum(merged), len(merged))


def recall(ruled: Sequence[Ruled]) -> Share:
    """Of what may merge, what was merged."""
    mergeable = [one.verdict == "merge" for one in ruled if one.pair.may_merge]
    return Share(sum(mergeable), len(mergeable))


def wrong(ruled: Sequence[Ruled]) -> Share:
    """Of what must not merge, what was merged."""
    apart = [one.verdict == "merge" for one in ruled if not one.pair.may_merge]
    return Share(sum(apart), len(apart))


def precision_of_class(ruled: Sequence[Ruled], kind: str) -> Share:
    """As if the pairs of this class were the only ones that must not merge, beside all true duplicates of the read languages."""
    return precision([one for one in ruled if _read(one) and (one.pair.may_merge or one.pair.kind == kind)])


def of_class(ruled: Sequence[Ruled], kind: str) -> list[Ruled]:
    """Those of a class, in the languages that are read."""
    return [one for one in ruled if _read(one) and one.pair.kind == kind]


def of_languages(ruled: Sequence[Ruled], *languages: str) -> list[Ruled]:
    """Those in some languages."""
    return [one for one in ruled if one.pair.language in languages]


def _read(one: Ruled) -> bool:
    return one.pair.language in READ_LANGUAGES
