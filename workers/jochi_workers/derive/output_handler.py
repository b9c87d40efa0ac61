"""One piece of work at a time: what is made is checked, and only what the checks accept is done."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jochi.text.tokens import TokenCounter, best_counter
from jochi_workers.handler import Outcome, Result, Row, reserved
from jochi_workers.models import Reply
from jochi_workers.models.failures import ProviderDown, ProviderUnusable, Rejected, Unsure


class OutputHandler(ABC):
    """A handler whose output comes from somebody who may be away, may cost and may be wrong."""

    exact = False

    def __init__(
        self,
        name: str,
        *,
        paid: bool,
        fixed: bool,
        counter: TokenCounter | None,
        stopping: Callable[[], bool],
    ) -> None:
        """``fixed``: another try would end alike."""
        self.name = name
        self.counter = counter or best_counter()
        self._paid = paid
        self._fixed = fixed
        self._stopping = stopping

    @property
    def most(self) -> int:
        """Pieces of work leased at once: of a model one, for it may take most of a lease."""
        return 1 if self._paid else 10

    @abstractmethod
    def _make(self, row: Row) -> Reply[Any]:
        """The output. Raises `Rejected`, `ProviderDown` or `ProviderUnusable`."""

    @abstractmethod
    def _faults(self, row: Row, output: Any) -> tuple[str, ...]:
        """Why it may not be stored; the first counts. Nothing of a memory stands in it."""

    @abstractmethod
    def _values(self, row: Row, output: Any) -> Mapping[str, Any]:
        """What `derive/<name>/store` is to know of it."""

    def handle(self, rows: Sequence[Row]) -> Outcome:
        """Makes each; what is left when asked to stop, or when nobody can make anything, goes back."""
        outcome = Outcome()
        for place, row in enumerate(rows):
            if self._stopping():
                outcome.returned += [left["key"] for left in rows[place:]]
                break
            try:
                self._one(row, outcome)
            except (ProviderDown, ProviderUnusable) as error:
                self._gone(error, [row], rows[place:], outcome)
                break
        return outcome

    def _gone(
        self, error: ProviderDown | ProviderUnusable, requested: Sequence[Row], left: Sequence[Row], outcome: Outcome
    ) -> None:
        """Nobody can make what was ``requested`` for, nor the rest that is ``left``."""
        outcome.returned += [row["key"] for row in left]
        if isinstance(error, Unsure):
            outcome.spent |= {row["key"]: reserved(row) for row in requested}
        if not self._stopping():
            outcome.stop(error)

    def _one(self, row: Row, outcome: Outcome, make: Callable[[Row], Reply[Any]] | None = None) -> None:
        key = row["key"]
        try:
            made = (make or self._make)(row)
        except Rejected as rejected:
            counted = {"used_in": rejected.tokens_in, "used_out": rejected.tokens_out}
            known = {name: count for name, count in counted.items() if count is not None}
            outcome.spent[key] = {**reserved(row), **known, "final": self._fixed}
            outcome.failed[key] = rejected.reason
            return
        except (ProviderDown, ProviderUnusable):
            raise
        except Exception as error:  # a mistake of the maker's: this piece alone has failed
            outcome.spent[key] = {**reserved(row), "final": self._fixed}
            outcome.failed[key] = type(error).__name__
            return
        spent = {"used_in": made.tokens_in, "used_out": made.tokens_out}
        outcome.spent[key] = {**spent, "final": self._fixed}
        try:
            found = self._faults(row, made.output)
        except Exception as error:
            found = (type(error).__name__,)
        if found:
            outcome.failed[key] = found[0]
        else:
            outcome.done.append(Result(key, {**spent, **self._values(row, made.output)}))
