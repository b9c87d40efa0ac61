"""Clocks and pauses of a provider, in one place, so that tests need not wait."""

from __future__ import annotations

import random
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

WINDOW = 60.0
"""Seconds that a limit per minute speaks of."""
_LOOK_EVERY = 0.1


@dataclass(frozen=True)
class Timing:
    """``sleep(seconds)`` returns True if the work shall stop: `threading.Event.wait` does, so Ctrl-C ends a pause at once."""

    sleep: Callable[[float], object] = time.sleep
    monotonic: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time
    jitter: Callable[[], float] = random.random


def interruptible(stopping: Callable[[], bool]) -> Timing:
    """Pauses that end soon after ``stopping`` says so."""

    def sleep(seconds: float) -> bool:
        ends = time.monotonic() + seconds
        while (left := ends - time.monotonic()) > 0 and not stopping():
            time.sleep(min(left, _LOOK_EVERY))
        return stopping()

    return Timing(sleep=sleep)


class RateLimit:
    """At most so many requests and tokens in any 60 seconds; None: no limit. For one process; may be shared by threads.

    A request with more tokens than the limit allows at all goes through alone, once nothing else is in the window: the provider
    has the last word on it.
    """

    def __init__(
        self,
        *,
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        for name, limit in (("requests_per_minute", requests_per_minute), ("tokens_per_minute", tokens_per_minute)):
            if limit is not None and limit < 1:
                raise ValueError(f"{name} must be at least 1")
        self._requests = requests_per_minute
        self._tokens = tokens_per_minute
        self._monotonic = monotonic
        self._made: deque[tuple[float, int]] = deque()
        self._lock = threading.Lock()

    def admit(self, tokens: int) -> float:
        """0.0 if a request of so many tokens may be made now (it is counted); else the seconds until it is worth asking again."""
        with self._lock:
            now = self._monotonic()
            while self._made and self._made[0][0] <= now - WINDOW:
                self._made.popleft()
            opens = self._opens(tokens)
            if opens is None:
                self._made.append((now, tokens))
                return 0.0
            return opens - now

    def _opens(self, tokens: int) -> float | None:
        """When enough of the window has passed; None: now."""
        made, used = len(self._made), sum(spent for _, spent in self._made)
        opens = None
        for at, spent in self._made:
            too_many = self._requests is not None and made >= self._requests
            too_much = self._tokens is not None and used + tokens > self._tokens
            if not (too_many or too_much):
                break
            made, used, opens = made - 1, used - spent, at + WINDOW
        return opens
