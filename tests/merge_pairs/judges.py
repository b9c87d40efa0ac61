"""Who judges a pair: a cosine alone at four thresholds, the content hash, the guard. What else is measured goes into `JUDGES`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from jochi.text.content import content_hash
from jochi_workers.embeddings.protocol import Provider
from jochi_workers.guard import judge

THRESHOLDS = (0.70, 0.85, 0.90, 0.95)
"""Raw cosines. 0.70 is what the 0.85 of seed 000 means, which is the score of an index."""

ASKED_FROM = (0.85, 0.90, 0.92, 0.93, 0.94, 0.95)
"""Merge thresholds that the guard is compared at."""


@dataclass(frozen=True)
class Ruling:
    """``merge`` makes one memory of both, ``flag`` shows them to a person, ``veto`` keeps them apart."""

    verdict: Literal["merge", "flag", "veto"]
    reason: str


class Judge(Protocol):
    """Rules on two texts. It isn't told anything else of the pair: neither its label nor its class nor its language."""

    @property
    def name(self) -> str:
        """The head of its column."""

    def judge(self, left: str, right: str) -> Ruling:
        """The same ruling for the same texts, whichever comes first."""


class Vectors:
    """The vector of each text, embedded once and kept in memory only."""

    def __init__(
        self,
        texts: Iterable[str],
        provider: Provider,
        *,
        page: int = 512,
        told: Callable[[int], object] = lambda done: None,
    ) -> None:
        distinct = sorted(set(texts))
        self._row = {text: row for row, text in enumerate(distinct)}
        self._vectors: npt.NDArray[np.float32] = np.empty((len(distinct), provider.dimensions), dtype=np.float32)
        self._unknown: list[float] = []
        for start in range(0, len(distinct), page):
            found = provider.embed(distinct[start : start + page])
            self._vectors[start : start + len(found)] = [embedded.vector for embedded in found]
            self._unknown += [embedded.unknown_share or 0.0 for embedded in found]
            told(len(found))

    def cosine(self, left: str, right: str) -> float:
        """Of two texts that it was made with."""
        return float(self._vectors[self._row[left]] @ self._vectors[self._row[right]])

    def unknown_share(self, text: str) -> float:
        """The share of a text that the model can't read."""
        return self._unknown[self._row[text]]


@dataclass(frozen=True)
class CosineAlone:
    """Merges from a threshold on."""

    threshold: float
    vectors: Vectors

    @property
    def name(self) -> str:
        """`cosine ≥ 0.85`."""
        return f"cosine ≥ {self.threshold:.2f}"

    def judge(self, left: str, right: str) -> Ruling:
        """By nothing but the cosine."""
        cosine = self.vectors.cosine(left, right)
        return Ruling("merge" if cosine >= self.threshold else "veto", f"cosine {cosine:.3f}")


class SameHash:
    """Merges what has one normal form, as the product does already."""

    name = "exact hash"

    def judge(self, left: str, right: str) -> Ruling:
        """By nothing but the content hash."""
        same = content_hash(left) == content_hash(right)
        return Ruling("merge" if same else "veto", "one content hash" if same else "two content hashes")


@dataclass(frozen=True)
class Guard:
    """The product's guard, asked as the product asks it: from a cosine on, or where the content hashes are equal.

    ``threshold``: None asks about every pair.
    """

    threshold: float | None
    vectors: Vectors

    @property
    def name(self) -> str:
        """`guard ≥ 0.95`."""
        return "guard, any cosine" if self.threshold is None else f"guard ≥ {self.threshold:.2f}"

    def judge(self, left: str, right: str) -> Ruling:
        """The guard's own verdict; "flag" for a pair that it isn't asked about."""
        cosine = self.vectors.cosine(left, right)
        near = self.threshold is None or cosine >= self.threshold
        if not near and content_hash(left) != content_hash(right):
            return Ruling("flag", "below_merge_threshold")
        unknown = max(self.vectors.unknown_share(left), self.vectors.unknown_share(right))
        said = judge(left, right, cosine=cosine if near else None, unknown_share=unknown)
        return Ruling(said.verdict, " ".join(said.reasons))


class GuardAlone:
    """The guard, as if every pair were as near as can be: no threshold and no model stands before it."""

    name = "guard alone"

    def judge(self, left: str, right: str) -> Ruling:
        """The guard's own verdict."""
        said = judge(left, right, cosine=1.0, unknown_share=0.0)
        return Ruling(said.verdict, " ".join(said.reasons))


JUDGES: Sequence[Callable[[Vectors], Judge]] = (
    *(lambda vectors, threshold=threshold: CosineAlone(threshold, vectors) for threshold in THRESHOLDS),
    lambda vectors: SameHash(),
    *(lambda vectors, threshold=threshold: Guard(threshold, vectors) for threshold in (0.95, 0.85, None)),
)
