"""What the status of a Task means (docs/reference/context.md): of the shipped words those that the cases have."""

from __future__ import annotations

from typing import Any

ACTIVE = frozenset({"pending", "in_progress", "blocked", "unknown"})
"""What nobody knows counts as active."""
# Without case and separators.
_MEANS = {
    **dict.fromkeys(("pending", "todo"), "pending"),
    **dict.fromkeys(("inprogress", "active", "inbearbeitung"), "in_progress"),
    "blocked": "blocked",
    **dict.fromkeys(("completed", "done", "erledigt"), "completed"),
    "failed": "failed",
    "superseded": "cancelled",
}


def task_status(status: Any) -> str:
    """Without one it is pending; a word that nobody knows, or what is no text, is unknown."""
    if status is None or (isinstance(status, str) and not status.strip()):
        return "pending"
    if not isinstance(status, str):
        return "unknown"
    return _MEANS.get(status.replace("-", "").replace("_", "").replace(" ", "").lower(), "unknown")
