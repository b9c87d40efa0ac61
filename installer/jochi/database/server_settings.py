"""Durations as server settings show them."""

from __future__ import annotations

import re

_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def seconds_of(text: str | None) -> float | None:
    """Seconds in `5s`, `1m30s`, `500ms` or `0s`, as SHOW SETTINGS writes them; None for anything else."""
    if text is None or not re.fullmatch(rf"(?:{_PART.pattern})+", text):
        return None
    return sum(float(amount) * _SECONDS[unit] for amount, unit in _PART.findall(text))
