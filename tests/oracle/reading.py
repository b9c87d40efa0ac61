"""How the oracle reads a property: absent is what the seed says of a new memory; what can't be read is unknown, None.

Ours: a number out of its range can't be read either, as with a negative count (DESIGN §8, Unknown blocks).
"""

from __future__ import annotations

import math

from tests.oracle.memory import Memory, is_number


def number(memory: Memory, name: str, absent: float, least: float = 0.0, most: float = math.inf) -> float | None:
    """The number, ``absent`` where there is none, None where it isn't one between ``least`` and ``most``."""
    value = memory.get(name)
    if value is None:
        return absent
    return float(value) if is_number(value) and least <= value <= most else None


def text(memory: Memory, name: str, absent: str) -> str | None:
    """The text, ``absent`` where there is none, None where it isn't one."""
    value = memory.get(name)
    if value is None:
        return absent
    return value if isinstance(value, str) else None
