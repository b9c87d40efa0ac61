"""What has changed in the policy from one version to the next (`history.toml`): keys that are gone, and defaults of before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from jochi.toml import beside

Keys = tuple[str, ...]


@dataclass(frozen=True)
class RemovedKey:
    """A key that is gone: ``way`` to it, where `*` is any key, and what to write now."""

    way: Keys
    since: str
    now: str
    having: dict[str, Any]
    """Only a table in which these stand is meant."""

    @property
    def words(self) -> str:
        """What a person reads of it."""
        return f"gone since jochi {self.since}; write now: {self.now}"


@cache
def removals() -> tuple[RemovedKey, ...]:
    """All keys that are gone."""
    table = beside(__file__, "history.toml")["removed"]
    return tuple(
        RemovedKey(tuple(entry["key"].split(".")), entry["since"], entry["now"], entry.get("having", {}))
        for entry in table
    )


@cache
def _former() -> dict[Keys, list[Any]]:
    return {tuple(entry["key"].split(".")): entry["values"] for entry in beside(__file__, "history.toml")["former"]}


def removed_keys(data: dict[str, Any]) -> list[tuple[Keys, RemovedKey]]:
    """The keys of a policy that are gone, each with its entry; in the order of `history.toml`, each once."""
    found: dict[Keys, RemovedKey] = {}
    for entry in removals():
        for keys in _matching(data, entry.way, entry.having):
            found.setdefault(keys, entry)
    return list(found.items())


def without_removed(data: dict[str, Any]) -> dict[str, Any]:
    """A copy of the tables of ``data`` without the keys that are gone, and without tables that had nothing else."""
    gone = {keys for keys, _entry in removed_keys(data)}
    return _copy(data, (), gone)


def without_defaults(data: dict[str, Any], shipped: dict[str, Any]) -> dict[str, Any]:
    """What of a policy with every default filled in is neither in ``shipped`` nor was shipped before: what its author wrote."""
    return _own(data, shipped, ())


def _own(data: dict[str, Any], shipped: Any, way: Keys) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in data.items():
        at = (*way, key)
        below = shipped.get(key) if isinstance(shipped, dict) else None
        if value == below or value in _former().get(at, ()):
            continue
        if isinstance(value, dict) and isinstance(below, dict):
            if rest := _own(value, below, at):
                found[key] = rest
        else:
            found[key] = value
    return found


def _matching(data: Any, way: Keys, having: dict[str, Any], done: Keys = ()) -> Iterator[Keys]:
    if not way:
        if all(isinstance(data, dict) and data.get(key) == value for key, value in having.items()):
            yield done
    elif isinstance(data, dict):
        for key in data if way[0] == "*" else [way[0]]:
            if key in data:
                yield from _matching(data[key], way[1:], having, (*done, key))


def _copy(data: dict[str, Any], way: Keys, gone: set[Keys]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in data.items():
        rest = _copy(value, (*way, key), gone) if isinstance(value, dict) else value
        if (*way, key) not in gone and (rest != {} or value == {}):
            found[key] = rest
    return found
