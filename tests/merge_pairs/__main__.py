"""`make merge-pairs [DATA=locomo10.json]`: judges the seen part of the pairs; `--unseen` the part that is kept for the end.

Texts are embedded by the MiniLM of the extra [embeddings]; nothing is kept. Ends with 1 where the guard at
the shipped threshold isn't as sure as it must be.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

from rich.console import Console
from rich.progress import Progress
from tests.merge_pairs import Pair, pairs, report
from tests.merge_pairs.judges import ASKED_FROM, JUDGES, Guard, GuardAlone, Vectors
from tests.merge_pairs.measure import Ruled, precision, rule
from tests.merge_pairs.otherwise import CLASSES_OTHERWISE, otherwise
from tests.merge_pairs.rewritten import SEVERAL, rewritten

from jochi_workers.embeddings.minilm import MiniLM

LEAST = 0.995
"""95 % lower bound of the precision (issue 7)."""


def main() -> None:
    """Prints the tables."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--locomo", type=Path, help="LoCoMo's file; without it only generated memories are judged")
    options.add_argument(
        "--unseen", action="store_true", help="the third that is kept for the end, instead of the rest"
    )
    options.add_argument("--page", type=Path, help="a page of the docs to write the seen part's figures into")
    options.add_argument("--threads", type=int, help="cores that the embedding may use (default: all)")
    given = options.parse_args()
    if given.page and given.unseen:
        options.error("the page shows the seen part only")
    console = Console(width=190)
    if given.locomo is None:
        console.print("SKIPPED: LoCoMo, whose file wasn't given; its licence forbids shipping it")
    everything = pairs(given.locomo)
    judged = [pair for pair in everything if pair.unseen is given.unseen]
    with Progress(console=console, transient=True) as progress:
        texts = {text for pair in judged for text in (pair.left, pair.right)}
        task = progress.add_task("embedding", total=len(texts))
        model = MiniLM(threads=given.threads)
        vectors = Vectors(texts, model, told=lambda done: progress.advance(task, done))
        model.close()
    judges = [made(vectors) for made in JUDGES]
    ruled = {judge.name: rule(judge, judged) for judge in judges}
    tables = [
        report.overall(ruled),
        report.thresholds({least: rule(Guard(least, vectors), judged) for least in ASKED_FROM}, vectors),
        report.differences(ruled),
        report.sameness(ruled),
        report.readable(judged, vectors),
    ]
    alone = {
        "otherwise": report.by_language("only written otherwise", _of(otherwise(), given.unseen), CLASSES_OTHERWISE),
        "rewritten": report.by_language("by another hand", _of(rewritten(), given.unseen), [SEVERAL]),
    }
    for grid in (report.counts(everything), *tables, *alone.values()):
        console.print(grid.rich())
    console.print("In brackets: 95 % lower bound (Clopper–Pearson, one-sided).")
    if given.page:
        name = "generated" if given.locomo is None else "locomo"
        parts = {f"counts {name}": [report.counts(everything)], name: tables}
        report.write(given.page, parts | {mark: [grid] for mark, grid in alone.items()})
    shipped = precision(ruled["guard ≥ 0.95"])
    if shipped.bound < LEAST:
        raise SystemExit(f"precision ≥ {shipped.bound:.4f} at the shipped threshold; ≥ {LEAST} is wanted")


def _of(pairs: Iterable[Pair], unseen: bool) -> list[Ruled]:
    """What the guard alone says, as if every cosine were 1."""
    return rule(GuardAlone(), (pair for pair in pairs if pair.unseen is unseen))


if __name__ == "__main__":
    main()
