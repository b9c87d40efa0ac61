"""How recall spreads along edges (seed 003, Graph Edge Lifecycle, 3; peers A3: weight · confidence · decay^hop, PageRank).

Ours, where seed and peers are silent:
- A path's activation is its seed's, times weight · confidence · decay at every hop: decay^hop along the path. decay is 0.7.
- Hop by hop, for each seed by itself: a memory takes from this seed at the nearest hop only; paths of that many hops add up, and
  so do seeds and parallel edges. A seed is neither reached nor passed through.
- Edges lead both ways, but for those that are one_way (CAUSED), which lead from start to end.
- Below the floor an edge isn't there at all; at it, it is. Confidence that can't be read counts as absent: 1.0 ("fail-open").
- A weight that is absent or no number is 1.0; one that isn't above 0 leads nowhere.
- Refinement is PageRank with restart: each round a memory has 0.15 of its own activation at the start, and 0.85 of every score
  flows along the edges, shared by weight · confidence. Only among what was reached; who has no edge to such a one keeps its share.
  So nothing is lost and nothing won, and nearness to the seeds is never worn away.
- The path that is shown is the one of fewest hops, then the strongest, then the smaller by the keys on it and the edges' ids.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tests.oracle.edges import Edge, confidence_of
from tests.oracle.memory import is_number

HOP_DECAY = 0.7
VISIBLE = 0.2
"""graphTraversalConfidenceFloor (seed 003)."""
HOPS = 3
ITERATIONS = 8
DAMPING = 0.85
"""Seed 003 and peers A3, Edge confidence."""


@dataclass(frozen=True)
class Path:
    """How a memory was reached: the keys from a seed on, and the edges between them."""

    activation: float
    keys: tuple[str, ...]
    edges: tuple[Edge, ...]

    @property
    def confidences(self) -> tuple[float, ...]:
        """Of each edge, for ``explain`` (seed 003: conf=0.87)."""
        return tuple(map(_confidence, self.edges))


def strength(edge: Edge) -> float:
    """weight · confidence; 0: it leads nowhere."""
    weight = float(edge.weight) if is_number(edge.weight) else 1.0
    return weight * _confidence(edge) if weight > 0 and _confidence(edge) >= VISIBLE else 0.0


def neighbours(edges: Iterable[Edge]) -> dict[str, list[tuple[str, Edge]]]:
    """Who is reached from whom, and by which edge."""
    found: dict[str, list[tuple[str, Edge]]] = defaultdict(list)
    for edge in edges:
        if strength(edge) > 0 and edge.start != edge.end:
            found[edge.start].append((edge.end, edge))
            if not edge.one_way:
                found[edge.end].append((edge.start, edge))
    return found


def paths(seeds: Mapping[str, float], edges: Iterable[Edge], hops: int = HOPS) -> dict[str, list[Path]]:
    """Every path that counts, by the memory that it leads to."""
    around, found = neighbours(edges), defaultdict[str, list[Path]](list)
    for seed, activation in seeds.items():
        reached, front = {*seeds}, [Path(activation, (seed,), ())]
        for _ in range(hops):
            front = [
                Path(path.activation * strength(edge) * HOP_DECAY, (*path.keys, key), (*path.edges, edge))
                for path in front
                for key, edge in around.get(path.keys[-1], [])
                if key not in reached
            ]
            reached |= {path.keys[-1] for path in front}
            for path in front:
                found[path.keys[-1]].append(path)
    return dict(found)


def activations(seeds: Mapping[str, float], edges: Iterable[Edge], hops: int = HOPS) -> dict[str, float]:
    """What each memory beside the seeds gets."""
    return {key: sum(path.activation for path in of) for key, of in paths(seeds, edges, hops).items()}


def shown(of: Iterable[Path]) -> Path:
    """The path that ``explain`` shows."""
    return min(of, key=lambda path: (len(path.edges), -path.activation, path.keys, [edge.id for edge in path.edges]))


def refined(scores: Mapping[str, float], edges: Iterable[Edge], iterations: int = ITERATIONS) -> dict[str, float]:
    """The scores after so many rounds."""
    around = neighbours(edges)
    flows = {
        key: [(other, strength(edge)) for other, edge in around.get(key, []) if other in scores] or [(key, 1.0)]
        for key in scores
    }
    now = dict(scores)
    for _ in range(iterations):
        then = {key: (1 - DAMPING) * score for key, score in scores.items()}
        for key, score in now.items():
            total = sum(share for _other, share in flows[key])
            for other, share in flows[key]:
                then[other] += DAMPING * score * share / total
        now = then
    return now


def _confidence(edge: Edge) -> float:
    confidence = confidence_of(edge)
    return 1.0 if confidence is None else confidence
