"""What is to be said of a derivation beside its Cypher: its prompt, the same output without a model, and its checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from pydantic import BaseModel

from jochi.text.tokens import TokenCounter
from jochi_workers.handler import Row
from jochi_workers.models import Model, ProviderUnusable, Rejected, Reply
from jochi_workers.models.model import at_most
from jochi_workers.models.prompt import Prompt, prompt

OFFLINE = "offline"
"""Provider of what is made without a model."""


@dataclass(frozen=True)
class Derivation:
    """One derivation. A row is what `derive/<name>/inputs` returns: key, inputs ({key, content}), most_tokens and more.

    ``output``: text, or a pydantic type that a model must fill. ``offline``: the same without a model; '' where it can't.
    ``faults``: why it may not be stored, without a word of a memory; the first counts. ``text``: the content that is stored.
    ``properties``: what the stored memory says besides. ``words``: what its prompt may use; ``example``: such words. ``made``:
    where the output is no single memory, what `derive/<name>/store` gets of it; it may be empty then, and nobody asks ``text``.
    ``texts``: what a model reads; what isn't among the inputs is in `beside` of the row, so that it is reserved for.
    """

    name: str
    folder: Path
    output: type[str] | type[BaseModel]
    offline: Callable[[Row, TokenCounter], Any]
    faults: Callable[[Row, Any, TokenCounter], tuple[str, ...]]
    example: Mapping[str, Any]
    words: Callable[[Row], Mapping[str, Any]]
    text: Callable[[Any], str] = str
    properties: Callable[[Row, Any], Mapping[str, Any]] = lambda _row, _output: {}
    made: Callable[[Row, Any, TokenCounter], Mapping[str, Any]] | None = None
    texts: Callable[[Row], list[str]] = lambda row: [each["content"] for each in row["inputs"]]

    def told(self, folder: str | None = None) -> Prompt:
        """What a model is told; ``folder``: `work.prompts` of the policy, whose `<name>.md.j2` goes before the derivation's own."""
        return prompt(self.name, self.folder / "prompt.md.j2", folder, **self.example)


class Maker(Protocol):
    """Makes outputs of one derivation.

    ``paid``: it counts tokens, so they are reserved and capped. ``overhead``: the most tokens of a request beside the inputs.
    ``requests``: for one output at most. ``fixed``: of the same inputs the same output. ``version``: of what it was told.
    """

    @property
    def name(self) -> str: ...
    @property
    def model(self) -> str | None: ...
    @property
    def version(self) -> str: ...
    @property
    def paid(self) -> bool: ...
    @property
    def overhead(self) -> int: ...
    @property
    def requests(self) -> int: ...
    @property
    def fixed(self) -> bool: ...

    def make(self, row: Row) -> Reply[Any]:
        """The output. Raises `Rejected`, `ProviderDown` or `ProviderUnusable`."""


class Offline:
    """What a derivation can do without a model."""

    name, model, version, paid, overhead, requests, fixed = OFFLINE, None, OFFLINE, False, 0, 1, True

    def __init__(self, derivation: Derivation, counter: TokenCounter) -> None:
        self._derivation = derivation
        self._counter = counter

    def make(self, row: Row) -> Reply[Any]:
        try:
            return Reply(self._derivation.offline(row, self._counter), 0, 0)
        except ProviderUnusable as missing:  # a package: this can't be done here, all else can
            raise Rejected(missing.what, 0, 0) from None


class ByModel:
    """A derivation by one `Model`. ``told``: other instructions than the derivation's own."""

    paid, fixed = True, False

    def __init__(self, derivation: Derivation, asked: Model, told: Prompt | None = None) -> None:
        self._derivation = derivation
        self._asked = asked
        self._told = told or derivation.told()
        self.name: str = asked.provider
        self.model: str | None = asked.name
        self.version = self._told.version
        self.requests = 1 if issubclass(derivation.output, str) else 2
        self.overhead = at_most(self._told.filled(**derivation.example), [""], derivation.output, 0).sent

    def __repr__(self) -> str:
        return f"ByModel({self._derivation.name}, {self._asked!r})"

    def make(self, row: Row) -> Reply[Any]:
        told = self._told.filled(**self._derivation.words(row))
        return self._asked.ask(told, self._derivation.texts(row), self._derivation.output, row["most_tokens"])
