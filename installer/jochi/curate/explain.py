"""An explanation: why a memory is still here, or why it is gone (DESIGN §8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Annotated, Any

from pydantic import Field

from jochi.database.database import Database
from jochi.graph.driver_values import read_as, to_python
from jochi.schema.constraints import holding_merges


@dataclass(frozen=True)
class RuleCheck:
    """One rule: ``conditions`` and ``clock`` with what is required and what is there, and when it is due."""

    rule: str
    source: str
    action: str
    after: str
    conditions: list[Mapping[str, Any]]
    clock: list[Mapping[str, Any]]
    due: datetime | None
    met: bool
    unknown: bool


@dataclass(frozen=True)
class Change:
    """Less than pruning, and no rail in the way.

    ``action``: archive, promote, demote (each ``from_`` a tier ``to`` another), flag, unflag (of ``flag``), state (sets
    ``state``).
    """

    action: str
    rule: str
    due: datetime
    from_: Annotated[str | None, Field(validation_alias="from")] = None
    to: str | None = None
    flag: str | None = None
    state: str | None = None


@dataclass(frozen=True)
class RailCheck:
    """One rail: whether it blocks, until when if that is known, what it requires and what is there."""

    rail: str
    blocks: bool
    until: datetime | None
    required: str
    current: Any


@dataclass(frozen=True)
class Orphan:
    """Whether a live memory hangs on nothing, and from when the sweep may take it if no rail blocks (``due``; None: never).

    ``swept``: its kinds are among those that are swept, and what the policy asks of them holds; ``linked``: it hangs on something;
    ``newest``: the moment that the time runs from, None where one of them is missing or can't be read.
    """

    swept: bool
    linked: bool
    newest: datetime | None
    due: datetime | None
    after: str

    @property
    def words(self) -> str:
        """In a sentence."""
        if not self.swept:
            return "not of a kind that goes when it hangs on nothing"
        if self.linked:
            return "it hangs on something"
        if self.due is None:
            return "it hangs on nothing, but a moment of it can't be read: it stays"
        return f"it hangs on nothing: {self.after} after it was last used or lost its last neighbour it may go"


@dataclass(frozen=True)
class Explanation:
    """Everything about one key at one moment. ``outcome`` is prune, protected, paused or keep; None if it isn't live."""

    key: str
    at: datetime
    tombstones: list[Mapping[str, Any]]
    audits: list[Mapping[str, Any]]
    kind: str | None = None
    outcome: str | None = None
    rule: str | None = None
    rules: list[RuleCheck] = field(default_factory=list)
    rails: list[RailCheck] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    next_due: datetime | None = None
    next_look: datetime | None = None
    orphan: Orphan | None = None
    """None: it isn't live."""
    value: Mapping[str, Any] | None = None
    """Its value by five signals (docs/reference/value.md): retention, uniqueness, confidence, frequency, recency (None: unknown),
    value, best, tier, low_since (when a look first found ARCHIVE, or None), nearest (the cosine that uniqueness is of), and the
    policy's weights (by signal), keep and summarize. None: of no kind that is classified, or it is off."""
    duplicates: list[Mapping[str, Any]] = field(default_factory=list)
    """Who may be the same memory: other (key), verdict, score, same_text, reasons, held_by, merge_due, decided_by; constraints:
    those that can be what holds it, where held_by has constraint."""

    def with_constraints(self, database: Database) -> Explanation:
        """With the constraints that hold its pairs."""
        named: list[Mapping[str, Any]] = [
            {**pair, "constraints": list(holding_merges(database, pair["held_by"]))} for pair in self.duplicates
        ]
        return replace(self, duplicates=named)

    @property
    def lost_by_signal(self) -> dict[str, float]:
        """What each known signal takes of the highest value, 1, the most first. Empty where there is no value."""
        if self.value is None:
            return {}
        value, weights = self.value, self.value["weights"]
        whole = sum(weight for name, weight in weights.items() if value[name] is not None) or 1.0
        lost = {name: weight * (1 - value[name]) / whole for name, weight in weights.items() if value[name] is not None}
        return dict(sorted(lost.items(), key=lambda each: -each[1]))

    @property
    def value_words(self) -> str:
        """Which figure decided its tier of value, in a sentence; '' where there is no value."""
        if self.value is None:
            return ""
        tier, value, best = self.value["tier"], self.value["value"], self.value["best"]
        keep, summarize = self.value["keep"], self.value["summarize"]
        if tier == "KEEP":
            return f"tier KEEP: its value {value:.3f} is at least {keep:g}"
        name, lost = next(iter(self.lost_by_signal.items()))
        most = f"{name} {self.value[name]:.3f} takes most of it, {lost:.3f}"
        if name == "uniqueness" and self.value["nearest"] is not None:
            most += f" (another memory has the cosine {self.value['nearest']:.3f})"
        if tier == "ARCHIVE":
            return f"tier ARCHIVE: its value {value:.3f}, at best {best:.3f}, is below {summarize:g}; {most}"
        return f"tier SUMMARIZE: its value {value:.3f} is below {keep:g}, and at best {best:.3f} at least {summarize:g}; {most}"

    @property
    def found(self) -> bool:
        """Whether anything is known of this key."""
        return self.kind is not None or bool(self.tombstones) or bool(self.audits)

    @classmethod
    def from_row(cls, key: str, at: datetime, row: Mapping[str, Any]) -> Explanation:
        """From the row of `curate/explain`."""
        plain = to_python(dict(row))
        live = plain["live"] or {}
        rules = [{**rule, "met": rule["due"] is not None and rule["due"] <= at} for rule in live.get("rules", [])]
        found = plain.pop("orphan")
        orphan = found and Orphan(**found)
        return read_as(cls, {**plain, **live}, key=key, at=at, rules=rules, next_look=live.get("next"), orphan=orphan)
