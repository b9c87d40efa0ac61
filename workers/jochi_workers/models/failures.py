"""How a provider can fail, and what an HTTP status says about it. No message holds a text, a key or the provider's own words."""

from __future__ import annotations

import email.utils
import importlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from jochi.errors import JochiError

NO_MONEY_PAUSE = timedelta(minutes=10)


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


def judged(
    status: int,
    headers: Mapping[str, str],
    *,
    where: str,
    model: str,
    wall: float,
    refused: Exception,
    said: str = "",
    no_money: bool = False,
) -> Failure:
    """What is wrong where a provider answers with another status than 200. ``refused``: what to raise where it won't take the
    texts; ``said``: what of its words may be shown."""
    what = f"the endpoint answers {status}{said}"
    if status == 402 or no_money:
        fix = "the account's quota is used up"
        return Failure(ProviderDown(what, where=where, fix=fix, retry_after=NO_MONEY_PAUSE))
    if status in (408, 409, 425, 429) or status >= 500:
        after = retry_after(headers, wall)
        pause = None if after is None else timedelta(seconds=after)
        return Failure(ProviderDown(what, where=where, retry_after=pause), again=True, after=after)
    if status in (400, 413, 422):
        return Failure(refused)
    fixes = {
        401: "the key is missing or wrong: name its environment variable or file",
        403: "this key may not use this model",
        404: f"is {model!r} a model of this endpoint, and is its address right?",
    }
    return Failure(ProviderUnusable(what, where=where, fix=fixes.get(status)))


def retry_after(headers: Mapping[str, str], wall: float) -> float | None:
    """Seconds that the endpoint asks to be left alone: `retry-after-ms`, `Retry-After` in seconds or as a date."""
    with suppress(KeyError, ValueError):
        return max(0.0, float(headers["retry-after-ms"]) / 1000)
    given = headers.get("retry-after", "")
    try:
        seconds = float(given)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(given).timestamp() - wall
        except (ValueError, TypeError):
            return None
    return max(0.0, seconds) if seconds == seconds and seconds != float("inf") else None
