"""The one place where Python asks for the time. Everything else takes it as a parameter."""

from __future__ import annotations

from datetime import datetime, timezone


def now() -> datetime:
    """The time now, in UTC, with its zone."""
    return datetime.now(timezone.utc)
