"""Asking again after pauses that double or that the provider asks for, within what a lease allows."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar

from jochi_workers.models.failures import Failure, ProviderDown
from jochi_workers.models.waiting import Waiting

_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 20.0
T = TypeVar("T")


class Patience:
    """How long one piece of work may still wait for its provider: ``seconds`` altogether, ``attempts`` at one request. ``spread``:
    up to half of a pause is left to chance, so that many workers don't come back at once."""

    def __init__(self, seconds: float, attempts: int, waiting: Waiting, *, spread: bool = False) -> None:
        self._left, self._attempts, self._waiting, self._spread = seconds, attempts, waiting, spread

    def ask(self, once: Callable[[], T | Failure]) -> T:
        """What ``once`` gives. A `Failure` that may pass is tried again after a pause; the last one is raised."""
        for attempt in range(1, self._attempts + 1):
            found = once()
            if not isinstance(found, Failure):
                return found
            if not found.again or attempt == self._attempts:
                raise found.error
            pause: float = min(_FIRST_PAUSE * 2 ** (attempt - 1), _LONGEST_PAUSE)
            self.wait(found.after or pause * (0.5 + 0.5 * self._waiting.jitter() if self._spread else 1), found.error)
        raise AssertionError("the last attempt returned or raised")

    def wait(self, seconds: float, error: Exception) -> None:
        """Waits so long, or raises ``error`` (with the time to come back, if it is a `ProviderDown`) if that is too long."""
        if seconds > self._left:
            if isinstance(error, ProviderDown) and error.retry_after is None:
                error.retry_after = timedelta(seconds=seconds)
            raise error
        self._left -= seconds
        if self._waiting.sleep(seconds) is True:
            raise ProviderDown("the worker is stopping", retry_after=timedelta(0))
