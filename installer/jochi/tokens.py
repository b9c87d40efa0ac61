"""The estimate of a text's tokens that needs no vocabulary. It is marked as an estimate wherever it is stored."""

from __future__ import annotations

ESTIMATE_COUNTER = "estimate:chars/4"
"""What stands in `token_counter` beside such a count."""


def estimate(text: str) -> int:
    """Characters divided by four, rounded up: at least 1 for any text, 0 for none."""
    return -(-len(text) // 4)
