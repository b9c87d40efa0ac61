"""Edges with confidence: reinforced by observation, worn by time (seed 003, Graph Edge Lifecycle; peers A3, Edge confidence).

Ours, where seed and peers are silent:
- "Linearly … per window once the grace period has elapsed": the first window ends, and takes its 0.1, 180 days after the anchor
  (90 of grace, 90 of the window), the next at 270. A window that ends at this instant is charged.
- A window that takes nothing isn't charged: an edge at or below the floor is left alone, is never raised, and is never due.
- Anchor: last_reinforced_at, else created_at. None, or no moment: unknown, time takes nothing.
- Absent confidence is 1.0, a number out of range the nearer end; what is no number is unknown: neither worn nor reinforced.
- An observation first charges the windows that ended before it; else its effect would hang on when the job ran. One that comes
  late adds its 0.05, and the anchor stays where it is.
- Confidence is rounded to 9 places, so that steps add up exactly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from typing import Any

from tests.oracle.memory import is_moment, is_number

REINFORCE = 0.05
CAP = 1.0
"""Seed 003, Graph Edge Lifecycle, 1; the number by peers A3."""
GRACE = timedelta(days=90)
WINDOW = timedelta(days=90)
PER_WINDOW = 0.1
FLOOR = 0.1
"""Seed 003, Graph Edge Lifecycle, 2; the numbers by peers A3."""


@dataclass(frozen=True)
class Edge:
    """From one memory's key to another's; any of the properties may be None (absent) or of any type."""

    start: str
    end: str
    confidence: Any = None
    weight: Any = None
    last_reinforced_at: Any = None
    created_at: Any = None
    one_way: bool = False
    id: str = ""


def confidence_of(edge: Edge) -> float | None:
    """Its confidence, 1.0 if it has none; None: can't be known."""
    if edge.confidence is None:
        return CAP
    return min(CAP, max(0.0, float(edge.confidence))) if is_number(edge.confidence) else None


def anchor_of(edge: Edge) -> datetime | None:
    """What windows are counted from."""
    anchor = edge.created_at if edge.last_reinforced_at is None else edge.last_reinforced_at
    return anchor.astimezone(timezone.utc) if is_moment(anchor) else None


def decayed(edge: Edge, now: datetime) -> Edge:
    """After a look at ``now``: the anchor advances by exactly the windows charged, so no cadence charges more or less."""
    confidence, anchor = confidence_of(edge), anchor_of(edge)
    if confidence is None or anchor is None:
        return edge
    ended = (now - anchor - GRACE) // WINDOW
    charged = min(ended, windows_left(confidence))
    if charged < 1:
        return edge
    left = max(FLOOR, round(confidence - charged * PER_WINDOW, 9))
    return replace(edge, confidence=left, last_reinforced_at=anchor + charged * WINDOW)


def windows_left(confidence: float) -> int:
    """How many windows take something, until the floor; below 1: none."""
    return math.ceil(round((confidence - FLOOR) / PER_WINDOW, 9))


def due(edge: Edge) -> datetime | None:
    """When the next window is charged; None: never, or unknown."""
    confidence, anchor = confidence_of(edge), anchor_of(edge)
    return None if confidence is None or anchor is None or windows_left(confidence) < 1 else anchor + GRACE + WINDOW


def reinforced(edge: Edge, at: datetime) -> Edge:
    """After the same edge was observed again at ``at``."""
    worn = decayed(edge, at)
    confidence, anchor = confidence_of(worn), anchor_of(worn)
    if confidence is None:
        return edge
    newest = at if anchor is None else max(anchor, at)
    return replace(worn, confidence=min(CAP, round(confidence + REINFORCE, 9)), last_reinforced_at=newest)
