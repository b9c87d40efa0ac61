"""What turns text into vectors, and the three ways in which it can fail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from jochi.errors import JochiError
from jochi_workers.models.failures import ProviderDown, ProviderUnusable, packages

__all__ = ["PROBE", "Provider", "ProviderDown", "ProviderUnusable", "TextVector", "TextsRefused", "packages"]

PROBE = "A short sentence to see whether this model answers."
"""Any model can embed this: if it can't, no memory's text is to blame."""


@dataclass(frozen=True)
class TextVector:
    """One text's vector.

    ``vector`` has the provider's `dimensions` floats and length 1 (L2). ``unknown_share``: share of the text's tokens that the
    model's vocabulary doesn't have, 0 to 1; None where the provider can't tell. ``truncated``: the end of the text was left out.
    """

    vector: list[float]
    unknown_share: float | None = None
    truncated: bool = False


class Provider(Protocol):
    """A model that embeds. ``model`` is what `embedding_model` of a memory says; ``dimensions`` the length of its vectors."""

    @property
    def model(self) -> str:
        """The model's name, as stored beside each vector."""

    @property
    def dimensions(self) -> int:
        """The length of the vectors."""

    def embed(self, texts: Sequence[str]) -> list[TextVector]:
        """One result a text, in the order of ``texts``.

        Raises `ProviderUnusable`, `ProviderDown` or `TextsRefused`, and never returns fewer or more than was asked for.
        """

    def close(self) -> None:
        """Gives connections and memory back. Can be called twice."""


class TextsRefused(JochiError):
    """At least one of these texts can't be embedded. The caller finds out which by asking for fewer at once."""
