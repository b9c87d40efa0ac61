"""What turns text into vectors, and the three ways in which it can fail."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Protocol

from jochi.errors import JochiError

PROBE = "A short sentence to see whether this model answers."
"""Any model can embed this: if it can't, no memory's text is to blame."""


@dataclass(frozen=True)
class Embedded:
    """One text's vector.

    ``vector`` has the provider's `dimensions` floats and length 1 (L2). ``unknown_share``: share of the text's tokens that the
    model's vocabulary doesn't have, 0 to 1; None where the provider can't tell. ``truncated``: the end of the text was left out.
    """

    vector: list[float]
    unknown_share: float | None = None
    truncated: bool = False


def packages(names: Sequence[str], *, where: str, fix: str) -> list[Any]:
    """Packages of an extra, imported when they are needed; `ProviderUnusable` names the one that isn't installed."""
    try:
        return [importlib.import_module(name) for name in names]
    except ImportError as error:
        raise ProviderUnusable(f"the package {error.name} is not installed", where=where, fix=fix) from error


class Provider(Protocol):
    """A model that embeds. ``model`` is what `embedding_model` of a memory says; ``dimensions`` the length of its vectors."""

    @property
    def model(self) -> str:
        """The model's name, as stored beside each vector."""

    @property
    def dimensions(self) -> int:
        """The length of the vectors."""

    def embed(self, texts: Sequence[str]) -> list[Embedded]:
        """One result a text, in the order of ``texts``.

        Raises `ProviderUnusable`, `ProviderDown` or `TextsRefused`, and never returns fewer or more than was asked for.
        """

    def close(self) -> None:
        """Gives connections and memory back. Can be called twice."""


class ProviderUnusable(JochiError):
    """Waiting won't help: no such model, a wrong key, a missing package. The worker stops."""


class ProviderDown(JochiError):
    """Nothing is wrong with the texts: no answer, too many requests, an error of the server. Worth another try later.

    ``retry_after``: how long the provider asks to be left alone; None if it didn't say.
    """

    def __init__(
        self, what: str, *, where: str | None = None, fix: str | None = None, retry_after: timedelta | None = None
    ) -> None:
        super().__init__(what, where=where, fix=fix)
        self.retry_after = retry_after


class TextsRefused(JochiError):
    """At least one of these texts can't be embedded. The caller finds out which by asking for fewer at once."""
