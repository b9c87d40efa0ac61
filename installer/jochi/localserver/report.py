"""What a long action tells the person who waits: one permanent line, or a line that the next one replaces."""

from __future__ import annotations

from typing import Protocol


class Report(Protocol):
    """Where progress goes. The command line shows it on stderr; the Python API is silent by default."""

    def say(self, text: str) -> None:
        """Something that stays worth knowing (a repaired file, another port)."""

    def doing(self, text: str, done: float | None = None, total: float | None = None) -> None:
        """What is going on now, and how far it is; without ``total`` nobody knows."""

    def phase(self, name: str) -> None:
        """A new part begins."""


class Silent:
    """Says nothing."""

    def say(self, text: str) -> None:
        """Drops ``text``."""

    def doing(self, text: str, done: float | None = None, total: float | None = None) -> None:
        """Drops ``text``."""

    def phase(self, name: str) -> None:
        """Drops ``name``."""
