"""The handler that shortens: one memory at a time, and only what the checks accept is done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from jochi.policy.compression import Compression
from jochi.text.content import content_hash
from jochi.text.tokens import TokenCounter, best_counter
from jochi_workers.compress.checks import faults
from jochi_workers.compress.protocol import Provider, ProviderDown, ProviderUnusable, Rejected, Summary, Unsure
from jochi_workers.handler import Outcome, QueueName, Result, Row, reserved

PAUSE = timedelta(seconds=30)
"""How long a provider that is down is left alone if it doesn't say."""


class Compress:
    """Asks ``provider`` for a summary of each memory that is leased, and checks it."""

    name: QueueName = "compress"
    exact = False

    def __init__(
        self,
        provider: Provider,
        policy: Compression,
        counter: TokenCounter | None = None,
        *,
        stopping: Callable[[], bool] = lambda: False,
    ) -> None:
        self.provider = provider
        self.counter = counter or best_counter()
        self._policy = policy
        self._stopping = stopping

    @property
    def most(self) -> int:
        """Memories leased at once: of a model one, for it may take most of a lease."""
        return 1 if self.provider.paid else 10

    @property
    def asks(self) -> dict[str, Any]:
        """What the lease is to know of the provider."""
        return {"paid": self.provider.paid, "overhead": self.provider.overhead}

    def handle(self, rows: Sequence[Row]) -> Outcome:
        outcome = Outcome()
        for place, row in enumerate(rows):
            if self._stopping():
                outcome.returned += [left["key"] for left in rows[place:]]
                break
            try:
                self._shorten(row, outcome)
            except (ProviderDown, ProviderUnusable) as error:
                outcome.returned += [left["key"] for left in rows[place:]]
                if isinstance(error, Unsure):
                    outcome.spent[row["key"]] = reserved(row)
                if not self._stopping():
                    outcome.stopped_by = error
                    if isinstance(error, ProviderDown):
                        outcome.pause = error.retry_after or PAUSE
                break
        return outcome

    def _shorten(self, row: Row, outcome: Outcome) -> None:
        key, content = row["key"], row["content"]
        most = max(1, int(self.counter.count(content) * self._policy.share))
        if self.provider.paid:
            # Counted alike or not: no more than was reserved.
            most = min(most, row["charge"]["tokens_out"])
        try:
            made = self.provider.summarise(content, most)
        except Rejected as rejected:
            counted = {"used_in": rejected.tokens_in, "used_out": rejected.tokens_out}
            known = {name: count for name, count in counted.items() if count is not None}
            outcome.spent[key] = {**reserved(row), **known, "final": self.provider.fixed}
            outcome.failed[key] = rejected.reason
            return
        except (ProviderDown, ProviderUnusable):
            raise
        except Exception as error:  # a mistake of the provider's: this memory alone has failed
            outcome.spent[key] = {**reserved(row), "final": self.provider.fixed}
            outcome.failed[key] = type(error).__name__
            return
        self._check(row, made, outcome)

    def _check(self, row: Row, made: Summary, outcome: Outcome) -> None:
        key = row["key"]
        spent = {"used_in": made.tokens_in, "used_out": made.tokens_out}
        outcome.spent[key] = {**spent, "final": self.provider.fixed}
        try:
            found = faults(row["content"], made.text, share=self._policy.share, counter=self.counter)
        except Exception as error:
            found = (type(error).__name__,)
        if found:
            outcome.failed[key] = found[0]
            return
        outcome.done.append(
            Result(
                key,
                {
                    **spent,
                    "summary": made.text,
                    "summary_hash": content_hash(made.text),
                    "token_count": self.counter.count(made.text),
                    "token_counter": self.counter.name,
                    "provider": self.provider.name,
                    "model": self.provider.model,
                    "prompt": self.provider.prompt,
                },
            )
        )
