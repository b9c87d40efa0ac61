"""Progress on standard error: a bar on a terminal, plain lines elsewhere. What is said goes on standing there."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, ProgressColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn

from jochi.cli.output import err

_PLAIN_EVERY_SECONDS = 5.0


def bar(*columns: ProgressColumn, hidden: bool = False) -> Progress:
    """A bar that goes when it is done, for a terminal only."""
    text = TextColumn("{task.description}", markup=False)
    return Progress(text, BarColumn(), *columns, console=err, transient=True, disable=hidden or not err.is_terminal)


class Screen:
    """A `jochi.localserver.report.Report`: a bar on a terminal, a plain line every few seconds elsewhere."""

    def __init__(self) -> None:
        self._bar = bar(TaskProgressColumn(), TimeElapsedColumn())
        self._task = self._bar.add_task("", total=None)
        self._last = float("-inf")

    def phase(self, name: str) -> None:
        """A new part begins."""
        self._bar.start()
        self._bar.reset(self._task, description=name, total=None)
        self._last = float("-inf")

    def doing(self, text: str, done: float | None = None, total: float | None = None) -> None:
        """What is going on, and how far it is."""
        self._bar.start()
        self._bar.update(self._task, description=text, completed=done or 0, total=total)
        if self._bar.disable and time.monotonic() - self._last >= _PLAIN_EVERY_SECONDS:
            self._last = time.monotonic()
            share = f" ({100 * done / total:.0f} %)" if done is not None and total else ""
            err.print(f"{text}{share}", markup=False, soft_wrap=True)

    def say(self, text: str) -> None:
        """A line that stays."""
        self._bar.console.print(text, markup=False, soft_wrap=True)

    def close(self) -> None:
        """Takes the bar away."""
        self._bar.stop()


@contextmanager
def screen() -> Iterator[Screen]:
    """A `Screen` for the length of a block."""
    made = Screen()
    try:
        yield made
    finally:
        made.close()
