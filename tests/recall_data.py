"""Vectors that lie as embeddings of text do, for tests and benchmarks of recall: topics that all scopes share, topics of a
scope's own, and a spectrum that falls off; and brute force to compare with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Corpus:
    """``vectors``: unit length, one row a memory; ``scope_of``: the scope's number of each row."""

    vectors: Vectors
    scope_of: npt.NDArray[np.int64]

    def key(self, row: int) -> str:
        """The key of a row's memory."""
        return f"s{self.scope_of[row]}/m{row}"

    def rows(self, scope: int) -> npt.NDArray[np.int64]:
        """The rows of a scope."""
        return np.flatnonzero(self.scope_of == scope)

    def nearest(self, scope: int, query: Vectors, k: int) -> list[str]:
        """The keys of the ``k`` memories of a scope with the greatest cosine, by comparing them all."""
        rows = self.rows(scope)
        return [self.key(row) for row in rows[np.argsort(-(self.vectors[rows] @ query), kind="stable")[:k]]]

    def question(self, row: int, dice: np.random.Generator) -> Vectors:
        """A unit vector not far from a row's (cosine about 0.85), as a question is from its answer."""
        query = self.vectors[row] + 0.6 * dice.normal(size=self.vectors.shape[1]) / np.sqrt(self.vectors.shape[1])
        return np.asarray(query / np.linalg.norm(query))


def zipf_sizes(n: int, scopes: int, exponent: float = 1.5, least: int = 20) -> list[int]:
    """Sizes of scopes that add up to ``n``: few large ones, many small."""
    weights = np.arange(1, scopes + 1) ** -exponent
    sizes = [max(least, int(size)) for size in weights / weights.sum() * n]
    sizes[0] += n - sum(sizes)
    return sizes


def corpus(sizes: list[int], dimensions: int, seed: int = 7, shared_topics: int = 400) -> Corpus:
    """Half of each scope's memories are on topics that all scopes share, half on topics of its own."""
    dice = np.random.default_rng(seed)
    spectrum = np.arange(1, dimensions + 1) ** -0.5
    spectrum /= np.sqrt((spectrum**2).mean())
    rotation = np.linalg.qr(dice.normal(size=(dimensions, dimensions)))[0]

    def cloud(rows: int) -> Vectors:
        return np.asarray((dice.normal(size=(rows, dimensions)) * spectrum) @ rotation)

    shared = cloud(shared_topics)
    parts: list[Vectors] = []
    for size in sizes:
        own = cloud(max(3, int(size**0.5 / 2)))
        centres = np.where(
            (dice.random(size) < 0.5)[:, None],
            shared[dice.integers(0, len(shared), size)],
            own[dice.integers(0, len(own), size)],
        )
        vectors = centres + 0.8 * cloud(size)
        parts.append(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
    return Corpus(np.vstack(parts), np.repeat(np.arange(len(sizes)), sizes))
