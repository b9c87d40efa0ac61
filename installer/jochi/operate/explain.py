"""An explanation: why a memory is still here, or why it is gone (DESIGN §8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jochi.temporal import to_python


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
class RailCheck:
    """One rail: whether it blocks, until when if that is known, what it requires and what is there."""

    rail: str
    blocks: bool
    until: datetime | None
    required: str
    current: Any


@dataclass(frozen=True)
class Explanation:
    """Everything about one key at one moment. ``outcome`` is prune, protected, paused or keep; None if it isn't live."""

    key: str
    at: datetime
    kind: str | None
    outcome: str | None
    rule: str | None
    rules: list[RuleCheck]
    rails: list[RailCheck]
    next_due: datetime | None
    next_look: datetime | None
    tombstones: list[Mapping[str, Any]]
    audits: list[Mapping[str, Any]]

    @property
    def found(self) -> bool:
        """Whether anything is known of this key."""
        return self.kind is not None or bool(self.tombstones) or bool(self.audits)

    @classmethod
    def from_row(cls, key: str, at: datetime, row: Mapping[str, Any]) -> Explanation:
        """From the row of `curate/explain`."""
        plain = to_python(dict(row))
        live = plain["live"] or {}
        rules = [
            RuleCheck(
                entry["rule"],
                entry["source"],
                entry["action"],
                entry["after"],
                entry["conditions"],
                entry["clock"],
                entry["due"],
                entry["due"] is not None and entry["due"] <= at,
                entry["unknown"],
            )
            for entry in live.get("rules", [])
        ]
        rails = [
            RailCheck(entry["rail"], entry["blocks"], entry["until"], entry["required"], entry["current"])
            for entry in live.get("rails", [])
        ]
        return cls(
            key,
            at,
            live.get("kind"),
            live.get("outcome"),
            live.get("rule"),
            rules,
            rails,
            live.get("next_due"),
            live.get("next"),
            plain["tombstones"],
            plain["audits"],
        )
