"""Summaries by a language model. Whatever comes back is only a text that the checks still have to accept."""

from __future__ import annotations

from pathlib import Path

from jochi_workers.derive.compress.protocol import Summary
from jochi_workers.models import Model, at_most
from jochi_workers.models.prompt import Prompt, prompt

_PACKAGED = Path(__file__).with_name("prompt.md.j2")
_WORDS_A_TOKEN = 0.6
_MANY = 10**9


def instructions(folder: str | None = None) -> Prompt:
    """What a model is told; ``folder``: `work.prompts` of the policy, whose `compress.md.j2` goes before the package's own."""
    return prompt("compress", _PACKAGED, folder, words=_MANY)


def word_limit(most_tokens: int) -> int:
    """How many words a model is allowed, so that their tokens fit."""
    return max(1, int(most_tokens * _WORDS_A_TOKEN))


class ModelSummariser:
    """Summaries by one `Model`. ``told``: other instructions than the package's own."""

    paid = True
    fixed = False

    def __init__(self, model: Model, prompt: Prompt | None = None) -> None:
        self._asked = model
        self._told = prompt or instructions()
        self.name: str = model.provider
        self.model: str | None = model.name
        self.prompt: str | None = self._told.version
        self.overhead = at_most(self._told.filled(words=_MANY), [""], str, 0).sent

    def __repr__(self) -> str:
        return f"ByModel({self._asked!r})"

    def summarise(self, text: str, most_tokens: int) -> Summary:
        reply = self._asked.ask(self._told.filled(words=word_limit(most_tokens)), [text], str, most_tokens)
        return Summary(reply.output.strip(), reply.tokens_in, reply.tokens_out)
