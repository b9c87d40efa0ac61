"""What became of remembered memories."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

KEPT = 1_000
"""So many refusals a `RememberResult` keeps; all are counted."""

Outcome = Literal["written", "reinforced", "refused"]


@dataclass(frozen=True)
class LinkResult:
    """A relationship: outcome is written, already_there, pruned (its end is a tombstone), unknown or self."""

    type: str
    to: str
    outcome: Literal["written", "already_there", "pruned", "unknown", "self"]


@dataclass(frozen=True)
class Result:
    """What became of one memory.

    ``index`` counts from 0 in the order given. ``key`` is `scope/id`, None where the row had none. ``reason`` is a code of
    docs/reference/remember.md and ``detail`` a sentence, where it was refused. ``owner`` is the key of the memory that was
    reinforced. ``pruned_before``: a tombstone has the same key, and this is a new memory. ``slot``: what a fact that was
    written is among those of its subject's attribute (docs/reference/facts.md): current, confirms, superseded, future, waits, or
    refused, with ``reason`` and ``detail``; None where it is in no slot.
    """

    index: int
    key: str | None
    outcome: Outcome
    reason: str | None = None
    detail: str | None = None
    owner: str | None = None
    pruned_before: bool = False
    relationships: tuple[LinkResult, ...] = ()
    slot: str | None = None

    def __str__(self) -> str:
        name = f" {self.key!r}" if self.key else ""
        return f"memory {self.index}{name}: {self.outcome}" + (
            f" ({self.reason}): {self.detail}" if self.reason else ""
        )


@dataclass
class RememberResult:
    """Counts, the first thousand refusals, and every result if the memories came as a sequence.

    Of memories that came as a stream ``results`` stays empty: it would grow without end. Pass ``on_result`` to see each.
    """

    written: int = 0
    reinforced: int = 0
    refused: int = 0
    refusals: list[Result] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)

    def take(self, result: Result, *, keep: bool) -> None:
        """Counts one result."""
        setattr(self, result.outcome, getattr(self, result.outcome) + 1)
        if result.outcome == "refused" and len(self.refusals) < KEPT:
            self.refusals.append(result)
        if keep:
            self.results.append(result)
