"""One model at one address, with its key, its bounds and its silence: every request to a provider goes through here."""

from __future__ import annotations

import asyncio
import email.utils
import json
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from datetime import timedelta
from math import isfinite
from pathlib import Path
from typing import Any, TypeVar

from jochi_workers.models.access import HOMES, at_home, checked_url, key_for, silence
from jochi_workers.models.failures import Failure, ProviderDown, ProviderUnusable, Rejected, Unsure, packages
from jochi_workers.models.retries import Limits, RetryBudget
from jochi_workers.models.timing import Timing

T = TypeVar("T")
_NO_MONEY_PAUSE, _LONGEST_PAUSE = timedelta(minutes=10), 86_400.0
_OF_A_GATEWAY = (502, 504, 520, 522, 524)
"""It has lost the model, which may go on and charge."""


class Endpoint:
    """``base_url``: another endpoint that speaks the same (anthropic: without `/v1`; openai: with it where the endpoint has it).
    The key comes from the environment or a file; without either, only the provider's own endpoint gets its usual variable
    unasked."""

    def __init__(
        self,
        provider: str,
        model: str,
        *,
        base_url: str | None = None,
        key_variable: str | None = None,
        key_file: Path | None = None,
        limits: Limits,
        waiting: Timing | None = None,
    ) -> None:
        self.provider, self.model = provider, model
        home, usual = HOMES[provider]
        self.url = checked_url(base_url or home)
        self.at_home = at_home(self.url, home)
        key = key_for(self.url, home, usual, variable=key_variable, file=key_file)
        self._key = "" if key is None else key.get_secret_value()
        self.limits = limits
        self.waiting = waiting or Timing()
        needed = [provider, "pydantic_ai", "jochi_workers.models.client"]
        self.client = packages(needed, where=f"provider {provider}", fix=f"pip install 'jochi[{provider}]'")[-1]
        self.client.load_packages(provider)
        silence(provider, "httpx2", "httpcore2")

    def __repr__(self) -> str:
        return f"Endpoint({self.provider!r}, {self.model!r}, {self.url!r})"

    def once(
        self,
        patience: RetryBudget,
        request: Callable[[Any], Coroutine[Any, Any, T]],
        *,
        refused: Callable[[str], Exception],
        said: Callable[[int, Mapping[str, str]], str] = lambda status, error: "",
    ) -> T | Failure:
        """What ``request`` makes of one request with the client that it is handed, or what is wrong.

        ``refused``: what to raise where the provider won't take the texts, given what it ``said``: of a status and what a provider
        says about it, what may be shown. Not for use inside of a running event loop.
        """
        seconds = patience.seconds
        if seconds <= 0:
            return Failure(ProviderDown("no time is left", where=self.url))
        own = {"x-api-key": self._key} if self.provider == "anthropic" else {"authorization": f"Bearer {self._key}"}
        transport = self.client.Transport(own if self._key else {}, self.limits.most_bytes)
        try:
            found: T = self.client.exchange(transport, request, seconds)
            return found
        except asyncio.TimeoutError:
            why = f"no answer within {seconds:g} s"
        except Exception as error:
            if not transport.asked:
                return Failure(ProviderUnusable(f"{type(error).__name__} before anything is sent", where=self.url))
            if transport.answered:
                return Failure(Rejected("broken answer"))
            why = f"no connection ({transport.why or type(error).__name__})"
        if transport.status != 200:
            return self._judged(transport, refused, said)
        if transport.too_long:
            return Failure(Rejected("answer too long"))
        return Failure(
            Unsure(why, where=self.url) if transport.sent else ProviderDown(why, where=self.url), not transport.sent
        )

    def _judged(
        self, answer: Any, refused: Callable[[str], Exception], said: Callable[[int, Mapping[str, str]], str]
    ) -> Failure:
        """What is wrong where a provider answers with another status than 200."""
        status, error = answer.status, _error(answer.error, self._key)
        what = f"the endpoint answers {status}{said(status, error)}"
        if status == 402 or (status == 429 and error["code"] == "insufficient_quota"):
            fix = "the account's quota is used up"
            return Failure(ProviderDown(what, where=self.url, fix=fix, retry_after=_NO_MONEY_PAUSE))
        if status in (408, 409, 425, 429) or status >= 500:
            after = retry_after(answer.headers, self.waiting.wall())
            pause = None if after is None else timedelta(seconds=after)
            down = Unsure if status in _OF_A_GATEWAY else ProviderDown
            return Failure(down(what, where=self.url, retry_after=pause), again=down is ProviderDown, after=after)
        if status in (400, 413, 422):
            return Failure(refused(what))
        fixes = {
            401: "the key is missing or wrong: name its environment variable or file",
            403: "this key may not use this model",
            404: f"is {self.model!r} a model of this endpoint, and is its address right?",
        }
        return Failure(ProviderUnusable(what, where=self.url, fix=fixes.get(status)))


def retry_after(headers: Mapping[str, str], wall: float) -> float | None:
    """Seconds, a day at most, that the endpoint asks to be left alone: `retry-after-ms`, `Retry-After` in seconds or as a date."""
    given = headers.get("retry-after", "")
    ways: tuple[Callable[[], float], ...] = (
        lambda: float(headers["retry-after-ms"]) / 1000,
        lambda: float(given),
        lambda: email.utils.parsedate_to_datetime(given).timestamp() - wall,
    )
    for read in ways:
        with suppress(KeyError, ValueError, TypeError, OverflowError):
            if isfinite(seconds := read()):
                return min(max(0.0, seconds), _LONGEST_PAUSE)
    return None


def _error(body: bytes, key: str) -> dict[str, str]:
    """Its code and its sentence, both without the key."""
    try:
        found = json.loads(body)["error"]
    except (ValueError, RecursionError, TypeError, LookupError):
        found = None
    words = found if isinstance(found, dict) else {}
    # A key of no length would be found between all letters.
    return {name: str(words.get(name) or "").replace(key or "\0", "[key]") for name in ("code", "message")}
