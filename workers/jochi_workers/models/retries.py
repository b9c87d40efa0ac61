"""Asking again after pauses that double or that the provider asks for, within what a lease allows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

from jochi_workers.models.failures import Failure, ProviderDown
from jochi_workers.models.timing import Timing

_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 20.0
T = TypeVar("T")


@dataclass(frozen=True)
class Limits:
    """``timeout``: seconds for one whole answer. ``patience``: seconds that one output may spend waiting for others, with the
    time-out well below a lease; no request begins or lasts beyond the sum of both. ``attempts`` at one request. ``most_bytes`` of
    an answer."""

    timeout: float = 60.0
    patience: float = 30.0
    attempts: int = 5
    most_bytes: int = 4_000_000


class RetryBudget:
    """How long one piece of work may still wait for its provider."""

    def __init__(self, limits: Limits, waiting: Timing) -> None:
        self._limits, self._left, self._waiting = limits, limits.patience, waiting
        self.renew()

    def renew(self) -> None:
        """From now on there is the time of one output again; what was waited stays waited."""
        self._ends = self._waiting.monotonic() + self._limits.timeout + self._limits.patience

    @property
    def seconds(self) -> float:
        """For the next request."""
        return min(self._limits.timeout, self._ends - self._waiting.monotonic())

    def ask(self, once: Callable[[], T | Failure]) -> T:
        """What ``once`` gives. A `Failure` that may pass is tried again after a pause; the last one is raised."""
        for attempt in range(1, self._limits.attempts + 1):
            found = once()
            if not isinstance(found, Failure):
                return found
            if not found.again or attempt == self._limits.attempts:
                raise found.error
            pause: float = min(_FIRST_PAUSE * 2 ** (attempt - 1), _LONGEST_PAUSE)
            # Half of it is left to chance, so that many workers don't come back at once.
            self.wait(found.after or pause * (0.5 + 0.5 * self._waiting.jitter()), found.error)
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
