"""One check of the doctor: what was looked at, how it stands, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Level(str, Enum):
    """How a check came out. Only FAIL makes `jochi doctor` end with exit code 5."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"
    UNKNOWN = "unknown"
    """It can't be found out here, or was left out; the fix says how to be sure."""


@dataclass(frozen=True)
class Check:
    """``name`` is stable (scripts may look for it); ``fix`` is a command, a line of configuration or a sentence."""

    name: str
    level: Level
    found: str
    fix: str | None = None


def ok(name: str, found: str) -> Check:
    """All is well."""
    return Check(name, Level.OK, found)


def warn(name: str, found: str, fix: str) -> Check:
    """Works, but a person should know."""
    return Check(name, Level.WARN, found, fix)


def fail(name: str, found: str, fix: str) -> Check:
    """Doesn't work, or will lose something."""
    return Check(name, Level.FAIL, found, fix)


def unknown(name: str, found: str, fix: str) -> Check:
    """Nobody can tell from here."""
    return Check(name, Level.UNKNOWN, found, fix)


def some(names: list[str], most: int = 5) -> str:
    """The first few names, and how many more there are."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")
