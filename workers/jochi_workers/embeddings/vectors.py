"""Which vectors may be stored."""

from __future__ import annotations

import math
from collections.abc import Sequence

_SMALLEST_NORM = 1e-12


def fault(vector: Sequence[float], dimensions: int) -> str | None:
    """Why ``vector`` can't be stored, or None: its length, a value that is no finite number, or nothing but zeros.

    A vector index passes silently over the first, refuses or mis-ranks the second, and has no cosine for the third.
    """
    if len(vector) != dimensions:
        return f"the vector has {len(vector)} numbers instead of {dimensions}"
    if not all(isinstance(value, float) and math.isfinite(value) for value in vector):
        return "the vector holds something that is no finite number"
    if norm(vector) < _SMALLEST_NORM:
        return "the vector is zero"
    return None


def norm(vector: Sequence[float]) -> float:
    """The vector's length (L2)."""
    return math.hypot(*vector)


def normalised(vector: Sequence[float]) -> list[float]:
    """``vector`` with length 1; as it is where that can't be done, so that `fault` finds it."""
    length = norm(vector)
    if not math.isfinite(length) or length < _SMALLEST_NORM:
        return list(vector)
    return [value / length for value in vector]
