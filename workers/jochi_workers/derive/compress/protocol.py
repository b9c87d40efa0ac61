"""What makes a short text of a long one, and how it can fail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from jochi_workers.models.failures import ProviderDown, ProviderUnusable, Rejected, Unsure

__all__ = ["Provider", "ProviderDown", "ProviderUnusable", "Rejected", "Summary", "Unsure"]


@dataclass(frozen=True)
class Summary:
    """A text, and the tokens that the provider says it was sent and has written: what it charges for."""

    text: str
    tokens_in: int = 0
    tokens_out: int = 0


class Provider(Protocol):
    """Makes summaries. ``paid``: it counts tokens, so they are reserved and capped; ``overhead``: the most tokens of a request
    beside the memory's own. ``fixed``: the same text gets the same summary. ``prompt``: the version of what it was told."""

    name: str
    model: str | None
    prompt: str | None
    paid: bool
    overhead: int
    fixed: bool

    def summarise(self, text: str, most_tokens: int) -> Summary:
        """A summary of ``text`` of at most so many tokens. Raises `Rejected`, `ProviderDown` or `ProviderUnusable`."""
