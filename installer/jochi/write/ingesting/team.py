"""A team's source in the scope of one of its users, from the moment that this user first needs it (seed 002, Per-User Extraction).

So what is extracted of it is that user's own, nothing of one user's graph is in another's, and a source costs for those who looked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from jochi.database.engine import Engine
from jochi.errors import JochiError, Refused, UsageError
from jochi.forgetting.checker import MessagePlace, Screen, check_item
from jochi.text.messages import part_id
from jochi.use.context import check_scope
from jochi.write.ingesting.writer import KIND, TRIES, UNUSED, id_of, stored_part, stored_parts
from jochi.write.record import key_of
from jochi.write.remembering import remember


@dataclass(frozen=True)
class CopyResult:
    """The copy's key; how many messages came in now, and how many were there. ``changed``: parts that say something else than the
    team's by now, by an edit or because something was forgotten: they stay as they are."""

    key: str
    messages: int
    known: int
    changed: tuple[str, ...] = ()


def copy_source(engine: Engine, key: str, *, scope: str, now: datetime, agent: str | None = None) -> CopyResult:
    """Makes the copy, or brings in what is new in the team's source since; see `Jochi.take_source`."""
    check_scope(scope)
    if key.partition("/")[0] == scope:
        raise UsageError("this source is in that scope already", where=key, fix="give the scope of a user")
    copy = key_of(scope, id_of(key))
    item = replace(check_item(scope, None, None, {}), place=MessagePlace(copy, (), None))
    if Screen(engine.database).split([copy], lambda _copy: item).forgotten:
        raise Refused(
            "this source was forgotten in that scope on request",
            where=copy,
            fix=f"`jochi forget --lift --id {copy}` allows it again",
        )
    for _ in range(TRIES):
        source_parts, copy_parts = stored_parts(engine, [key, copy])
        if not source_parts:
            raise Refused("there is no such source", where=key, fix="`jochi sources ls` lists them")
        taken = _bring(engine, [part["key"] for part in source_parts], copy_parts, key, copy, now, agent)
        if taken is not None:
            return taken
    raise JochiError("the copy is written by somebody else all the time", where=copy, fix="try again when that is over")


def _bring(
    engine: Engine,
    source_parts: list[str],
    copy_parts: Sequence[Mapping[str, Any]],
    key: str,
    copy: str,
    now: datetime,
    agent: str | None,
) -> CopyResult | None:
    """All parts in turn; None where somebody else wrote at the same time."""
    messages = known = 0
    changed: list[str] = []
    for number, their_key in enumerate(source_parts, 1):
        part = stored_part(engine, their_key)
        if part is None:
            continue
        copy_part = copy_parts[number - 1] if number <= len(copy_parts) else None
        if copy_part is None:
            written = remember(engine, [_row(part, copy, number, key)], now=now, agent=agent, on_refused="raise")
            if written.results[0].outcome != "written":
                return None
            messages += len(part["message_ids"])
            continue
        there, ids = copy_part["message_ids"], part["message_ids"]
        known += len(there)
        if ids[: len(there)] != there:
            changed.append(copy_part["key"])
        elif len(ids) > len(there):
            own = stored_part(engine, copy_part["key"])
            if own is None or not part["content"].startswith(own["content"] + "\n"):
                changed.append(copy_part["key"])
                continue
            new = ids[len(there) :]
            row = {
                **{
                    "key": copy_part["key"],
                    "message_ids": there,
                    "content": part["content"][len(own["content"]) + 1 :],
                },
                **{
                    "raw": part["raw_content"][-len(new) :],
                    "ids": new,
                    "versions": part["message_versions"][-len(new) :],
                },
                "forgotten_as_of": None,
                **{name: part["properties"][name] for name in ("started_at", "ended_at")},
                "participants": part["properties"]["participants"] or [],
            }
            if (
                engine.call("ingest/write", {"now": now, "run": None, "rows": [row]})["results"][0]["outcome"]
                != "written"
            ):
                return None
            messages += len(new)
    return CopyResult(copy, messages, known, tuple(changed))


def _row(part: Mapping[str, Any], copy: str, number: int, key: str) -> dict[str, Any]:
    scope, _, id = copy.partition("/")
    own = {
        **{name: value for name, value in part["properties"].items() if value is not None},
        **{name: part[name] for name in ("raw_content", "message_ids", "message_versions")},
        "copy_of": key,
        **UNUSED,
    }
    return {"scope": scope, "id": part_id(id, number), "kind": KIND, "content": part["content"], "properties": own}
