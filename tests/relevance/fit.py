"""The samples, and multinomial logistic regression over their vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy

LABELS = ("record", "idle", "sarcasm", "quote", "order", "question", "reaction")
_STEPS, _RATE = 400, 0.02


class Sample(NamedTuple):
    """``group``: sentences of one message have the same."""

    language: str
    label: str
    text: str
    group: int


def samples() -> list[Sample]:
    """All of the files beside this one: language, label, sentence; or language, message, label, sentence."""
    found: list[Sample] = []
    group, last = 0, ""
    for path in sorted(Path(__file__).parent.glob("*.tsv")):
        for line in path.read_text(encoding="utf-8").splitlines():
            language, *message, label, text = line.split("\t")
            group += not message or f"{path.name} {language} {message[0]}" != last
            last = f"{path.name} {language} {message[0]}" if message else ""
            found.append(Sample(language, label, text, group))
    return found


def fit(vectors: Any, labels: Any, penalty: float) -> tuple[Any, Any]:
    """Weights (dimensions × labels) and bias, by Adam on the standardised vectors; the same each time."""
    mean, spread = vectors.mean(0), vectors.std(0) + 1e-9
    given = numpy.c_[(vectors - mean) / spread, numpy.ones(len(vectors))]
    wanted = numpy.eye(len(LABELS))[labels]
    weights = numpy.zeros((given.shape[1], len(LABELS)))
    first, second = numpy.zeros_like(weights), numpy.zeros_like(weights)
    for step in range(1, _STEPS + 1):
        decay = numpy.r_[weights[:-1], numpy.zeros((1, len(LABELS)))] * penalty
        gradient = (given.T @ (_softmax(given @ weights) - wanted) + decay) / len(given)
        first = 0.9 * first + 0.1 * gradient
        second = 0.999 * second + 0.001 * gradient**2
        weights -= _RATE * (first / (1 - 0.9**step)) / (numpy.sqrt(second / (1 - 0.999**step)) + 1e-8)
    plain = weights[:-1] / spread[:, None]
    return plain, weights[-1] - mean @ plain


def probabilities(fitted: tuple[Any, Any], vectors: Any) -> Any:
    """Of each vector, of each label."""
    weights, bias = fitted
    return _softmax(vectors @ weights + bias)


def _softmax(scores: Any) -> Any:
    powers = numpy.exp(scores - scores.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)
