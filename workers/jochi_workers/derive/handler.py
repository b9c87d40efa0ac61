"""The handler of every derivation whose output is a memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from jochi.text.content import content_hash, text_hash
from jochi.text.tokens import TokenCounter
from jochi_workers.derive.derivation import BatchRejected, Derivation, Maker
from jochi_workers.derive.output_handler import OutputHandler
from jochi_workers.handler import Outcome, Row
from jochi_workers.models import Reply
from jochi_workers.models.failures import ProviderDown, ProviderUnusable

EDITED = "edited by a person"
TAKEN = "another memory has its key"


class DeriveHandler(OutputHandler):
    """Makes the outputs of ``derivation`` by ``maker``, and leaves alone what a person has edited since.

    ``small``: makes what is made of `few` inputs; it costs no more than ``maker``. ``room``: tokens that several of one request
    may have together.
    """

    def __init__(
        self,
        derivation: Derivation,
        maker: Maker,
        counter: TokenCounter | None = None,
        *,
        small: Maker | None = None,
        room: int = 0,
        stopping: Callable[[], bool] = lambda: False,
    ) -> None:
        super().__init__(derivation.name, paid=maker.paid, fixed=maker.fixed, counter=counter, stopping=stopping)
        self._derivation = derivation
        self._maker = maker
        self._small = small or maker
        self._room = room
        self._alone: set[str] = set()
        self._leased: Sequence[Row] = ()

    @property
    def most(self) -> int:
        return max(super().most, self._maker.at_once)

    @property
    def asks(self) -> dict[str, Any]:
        """What the lease is to know of the maker."""
        return {"paid": self._maker.paid, "overhead": self._maker.overhead, "asks": self._maker.requests}

    def handle(self, rows: Sequence[Row]) -> Outcome:
        self._leased = rows
        kept = {row["key"]: why for row in rows if (why := self._keeps(row))}
        outcome = self._worked([row for row in rows if row["key"] not in kept])
        outcome.failed |= kept
        outcome.spent |= {key: {"used_in": 0, "used_out": 0, "final": True} for key in kept}
        return outcome

    def _worked(self, rows: Sequence[Row]) -> Outcome:
        """Where several go into one request, one request: the rest goes back, for it may take most of a lease."""
        group = self._group(rows)
        if self._maker.at_once == 1 or not group:
            return super().handle(rows)
        outcome = super().handle(group) if len(group) == 1 else self._several(group)
        outcome.returned += [row["key"] for row in rows if row not in group]
        return outcome

    def _group(self, rows: Sequence[Row]) -> list[Row]:
        """Those that go into one request with the first: of the same maker, as far as there is room. What failed together is
        asked for alone."""
        group: list[Row] = []
        left = self._room
        for row in rows:
            left -= sum(self.counter.count(text) for text in self._derivation.texts(row))
            if group and (left < 0 or len(group) == self._of(row).at_once or self._of(row) is not self._of(group[0])):
                continue
            if group and row["key"] in self._alone:
                continue
            group.append(row)
            if row["key"] in self._alone:
                break
        return group

    def _several(self, rows: Sequence[Row]) -> Outcome:
        outcome = Outcome()
        made: list[Reply[Any] | Exception]
        try:
            made = list(self._of(rows[0]).make_all(rows))
        except BatchRejected as error:
            made = list(error.each)
            self._alone |= {row["key"] for row in rows}
        except (ProviderDown, ProviderUnusable) as error:
            self._gone(error, rows, rows, outcome)
            return outcome
        except Exception as error:
            made = [error] * len(rows)
            self._alone |= {row["key"] for row in rows}
        for row, each in zip(rows, made, strict=True):
            self._one(row, outcome, partial(_given, each))
        return outcome

    def _keeps(self, row: Row) -> str | None:
        """Why what stands in the output's place stays; None: it may be written."""
        was = row["was"]
        if was is None:
            return None
        if was["by"] != self.name:
            return TAKEN
        return EDITED if edited(was) else None

    def _of(self, row: Row) -> Maker:
        return self._small if row.get("few") else self._maker

    def _make(self, row: Row) -> Reply[Any]:
        return self._of(row).make(row)

    def _faults(self, row: Row, output: Any) -> tuple[str, ...]:
        if self._derivation.made is not None:
            return self._derivation.faults(row, output, self.counter)
        text = self._derivation.text(output)
        if not text.strip():
            return ("empty",)
        if self.counter.count(text) > row["most_tokens"]:
            return ("too long",)
        return self._derivation.faults(row, output, self.counter)

    def _values(self, row: Row, output: Any) -> Mapping[str, Any]:
        maker = self._of(row)
        values = {
            "inputs": [{**each, "content_hash": content_hash(each["content"])} for each in row["inputs"]],
            "provider": maker.name,
            "model": maker.model,
            "version": maker.version,
        }
        if self._derivation.made is not None:
            made = self._derivation.made(row, output, self.counter)
            if self._derivation.tell is not None:
                after = False
                for each in self._leased:
                    if after and each["scope"] == row["scope"]:
                        self._derivation.tell(made, each)
                    after = after or each is row
            return {**values, "made": made}
        text = self._derivation.text(output)
        return {
            **values,
            **stored_text(text, self.counter),
            "properties": dict(self._derivation.properties(row, output)),
        }


def _given(made: Reply[Any] | Exception, _row: Row) -> Reply[Any]:
    if isinstance(made, Exception):
        raise made
    return made


def stored_text(text: str, counter: TokenCounter) -> dict[str, Any]:
    """What the store is to know of a text: {content, derived_hash, token_count, token_counter}."""
    return {
        "content": text,
        "derived_hash": text_hash(text),
        "token_count": counter.count(text),
        "token_counter": counter.name,
    }


def edited(output: Mapping[str, Any]) -> bool:
    """Whether an output ({content, hash}) says something else than what was stored, to the letter."""
    return output["content"] is None or text_hash(output["content"]) != output["hash"]
