"""Manifests as the database keeps them: the choice, its versions, and what changed between two (seed 001)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from jochi.context.manifest import Dated, Entry, Manifest, Section
from jochi.database.engine import Engine
from jochi.errors import JochiError, UsageError
from jochi.graph.catalogue import HASH_PREFIX, LONGEST_NAME
from jochi.graph.driver_values import read_as, to_python
from jochi.text.private_data import private_kinds

REASONS = {
    "minimum": "in its section's share",
    "handed_on": "in room that another section didn't need",
    "gone": "it is gone",
    "superseded": "another value holds now",
    "doubtful": "what was said later may take its place",
    "archived": "it is archived or stale",
    "expired": "it has expired",
    "hidden": "its access tier or what its text shows hides it",
    "empty": "it says nothing any more",
    "has_task": "its task says it",
    "no_section": "it belongs to no section any more",
    "summarised": "its summary stands for it",
    "no_room": "others are worth more",
    "not_near": "it isn't near the context any more",
}
"""Why something was chosen or left, in words."""


@dataclass(frozen=True)
class ManifestSummary:
    """One manifest that the job keeps up to date."""

    scope: str
    include_sensitive: bool
    version: int
    max_tokens: int
    current_tokens: int
    generated_at: datetime
    last_compacted: datetime
    due: datetime
    memories: int
    files: list[str]
    """The paths of the files that were made of it, each on its machine; the newest last."""

    @property
    def utilisation(self) -> float:
        """The share of its tokens that it uses."""
        return self.current_tokens / self.max_tokens


@dataclass(frozen=True)
class Tier:
    """Memories whose value is in one retention tier, and its average."""

    tier: str
    memories: int
    value: float


@dataclass(frozen=True)
class Tasks:
    """Tasks of agents, how many of them had their definition loaded, and how often they ran on average (None: there are none)."""

    all: int
    never_loaded: int
    loaded: int
    executions: float | None


@dataclass(frozen=True)
class Metrics:
    """How well what agents start with is used (seed 001, Key Metrics to Track).

    ``tokens``: of the files, as they were counted when they were written; of a manifest without one what the database counted.
    ``in_files`` and ``memories``: each once, without containers such as raw turns, sources and boxes.
    """

    manifests: int
    tokens: int
    max_tokens: int
    in_files: int
    memories: int
    values: list[Tier]
    tasks: Tasks

    @property
    def utilisation(self) -> float | None:
        """The share of their tokens that all manifests together use; None: there are none."""
        return self.tokens / self.max_tokens if self.max_tokens else None

    @property
    def ratio(self) -> float | None:
        """How many memories there are for each that a file holds; None: none holds one."""
        return self.memories / self.in_files if self.in_files else None


@dataclass(frozen=True)
class Line:
    """One memory in a difference. ``reason`` in words; ``text`` what it says today, None where that is gone or hidden."""

    key: str
    section: str
    reason: str
    text: str | None


@dataclass(frozen=True)
class Difference:
    """What came into a manifest and what left it between two of its versions."""

    scope: str
    before: int
    after: int
    came: list[Line] = field(default_factory=list)
    left: list[Line] = field(default_factory=list)
    moved: list[Line] = field(default_factory=list)


def make(
    engine: Engine, scope: str, now: datetime, *, include_sensitive: bool, max_tokens: int | None, write: bool
) -> Manifest:
    """The choice for a scope at ``now``; with ``write`` it is kept, and the job keeps it up to date."""
    check_scope(scope)
    if max_tokens is not None and not 1 <= max_tokens <= 1_000_000:
        raise UsageError(f"{max_tokens} tokens", fix="give a number from 1 to 1,000,000")
    parameters = {"now": now, "scope": scope, "open": include_sensitive, "max_tokens": max_tokens}
    row = to_python(dict(engine.call("context/make" if write else "context/look", parameters, write=write)))
    if row["max_tokens"] is None:  # its node went while this waited for it
        raise JochiError(
            f"the manifest of {scope} was dropped meanwhile",
            where=f"scope {scope}",
            fix="write the file again, if the scope is to have one",
        )
    return Manifest(
        scope=scope,
        version=row["version"],
        max_tokens=row["max_tokens"],
        generated_at=row["generated_at"],
        entries=tuple(
            Entry(
                key=entry["key"],
                section=entry["section"],
                text=entry["text"],
                tokens=entry["tokens"],
                value=entry["value"],
                reason=entry["reason"],
                sensitive=entry["sensitive"] or (not entry["has_tier"] and bool(private_kinds(entry["text"]))),
                content_hash=entry["hash"] if entry["hash"].startswith(HASH_PREFIX) else None,
            )
            for entry in row["entries"]
        ),
        sections=tuple(Section(each["name"], each["title"], each["tokens"]) for each in row["sections"]),
        threads=tuple(
            tuple(
                Dated(each["key"], each["at"] if isinstance(each["at"], datetime) else None, each["outdated"])
                for each in thread
            )
            for thread in row["threads"]
        ),
        unknown_statuses={each["key"]: each["status"] for each in row["unknown"]},
    )


def check_scope(scope: str) -> None:
    """`UsageError` where it can't be one."""
    if not scope or "/" in scope or len(scope) > LONGEST_NAME:
        raise UsageError(f"{scope[:60]!r} is no scope", fix="a scope is a name without /, such as default")


def manifest_id(scope: str, include_sensitive: bool) -> str:
    """The id of a scope's manifest."""
    return f"{scope}/context/sensitive" if include_sensitive else f"{scope}/context"


def summaries(rows: list[Any]) -> list[ManifestSummary]:
    """Those that there are."""
    return [read_as(ManifestSummary, row) for row in rows]


def difference(
    engine: Engine, scope: str, *, include_sensitive: bool, before: int | None, after: int | None
) -> Difference:
    """Between two versions; None: the newest, and the one before it. `UsageError` where one isn't kept (any more)."""
    check_scope(scope)
    row = engine.call("context/versions", {"scope": scope, "open": include_sensitive}, write=False)
    versions = {each["version"]: each for each in to_python(list(row["versions"]))}
    if not versions:
        raise UsageError(
            f"the scope {scope} has no manifest", fix=f"`jochi context write --scope {scope} --out MEMORY.md` makes one"
        )
    new = max(versions) if after is None else after
    old = new - 1 if before is None else before
    for number in (new, *([before] if before else [])):  # before the first there was nothing
        if number not in versions:
            kept = f"{min(versions)} to {max(versions)}"
            raise UsageError(f"version {number} of {scope} isn't kept", fix=f"kept are {kept}")
    if old >= new:
        raise UsageError(f"version {old} isn't before version {new}", fix="give the older one first")
    return _between(scope, versions, old, new, dict(row["texts"]))


def _between(
    scope: str, versions: Mapping[int, Mapping[str, Any]], old: int, new: int, texts: Mapping[str, str]
) -> Difference:
    empty: Mapping[str, Any] = {"keys": [], "sections": [], "reasons": []}
    a, b = versions.get(old, empty), versions[new]
    was, now = dict(zip(a["keys"], a["sections"], strict=True)), dict(zip(b["keys"], b["sections"], strict=True))
    why = dict(zip(b["keys"], b["reasons"], strict=True))
    # What left on the way, by the last time that it did.
    left: dict[str, str] = {}
    for number in range(old + 1, new + 1):
        each = versions.get(number, {"left_keys": [], "left_reasons": []})
        left |= dict(zip(each["left_keys"], each["left_reasons"], strict=True))

    def lines(keys: list[str], sections: Mapping[str, str], reasons: Mapping[str, str]) -> list[Line]:
        return [Line(key, sections[key], REASONS.get(reasons.get(key, ""), ""), texts.get(key)) for key in keys]

    return Difference(
        scope,
        old,
        new,
        came=lines([key for key in now if key not in was], now, why),
        left=lines([key for key in was if key not in now], was, left),
        moved=lines([key for key in now if key in was and was[key] != now[key]], now, why),
    )
