"""What a worker does with the memories that it leased: the shape of a handler and of its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Protocol

from jochi.errors import JochiError
from jochi_workers.models.failures import ProviderDown, ProviderUnusable

PAUSE = timedelta(seconds=30)
"""How long a provider that is down is left alone if it doesn't say."""

Row = Mapping[str, Any]
"""A leased memory: {key, scope, kind, content, content_hash, token_count, token_counter}; the last three may be None.

For prepare also said: {subject, attribute, value} of a fact whose slot is to be named, and then content may be None.
For judge a pair instead: {key, start, end, scope, kind, left, right, score, unknown, approved_left, approved_right}, as
`derive/judge/inputs` documents them; key names the pair. For compress also charge: what is reserved for it.
For what makes memories out of memories what `derive/<name>/inputs` documents, and charge.
"""


@dataclass(frozen=True)
class Result:
    """What one memory gets. ``values`` are the fields that `derive/<name>/store` documents, beside those of the row."""

    key: str
    values: Mapping[str, Any]


@dataclass
class Outcome:
    """What a batch came to: every key is in at most one of ``done``, ``failed`` and ``returned``; the rest is given back, too.

    ``failed``: key to reason; a reason holds nothing of the content. ``stopped_by``: why the handler could not go on, which is
    no memory's fault; with a ``pause`` it is tried again after that, without one the worker ends.
    """

    done: list[Result] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    returned: list[str] = field(default_factory=list)
    stopped_by: JochiError | None = None
    pause: timedelta = timedelta(0)
    spent: dict[str, dict[str, Any]] = field(default_factory=dict)
    """For compress and what makes memories: key to {used_in, used_out: tokens; final: another try would end alike},
    of failures and what is given back, too."""

    def stop(self, error: ProviderDown | ProviderUnusable) -> None:
        """Nobody can go on: for as long as a provider that is down asks to be left alone, or `PAUSE`; else for good."""
        self.stopped_by = error
        if isinstance(error, ProviderDown):
            self.pause = error.retry_after or PAUSE


class Handler(Protocol):
    """Works one of the queues. ``exact``: it counts tokens exactly, and is offered what only has an estimate (prepare)."""

    @property
    def name(self) -> str: ...

    @property
    def exact(self) -> bool: ...

    def handle(self, rows: Sequence[Row]) -> Outcome:
        """Does the work. Raises only for its own mistakes: then every row counts as failed."""


def reserved(row: Row) -> dict[str, Any]:
    """What was reserved for it, as what it has spent: nobody knows better (compress; else nothing)."""
    charge = row.get("charge") or {}
    return {f"used_{way}": charge[f"tokens_{way}"] for way in ("in", "out") if charge}


def one_by_one(rows: Sequence[Row], values: Callable[[Row], dict[str, Any]], stopping: Callable[[], bool]) -> Outcome:
    """Each row's values; one that fails doesn't cost the others their turn. What is left when ``stopping`` says so goes back."""
    outcome = Outcome()
    for position, row in enumerate(rows):
        if stopping():
            outcome.returned = [left["key"] for left in rows[position:]]
            break
        try:
            outcome.done.append(Result(row["key"], values(row)))
        except Exception as error:
            outcome.failed[row["key"]] = type(error).__name__
    return outcome
