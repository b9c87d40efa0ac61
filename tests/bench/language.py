"""How fast texts are read offline, by one process on one core; and that time grows with the length, however a text is made."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from datetime import datetime, timezone

from rich.table import Table
from tests.bench.embed import texts as generated
from tests.conftest import LOCOMO

from jochi_workers.language import forget_readings, read, read_all

NOW = datetime(2026, 1, 1, tzinfo=timezone.utc)
WANTED = 300
MOST_RATIO = 6.0
"""Of a text of 80,000 characters to one of 20,000, in processor time: 4, and half as much again for a shared machine."""
MADE = (
    "12 34 56 ",
    "x",
    "(",
    "a.b ",
    "he said that ",
    "the box of ",
    "bread and ",
    "3 May 2024, ",
    "\u202ea\u200b ",
    "Ann Bob: ",
)
_WARM_UP = ("Ann called on 3 March 2024.", "Wow puppies", "Ja genau, Hunde", "ann@example.org, +49 30 901820")


def turns() -> tuple[str, list[str]]:
    """What is read, by name: LoCoMo's turns where its file is, else sentences of our own."""
    if not LOCOMO.is_file():
        return "generated sentences", generated()
    conversations = [each["conversation"] for each in json.loads(LOCOMO.read_text(encoding="utf-8"))]
    sessions = [value for one in conversations for key, value in one.items() if isinstance(value, list)]
    return "LoCoMo's turns", [turn["text"] for session in sessions for turn in session if turn.get("text")]


def speed(chosen: Sequence[str]) -> tuple[float, float]:
    """Texts a second, and a second of processor time; libraries and word lists are loaded before."""
    for text in _WARM_UP:
        read(text, now=NOW)
    forget_readings()
    before = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    if before:
        os.sched_setaffinity(0, {min(before)})
    try:
        began, used = time.perf_counter(), time.process_time()
        count = sum(1 for _ in read_all(chosen, now=NOW))
        return count / (time.perf_counter() - began), count / (time.process_time() - used)
    finally:
        if before:
            os.sched_setaffinity(0, before)
        forget_readings()


def growth() -> tuple[float, str]:
    """The worst ratio of four times the length, and of what it is made."""
    worst, of = 0.0, ""
    for made in MADE:
        took = []
        for characters in (20_000, 80_000):
            text = made * (characters // len(made))
            used = time.process_time()
            read(text, now=NOW)
            took.append(time.process_time() - used)
            forget_readings()
        if took[1] / took[0] > worst:
            worst, of = took[1] / took[0], made.strip()
    return worst, of


def add_rows(table: Table) -> float:
    """The figures of this part; returns the worst growth, for `check`."""
    name, chosen = turns()
    alone, processor = speed(chosen)
    figure = f"{alone:,.0f} texts/s ({processor:,.0f} a second of processor time)"
    table.add_row(f"reading offline: {len(chosen):,} of {name}", figure, f"≥ {WANTED}")
    worst, of = growth()
    table.add_row("reading offline: 80,000 characters against 20,000", f"{worst:.1f} ({of!r})", f"≤ {MOST_RATIO:.0f}")
    return worst


def check(worst: float) -> None:
    """Fails where time grows faster than the text."""
    assert worst <= MOST_RATIO, worst


if __name__ == "__main__":
    from rich.console import Console

    made = Table("what", "figure", "wanted")
    found = add_rows(made)
    Console(width=110).print(made)
    check(found)
