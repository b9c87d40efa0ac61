"""The handler that rules on near duplicates: whether two contents say the same (docs/reference/duplicates.md)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from jochi.text.content import text_hash
from jochi_workers.guard import Ruling, judge
from jochi_workers.handler import Outcome, Row, one_by_one

MERGED_BEFORE = Ruling("merge", ("merged_before",))
"""Of a text that was written again after a person had it merged into just this memory."""


class JudgeHandler:
    """Asks the guard about each pair that is leased. ``ruling`` stands in for it."""

    name: str = "judge"
    exact = False

    def __init__(self, ruling: Callable[..., Ruling] = judge, *, stopping: Callable[[], bool] = lambda: False) -> None:
        self._ruling = ruling
        self._stopping = stopping

    def handle(self, rows: Sequence[Row]) -> Outcome:
        return one_by_one(rows, self._values, self._stopping)

    def _values(self, row: Row) -> dict[str, Any]:
        left, right = text_hash(row["left"]), text_hash(row["right"])
        if left == row["approved_left"] or right == row["approved_right"]:
            ruling = MERGED_BEFORE
        else:
            ruling = self._ruling(row["left"], row["right"], cosine=row["score"], unknown_share=row["unknown"])
        return {"verdict": ruling.verdict, "reasons": list(ruling.reasons), "start_text": left, "end_text": right}
