"""What a long action tells the person who waits: one permanent line, or a line that the next one replaces."""

from __future__ import annotations

from typing import Protocol


class Report(Protocol):
    """Where progress goes. The command line shows it on stderr; the Python API is silent by default."""

    def say(self, text: str) -> None:
        """Something that stays worth knowing (a repaired file, another port)."""

    def doing(self, text: str) -> None:
        """What is going on now."""


class Silent:
    """Says nothing."""

    def say(self, text: str) -> None:
        """Drops ``text``."""

    def doing(self, text: str) -> None:
        """Drops ``text``."""
