"""What turns text into vectors, and the three ways in which it can fail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from jochi.errors import JochiError
from jochi_workers.models.failures import ProviderDown, ProviderUnusable, packages

__all__ = [
    "PROBE",
    "AsksOtherwise",
    "Provider",
    "ProviderDown",
    "ProviderUnusable",
    "TextVector",
    "TextsRefused",
    "embed_question",
    "packages",
]

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
        """One result a text that is stored, in the order of ``texts``.

        Raises `ProviderUnusable`, `ProviderDown` or `TextsRefused`, and never returns fewer or more than was asked for.
        """

    def close(self) -> None:
        """Gives connections and memory back. Can be called twice."""


@runtime_checkable
class AsksOtherwise(Protocol):
    """What a provider has besides, whose model embeds a question in another way than what is stored."""

    def embed_questions(self, texts: Sequence[str]) -> list[TextVector]:
        """As `Provider.embed`, of texts that are asked for."""


def embed_question(provider: Provider, text: str) -> list[float]:
    """The vector that ``text`` is asked for with, in `Jochi.recall` and the like. Raises as `Provider.embed`."""
    embed = provider.embed_questions if isinstance(provider, AsksOtherwise) else provider.embed
    return embed([text])[0].vector


class TextsRefused(JochiError):
    """At least one of these texts can't be embedded. The caller finds out which by asking for fewer at once."""
