"""The lower bound of a share, after Clopper and Pearson: exact, so it holds for few trials and for a share of 1 too."""

from __future__ import annotations

import math

_STEPS = 60
_TERMS = 500
_TINY = 1e-300


def lower_bound(right: int, of: int, confidence: float = 0.95) -> float:
    """The share that is exceeded with this confidence, having seen ``right`` out of ``of`` (one-sided; 0 if nothing was tried).

    The bound is where at least ``right`` successes would have the probability 1 - confidence: a quantile of the beta
    distribution, found by halving.
    """
    if not 0 <= right <= of:
        raise ValueError(f"{right} of {of}")
    if right == 0:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if beta(right, of - right + 1, middle) < 1 - confidence else (low, middle)
    return low


def beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function, by its continued fraction (Lentz); for a successes or more of a + b - 1 at x."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - beta(b, a, 1 - x)
    front = a * math.log(x) + b * math.log1p(-x) + math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    c, d = 1.0, 1 / _kept(1 - (a + b) * x / (a + 1))
    fraction = d
    for m in range(1, _TERMS):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / _kept(1 + term * d)
            c = _kept(1 + term / c)
            fraction *= c * d
        if abs(c * d - 1) < 1e-14:
            break
    return math.exp(front) * fraction / a


def _kept(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
