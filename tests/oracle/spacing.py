"""The spacing effect: recalls at longer intervals retain better (seed 002, Offline/Nightly Decay Job, step 4; DESIGN §9).

Ours, where the seed is silent:
- The interval is between two distinct moments of use (``prev_accessed_at``, peers A2, 5); the first use has none, so it changes
  nothing.
- The second use is compared with the seed's initial last_recall_interval, 0, so it always lengthens.
- Intervals count whole seconds, as days: jitter below a second is no longer or shorter interval. An equal one changes nothing.
- A use that comes late (not after the newest) has no interval of its own.
- An unreadable gradient stays as it is; after an unreadable last interval nothing is longer or shorter.
"""

from __future__ import annotations

import math
from datetime import datetime, timedelta

from tests.oracle.memory import Memory
from tests.oracle.reading import number
from tests.oracle.salience import GRADIENT, LEAST_GRADIENT

LONGER = 0.1
SHORTER = -0.05
"""Seed 002, Offline/Nightly Decay Job, step 4."""


def gradient_after(gradient: float, last: float, interval: float) -> float:
    """+0.1 for a longer interval, -0.05 for a shorter one, never below 0.5. Rounded to 9 places, so that steps add up exactly."""
    step = LONGER if interval > last else SHORTER if interval < last else 0.0
    return round(max(LEAST_GRADIENT, gradient + step), 9)


def interval(memory: Memory, at: datetime) -> float | None:
    """Days since the use before; None if there was none, if it can't be read, or if ``at`` is not after it."""
    before = memory.moment("last_accessed_at")
    if before is None or at <= before:
        return None
    return (at - before) // timedelta(seconds=1) / 86_400


def spaced(memory: Memory, at: datetime) -> dict[str, float]:
    """The properties that a use at ``at`` changes: decay_gradient and last_recall_interval."""
    new = interval(memory, at)
    if new is None:
        return {}
    last = number(memory, "last_recall_interval", 0.0)
    gradient = number(memory, "decay_gradient", GRADIENT, least=-math.inf)
    changed = {"last_recall_interval": new}
    if gradient is not None:
        changed["decay_gradient"] = gradient_after(gradient, new if last is None else last, new)
    return changed
