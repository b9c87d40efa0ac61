"""One language model of one provider, by pydantic-ai: Anthropic, OpenAI, and whatever speaks OpenAI's chat completions.

A memory is data: it is fenced with a mark that nobody can know before, no tool is offered, and what comes back is text, or values
of one type, that the checks still have to accept.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from pydantic import BaseModel, TypeAdapter, ValidationError

from jochi_workers.models.access import (
    ANTHROPIC,
    ANTHROPIC_KEY,
    OPENAI,
    OPENAI_KEY,
    at_home,
    checked_url,
    key_for,
    silence,
)
from jochi_workers.models.failures import Failure, ProviderDown, ProviderUnusable, Rejected, Unsure, judged, packages
from jochi_workers.models.patience import Patience
from jochi_workers.models.waiting import Waiting

Output = TypeVar("Output", bound="str | BaseModel")
_CLIENT = "jochi_workers.models.client"
_HOMES = {"anthropic": (ANTHROPIC, ANTHROPIC_KEY), "openai": (OPENAI, OPENAI_KEY)}


@dataclass(frozen=True)
class Limits:
    """``timeout``: seconds for one whole answer. ``patience``: seconds that one output may spend waiting for others, with the
    time-out well below a lease; no request begins or lasts beyond the sum of both. ``attempts`` at one request. ``most_bytes`` of
    an answer."""

    timeout: float = 60.0
    patience: float = 30.0
    attempts: int = 5
    most_bytes: int = 4_000_000


@dataclass(frozen=True)
class Reply(Generic[Output]):
    """The output, and the tokens that the provider says it was sent and has written: what it charges for."""

    output: Output
    tokens_in: int
    tokens_out: int


class Model:
    """``base_url``: another endpoint that speaks the same (anthropic: without `/v1`; openai: with it where the endpoint has it).
    The key comes from the environment or a file; without either, only the provider's own endpoint gets its usual variable
    unasked. Not for use inside of a running event loop."""

    def __init__(
        self,
        provider: str,
        name: str,
        *,
        base_url: str | None = None,
        key_variable: str | None = None,
        key_file: Path | None = None,
        limits: Limits | None = None,
        waiting: Waiting | None = None,
    ) -> None:
        self.provider, self.name = provider, name
        self._home, usual = _HOMES[provider]
        self.url = checked_url(base_url or self._home)
        key = key_for(self.url, self._home, usual, variable=key_variable, file=key_file)
        secret = "" if key is None else key.get_secret_value()
        own = {"x-api-key": secret} if provider == "anthropic" else {"authorization": f"Bearer {secret}"}
        self._headers = own if secret else {}
        self._limits = limits or Limits()
        self._waiting = waiting or Waiting()
        fix = f"pip install 'jochi[{provider}]'"
        self._client = packages([provider, "pydantic_ai", _CLIENT], where=f"provider {provider}", fix=fix)[-1]
        self._client.loaded(provider)
        silence(provider, "httpx2", "httpcore2")

    def __repr__(self) -> str:
        return f"Model({self.provider!r}, {self.name!r}, {self.url!r})"

    def ask(self, instructions: str, texts: Sequence[str], output: type[Output], most_tokens: int) -> Reply[Output]:
        """One output of at most so many tokens. Each text stands between two fences; `{fence}` in the instructions becomes theirs.

        What doesn't fit its type is asked for once more, with what is wrong. Raises `Rejected`, `ProviderDown` (as `Unsure` where
        it may be charged all the same) or `ProviderUnusable`.
        """
        from pydantic_ai.messages import ModelRequest

        fence = f"====== {secrets.token_hex(12)} ======"
        ordered = instructions.replace("{fence}", fence)
        said = "\n".join(f"{fence}\n{text}\n{fence}" for text in texts)
        messages = [ModelRequest.user_text_prompt(said, instructions=ordered)]
        patience = Patience(self._limits.patience, self._limits.attempts, self._waiting)
        ends = time.monotonic() + self._limits.timeout + self._limits.patience
        answer = patience.ask(lambda: self._once(messages, output, most_tokens, ends))
        found, used = _typed(answer, output), answer.usage
        if isinstance(found, list):
            wrong = "This doesn't fit the schema. Answer with JSON that does, and nothing else.\n" + "\n".join(found)
            messages += [answer, ModelRequest.user_text_prompt(wrong, instructions=ordered)]
            answer = self._second(lambda: patience.ask(lambda: self._once(messages, output, most_tokens, ends)), used)
            found, used = _typed(answer, output), used + answer.usage
        if isinstance(found, list):
            raise Rejected("does not fit its type", used.input_tokens, used.output_tokens)
        return Reply(found, used.input_tokens, used.output_tokens)

    def _second(self, ask: Callable[[], Any], used: Any) -> Any:
        """What is raised counts the first answer's tokens too."""
        try:
            return ask()
        except Rejected as error:
            tokens_in = None if error.tokens_in is None else error.tokens_in + used.input_tokens
            tokens_out = None if error.tokens_out is None else error.tokens_out + used.output_tokens
            failure: Exception = Rejected(error.reason, tokens_in, tokens_out)
        except (ProviderDown, ProviderUnusable) as error:
            pause = error.retry_after if isinstance(error, ProviderDown) else None
            failure = Unsure(error.what, where=self.url, fix=error.fix, retry_after=pause)
        raise failure

    def _once(self, messages: list[Any], output: type[Any], most_tokens: int, ends: float) -> Any:
        """One request: the answer, or what is wrong with it."""
        seconds = min(self._limits.timeout, ends - time.monotonic())
        if seconds <= 0:
            return Failure(ProviderDown("no time is left", where=self.url))
        transport = self._client.Transport(self._headers, self._limits.most_bytes)
        model, new = (self.provider, self.name, self.url), at_home(self.url, self._home)
        asked = self._client.request(transport, model, messages, output, most_tokens, new_limit=new)
        try:
            answer = asyncio.run(asyncio.wait_for(asked, seconds))
            fault = _fault(answer)
            return Failure(Rejected(fault, *_counts(answer))) if fault else answer
        except asyncio.TimeoutError:
            why = f"no answer within {self._limits.timeout:g} s"
        except Exception as error:
            if not transport.asked:
                return Failure(ProviderUnusable(f"{type(error).__name__} before anything is sent", where=self.url))
            why = f"no connection ({transport.why})"
        if transport.answered or transport.too_long:
            return Failure(Rejected("broken answer" if transport.answered else "answer too long"))
        if transport.status != 200:
            no, wall = Rejected("refused by the provider", 0, 0), self._waiting.wall()
            return judged(transport.status, transport.headers, where=self.url, model=self.name, wall=wall, refused=no)
        return Failure(Unsure(why, where=self.url) if transport.sent else ProviderDown(why, where=self.url))


def _counts(answer: Any) -> list[int | None]:
    used = (answer.usage.input_tokens, answer.usage.output_tokens)
    return [count if isinstance(count, int) and 0 < count < 2**31 else None for count in used]


def _fault(answer: Any) -> str | None:
    """Why an answer is none: it ended otherwise than by itself, has no text, or nobody counted it."""
    texts = [part.content for part in answer.parts if part.part_kind == "text"]
    if answer.finish_reason == "content_filter":
        return "refused by the provider"
    if not (answer.provider_details or {}).get("finish_reason") or not all(isinstance(text, str) for text in texts):
        return "broken answer"
    if answer.finish_reason != "stop" or any(part.part_kind not in ("text", "thinking") for part in answer.parts):
        return "cut off" if answer.finish_reason == "length" else "refused by the provider"
    # Without its counts nothing could be capped.
    return "no usage" if None in _counts(answer) else None


def _typed(answer: Any, output: type[Output]) -> Output | list[str]:
    """The output, or what is wrong with it: places and sorts of errors."""
    text = "".join(part.content for part in answer.parts if part.part_kind == "text")
    try:
        return TypeAdapter(output).validate_json(text) if issubclass(output, BaseModel) else cast(Output, text)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False, include_context=False)
        return [f"{'.'.join(map(str, fault['loc'])) or 'all of it'}: {fault['type']}" for fault in found[:20]]
