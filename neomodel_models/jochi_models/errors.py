"""What a model can't do, each with what to do instead. All of them are `jochi.errors.JochiError`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from jochi.errors import JochiError, Refused, UsageError


class EngineOwned(UsageError, AttributeError):
    """A property that the engine writes was assigned."""


class LostUpdate(Refused):
    """Somebody else saved the memory since it was loaded; nothing was written. ``changed``: the app's properties that differ."""

    def __init__(self, key: str, changed: Sequence[str]) -> None:
        self.key = key
        self.changed = tuple(changed)
        what = f": {', '.join(changed)}" if changed else ""
        super().__init__(
            f"somebody changed it since it was loaded{what}",
            where=key,
            fix="call refresh(), decide again, and save",
        )


class Locked(Refused):
    """Another agent has the memory. ``by``, ``since``: whose it is and since when, where the database can tell."""

    def __init__(self, key: str, by: str | None, since: datetime | None) -> None:
        self.key = key
        self.by = by
        self.since = since
        when = f" since {since.isoformat(timespec='seconds')}" if since else ""
        super().__init__(
            f"{by or 'somebody'} has locked it{when}",
            where=key,
            fix="try later or wait for it: lock(agent, wait=seconds); a lock ends with the policy's rails.lock_ttl",
        )


class Pruned(Refused):
    """The memory is a tombstone: the engine pruned it, and a save would bring it back behind the engine's back."""

    def __init__(self, key: str, deleted_at: datetime | None) -> None:
        self.key = key
        self.deleted_at = deleted_at
        when = f" on {deleted_at.isoformat(timespec='seconds')}" if deleted_at else ""
        super().__init__(
            f"it was pruned{when}",
            where=key,
            fix=f"bring it back with `jochi restore {key}` or Jochi.restore(['{key}']), or write a memory with another uid",
        )


class Gone(Refused):
    """No live memory of that kind has the key, and no tombstone either."""

    def __init__(self, key: str, kind: str) -> None:
        self.key = key
        super().__init__(
            f"there is no {kind} with this key any more",
            where=key,
            fix="it was purged, or taken off the engine's list by disenrol",
        )


class KeyTaken(UsageError):
    """A new object has the key of a memory that lives."""

    def __init__(self, key: str) -> None:
        self.key = key
        super().__init__("a live memory has this key", where=key, fix="load and change that one, or choose another uid")


class ContentKnown(UsageError):
    """The policy wants one live memory per content, and there is one. ``known``: its key, where the server told it."""

    def __init__(self, key: str, known: str | None) -> None:
        self.key = key
        self.known = known
        super().__init__(
            f"{known or 'another live memory of this kind'} has the same content",
            where=key,
            fix="use that one; Jochi.remember reinforces it instead of writing it twice",
        )


class NotSaved(UsageError):
    """The object isn't in the database yet."""


class NotOffered(UsageError):
    """A way of neomodel's to write that would go past the engine."""


__all__ = [
    "ContentKnown",
    "EngineOwned",
    "Gone",
    "JochiError",
    "KeyTaken",
    "Locked",
    "LostUpdate",
    "NotOffered",
    "NotSaved",
    "Pruned",
]
