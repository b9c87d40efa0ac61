"""Embeddings from any endpoint that speaks OpenAI's protocol: OpenAI itself, vLLM, Ollama, LM Studio, llama.cpp, LiteLLM …

Source of limits: OpenAI's API reference for `POST /embeddings` (2,048 texts, 8,192 tokens a text, 300,000 a request).
"""

from __future__ import annotations

import email.utils
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pydantic import SecretStr

from jochi.errors import JochiError, UsageError
from jochi_workers.embeddings.answer import BadAnswer, vectors_of
from jochi_workers.embeddings.protocol import PROBE, Embedded, ProviderDown, ProviderUnusable, TextsRefused, packages
from jochi_workers.embeddings.vectors import normalised
from jochi_workers.embeddings.waiting import RateLimit, Waiting

if TYPE_CHECKING:
    import openai

EXTRA = "pip install 'jochi[openai]'"
OPENAI = "https://api.openai.com/v1"
OPENAI_KEY = "OPENAI_API_KEY"

_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 20.0
_NO_MONEY_PAUSE = timedelta(minutes=10)
_PLAIN_CODE = re.compile(r"[A-Za-z0-9_.\-]{1,64}")


@dataclass(frozen=True)
class Limits:
    """``timeout``: seconds without a byte from the endpoint. ``attempts`` at one request; ``patience``: seconds that one `embed`
    may spend waiting altogether, well below a lease. ``texts`` and ``tokens``: most of one request.
    """

    timeout: float = 30.0
    attempts: int = 5
    patience: float = 30.0
    texts: int = 256
    tokens: int = 100_000


def key_from(*, variable: str | None = None, file: Path | None = None) -> SecretStr | None:
    """The key in an environment variable or a file; None if neither is named. `UsageError` if what is named holds none."""
    if file is not None:
        try:
            text = file.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(
                "the key file can't be read", where=str(file), fix="name a text file with the key"
            ) from error
        where = str(file)
    elif variable is not None:
        text, where = os.environ.get(variable, "").strip(), f"environment variable {variable}"
    else:
        return None
    if not text or not text.isascii() or not text.isprintable() or " " in text:
        raise UsageError(
            "there is no key in it" if not text else "what is in it is no key", where=where, fix="put the key there"
        )
    return SecretStr(text)


class OpenAICompatible:
    """One endpoint and one model of it.

    ``dimensions`` is sent where given (models that can shorten their vectors); else the length is found by a short request.
    The key comes from the environment variable ``key_variable`` or ``key_file``. Without either, OpenAI's own endpoint takes
    OPENAI_API_KEY, and no other endpoint ever gets to see that one.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        dimensions: int | None = None,
        key_variable: str | None = None,
        key_file: Path | None = None,
        limits: Limits | None = None,
        rate: RateLimit | None = None,
        waiting: Waiting | None = None,
    ) -> None:
        self._model = model
        self._url = checked_url(base_url or OPENAI)
        if key_variable is None and key_file is None and urlsplit(self._url).hostname == urlsplit(OPENAI).hostname:
            key_variable = OPENAI_KEY
        key = key_from(variable=key_variable, file=key_file)
        self._asked = dimensions
        self._dimensions = dimensions
        self._limits = limits or Limits()
        self._rate = rate
        self._waiting = waiting or Waiting()
        (self._openai,) = packages(["openai"], where="provider openai", fix=EXTRA)
        self._client: openai.OpenAI | None = self._openai.OpenAI(
            # A server of one's own often wants none, the library always does.
            api_key="none" if key is None else key.get_secret_value(),
            base_url=self._url,
            timeout=self._limits.timeout,
            max_retries=0,
        )

    def __repr__(self) -> str:
        return f"OpenAICompatible({self._model!r}, base_url={self._url!r})"

    @property
    def model(self) -> str:
        """The model's name at the endpoint."""
        return self._model

    @property
    def dimensions(self) -> int:
        """As asked for; else as the endpoint answers to a short text, once."""
        if self._dimensions is None:
            self._dimensions = len(self.embed([PROBE])[0].vector)
        return self._dimensions

    def embed(self, texts: Sequence[str]) -> list[Embedded]:
        """One vector of length 1 a text. The endpoint doesn't tell what it couldn't read: ``unknown_share`` is None."""
        patience = _Patience(self._limits.patience, self._waiting)
        found: list[Embedded] = []
        for part in self._requests(texts):
            found += [Embedded(normalised(vector)) for vector in self._answer(part, patience)]
        return found

    def close(self) -> None:
        """Closes the connections."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def _requests(self, texts: Sequence[str]) -> list[list[str]]:
        parts: list[list[str]] = []
        room = 0
        for text in texts:
            tokens = at_most_tokens(text)
            if not parts or len(parts[-1]) >= self._limits.texts or tokens > room:
                parts.append([])
                room = self._limits.tokens
            parts[-1].append(text)
            room -= tokens
        return parts

    def _answer(self, texts: list[str], patience: _Patience) -> list[list[float]]:
        tokens = sum(at_most_tokens(text) for text in texts)
        for attempt in range(1, self._limits.attempts + 1):
            self._admitted(tokens, patience)
            found = self._ask(texts)
            if isinstance(found, list):
                return found
            if not found.again or attempt == self._limits.attempts:
                raise found.error
            patience.wait(found.after or self._pause(attempt), found.error)
        raise AssertionError("the last attempt returned or raised")

    def _admitted(self, tokens: int, patience: _Patience) -> None:
        while self._rate is not None and (seconds := self._rate.admit(tokens)) > 0:
            patience.wait(seconds, ProviderDown("the rate limit is used up", where=self._url))

    def _pause(self, attempt: int) -> float:
        """Doubles, with up to half of it left to chance, so that many workers don't come back at once."""
        pause: float = min(_FIRST_PAUSE * 2 ** (attempt - 1), _LONGEST_PAUSE)
        return pause * (0.5 + 0.5 * self._waiting.jitter())

    def _ask(self, texts: list[str]) -> list[list[float]] | _Failure:
        """One request. Errors are handed back, not raised here: the library's own, which know the key, stay out of tracebacks."""
        if self._client is None:
            return _Failure(ProviderUnusable("this provider is closed", where=self._url))
        asked: dict[str, Any] = {} if self._asked is None else {"dimensions": self._asked}
        try:
            response = self._client.embeddings.with_raw_response.create(
                input=texts, model=self._model, encoding_format="float", **asked
            )
            return vectors_of(response.content, len(texts))
        except self._openai.APITimeoutError:
            return _Failure(ProviderDown(f"no answer within {self._limits.timeout:g} s", where=self._url), again=True)
        except self._openai.APIConnectionError as error:
            why = type(error.__cause__ or error).__name__
            return _Failure(ProviderDown(f"no connection ({why})", where=self._url), again=True)
        except self._openai.APIStatusError as error:
            return self._judged(error, quote=texts == [PROBE])
        except BadAnswer as bad:
            return _Failure(TextsRefused(f"the endpoint's answer is of no use: {bad}", where=self._url), again=True)

    def _judged(self, error: openai.APIStatusError, *, quote: bool) -> _Failure:
        status = error.status_code
        what = f"the endpoint answers {status}{self._said(error, quote=quote)}"
        if status in (402, 429) and (status == 402 or error.code == "insufficient_quota"):
            return _Failure(
                ProviderDown(what, where=self._url, fix="the account's quota is used up", retry_after=_NO_MONEY_PAUSE)
            )
        if status in (408, 409, 425, 429) or status >= 500:
            after = retry_after(error.response.headers, self._waiting.wall())
            down = ProviderDown(what, where=self._url, retry_after=None if after is None else timedelta(seconds=after))
            return _Failure(down, again=True, after=after)
        if status in (400, 413, 422):
            return _Failure(TextsRefused(what, where=self._url, fix=f"is {self._model!r} a model for embeddings?"))
        fixes = {
            401: "the key is missing or wrong: name its environment variable or file",
            403: "this key may not use this model",
            404: f"is {self._model!r} a model of this endpoint, and does its address end where /embeddings begins?",
        }
        return _Failure(ProviderUnusable(what, where=self._url, fix=fixes.get(status)))

    def _said(self, error: openai.APIStatusError, *, quote: bool) -> str:
        """The error's code; its sentence only about our own probe, for others may quote a memory's text, or the key."""
        said = [error.code] if error.code and _PLAIN_CODE.fullmatch(error.code) else []
        if quote and error.status_code not in (401, 403) and isinstance(error.body, dict):
            said.append(" ".join(str(error.body.get("message") or "").split())[:300])
        # A key of no length would be found between all letters.
        key = (self._client.api_key if self._client is not None else "") or "\0"
        said = [part.replace(key, "[key]") for part in said]
        return "".join(f" ({part})" for part in said if part)


@dataclass(frozen=True)
class _Failure:
    error: JochiError
    again: bool = False
    after: float | None = None


class _Patience:
    """How long one `embed` may still wait."""

    def __init__(self, seconds: float, waiting: Waiting) -> None:
        self._left = seconds
        self._waiting = waiting

    def wait(self, seconds: float, error: JochiError) -> None:
        """Waits so long, or raises ``error`` (with the time to come back, if it is a `ProviderDown`) if that is too long."""
        if seconds > self._left:
            if isinstance(error, ProviderDown) and error.retry_after is None:
                error.retry_after = timedelta(seconds=seconds)
            raise error
        self._left -= seconds
        if self._waiting.sleep(seconds) is True:
            raise ProviderDown("the worker is stopping", retry_after=timedelta(0))


def at_most_tokens(text: str) -> int:
    """A cautious count for limits: a token is rarely less than three bytes of UTF-8."""
    return -(-len(text.encode("utf-8", "replace")) // 3)


def retry_after(headers: Any, wall: float) -> float | None:
    """Seconds that the endpoint asks to be left alone: `retry-after-ms`, `Retry-After` in seconds or as a date."""
    try:
        return max(0.0, float(headers["retry-after-ms"]) / 1000)
    except (KeyError, ValueError):
        pass
    given = headers.get("retry-after")
    if given is None:
        return None
    try:
        seconds = float(given)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(given).timestamp() - wall
        except (ValueError, TypeError):
            return None
    return max(0.0, seconds) if seconds == seconds and seconds != float("inf") else None


def checked_url(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError("the endpoint's address must begin with http:// or https://", fix=f"for example {OPENAI}")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise UsageError(
            "the endpoint's address holds a login or a query, which would show up in logs",
            where=parts.hostname,
            fix="give the address alone; the key comes from an environment variable or a file",
        )
    return url.rstrip("/")
