"""What is to be said of a derivation beside its Cypher: its prompt, the same output without a model, and its checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict

from jochi.text.tokens import TokenCounter
from jochi_workers.handler import Row
from jochi_workers.models import Model, ProviderUnusable, Rejected, Reply
from jochi_workers.models.model import at_most
from jochi_workers.models.prompt import Prompt, prompt

_HEADING = 200
"""Characters before the texts of one of several outputs, at most."""
_OTHER_NUMBER = "not an output for each"
OFFLINE = "offline"
"""Provider of what is made without a model."""


Output = TypeVar("Output", bound=BaseModel)


class BatchOutput(BaseModel, Generic[Output]):
    """Outputs that were asked for in one request, in the order of what was read."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    outputs: list[Output]


@dataclass(frozen=True)
class BatchPrompt:
    """How several outputs are asked for in one request: by `together.md.j2` of the derivation's folder, which ``words`` of one row
    don't fill; ``heading`` stands before the texts of the ``n``-th row, from 1 on."""

    heading: Callable[[int, Row], str]


@dataclass(frozen=True)
class Derivation:
    """One derivation. A row is what `derive/<name>/inputs` returns: key, inputs ({key, content}), most_tokens and more.

    ``output``: text, or a pydantic type that a model must fill. ``offline``: the same without a model; '' where it can't.
    ``tell``: what was made of a row, told to the later rows of its scope that were leased with it, so read before it was stored.
    ``faults``: why it may not be stored, without a word of a memory; the first counts. ``text``: the content that is stored.
    ``properties``: what the stored memory says besides. ``words``: what its prompt may use; ``example``: such words. ``made``:
    where the output is no single memory, what `derive/<name>/store` gets of it; it may be empty then, and nobody asks ``text``.
    ``texts``: what a model reads; what isn't among the inputs is in `beside` of the row, so that it is reserved for. ``parts``: of
    so many texts the fences are reserved for.
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
    tell: Callable[[Mapping[str, Any], Row], None] | None = None
    texts: Callable[[Row], list[str]] = lambda row: [each["content"] for each in row["inputs"]]
    together: BatchPrompt | None = None
    parts: int = 1

    def batch_prompt(self, folder: str | None = None) -> Prompt | None:
        """The same for several at once; None where it has no such way, or where ``folder`` has instructions of its own only for
        one."""
        if self.together is None:
            return None
        found = prompt(f"{self.name}_together", self.folder / "together.md.j2", folder)
        ours = found.where == str(self.folder / "together.md.j2")
        return None if ours and self.prompt(folder).where != str(self.folder / "prompt.md.j2") else found

    def prompt(self, folder: str | None = None) -> Prompt:
        """What a model is told; ``folder``: `work.prompts` of the policy, whose `<name>.md.j2` goes before the derivation's own."""
        return prompt(self.name, self.folder / "prompt.md.j2", folder, **self.example)


class Maker(Protocol):
    """Makes outputs of one derivation.

    ``paid``: it counts tokens, so they are reserved and capped. ``overhead``: the most tokens of a request beside the inputs.
    ``requests``: for one output at most. ``fixed``: of the same inputs the same output. ``version``: of what it was told.
    ``at_once``: so many outputs in one request at most.
    """

    name: str
    model: str | None
    version: str
    paid: bool
    overhead: int
    requests: int
    fixed: bool
    at_once: int

    def make_all(self, rows: Sequence[Row]) -> list[Reply[Any]]:
        """Several outputs by one request, which has cost what all of them have together. Raises as ``make`` does."""

    def make(self, row: Row) -> Reply[Any]:
        """The output. Raises `Rejected`, `ProviderDown` or `ProviderUnusable`."""


class OfflineMaker:
    """What a derivation can do without a model."""

    model: str | None = None
    name, version, paid, overhead, requests, fixed, at_once = OFFLINE, OFFLINE, False, 0, 1, True, 1

    def __init__(self, derivation: Derivation, counter: TokenCounter) -> None:
        self._derivation = derivation
        self._counter = counter

    def make(self, row: Row) -> Reply[Any]:
        try:
            return Reply(self._derivation.offline(row, self._counter), 0, 0)
        except ProviderUnusable as missing:  # a package: this can't be done here, all else can
            raise Rejected(missing.what, 0, 0) from None

    def make_all(self, rows: Sequence[Row]) -> list[Reply[Any]]:
        return [self.make(row) for row in rows]


class ModelMaker:
    """A derivation by one `Model`. ``told``: other instructions than the derivation's own; ``together``: those for up to
    ``at_once`` outputs in one request."""

    paid, fixed = True, False

    def __init__(
        self,
        derivation: Derivation,
        model: Model,
        prompt: Prompt | None = None,
        together: Prompt | None = None,
        at_once: int = 1,
    ) -> None:
        self._derivation = derivation
        self._asked = model
        self._together = together
        self.at_once = at_once if together is not None else 1
        self._told = prompt or derivation.prompt()
        self.name: str = model.provider
        self.model: str | None = model.name
        self.version = Prompt(self._told.text + (together.text if self.at_once > 1 and together else ""), "").version
        self.requests = 1 if issubclass(derivation.output, str) else 2
        self.overhead = at_most(
            self._told.filled(**derivation.example), [""] * derivation.parts, derivation.output, 0
        ).sent
        if together is not None and at_once > 1:
            # Two or more pay for what they share, and each for its heading.
            shared = at_most(together.filled(), ["x" * _HEADING], self._several, 0).sent
            self.overhead = max(self.overhead, shared // 2 + 2 * _HEADING)

    def __repr__(self) -> str:
        return f"ByModel({self._derivation.name}, {self._asked!r})"

    def make(self, row: Row) -> Reply[Any]:
        instructions = self._told.filled(**self._derivation.words(row))
        return self._asked.ask(instructions, self._derivation.texts(row), self._derivation.output, row["most_tokens"])

    @property
    def _several(self) -> type[BaseModel]:
        assert issubclass(self._derivation.output, BaseModel)
        return BatchOutput[self._derivation.output]  # type: ignore[name-defined]

    def make_all(self, rows: Sequence[Row]) -> list[Reply[Any]]:
        if len(rows) == 1:
            return [self.make(rows[0])]
        assert self._together is not None
        assert self._derivation.together is not None
        heading = self._derivation.together.heading
        texts = [[heading(n, row)[:_HEADING], *self._derivation.texts(row)] for n, row in enumerate(rows, 1)]
        most = sum(row["most_tokens"] for row in rows)
        sizes = [sum(map(len, each)) for each in texts]
        try:
            made = self._asked.ask(
                self._together.filled(), [text for each in texts for text in each], self._several, most
            )
        except Rejected as error:
            raise BatchRejected(error, len(rows), sizes) from None
        outputs = made.output.outputs  # type: ignore[attr-defined]
        tokens = list(zip(shares(made.tokens_in, sizes), shares(made.tokens_out, sizes), strict=True))
        if len(outputs) != len(rows):
            raise BatchRejected(Rejected(_OTHER_NUMBER, made.tokens_in, made.tokens_out), len(rows), sizes)
        return [Reply(output, *each) for output, each in zip(outputs, tokens, strict=True)]


class BatchRejected(Rejected):
    """Of several outputs of one request there is none. ``each``: what falls to each of them."""

    def __init__(self, error: Rejected, n: int, sizes: Sequence[int]) -> None:
        super().__init__(error.reason, error.tokens_in, error.tokens_out)
        sent, written = (
            [None] * n if tokens is None else shares(tokens, sizes) for tokens in (error.tokens_in, error.tokens_out)
        )
        self.each = [Rejected(error.reason, *tokens) for tokens in zip(sent, written, strict=True)]


def shares(total: int, sizes: Sequence[int]) -> list[int]:
    """``total`` in parts like ``sizes``, in whole numbers that add up to it."""
    ends = [total * sum(sizes[:n]) // max(1, sum(sizes)) for n in range(len(sizes) + 1)]
    ends[-1] = total
    return [end - start for start, end in pairwise(ends)]
