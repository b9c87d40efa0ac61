"""Embeddings from any endpoint that speaks OpenAI's protocol: OpenAI itself, vLLM, Ollama, LM Studio, llama.cpp, LiteLLM …

Source of limits: OpenAI's API reference for `POST /embeddings` (2,048 texts, 8,192 tokens a text, 300,000 a request).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jochi_workers.embeddings.answer import BadAnswer, vectors_of
from jochi_workers.embeddings.protocol import PROBE, Embedded, ProviderDown, ProviderUnusable, TextsRefused, packages
from jochi_workers.embeddings.vectors import normalised
from jochi_workers.models.access import OPENAI, OPENAI_KEY, checked_url, key_for, silence
from jochi_workers.models.failures import Failure, judged
from jochi_workers.models.patience import Patience
from jochi_workers.models.waiting import RateLimit, Waiting

if TYPE_CHECKING:
    import openai

EXTRA = "pip install 'jochi[openai]'"
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
        key = key_for(self._url, OPENAI, OPENAI_KEY, variable=key_variable, file=key_file)
        self._asked = dimensions
        self._dimensions = dimensions
        self._limits = limits or Limits()
        self._rate = rate
        self._waiting = waiting or Waiting()
        (self._openai,) = packages(["openai"], where="provider openai", fix=EXTRA)
        silence("openai", "httpx2", "httpcore2")
        self._client: openai.OpenAI | None = self._openai.OpenAI(
            # A server of one's own often wants none, the library always does.
            api_key="none" if key is None else key.get_secret_value(),
            base_url=self._url,
            timeout=self._limits.timeout,
            max_retries=0,
            http_client=self._openai.DefaultHttpxClient(follow_redirects=False),
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
        patience = Patience(self._limits.patience, self._limits.attempts, self._waiting, spread=True)
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

    def _answer(self, texts: list[str], patience: Patience) -> list[list[float]]:
        tokens = sum(at_most_tokens(text) for text in texts)

        def once() -> list[list[float]] | Failure:
            while self._rate is not None and (seconds := self._rate.admit(tokens)) > 0:
                patience.wait(seconds, ProviderDown("the rate limit is used up", where=self._url))
            return self._ask(texts)

        return patience.ask(once)

    def _ask(self, texts: list[str]) -> list[list[float]] | Failure:
        """One request. Errors are handed back, not raised here: the library's own, which know the key, stay out of tracebacks."""
        if self._client is None:
            return Failure(ProviderUnusable("this provider is closed", where=self._url))
        asked: dict[str, Any] = {} if self._asked is None else {"dimensions": self._asked}
        try:
            response = self._client.embeddings.with_raw_response.create(
                input=texts, model=self._model, encoding_format="float", **asked
            )
            return vectors_of(response.content, len(texts))
        except self._openai.APITimeoutError:
            return Failure(ProviderDown(f"no answer within {self._limits.timeout:g} s", where=self._url), again=True)
        except self._openai.APIConnectionError as error:
            why = type(error.__cause__ or error).__name__
            return Failure(ProviderDown(f"no connection ({why})", where=self._url), again=True)
        except self._openai.APIStatusError as error:
            return self._judged(error, quote=texts == [PROBE])
        except BadAnswer as bad:
            return Failure(TextsRefused(f"the endpoint's answer is of no use: {bad}", where=self._url), again=True)

    def _judged(self, error: openai.APIStatusError, *, quote: bool) -> Failure:
        said, fix = self._said(error, quote=quote), f"is {self._model!r} a model for embeddings?"
        return judged(
            error.status_code,
            error.response.headers,
            where=self._url,
            model=self._model,
            wall=self._waiting.wall(),
            refused=TextsRefused(f"the endpoint answers {error.status_code}{said}", where=self._url, fix=fix),
            said=said,
            no_money=error.status_code == 429 and error.code == "insufficient_quota",
        )

    def _said(self, error: openai.APIStatusError, *, quote: bool) -> str:
        """The error's code; its sentence only about our own probe, for others may quote a memory's text, or the key."""
        said = [error.code] if error.code and _PLAIN_CODE.fullmatch(error.code) else []
        if quote and error.status_code not in (401, 403) and isinstance(error.body, dict):
            said.append(" ".join(str(error.body.get("message") or "").split())[:300])
        # A key of no length would be found between all letters.
        key = (self._client.api_key if self._client is not None else "") or "\0"
        said = [part.replace(key, "[key]") for part in said]
        return "".join(f" ({part})" for part in said if part)


def at_most_tokens(text: str) -> int:
    """A cautious count for limits: a token is rarely less than three bytes of UTF-8."""
    return -(-len(text.encode("utf-8", "replace")) // 3)
