"""Which near duplicates go together: complete linkage over pairs that may merge (seed 000, Option B, 4; DESIGN §10, Merge).

Similarity, the kind's merge threshold and vetoes are inputs. Ours, where the seed is silent:
- Complete linkage: every two of a cluster may merge. A chain a ~ b ~ c with a and c apart is no cluster: by chains anything
  becomes anything else.
- A pair that nobody judged may not merge, however near both are to a third. Nor may one over two scopes, or one of a memory
  with itself.
- Judged twice (from either end): the lesser similarity counts, and one veto is enough. At the threshold a pair may merge.
- Order: the most similar pair first, then by keys; a pair joins the clusters of its two ends if every two of both may merge,
  and as long as they fit. So two clusters that are left could only be joined against the bound on size, and the order of the
  input means nothing.
- Bound: 10 memories, 45 judgements. What is left over waits for the next run, where it meets the survivor.
- Not merged again in the same run: who was merged in it, or survived a merge, is left out (``taken``); each memory is in one
  cluster at most, its survivor is chosen once, and all others go into that one. So nothing is merged into what is merged away.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import combinations, product

MOST = 10


@dataclass(frozen=True)
class Pair:
    """Two memories by key, their raw cosine, and why they may not merge, if anything says so."""

    left: str
    right: str
    similarity: float
    vetoes: tuple[str, ...] = ()


def mergeable(pairs: Iterable[Pair], threshold: float) -> dict[tuple[str, str], float]:
    """The pairs that may merge, by their keys in order, with their similarity."""
    judged: dict[tuple[str, str], list[Pair]] = {}
    for pair in pairs:
        if pair.left != pair.right and _scope(pair.left) == _scope(pair.right):
            left, right = sorted((pair.left, pair.right))
            judged.setdefault((left, right), []).append(pair)
    return {
        keys: min(pair.similarity for pair in same)
        for keys, same in judged.items()
        if all(pair.similarity >= threshold and not pair.vetoes for pair in same)
    }


def clusters(
    pairs: Iterable[Pair], threshold: float, *, taken: Collection[str] = (), most: int = MOST
) -> list[tuple[str, ...]]:
    """Those with two memories or more, each in the order of keys, by their first key."""
    may = {keys: value for keys, value in mergeable(pairs, threshold).items() if not set(keys) & set(taken)}
    where = {key: frozenset({key}) for keys in may for key in keys}
    for left, right in sorted(may, key=lambda keys: (-may[keys], keys)):
        mine, other = where[left], where[right]
        apart = mine != other and len(mine | other) <= most
        if apart and all(tuple(sorted(keys)) in may for keys in product(mine, other)):
            where |= dict.fromkeys(mine | other, mine | other)
    return sorted(tuple(sorted(cluster)) for cluster in set(where.values()) if len(cluster) > 1)


def merges(cluster: Iterable[str], survivor: str) -> list[tuple[str, str]]:
    """(survivor, loser), one transaction each, in the order of keys."""
    return [(survivor, key) for key in sorted(cluster) if key != survivor]


def is_complete(cluster: Iterable[str], pairs: Iterable[Pair], threshold: float) -> bool:
    """Whether every two of it may merge."""
    may = mergeable(pairs, threshold)
    return all(keys in may for keys in combinations(sorted(cluster), 2))


def _scope(key: str) -> str:
    return key.split("/")[0]
