"""What a save does, statement by statement, for the synchronous and the asynchronous models alike.

Everything here is a generator: it yields statements and gets their rows back. Whoever drives it (`jochi_models.curated`,
`jochi_models.aio`) only runs them, through neomodel's `db` or `adb`, so they join the app's transaction.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, NoReturn, TypeVar

from neo4j.exceptions import AuthError, ClientError, ConfigurationError, Neo4jError, ServiceUnavailable
from neo4j.graph import Node
from neomodel.exceptions import UniqueProperty

from jochi import clock
from jochi.database.engine import NOT_INSTALLED
from jochi.database.statements import statement
from jochi.errors import ConnectionFailed, JochiError, Refused, UsageError
from jochi.graph.catalogue import may_lie_ahead
from jochi.policy import stored_policy
from jochi.policy.model import Policy
from jochi.text import tokens
from jochi.text.content import is_blank
from jochi.text.content_properties import content_properties
from jochi.text.slot_names import slot_name_of
from jochi.write.newborn import Newborn
from jochi.write.record import key_of
from jochi_models.errors import ContentKnown, Gone, KeyTaken, Locked, LostUpdate, NotSaved, Pruned
from jochi_models.state import LoadedState

Row = Mapping[str, Any]
T = TypeVar("T")
PAUSES = (0.02, 0.1, 0.5, None)
"""Seconds before a statement is tried again that the server rolled back and asks to repeat (a deadlock); None: no more."""

_POLICY_RACES = 3
"""How often the policy may change under one save before it is given up."""


@dataclass(frozen=True)
class Statement:
    """One statement to run, and the rows it gives come back as mappings."""

    text: str
    parameters: Mapping[str, Any]


Work = Generator[Statement, "list[Row]", T]


@dataclass(frozen=True)
class InstalledPolicy:
    """The policy of the database that was asked last. Each write names it, so one of another database is noticed."""

    sha256: str
    policy: Policy
    newborn: Newborn


_known: InstalledPolicy | None = None


def _policy(*, again: bool = False) -> Work[InstalledPolicy]:
    global _known
    if _known is None or again:
        rows = yield Statement(statement("models/policy"), {})
        if not rows:
            _known = None
            raise Refused("jochi is not installed in this database", where="saving a memory", fix=NOT_INSTALLED)
        policy = stored_policy(rows[0]["text"]).policy
        _known = InstalledPolicy(rows[0]["sha256"], policy, Newborn.of(policy))
    return _known


def save(memory: LoadedState) -> Work[None]:
    """Creates a memory that is new, or writes what changed of one that was loaded."""
    if memory._loaded is not None:
        yield from _update(memory)
    elif getattr(memory, "element_id_property", None) is not None:
        raise NotSaved(
            "it was loaded lazily, so nothing of it is known", where=_kind(memory), fix="call refresh() first"
        )
    else:
        yield from _create(memory)


def refresh(memory: LoadedState) -> Work[None]:
    """Takes over what the database has now; what the app had changed is gone."""
    row = yield from _read(memory)
    memory._take(row["memory"])


def _create(memory: LoadedState) -> Work[None]:
    given = {name: value for name, value in memory._stored(new=True).items() if value is not None}
    key = key_of(given["scope"], given["id"])
    for attempt in range(_POLICY_RACES):
        installed = yield from _policy(again=attempt > 0)
        now = clock.now()
        _check_dates(key, given, installed.policy, now)
        kind = _policy_label(memory, installed.policy)
        prepared = _content(memory, given.get("content"), key, given["scope"], installed.policy)
        slot = _slot(kind, given, installed)
        properties = installed.newborn.completed(kind, {**_anchors(given, now), **given, **slot, **prepared}, now)
        parameters = {
            "policy": installed.sha256,
            "key": key,
            "labels": _labels(memory),
            "content_key": properties.get("content_key"),
            "properties": properties,
        }
        try:
            rows = yield Statement(statement("models/create"), parameters)
        except UniqueProperty as error:
            raise _taken(error, key, None) from error
        row = rows[0]
        if row["outcome"] == "policy":
            continue
        if row["outcome"] == "taken":
            raise KeyTaken(key)
        if row["outcome"] == "known":
            raise ContentKnown(key, row["known"])
        memory._take(row["memory"])
        return
    _give_up(key)


def _update(memory: LoadedState) -> Work[None]:
    was = memory._loaded or {}
    key = _key(memory)
    changed = memory._changed()
    if not changed:
        # Nothing to write, but a caller must not believe that a pruned memory was saved.
        yield from _read(memory)
        return
    for attempt in range(_POLICY_RACES):
        installed = yield from _policy(again=attempt > 0)
        now = clock.now()
        _check_dates(key, changed, installed.policy, now)
        kind = _policy_label(memory, installed.policy)
        changes = {**changed, **_anchors(changed, now)}
        if kind in installed.newborn.in_slots and _SLOT_PROPERTIES & changed.keys():
            changes |= {**_slot(kind, memory._stored(new=False), installed), "slot_due": now}
        if "content" in changed:
            made = _content(memory, changed["content"], key, was["scope"], installed.policy)
            left = installed.newborn.outstanding(kind, {**made, "content": changed["content"]}, now)
            # It looks for its near duplicates anew, whatever it says now.
            changes |= (
                made | {name: left[name] for name in ("prepare_due", "embed_due", "resolve_due")} | {"similar_due": now}
            )
        parameters = {
            "policy": installed.sha256,
            "now": now,
            "key": key,
            "labels": _labels(memory),
            "revision": vars(memory).get("revision") or 0,
            "was": {name: was.get(name) for name in changed},
            "changes": changes,
            "content_key": changes.get("content_key"),
        }
        try:
            rows = yield Statement(statement("models/update"), parameters)
        except UniqueProperty as error:
            raise _taken(error, key, was.get("key")) from error
        row = rows[0]
        if row["outcome"] == "policy":
            continue
        if row["outcome"] == "pruned":
            raise Pruned(key, _native(row["deleted_at"]))
        if row["outcome"] == "gone":
            raise Gone(key, _kind(memory))
        if row["outcome"] == "lost":
            raise LostUpdate(key, _differing(memory, row["memory"]))
        if row["outcome"] == "known":
            raise ContentKnown(key, row["known"])
        memory._take(row["memory"])
        return
    _give_up(key)


def lock(memory: LoadedState, agent: str) -> Work[datetime]:
    """Takes the memory for ``agent`` and loads it as it is now; returns since when it is the agent's.

    `Locked` where another agent has it; `Pruned`, `Gone`; `UsageError` where the object has changes that aren't saved.
    """
    if not agent.strip():
        raise UsageError("a lock says whose it is", where=_kind(memory), fix="give the agent's name")
    if memory._loaded is None:
        raise NotSaved("it isn't saved yet", where=_kind(memory), fix="call save() first")
    key = _key(memory)
    if unsaved := sorted(memory._changed()):
        raise UsageError(
            f"it has changes that aren't saved: {', '.join(unsaved)}",
            where=key,
            fix="save() or refresh() first: what is locked is loaded anew",
        )
    installed = yield from _policy()
    now = clock.now()
    expired = now - installed.policy.rails.lock_ttl
    parameters = {"now": now, "expired": expired, "key": key, "labels": _labels(memory), "agent": agent}
    row = (yield Statement(statement("models/lock"), parameters))[0]
    if row["outcome"] == "pruned":
        raise Pruned(key, _native(row["deleted_at"]))
    if row["outcome"] == "gone":
        raise Gone(key, _kind(memory))
    if row["outcome"] == "held":
        raise Locked(key, row["held_by"], _native(row["held_since"]))
    memory._take(row["memory"])
    return now


def unlock(memory: LoadedState, agent: str, since: datetime) -> Work[bool]:
    """Gives the memory back; False where the lock wasn't this agent's any more. What the object holds else stays as it is."""
    parameters = {"now": clock.now(), "key": _key(memory), "agent": agent, "locked_at": since}
    released = bool((yield Statement(statement("models/unlock"), parameters))[0]["released"])
    for name in ("locked_by", "locked_at") if released else ():
        vars(memory)[name] = None
        if memory._loaded is not None:
            memory._loaded[name] = None
    return released


def lock_in_transaction(memory: LoadedState) -> UsageError:
    """The error for a lock that nobody would see."""
    return UsageError(
        "a lock inside a transaction is seen by nobody before it ends",
        where=_kind(memory),
        fix="take the lock first, then begin the transaction inside of it",
    )


def pauses_until(deadline: float, now: float) -> float | None:
    """Seconds before a lock that another agent has is asked for again; None: the time to wait is over."""
    return min(0.1, deadline - now) if now < deadline else None


def lock_ends(one: Any, other: Any) -> Work[None]:
    """Locks the two ends of a relationship about to be written; `Pruned` or `Gone` where one of them isn't live any more."""
    ends = {_key(end): end for end in (one, other) if hasattr(end, "_loaded")}
    keys = sorted(ends)
    rows = yield Statement(statement("models/lock_ends"), {"now": clock.now(), "keys": keys})
    live = {row["key"] for row in rows}
    for key in keys:
        if key not in live:
            yield from _read(ends[key])
            raise Gone(key, _kind(ends[key]))


def _read(memory: LoadedState) -> Work[Row]:
    if memory._loaded is None:
        raise NotSaved("it isn't saved yet", where=_kind(memory), fix="call save() first")
    key = _key(memory)
    row = (yield Statement(statement("models/read"), {"key": key, "labels": _labels(memory)}))[0]
    if row["outcome"] == "pruned":
        raise Pruned(key, _native(row["deleted_at"]))
    if row["outcome"] == "gone":
        raise Gone(key, _kind(memory))
    return row


def _content(memory: LoadedState, content: str | None, key: str, scope: str, policy: Policy) -> dict[str, Any]:
    """What goes with a new content, null for what goes away with the old one."""
    beside: dict[str, Any] = dict.fromkeys(
        ("content_hash", "content_key", "duplicate_of", "private_kinds", "token_count", "token_counter")
    )
    if content is None:
        return beside | dict.fromkeys(("embedding", "embedding_model", "embedding_hash"))
    if is_blank(content):
        raise UsageError("its content is empty", where=key, fix="set content to None where there is none")
    if len(content) > policy.content.longest:
        raise UsageError(
            f"its content has {len(content):,} characters; {policy.content.longest:,} are allowed",
            where=key,
            fix="store a summary, or raise [content] longest in the policy",
        )
    label = _policy_label(memory, policy)
    beside |= content_properties(content)
    # A fact of a slot that is said again is a fact of its own.
    in_a_slot = label in policy.slot_labels() and slot_name_of(memory._stored(new=False)) is not None
    if label in policy.unique_labels() and not in_a_slot:
        beside["content_key"] = f"{scope}/{label}/{beside['content_hash']}"
    counter = _counter()
    beside["token_count"], beside["token_counter"] = counter.count(content), counter.name
    return beside


_SLOT_PROPERTIES = {"subject", "attribute", "value", "valid_from", "created_at"}


def _slot(kind: str, properties: Mapping[str, Any], installed: InstalledPolicy) -> dict[str, Any]:
    """What a fact is compared by; the job `settle_slots` puts it into its slot, or takes it out of the one it was in."""
    slot = slot_name_of(properties) if kind in installed.newborn.in_slots else None
    return {} if slot is None else {"slot_name": slot.name, "slot_value": slot.value}


@cache
def _counter() -> tokens.TokenCounter:
    return tokens.best_counter()


def _anchors(changed: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """A value that decays is stored with the moment since when it holds (DESIGN §8)."""
    anchors = {"confidence": "confidence_at", "salience": "salience_at"}
    return {at: None if changed[name] is None else now for name, at in anchors.items() if name in changed}


def _check_dates(key: str, properties: Mapping[str, Any], policy: Policy, now: datetime) -> None:
    """Refuses a moment so far ahead that its unit must be wrong. A deadline may be years ahead."""
    for name, value in properties.items():
        if not may_lie_ahead(name) and isinstance(value, datetime) and value > now + policy.content.date_ahead:
            raise UsageError(
                f"{name} is {value.isoformat()}, too far ahead",
                where=key,
                fix="is it in milliseconds and not in seconds?",
            )


def _differing(memory: LoadedState, node: Node) -> list[str]:
    was = memory._loaded or {}
    return sorted(name for name, value in was.items() if node.get(name) != value and name not in ("updated_at", "key"))


def _policy_label(memory: LoadedState, policy: Policy) -> str:
    labels = _labels(memory)
    return next((label for label in labels if label in policy.labels()), labels[0])


def _labels(memory: Any) -> list[str]:
    labels = [label for label in dict.fromkeys(memory.inherited_labels()) if label != "Curated"]
    if not labels:
        raise UsageError("a memory has a kind", where="Curated", fix="use Belief, Task, … or a subclass of your own")
    return labels


def _kind(memory: object) -> str:
    return type(memory).__name__


def _key(memory: Any) -> str:
    return str(memory.key)


def _native(value: Any) -> datetime | None:
    return None if value is None else value.to_native()


def _taken(error: UniqueProperty, key: str, own: str | None) -> UsageError:
    """Another writer was faster, by so little that only the constraint saw it."""
    if "content_key" in str(error) or own is not None:
        return ContentKnown(key, None)
    return KeyTaken(key)


def _give_up(key: str) -> NoReturn:
    raise JochiError("the policy was changed again and again while it was saved", where=key, fix="save it once more")


def repeatable(error: Exception) -> bool:
    """Whether the server rolled the statement back for no fault of its own. Not a lost connection: that may have committed."""
    return (
        isinstance(error, Neo4jError)
        and error.code is not None
        and ".TransientError." in error.code
        and error.is_retryable()
    )


def translated(error: Exception) -> JochiError | None:
    """A failure of the connection in Jochi's words; None for what isn't one."""
    if isinstance(error, AuthError):
        return ConnectionFailed(
            "the server refuses this user name or password", where="neomodel", fix="look at neomodel's DATABASE_URL"
        )
    if isinstance(error, ServiceUnavailable | ConfigurationError):
        return ConnectionFailed(
            f"no answer from the server: {error}",
            where="neomodel",
            fix="is it running? check the address in neomodel's database_url",
        )
    if isinstance(error, ClientError) and error.code == "Neo.ClientError.Database.DatabaseNotFound":
        return ConnectionFailed(
            "this server has no such database", where="neomodel", fix="look at neomodel's database_url"
        )
    return None
