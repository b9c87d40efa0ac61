"""One language model of one provider, by pydantic-ai: Anthropic, OpenAI, and whatever speaks OpenAI's chat completions.

A memory is data: it is fenced with a mark that nobody can know before, no tool is offered, and what comes back is text, or values
of one type, that the checks still have to accept.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from pydantic import BaseModel, TypeAdapter, ValidationError

from jochi_workers.models.endpoint import Endpoint
from jochi_workers.models.failures import Failure, ProviderDown, ProviderUnusable, Rejected, Unsure
from jochi_workers.models.retries import Limits, RetryBudget

Output = TypeVar("Output", bound="str | BaseModel")

_MISFIT = "does not fit its type"
_FRAME = 500
"""Tokens, rounded up, that a request has beside its texts: roles, and the words around a schema."""
_MOST_WRONG = 2_000
"""Bytes, with a frame, of what a model is told about an answer that doesn't fit."""


@dataclass(frozen=True)
class Tokens:
    """Tokens that a provider is sent and writes: what it charges for."""

    sent: int
    written: int


@dataclass(frozen=True)
class Reply(Generic[Output]):
    """The output, and the tokens that the provider says it was sent and has written."""

    output: Output
    tokens_in: int
    tokens_out: int


def at_most(instructions: str, texts: Sequence[str], output: type[str] | type[BaseModel], most_tokens: int) -> Tokens:
    """What `Model.ask` may use, with both of its requests: to be reserved before. No tokenizer makes more tokens than bytes."""
    first = _first(*_fenced(instructions, texts), output)
    if issubclass(output, str):
        return Tokens(first, most_tokens)
    return Tokens(first + (first + most_tokens + _MOST_WRONG), 2 * most_tokens)


def _first(ordered: str, said: str, output: type[Any]) -> int:
    schema = "" if issubclass(output, str) else json.dumps(output.model_json_schema())
    return _FRAME + sum(len(part.encode("utf-8", "replace")) for part in (ordered, said, schema))


def _fenced(instructions: str, texts: Sequence[str]) -> tuple[str, str]:
    fence = f"====== {secrets.token_hex(12)} ======"
    return instructions.replace("{fence}", fence), "\n".join(f"{fence}\n{text}\n{fence}" for text in texts)


class Model:
    """``base_url``: another endpoint that speaks the same (anthropic: without `/v1`; openai: with it where the endpoint has it).
    The key comes from the environment or a file; without either, only the provider's own endpoint gets its usual variable
    unasked. Not for use inside of a running event loop. Nothing of it stays open between two questions."""

    def __init__(
        self,
        provider: str,
        name: str,
        *,
        limits: Limits | None = None,
        **access: Any,
    ) -> None:
        """``access``: as `Endpoint` takes it."""
        self.provider, self.name = provider, name
        self._endpoint = Endpoint(provider, name, limits=limits or Limits(), **access)

    def __repr__(self) -> str:
        return f"Model({self.provider!r}, {self.name!r}, {self._endpoint.url!r})"

    def ask(
        self,
        instructions: str,
        texts: Sequence[str],
        output: type[Output],
        most_tokens: int,
        reserved: Tokens | None = None,
    ) -> Reply[Output]:
        """One output of at most so many tokens. Each text stands between two fences; `{fence}` in the instructions becomes theirs.

        What doesn't fit its type is asked for once more, with what is wrong. Neither request is made unless what is ``reserved``
        (see `at_most`; None: whatever it takes) surely covers it. Raises `Rejected`, `ProviderDown` (as `Unsure` where it may be
        charged all the same) or `ProviderUnusable`.
        """
        from pydantic_ai.messages import ModelRequest

        ordered, said = _fenced(instructions, texts)
        if reserved and (_first(ordered, said, output) > reserved.sent or most_tokens > reserved.written):
            raise Rejected("more than is reserved", 0, 0)
        messages = [ModelRequest.user_text_prompt(said, instructions=ordered)]
        patience = RetryBudget(self._endpoint.limits, self._endpoint.waiting)
        answer = self._once(patience, messages, output, most_tokens)
        found, used = _typed(answer, output), Tokens(answer.usage.input_tokens, answer.usage.output_tokens)
        if isinstance(found, list):
            most = Tokens(2 * used.sent + used.written + _MOST_WRONG, used.written + most_tokens)
            if reserved and (most.sent > reserved.sent or most.written > reserved.written):
                raise Rejected(_MISFIT, used.sent, used.written)
            wrong = "This doesn't fit the schema. Answer with JSON that does, and nothing else.\n" + "\n".join(found)
            complaint = wrong.encode("utf-8", "replace")[: _MOST_WRONG - 200].decode("utf-8", "ignore")
            messages += [answer, ModelRequest.user_text_prompt(complaint, instructions=ordered)]
            answer = self._once(patience, messages, output, most_tokens, used)
            used = Tokens(used.sent + answer.usage.input_tokens, used.written + answer.usage.output_tokens)
            found = _typed(answer, output)
        if isinstance(found, list):
            raise Rejected(_MISFIT, used.sent, used.written)
        return Reply(found, used.sent, used.written)

    def _once(
        self,
        patience: RetryBudget,
        messages: list[Any],
        output: type[Any],
        most_tokens: int,
        used: Tokens | None = None,
    ) -> Any:
        """One answer. What is raised counts what was ``used`` before, too."""
        ask, made = self._endpoint.client.complete, (self.provider, self.name, self._endpoint.url)

        def once() -> Any:
            answer = self._endpoint.once(
                patience,
                lambda http: ask(http, made, messages, output, most_tokens, new_limit=self._endpoint.at_home),
                refused=lambda _: Rejected("refused by the provider", 0, 0),
            )
            fault = None if isinstance(answer, Failure) else _fault(answer)
            return Failure(Rejected(fault, *_counts(answer))) if fault else answer

        try:
            return patience.ask(once)
        except Rejected as error:
            if used is None:
                raise
            tokens_in = None if error.tokens_in is None else error.tokens_in + used.sent
            tokens_out = None if error.tokens_out is None else error.tokens_out + used.written
            failure: Exception = Rejected(error.reason, tokens_in, tokens_out)
        except (ProviderDown, ProviderUnusable) as error:
            if used is None:
                raise
            pause = error.retry_after if isinstance(error, ProviderDown) else None
            failure = Unsure(error.what, where=error.where, fix=error.fix, retry_after=pause)
        raise failure


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
