"""Whether a library puts together better what episodes to meaning puts together (seed 002, Memory Consolidation). No database.

`python -m tests.exit_criteria.clusters [--data locomo10.json]` needs scikit-learn, which Jochi doesn't. Each session of LoCoMo is a
source, with what is found in it without a model. Of pairs of sessions that are the evidence of one question: the share that
lands in one cluster, where about as many of all pairs do.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from tests.conftest import LOCOMO
from tests.exit_criteria.meaning import evidence

from jochi.policy import load_policy
from jochi.text.tokens import Estimate
from jochi.write.ingesting import Fault, read
from jochi.write.ingesting.writer import line_of
from jochi_workers import embeddings
from jochi_workers.derive import derivation

Pair = tuple[str, int, int]
"""Scope and two sessions."""


def sources(data: Path) -> list[dict[str, Any]]:
    """Of each session its scope, number, day (since 1970), the things that it mentions and its summary."""
    counter, policy = Estimate(), load_policy().policy
    extract, process, numbers = derivation("extract"), derivation("process"), policy.derive["extract"].numbers
    texts: dict[tuple[str, int], list[Any]] = {}
    for piece in read(data, format="locomo"):
        if not isinstance(piece, Fault):
            scope, _, session = str(piece[0].id).partition("/")
            texts.setdefault((scope, int("".join(filter(str.isdigit, session)))), []).append(piece[1])
    found = []
    for (scope, session), messages in texts.items():
        content = "\n".join(map(line_of, messages))
        key = f"{scope}/{session}"
        row: dict[str, Any] = {
            **{"key": key, "scope": scope, "owner": None, "there": [], "inputs": [{"key": key, "content": content}]},
            **{"confidence": numbers["confidence"], "subpoints": int(numbers["subpoints"])},
        }
        assert extract.made is not None
        made = extract.made(row, extract.offline({**row, "most_tokens": int(numbers["tokens"])}, counter), counter)
        told = {
            "most_tokens": int(policy.derive["process"].numbers["tokens"]),
            "source_type": None,
            "context_type": None,
        }
        found.append(
            {
                **{
                    "scope": scope,
                    "session": session,
                    "day": min(one.at for one in messages if one.at).timestamp() / 86_400,
                },
                **{
                    "things": {one["id"] for one in made["things"]},
                    "said": process.offline({**row, **told}, counter).summary,
                },
            }
        )
    return found


def by_rule(rows: Sequence[Mapping[str, Any]], *, segment: int, least: int) -> set[Pair]:
    """What Jochi puts together, where all of it is ripe: at least so many sources of one window that mention the same."""
    members: dict[tuple[str, str, int], list[int]] = {}
    for row in rows:
        for thing in row["things"]:
            members.setdefault((row["scope"], thing, int(row["day"]) // segment), []).append(row["session"])
    return together((scope, of) for (scope, _, _), of in members.items() if len(of) >= least)


def together(found: Iterable[tuple[str, Iterable[int]]]) -> set[Pair]:
    """The pairs of sessions that some cluster has."""
    return {(scope, *pair) for scope, members in found for pair in combinations(sorted(set(members)), 2)}


class Told:
    """What a library sees of the sources of one scope: vector, things mentioned and day of each, in one order."""

    def __init__(self, rows: Sequence[Mapping[str, Any]], vectors: Sequence[Any]) -> None:
        import numpy as np

        self.sessions = [row["session"] for row in rows]
        matrix = np.array([vector / np.linalg.norm(vector) for vector in map(np.asarray, vectors)])
        things = [set(row["things"]) for row in rows]
        self.by_vector = np.clip(1 - matrix @ matrix.T, 0, 2)
        self.by_things = np.array([[1 - len(a & b) / max(1, len(a | b)) for b in things] for a in things])
        days = np.array([row["day"] for row in rows])
        self.by_time = np.minimum(abs(days[:, None] - days[None, :]) / 30, 1)


def compared(told: Mapping[str, Told], asked: set[Pair], ours: set[Pair]) -> list[tuple[str, float, float]]:
    """Name, share of all pairs that are together, share of the evidence's pairs that are."""
    import numpy as np
    from sklearn.cluster import HDBSCAN, AgglomerativeClustering

    everything = together((scope, each.sessions) for scope, each in told.items())
    asked = asked & everything

    def line(name: str, found: set[Pair]) -> tuple[str, float, float]:
        return name, 100 * len(found & everything) / len(everything), 100 * len(found & asked) / len(asked)

    def pairs(labels: Mapping[str, Any]) -> set[Pair]:
        return together(
            (scope, [s for s, label in zip(told[scope].sessions, of, strict=True) if label == each])
            for scope, of in labels.items()
            for each in set(of) - {-1}
        )

    distances = {
        "meaning": lambda one: one.by_vector / one.by_vector.max(),
        "things": lambda one: one.by_things,
        "time": lambda one: one.by_time,
        "meaning, things and time": lambda one: (one.by_vector / one.by_vector.max() + one.by_things + one.by_time) / 3,
    }
    lines = [line("Jochi", ours)]
    for name, distance in distances.items():
        best: tuple[float, set[Pair]] = (1e9, set())
        for cut in np.linspace(0.02, 1.0, 99):
            model = AgglomerativeClustering(
                n_clusters=None, metric="precomputed", linkage="average", distance_threshold=cut
            )
            found = pairs({scope: model.fit_predict(distance(one)) for scope, one in told.items()})
            best = min(best, (abs(len(found) - len(ours)), found), key=lambda each: each[0])
        lines.append(line(f"agglomerative, by {name}", best[1]))
    for name, distance in distances.items():
        for size in (2, 3):
            model = HDBSCAN(min_cluster_size=size, metric="precomputed", copy=True)
            lines.append(
                line(
                    f"HDBSCAN of {size}, by {name}",
                    pairs({scope: model.fit_predict(distance(one)) for scope, one in told.items()}),
                )
            )
    return lines


def main() -> None:
    import numpy as np

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=LOCOMO)
    data = parser.parse_args().data
    rows, numbers = sources(data), load_policy().policy.derive["meaning"].numbers
    vectors = np.array([each.vector for each in embeddings.provider("minilm").embed([row["said"] for row in rows])])
    scopes = sorted({row["scope"] for row in rows})
    places = {scope: [n for n, row in enumerate(rows) if row["scope"] == scope] for scope in scopes}
    told = {scope: Told([rows[n] for n in of], vectors[of]) for scope, of in places.items()}
    pairs = together((scope, wanted) for scope, _, wanted in evidence(data, scopes))
    ours = by_rule(rows, segment=int(numbers["segment_days"]), least=int(numbers["sources"]))
    table = Table("clusters", "pairs together", "of one question's evidence", "lift")
    for name, share, of_evidence in compared(told, pairs, ours):
        table.add_row(name, f"{share:.1f} %", f"{of_evidence:.1f} %", f"{of_evidence / share:.2f}" if share else "")
    Console().print(table)


if __name__ == "__main__":
    main()
