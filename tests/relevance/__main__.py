"""`python -m tests.relevance`: fits the model anew, says how good it is on sentences that it hasn't seen; `--write` keeps it."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy
from tests.relevance.fit import LABELS, Sample, fit, probabilities, samples

import jochi_workers.language.relevance as model
from jochi_workers.embeddings.e5 import E5

FOLDS = 5
LEAST = (0.05, 0.1, 0.2, 0.3)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.relevance", description=__doc__)
    parser.add_argument("--write", action="store_true", help="keep the fitted model")
    parser.add_argument("--penalty", type=float, default=100.0, help="L2 penalty")
    given = parser.parse_args()
    every = samples()
    vectors = numpy.array([one.vector for one in E5().embed([sample.text for sample in every])])
    labels = numpy.array([LABELS.index(sample.label) for sample in every])
    report(every, labels, held_out(every, vectors, labels, given.penalty))
    if given.write:
        write(fit(vectors, labels, given.penalty))


def held_out(every: list[Sample], vectors: Any, labels: Any, penalty: float) -> Any:
    """Probabilities of each sample by a model that saw no sentence of its message."""
    fold = numpy.array([sample.group % FOLDS for sample in every])
    found = numpy.zeros((len(every), len(LABELS)))
    for one in range(FOLDS):
        found[fold == one] = probabilities(
            fit(vectors[fold != one], labels[fold != one], penalty), vectors[fold == one]
        )
    return found


def report(every: list[Sample], labels: Any, found: Any) -> None:
    """Counts, accuracy, and what each threshold loses and lets through, by language."""
    out = sys.stdout.write
    out(f"{dict(Counter(sample.label for sample in every))}\n")
    languages = numpy.array([sample.language for sample in every])
    record = labels == 0
    for name, chosen in (("all", languages != ""), *((one, languages == one) for one in sorted(set(languages)))):
        accuracy = (found[chosen].argmax(1) == labels[chosen]).mean()
        lost = " ".join(
            f"{least}: {(found[chosen & record, 0] < least).mean():.1%} lost,"
            f" {(found[chosen & ~record, 0] >= least).mean():.0%} of the rest kept;"
            for least in LEAST
        )
        out(f"{name:>4} {chosen.sum():5} sentences, {accuracy:.0%} of seven labels right; {lost}\n")


def write(fitted: tuple[Any, Any]) -> None:
    weights, bias = fitted
    lines = [
        "# Made by `python -m tests.relevance --write` from tests/relevance/*.tsv: a row of weights for each label, over the",
        "# vectors of multilingual-e5-small (`passage: `), 384 dimensions.",
        f"labels = {list(LABELS)}".replace("'", '"'),
        f"bias = [{', '.join(f'{value:.4g}' for value in bias)}]",
        "[weights]",
        *(f"{label} = [\n{rows(weights[:, at])}\n]" for at, label in enumerate(LABELS)),
    ]
    Path(model.__file__).with_name(model.FILE).write_text("\n".join(lines) + "\n", encoding="utf-8")


def rows(values: Any) -> str:
    return "\n".join(
        "  " + " ".join(f"{value:.4g}," for value in values[at : at + 16]) for at in range(0, len(values), 16)
    )


if __name__ == "__main__":
    main()
