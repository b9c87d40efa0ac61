"""The handler that shortens: one memory at a time, and only what the checks accept is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from jochi.policy.derive import Compression
from jochi.text.content import content_hash
from jochi.text.tokens import TokenCounter
from jochi_workers.derive.compress.checks import faults
from jochi_workers.derive.compress.protocol import Provider
from jochi_workers.derive.output_handler import OutputHandler
from jochi_workers.handler import Row
from jochi_workers.models import Reply


class CompressHandler(OutputHandler):
    """Asks ``provider`` for a summary of each memory that is leased, and checks it."""

    def __init__(
        self,
        provider: Provider,
        policy: Compression,
        counter: TokenCounter | None = None,
        *,
        stopping: Callable[[], bool] = lambda: False,
    ) -> None:
        super().__init__("compress", paid=provider.paid, fixed=provider.fixed, counter=counter, stopping=stopping)
        self.provider = provider
        self._policy = policy

    @property
    def asks(self) -> dict[str, Any]:
        """What the lease is to know of the provider."""
        return {"paid": self.provider.paid, "overhead": self.provider.overhead}

    def _make(self, row: Row) -> Reply[str]:
        most = max(1, int(self.counter.count(row["content"]) * self._policy.share))
        if self.provider.paid:
            # Counted alike or not: no more than was reserved.
            most = min(most, row["charge"]["tokens_out"])
        made = self.provider.summarise(row["content"], most)
        return Reply(made.text, made.tokens_in, made.tokens_out)

    def _faults(self, row: Row, output: str) -> tuple[str, ...]:
        return faults(row["content"], output, share=self._policy.share, counter=self.counter)

    def _values(self, row: Row, output: str) -> Mapping[str, Any]:
        return {
            "summary": output,
            "summary_hash": content_hash(output),
            "token_count": self.counter.count(output),
            "token_counter": self.counter.name,
            "provider": self.provider.name,
            "model": self.provider.model,
            "prompt": self.provider.prompt,
        }
