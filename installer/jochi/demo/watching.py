"""What a demonstration tells the person who watches it."""

from __future__ import annotations

from typing import Protocol


class Watcher(Protocol):
    """Where progress goes: a terminal, or nowhere (`Nobody`)."""

    def phase(self, name: str) -> None:
        """A new part of the demonstration begins."""

    def progress(self, text: str, done: float | None = None, total: float | None = None) -> None:
        """How far this part is; without ``total`` nobody knows."""

    def say(self, text: str) -> None:
        """A line that stays."""


class Nobody:
    """Nobody watches."""

    def phase(self, name: str) -> None:
        """Drops it."""

    def progress(self, text: str, done: float | None = None, total: float | None = None) -> None:
        """Drops it."""

    def say(self, text: str) -> None:
        """Drops it."""


class ServerReport:
    """A local server's report, passed on to a watcher."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher

    def say(self, text: str) -> None:
        """Something that stays worth knowing."""
        self._watcher.say(text)

    def doing(self, text: str) -> None:
        """What is going on now."""
        self._watcher.progress(text)
