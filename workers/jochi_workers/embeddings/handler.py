"""Turns leased memories into vectors: which may be stored, which failed, which are given back untouched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from jochi.errors import Refused
from jochi.policy.settings import Embedding
from jochi.text.content import content_hash
from jochi_workers.embeddings.protocol import PROBE, Provider, ProviderDown, ProviderUnusable, TextsRefused, TextVector
from jochi_workers.embeddings.providers import ONE_MODEL, provider
from jochi_workers.embeddings.vectors import fault
from jochi_workers.handler import Outcome, Result, Row
from jochi_workers.models.timing import interruptible

CHUNK = 64
"""Texts that the provider gets at once: what it did is kept if it fails at the next ones."""


class EmbedHandler:
    """Embeds memories with ``provider``, whose model and length must be those of the policy.

    After a `ProviderDown` there is a pause; a `ProviderUnusable` has none, for waiting won't help.
    """

    name: str = "embed"
    exact = False

    def __init__(
        self,
        provider: Provider,
        policy: Embedding,
        *,
        chunk: int = CHUNK,
        stopping: Callable[[], bool] = lambda: False,
    ) -> None:
        if (provider.model, provider.dimensions) != (policy.model, policy.dimensions):
            raise Refused(
                f"the provider's model is {provider.model!r} with {provider.dimensions} dimensions, the policy's is "
                f"{policy.model!r} with {policy.dimensions}: their vectors can't be compared",
                where="policy [embedding]",
                fix="start the worker with the policy's model, or put this model and its dimensions into the policy and "
                "run `jochi install` (then everything is embedded anew)",
            )
        self.provider = provider
        self._policy = policy
        self._chunk = chunk
        self._stopping = stopping

    def check(self) -> None:
        """One short text through the provider; raises what is wrong before any memory is leased."""
        try:
            self._probe()
        except TextsRefused as error:
            raise ProviderUnusable(error.what, where=error.where, fix=error.fix) from error

    def handle(self, rows: Sequence[Row]) -> Outcome:
        """Embeds ``rows`` ({key, content, answers: the question that it answers, or None}). One text that the provider refuses
        fails alone; its own failures fail none."""
        outcome = Outcome()
        readable = []
        for row in rows:
            if str(row["content"] or "").strip():
                readable.append(row)
            else:
                outcome.done.append(self._result(row, None, 1.0))
        # Like lengths together: a run of a model takes as long as its longest text.
        readable.sort(key=lambda row: len(_text(row)))
        for start in range(0, len(readable), self._chunk):
            rest = readable[start:]
            if self._stopping():
                outcome.returned += [row["key"] for row in rest]
                break
            try:
                self._embed(rest[: self._chunk], outcome)
            except (ProviderDown, ProviderUnusable) as error:
                settled = {result.key for result in outcome.done} | outcome.failed.keys()
                outcome.returned += [row["key"] for row in rest if row["key"] not in settled]
                if not self._stopping():
                    outcome.stop(error)
                break
        return outcome

    def _embed(self, rows: Sequence[Row], outcome: Outcome) -> None:
        try:
            results = self._ask(rows)
        except TextsRefused as refused:
            self._blame_the_texts()
            self._split(rows, refused, outcome)
            return
        faults = [fault(result.vector, self._policy.dimensions) for result in results]
        if all(faults):
            self._blame_the_texts()
        self._take(rows, results, outcome)

    def _split(self, rows: Sequence[Row], refused: TextsRefused, outcome: Outcome) -> None:
        if len(rows) == 1:
            outcome.failed[rows[0]["key"]] = refused.what
            return
        middle = len(rows) // 2
        for half in (rows[:middle], rows[middle:]):
            try:
                results = self._ask(half)
            except TextsRefused as again:
                self._split(half, again, outcome)
            else:
                self._take(half, results, outcome)

    def _ask(self, rows: Sequence[Row]) -> list[TextVector]:
        results = self.provider.embed([_text(row) for row in rows])
        if len(results) != len(rows):
            raise TextsRefused(f"the provider returned {len(results)} vectors for {len(rows)} texts")
        return results

    def _take(self, rows: Sequence[Row], results: Sequence[TextVector], outcome: Outcome) -> None:
        for row, result in zip(rows, results, strict=True):
            if why := fault(result.vector, self._policy.dimensions):
                outcome.failed[row["key"]] = why
                continue
            unknown = result.unknown_share
            unreadable = unknown is not None and unknown > self._policy.unknown_share
            outcome.done.append(self._result(row, None if unreadable else result.vector, unknown))

    def _blame_the_texts(self) -> None:
        """Returns if the provider still embeds a harmless text; else it is to blame itself, and no memory has failed."""
        try:
            self._probe()
        except TextsRefused as error:
            raise ProviderDown(f"it refuses even a short sentence: {error.what}", where=error.where) from error

    def _probe(self) -> None:
        results = self.provider.embed([PROBE])
        why = fault(results[0].vector, self._policy.dimensions) if len(results) == 1 else "not one vector for one text"
        if why:
            raise ProviderUnusable(
                f"{self.provider.model}: {why}",
                where="policy [embedding]",
                fix="name this model's own length as dimensions in the policy and for the provider",
            )

    def _result(self, row: Row, vector: list[float] | None, unknown: float | None) -> Result:
        """No vector where the model can't read the text. The hash is that of the text, whatever the memory's own says; and of the
        question that is embedded with it."""
        hashes = [content_hash(text) for text in (row["content"] or "", row.get("answers")) if text is not None]
        values = {
            "embedding": vector,
            "embedding_model": self.provider.model,
            "embedding_hash": "+".join(hashes),
            "embedding_unknown": unknown,
        }
        return Result(row["key"], values)


def _text(row: Row) -> str:
    """What is embedded: the content, with the question that it answers before it, so that "On Mondays" is found."""
    return " ".join(text for text in (row.get("answers"), row["content"]) if text)


def with_provider(
    name: str, model: str | None, policy: Embedding, *, stopping: Callable[[], bool], **options: Any
) -> EmbedHandler:
    """The handler for the provider ``name``, checked with one short text before any memory is leased.

    ``options`` go to `jochi_workers.embeddings.provider`. What doesn't fit raises a `JochiError` that says so.
    """
    wanted = model if name in ONE_MODEL else model or policy.model
    embed = EmbedHandler(
        provider(name, model=wanted, waiting=interruptible(stopping), **options), policy, stopping=stopping
    )
    embed.check()
    return embed
