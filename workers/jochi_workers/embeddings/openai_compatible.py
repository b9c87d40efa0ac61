"""Embeddings from any endpoint that speaks OpenAI's protocol: OpenAI itself, vLLM, Ollama, LM Studio, llama.cpp, LiteLLM …

Source of limits: OpenAI's API reference for `POST /embeddings` (2,048 texts, 8,192 tokens a text, 300,000 a request).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from jochi_workers.embeddings.protocol import PROBE, ProviderDown, TextsRefused, TextVector
from jochi_workers.embeddings.response import BadResponse, vectors_of
from jochi_workers.embeddings.vectors import normalised
from jochi_workers.models import retries
from jochi_workers.models.endpoint import Endpoint
from jochi_workers.models.failures import Failure, Rejected, Unsure
from jochi_workers.models.timing import RateLimit

_PLAIN_CODE = re.compile(r"[A-Za-z0-9_.\-]{1,64}")


@dataclass(frozen=True)
class Limits(retries.Limits):
    """``texts`` and ``tokens``: most of one request. ``patience`` is for one `embed`, the time for each of its requests."""

    timeout: float = 30.0
    most_bytes: int = 40_000_000
    texts: int = 256
    tokens: int = 100_000


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
        dimensions: int | None = None,
        limits: Limits | None = None,
        rate: RateLimit | None = None,
        **access: Any,
    ) -> None:
        """``access``: as `jochi_workers.models.endpoint.Endpoint` takes it."""
        self._limits = limits or Limits()
        self._endpoint = Endpoint("openai", model, limits=self._limits, **access)
        self.model = model
        self._asked = self._dimensions = dimensions
        self._rate = rate

    def __repr__(self) -> str:
        return f"OpenAICompatible({self.model!r}, base_url={self._endpoint.url!r})"

    @property
    def dimensions(self) -> int:
        """As asked for; else as the endpoint answers to a short text, once."""
        if self._dimensions is None:
            self._dimensions = len(self.embed([PROBE])[0].vector)
        return self._dimensions

    def embed(self, texts: Sequence[str]) -> list[TextVector]:
        """One vector of length 1 a text. The endpoint doesn't tell what it couldn't read: ``unknown_share`` is None."""
        waits = retries.RetryBudget(self._limits, self._endpoint.waiting)
        found: list[TextVector] = []
        for part in self._requests(texts):
            found += [TextVector(normalised(vector)) for vector in self._answer(part, waits)]
        return found

    def close(self) -> None:
        """Nothing of it stays open between two requests."""

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

    def _answer(self, texts: list[str], waits: retries.RetryBudget) -> list[list[float]]:
        tokens = sum(at_most_tokens(text) for text in texts)

        def once() -> list[list[float]] | Failure:
            while self._rate is not None and (seconds := self._rate.admit(tokens)) > 0:
                waits.wait(seconds, ProviderDown("the rate limit is used up", where=self._endpoint.url))
            return self._ask(texts, waits)

        waits.renew()
        return waits.ask(once)

    def _ask(self, texts: list[str], waits: retries.RetryBudget) -> list[list[float]] | Failure:
        embed, url = self._endpoint.client.embed, self._endpoint.url
        fix = f"is {self.model!r} a model for embeddings?"
        answer: bytes | Failure = self._endpoint.once(
            waits,
            lambda http: embed(http, self.model, url, texts, self._asked),
            refused=lambda what: TextsRefused(what, where=url, fix=fix),
            said=_sentence if texts == [PROBE] else _code,
        )
        if isinstance(answer, Failure):
            if isinstance(answer.error, Rejected):
                refused = TextsRefused(f"the endpoint's answer is of no use: {answer.error.reason}", where=url)
                return Failure(refused, again=True)
            # The same vectors cost little, and no cap counts them: what may be charged is asked for again, too.
            return replace(answer, again=answer.again or isinstance(answer.error, Unsure))
        try:
            return vectors_of(answer, len(texts))
        except BadResponse as bad:
            why = str(bad)
        return Failure(TextsRefused(f"the endpoint's answer is of no use: {why}", where=url), again=True)


def _code(_status: int, error: Mapping[str, str]) -> str:
    return f" ({error['code']})" if _PLAIN_CODE.fullmatch(error["code"]) else ""


def _sentence(status: int, error: Mapping[str, str]) -> str:
    """The sentence, too, since it is about our own probe: others may quote a memory's text, or the key."""
    sentence = "" if status in (401, 403) else " ".join(error["message"].split())[:300]
    return _code(status, error) + (f" ({sentence})" if sentence else "")


def at_most_tokens(text: str) -> int:
    """A cautious count for limits: a token is rarely less than three bytes of UTF-8."""
    return -(-len(text.encode("utf-8", "replace")) // 3)
