"""How a provider can fail. No message holds a text, a key or the provider's own words."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from jochi.errors import JochiError


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


class Unsure(ProviderDown):
    """The provider got the whole request and didn't answer: it may charge for it."""


class Rejected(Exception):
    """There is no output to check. ``reason`` is a code that holds nothing of the memory; the tokens were charged all the same
    (None: nobody knows, so what was reserved counts)."""

    def __init__(self, reason: str, tokens_in: int | None = None, tokens_out: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.tokens_in = tokens_in
        self.tokens_out = tokens_out


@dataclass(frozen=True)
class Failure:
    """An error that is handed back, not raised where the library's own, which knows the request, is being handled: so it stays
    out of tracebacks. ``again``: the same request may do after a pause, of ``after`` seconds where the provider says so."""

    error: Exception
    again: bool = False
    after: float | None = None


def packages(names: Sequence[str], *, where: str, fix: str) -> list[Any]:
    """Packages of an extra, imported when they are needed; `ProviderUnusable` names the one that isn't installed."""
    try:
        return [importlib.import_module(name) for name in names]
    except ImportError as error:
        raise ProviderUnusable(f"the package {error.name} is not installed", where=where, fix=fix) from error
