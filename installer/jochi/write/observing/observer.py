"""Hands turns to `observe/turn`: one statement each, and no model (seed 003, Write Path; docs/reference/observing.md)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import regex

from jochi.database.engine import Engine
from jochi.errors import JochiError, Refused, UsageError
from jochi.forgetting.checker import Screen, check_item
from jochi.graph.catalogue import LONGEST_NAME
from jochi.graph.driver_values import fixed_offset, zoned
from jochi.graph.property_values import text as storable
from jochi.policy.observe import Observe
from jochi.text.content import is_blank
from jochi.use.context import check_scope
from jochi.write.ingesting.source import Message, clean
from jochi.write.ingesting.writer import line_of
from jochi.write.observing.signals import Signal, scan

TRIES = 5
"""So often a turn is looked at again while somebody forgets something."""
LONGEST = 100_000
"""Characters of a turn."""
_WORD = regex.compile(r"[^\W\d_]{4,}")


@dataclass(frozen=True)
class Turn:
    """What one speaker says at once. ``id``: unique in its session; without one it is known by speaker, moment and text.
    ``at``: when it was said, zoned; None: now."""

    text: str
    session: str = "default"
    scope: str = "default"
    speaker: str | None = None
    at: datetime | None = None
    id: str | None = None


@dataclass(frozen=True)
class ObserveResult:
    """What became of a turn. ``outcome``: buffered; learning: with it the buffer was closed, and the job `flush_buffers` makes
    of it the memory ``batch``, which a worker learns from; known: it came before. ``gave_way``: another session's buffer
    (`scope/session`) that had to make room."""

    id: str
    signal: Signal
    about: tuple[str, ...]
    outcome: Literal["buffered", "learning", "known"]
    batch: str | None = None
    gave_way: str | None = None


class Observer:
    """Observes for one client. What was forgotten on request is looked up once, and again when more is."""

    def __init__(self, engine: Engine, policy: Observe) -> None:
        engine.text("observe/turn")  # says at once where it isn't installed
        self._engine = engine
        self._policy = policy
        self._screen = Screen(engine.database)

    def observe(self, turn: Turn, *, now: datetime) -> ObserveResult:
        """See `jochi.Jochi.observe`."""
        row, scanned = self._row(turn, now)
        for _ in range(TRIES):
            item = check_item(turn.scope, None, turn.text, {"speaker": turn.speaker or ""})
            screened = self._screen.split([item], lambda one: one)
            if screened.forgotten:
                raise Refused(
                    "this, or part of it, was forgotten on request and is not learned again",
                    where=f"turn {row['turn']} of session {turn.session}",
                    fix="`jochi forget --lift` allows it",
                )
            version = screened.version if screened.compared else None
            result = self._engine.call("observe/turn", {**row, "forgotten_as_of": version})
            if result["outcome"] != "forgetting_changed":
                return ObserveResult(row["turn"], scanned.signal, scanned.about, **result)
            self._screen.refresh()
        raise JochiError(
            "something is forgotten all the time",
            where=f"session {turn.session}",
            fix="observe it again when that is over",
        )

    def _row(self, turn: Turn, now: datetime) -> tuple[dict[str, Any], Any]:
        check_scope(turn.scope)
        for name, value, least in (("session", turn.session, 1), ("id", turn.id, 1), ("speaker", turn.speaker, 0)):
            if value is not None and not (isinstance(value, str) and least <= len(value.strip()) <= LONGEST_NAME // 2):
                raise UsageError(
                    f"{name} is {value!r:.60}",
                    where="observe",
                    fix=f"give a text of up to {LONGEST_NAME // 2} characters",
                )
        if not isinstance(turn.text, str) or is_blank(turn.text) or len(turn.text) > LONGEST:
            raise UsageError(
                "the turn's text is empty, too long, or no text",
                where="observe",
                fix=f"give 1 to {LONGEST:,} characters",
            )
        at = now if turn.at is None else zoned(turn.at, "at", where="observe")
        try:
            text, speaker = (
                storable(turn.text),
                None if turn.speaker is None else storable(" ".join(turn.speaker.split())),
            )
        except ValueError as error:
            raise UsageError(f"the turn {error}", where="observe", fix="leave that character out") from None
        message = Message(None, at, speaker or None, clean(text), text)
        scanned = scan(text, languages=self._policy.languages, high=self._policy.high)
        words = list(dict.fromkeys(_WORD.findall(text.lower())))[:200] if self._policy.surprise else []
        row = {
            **{"now": fixed_offset(now), "scope": turn.scope, "session": turn.session, "at": fixed_offset(at)},
            **{"turn": turn.id or _id(speaker, turn.at, text), "speaker": speaker or None, "line": line_of(message)},
            **{"signal": scanned.signal, "words": words, "surprise": self._policy.surprise or None},
        }
        return row, scanned


def flush(engine: Engine, session: str | None, *, scope: str, now: datetime) -> list[str]:
    """See `jochi.Jochi.flush`."""
    check_scope(scope)
    result = engine.call("observe/flush", {"now": fixed_offset(now), "scope": scope, "session": session})
    return list(result["batches"])


def _id(speaker: str | None, at: datetime | None, text: str) -> str:
    """Of a turn without one. Without a moment the same words again are the same turn."""
    moment = "" if at is None else str(at.timestamp())
    encoded = "\n".join((speaker or "", moment, text)).encode("utf-8", "surrogatepass")
    return hashlib.sha256(encoded).hexdigest()[:32]
