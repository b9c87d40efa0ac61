"""Writes sources as they come: a new one, or what is new of one that is there (seed 002, Phase 0).

A source is known by its own id, else by its first messages; a message by its own id, else by sender, time and text. So the
same file twice, under another name, or exported again with more in it, is one source, and what is new goes in once. A known
message with another text was edited: the new text takes the place of the old.
A long source has parts: each is a memory of its own, so that nobody ever reads all of it at once.
"""

from __future__ import annotations

import itertools
import json
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from jochi.database.engine import Engine
from jochi.errors import ConnectionFailed, JochiError
from jochi.forgetting.checker import CheckItem, MessagePlace, Screen, ScreenResult, check_item
from jochi.graph.driver_values import zoned
from jochi.policy.ingest import Ingest
from jochi.text.messages import ATTACHMENT, KNOWN_BY, Version, part_id, part_number, short_hash, version_of, versions
from jochi.use.context import check_scope
from jochi.write.ingesting.source import Fault, Message, Omission, OmittedFile, Piece, Source
from jochi.write.record import key_of
from jochi.write.remembering import remember

KIND = "Source"
TRIES = 5
"""So often a source is looked at again that somebody else writes at the same time."""

KEPT = 1_000
"""So many faults, keys, files and sources an `IngestResult` keeps; all are counted."""
SAMPLES = 100
"""So many paths of files that are left out for one reason."""

UNUSED = {"processing_status": "raw", "salience": 0.5, "state": "candidate", "ttl_policy": "decay"}
"""What a source says of itself before anybody has used it (seed 002, Phase 0)."""

_FLUSHED_AT = 2_000
"""Messages that are read before they are written."""
_NOT_THERE = (
    "it has another text by now, and its earlier one isn't in the source as it was written: the source stays as it is"
)
_FORGOTTEN = "this, or part of it, was forgotten on request and is not learned again; `jochi forget --lift` allows it"


@dataclass
class FileReport:
    """What came of one file, or of a stream. ``format``: as which it was read; None where no message is in it."""

    path: str
    format: str | None = None
    messages: int = 0
    omissions: int = 0
    faults: int = 0


@dataclass
class SourceReport:
    """What would become of one source: ``messages`` are new, ``edited`` have another text, ``known`` are there."""

    key: str
    source_type: str
    title: str | None
    format: str | None
    file: str | None
    messages: int = 0
    edited: int = 0
    known: int = 0


@dataclass
class OmittedFiles:
    """``n`` files or folders that were left out for one reason, and the paths of the first hundred."""

    n: int = 0
    paths: list[str] = field(default_factory=list)


@dataclass
class IngestResult:
    """What became of it. ``sources`` were new, ``continued`` had new messages or edited ones, ``unchanged`` had none.

    ``messages`` were written, ``edited`` have another text than before, ``known`` are there already. ``run``: by which the edits
    can be undone. ``faults``: what couldn't be read or may not be written; the first
    thousand, ``faulty`` counts all. ``omissions``: by reason what
    readers knew and left out on purpose; ``omitted_files``: by reason which files of folders. ``files_read``: how many were read,
    and ``files`` what came of the first thousand of them. ``keys``: those of all sources, at most a thousand. ``dry_run``: nothing
    was written; the counts are those that a run would have, and ``preview`` tells of the first thousand sources.
    """

    sources: int = 0
    continued: int = 0
    unchanged: int = 0
    messages: int = 0
    edited: int = 0
    known: int = 0
    faulty: int = 0
    faults: list[Fault] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    run: str | None = None
    omissions: dict[str, int] = field(default_factory=dict)
    omitted_files: dict[str, OmittedFiles] = field(default_factory=dict)
    files_read: int = 0
    files: list[FileReport] = field(default_factory=list)
    dry_run: bool = False
    preview: list[SourceReport] = field(default_factory=list)

    def leave(self, piece: Omission) -> None:
        """Counts what is left out on purpose."""
        if isinstance(piece, OmittedFile):
            files = self.omitted_files.setdefault(piece.why, OmittedFiles())
            files.n += 1
            if len(files.paths) < SAMPLES:
                files.paths.append(piece.where)
        else:
            self.omissions[piece.why] = self.omissions.get(piece.why, 0) + 1

    def state(self, before: str | None, now: str) -> None:
        """Counts a source in its new state and not in the one before."""
        for name, change in ((before, -1), (now, 1)):
            if name is not None:
                setattr(self, name, getattr(self, name) + change)


class IngestInterrupted(ConnectionFailed):
    """The server went away. ``ingested`` holds what was written until then."""

    def __init__(self, cause: ConnectionFailed, ingested: IngestResult) -> None:
        self.ingested = ingested
        super().__init__(
            f"interrupted after {ingested.messages:,} messages were written: {cause.what}",
            where=cause.where,
            fix="ingest the same again when the server answers: what is written is known, and nothing is doubled",
        )


def ingest(
    engine: Engine,
    pieces: Iterable[Piece],
    *,
    limits: Ingest,
    scope: str,
    now: datetime,
    agent: str | None = None,
    properties: Mapping[str, Any] | None = None,
    on_fault: Callable[[Fault], None] | None = None,
    dry_run: bool = False,
) -> IngestResult:
    """Writes what readers made of raw data; see `jochi.Jochi.ingest`. ``properties``: more of each source that is new."""
    check_scope(scope)
    zoned(now, "now", where="ingest")
    for name in ("ingest/look", "ingest/write", "memory/remember"):
        engine.text(name)  # says at once where it isn't installed
    told = on_fault or (lambda _fault: None)
    writer = _Writer(engine, limits, scope, now, agent, dict(properties or {}), told, IngestResult(dry_run=dry_run))
    try:
        for piece in pieces:
            if isinstance(piece, Fault):
                writer.wrong(piece)
            elif isinstance(piece, Omission):
                writer.done.leave(piece)
            else:
                writer.take(*piece)
        writer.flush()
    except ConnectionFailed as error:
        raise IngestInterrupted(error, writer.done) from error
    return writer.done


def stored_parts(engine: Engine, keys: Sequence[str], *, whole: bool = False) -> list[list[Mapping[str, Any]]]:
    """Of each source, by the key of its first part, the parts that are there, as `ingest/look` tells them."""
    return list(engine.call("ingest/look", {"keys": keys, "whole": whole}, write=False)["sources"])


def stored_part(engine: Engine, key: str) -> Mapping[str, Any] | None:
    """One part with all that it says; None where no live source has the key."""
    [parts] = stored_parts(engine, [key], whole=True)
    return parts[0] if parts else None


@dataclass
class _Pending:
    """Messages of one source that are not written yet, with the hash of each."""

    source: Source
    messages: list[tuple[str, Message]] = field(default_factory=list)


@dataclass
class _Writer:
    engine: Engine
    limits: Ingest
    scope: str
    now: datetime
    agent: str | None
    properties: dict[str, Any]
    on_fault: Callable[[Fault], None]
    done: IngestResult = field(default_factory=IngestResult)
    pending: dict[object, _Pending] = field(default_factory=dict)
    seen: dict[object, Counter[str]] = field(default_factory=dict)
    sources: dict[object, Source] = field(default_factory=dict)
    """Those that are known, so that no other one gets the identity of one that has no id."""
    keys: dict[object, str] = field(default_factory=dict)
    begins: dict[object, list[str]] = field(default_factory=dict)
    states: dict[str, str] = field(default_factory=dict)
    would: dict[str, _Known] = field(default_factory=dict)
    """Of a dry run what would be there by now, by the key of its source."""
    previews: dict[str, SourceReport] = field(default_factory=dict)
    waiting: int = 0
    characters: int = 0

    def __post_init__(self) -> None:
        self.screen = Screen(self.engine.database)

    def wrong(self, fault: Fault) -> None:
        """Counts a fault, and tells it."""
        self.done.faulty += 1
        if len(self.done.faults) < KEPT:
            self.done.faults.append(fault)
        self.on_fault(fault)

    def take(self, source: Source, message: Message) -> None:
        """Keeps a message, and writes what is kept when that is enough."""
        name = _name(source)
        self.sources.setdefault(name, source)
        hashed = _message_hash(message)
        seen = self.seen.setdefault(name, Counter())
        seen[hashed] += 1
        if seen[hashed] > 1:
            if message.id is not None:
                self.done.known += 1
                return
            # The same words again at the same moment, or at none that is known, were said twice.
            hashed = short_hash(hashed, str(seen[hashed]))
        self.pending.setdefault(name, _Pending(source)).messages.append((hashed, message))
        self.waiting += 1
        self.characters += len(message.text) + len(message.raw)
        if self.waiting >= _FLUSHED_AT or self.characters >= self.limits.batch_characters:
            self.flush()
            # What has no id comes in one piece, so of what was read before nothing more comes.
            for other in [each for each in self.seen if isinstance(each, int) and each != name]:
                del self.seen[other], self.keys[other], self.begins[other], self.sources[other]

    def flush(self) -> None:
        """Writes all that is kept."""
        pending, self.pending = list(self.pending.values()), {}
        self.waiting = self.characters = 0
        # Of those that begin alike a dry run looks at one at a time.
        for _ in itertools.count() if self.done.dry_run else range(TRIES):
            pending = self._write(pending)
            if not pending:
                return
            if not self.done.dry_run:
                self.screen.refresh()
        raise JochiError(
            f"{len(pending)} sources are written by somebody else all the time",
            where=f"scope {self.scope}",
            fix="ingest the same again when that is over: nothing is doubled",
        )

    def _write(self, pending: Sequence[_Pending]) -> list[_Pending]:
        """Writes each source; returns those that somebody else has changed meanwhile."""
        rows: list[dict[str, Any]] = []
        appends: list[dict[str, Any]] = []
        of: dict[str, tuple[_Pending, int]] = {}
        again: set[int] = set()
        begun: set[int] = set()
        looked: set[str] = set()
        for one, (key, parts) in zip(pending, self._look(pending), strict=True):
            if self.done.dry_run and key in looked:
                again.add(id(one))
                self.keys.pop(_name(one.source), None)
                continue
            looked.add(key)
            there = _Stored(parts)
            coming = Counter(_who(*each) for each in one.messages)
            found = [(there.place_of(each, coming), each) for each in one.messages]
            fresh = [each for place, each in found if place is None or there.is_edited(place, each[1])]
            known = len(one.messages) - len(fresh)
            self.done.known += known
            fresh, version = self._allowed(key, one, fresh, there=bool(parts))
            kept = {id(each) for each in fresh}
            edits = [(place, each) for place, each in found if place is not None and id(each) in kept]
            new = [each for place, each in found if place is None and id(each) in kept]
            if self.done.dry_run:
                self._preview(key, one, new, edits, known)
            else:
                one.messages = new + self._amend(parts, there, edits, version)
            before = self.states.get(key)
            if before is None and len(self.done.keys) < KEPT:
                self.done.keys.append(key)
            self.states[key] = (
                before or "unchanged" if not fresh else "continued" if parts and before != "sources" else "sources"
            )
            self.done.state(before, self.states[key])
            if self.done.dry_run:
                continue
            if edits:
                # It is another source by now.
                again |= {id(one)} if one.messages else set()
                continue
            for part in _parts(new, parts, self.limits):
                if parts and part.number == part_number(parts[-1]["key"]):
                    appends.append(_append(parts[-1], part, version))
                    of[parts[-1]["key"]] = one, len(part.messages)
                else:
                    rows.append(self._row(one.source, key, part))
                    of[key_of(self.scope, rows[-1]["id"])] = one, len(part.messages)
            if not parts and one.source.id is None:
                begun.add(id(one))
        again |= self._send(appends, rows, of)
        for one in pending:
            if id(one) in again & begun:
                # Another one that begins alike has taken its place.
                del self.keys[_name(one.source)]
        return [one for one in pending if id(one) in again]

    def _preview(
        self,
        key: str,
        one: _Pending,
        new: Sequence[tuple[str, Message]],
        edits: Sequence[tuple[int, tuple[str, Message]]],
        known: int,
    ) -> None:
        """Counts what would be written, and keeps by what it would be known."""
        self.done.messages += len(new)
        self.done.edited += len(edits)
        would = self.would.setdefault(key, _Known())
        for each in new:
            would.add(*each)
        if key not in self.previews and len(self.previews) < KEPT:
            stated = {name: str(one.source.provenance.get(name) or "") or None for name in ("origin", "file")}
            self.previews[key] = SourceReport(
                key, one.source.source_type, one.source.title, stated["origin"], stated["file"]
            )
            self.done.preview.append(self.previews[key])
        if told := self.previews.get(key):
            told.messages += len(new)
            told.edited += len(edits)
            told.known += known

    def _amend(
        self,
        parts: Sequence[Mapping[str, Any]],
        there: _Stored,
        edits: Sequence[tuple[int, tuple[str, Message]]],
        version: int | None,
    ) -> list[tuple[str, Message]]:
        """Puts the new texts in the place of the old, part by part; returns the messages whose part somebody else changed."""
        again: list[tuple[str, Message]] = []
        for number, part in enumerate(parts):
            mine = [(place, each) for place, each in edits if there.part_of(place) == number]
            stands = stored_part(self.engine, part["key"]) if mine else None
            amended, content = _Part(0), stands["content"] if stands else ""
            texts: list[Version] = []
            for place, (hashed, message) in mine:
                line, old = line_of(message), there.current(place)
                start = old.start_in(content)
                if start is None:
                    self.wrong(Fault(_named(message), _NOT_THERE))
                    continue
                content = content[:start] + line + content[start + old.length :]
                amended.add(hashed, message)
                texts.append(version_of(old.identity, line, edit=True, attachment=message.attachment))
            if not texts:
                continue
            assert stands is not None
            row = {
                **_append(part, amended, version),
                **{"content": content, "was": stands["content"], "versions": list(map(str, texts))},
            }
            self.done.run = self.done.run or f"edit/{uuid.uuid4()}"
            given = {"now": self.now, "run": self.done.run, "rows": [row]}
            outcome = self.engine.call("ingest/write", given)["results"][0]["outcome"]
            if outcome == "written":
                self.done.edited += len(texts)
            elif outcome == "too_long":
                self.wrong(
                    Fault(f"source {part['key']}", "with what was edited it has more characters than a memory may have")
                )
            else:
                again += amended.messages
        return again

    def _look(self, pending: Sequence[_Pending]) -> list[tuple[str, list[Mapping[str, Any]]]]:
        """Each source's key, and its parts that are there."""
        keys = [self.keys.get(_name(one.source)) or key_of(self.scope, _source_id(one)) for one in pending]
        found = self._parts_of(keys)
        for at, one in enumerate(pending):
            name = _name(one.source)
            if one.source.id is None and name not in self.keys:
                # Of those that begin with the same message the first that goes on alike; else it is another one.
                begun, free = keys[at], ""
                first = one.messages[:KNOWN_BY]
                # What was forgotten of it is none of its messages any more.
                left = self._screened(begun, one, first, there=True).allowed
                for other in itertools.count(2):
                    there = _Stored(found[at][:1])
                    if found[at] and (there.begins_with(first) or (left and there.begins_with(left))):
                        break
                    if free and not found[at]:
                        keys[at] = free
                        break
                    # Where one has gone there may be others behind it.
                    free = free or ("" if found[at] else keys[at])
                    keys[at] = f"{begun}~{other}"
                    [found[at]] = self._parts_of([keys[at]])
            self.keys[name] = keys[at]
        return list(zip(keys, found, strict=True))

    def _parts_of(self, keys: Sequence[str]) -> list[list[Mapping[str, Any]]]:
        found = stored_parts(self.engine, keys)
        return [[*parts, *self._would_be(key)] for key, parts in zip(keys, found, strict=True)]

    def _would_be(self, key: str) -> list[Mapping[str, Any]]:
        would = self.would.get(key)
        return [] if would is None else [{"message_ids": would.ids, "message_versions": would.versions}]

    def _allowed(
        self, key: str, one: _Pending, fresh: list[tuple[str, Message]], *, there: bool
    ) -> tuple[list[tuple[str, Message]], int | None]:
        """Without what was forgotten on request; and the version of that which it was compared with."""
        screened = self._screened(key, one, fresh, there=there)
        for _, message in screened.forgotten:
            self.wrong(Fault(_named(message), _FORGOTTEN))
        return screened.allowed, screened.version if screened.compared else None

    def _screened(
        self, key: str, one: _Pending, messages: list[tuple[str, Message]], *, there: bool
    ) -> ScreenResult[tuple[str, Message]]:
        begins = (
            None
            if one.source.id is not None
            else self.begins.setdefault(_name(one.source), [hashed for hashed, _ in one.messages[:KNOWN_BY]])
        )

        def item_of(each: tuple[str, Message]) -> CheckItem:
            hashed, message = each
            said = {"raw": message.raw, "sender": message.sender or ""}
            of = MessagePlace(key, (hashed, _who(hashed, message)), begins, there)
            return replace(check_item(self.scope, None, message.text, said), place=of)

        return self.screen.split(messages, item_of)

    def _row(self, source: Source, key: str, part: _Part) -> dict[str, Any]:
        title = f"# {' '.join(source.title.split())}\n" if source.title and part.number == 1 else ""
        own = {
            "source_type": source.source_type,
            "title": source.title,
            "context_type": source.context_type,
            "provenance": json.dumps(source.provenance, ensure_ascii=False, sort_keys=True),
            "raw_content": part.raw,
            "message_ids": part.hashes,
            "message_versions": part.versions,
            "part": part.number,
            "sensitivity": "normal",
            **UNUSED,
            **part.span(),
        }
        return {
            "scope": self.scope,
            "id": part_id(key.partition("/")[2], part.number),
            "kind": KIND,
            "content": title + part.content,
            "properties": {name: value for name, value in (own | self.properties).items() if value is not None},
        }

    def _send(
        self, appends: list[dict[str, Any]], rows: list[dict[str, Any]], of: Mapping[str, tuple[_Pending, int]]
    ) -> set[int]:
        again: set[int] = set()
        if appends:
            given = {"now": self.now, "run": None, "rows": appends}
            for result in self.engine.call("ingest/write", given)["results"]:
                one, count = of[result["key"]]
                if result["outcome"] == "written":
                    self.done.messages += count
                else:
                    again.add(id(one))
        # What comes behind a part that others have changed waits for it.
        rows = [row for row in rows if id(of[key_of(self.scope, row["id"])][0]) not in again]
        if rows:
            for remembered in remember(self.engine, rows, now=self.now, agent=self.agent).results:
                assert remembered.key is not None
                one, count = of[remembered.key]
                if remembered.outcome == "written":
                    self.done.messages += count
                elif remembered.reason == "id_taken" or remembered.outcome == "reinforced":
                    again.add(id(one))
                else:
                    self.wrong(Fault(f"source {remembered.key}", remembered.detail or str(remembered.reason)))
        return again


@dataclass
class _Known:
    """By what messages are known that a dry run doesn't write."""

    ids: list[str] = field(default_factory=list)
    versions: list[str] = field(default_factory=list)

    def add(self, hashed: str, message: Message) -> None:
        self.ids.append(hashed)
        self.versions.append(str(version_of(_who(hashed, message), line_of(message), attachment=message.attachment)))


@dataclass
class _Part:
    """Messages that go together, as the ``number``-th part of their source, from 1 on."""

    number: int
    messages: list[tuple[str, Message]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def add(self, hashed: str, message: Message) -> None:
        self.messages.append((hashed, message))
        self.lines.append(line_of(message))

    @property
    def content(self) -> str:
        return "\n".join(self.lines)

    @property
    def raw(self) -> list[str]:
        return [message.raw for _, message in self.messages]

    @property
    def hashes(self) -> list[str]:
        return [hashed for hashed, _ in self.messages]

    @property
    def versions(self) -> list[str]:
        """Of each message the text that it has, as `message_versions` keeps it."""
        return [
            str(version_of(_who(*each), line, attachment=each[1].attachment))
            for each, line in zip(self.messages, self.lines, strict=True)
        ]

    def span(self) -> dict[str, Any]:
        """From when to when, and who took part."""
        moments = [message.at for _, message in self.messages if message.at]
        names = dict.fromkeys(" ".join(message.sender.split()) for _, message in self.messages if message.sender)
        return {
            "started_at": min(moments, default=None),
            "ended_at": max(moments, default=None),
            "participants": list(names),
        }


class _Stored:
    """What a source has already: its messages in all their texts, over all parts, each with a place."""

    def __init__(self, parts: Sequence[Mapping[str, Any]]) -> None:
        self._ids = [id for part in parts for id in part["message_ids"]]
        self._parts = [at for at, part in enumerate(parts) for _ in part["message_ids"]]
        self._versions = [
            each for part in parts for each in versions(part["message_ids"], part.get("message_versions"))
        ]
        self._by_id = {id: place for place, id in enumerate(self._ids)}
        self._by_who: dict[str, list[int]] = {}
        for place, version in enumerate(self._versions):
            self._by_who.setdefault(version.identity, []).append(place)

    def place_of(self, each: tuple[str, Message], coming: Mapping[str, int]) -> int | None:
        """Where a message stands, or the one that it is an edit of; None: it is new. Without an id that is the only one there
        is of its sender and moment, if it is the only one that comes: ``coming`` counts them."""
        hashed, message = each
        if hashed in self._by_id or message.id is not None:
            return self._by_id.get(hashed)
        who = _who(*each)
        same = self._by_who.get(who, [])
        is_only = who != hashed and sum(not self._versions[place].edit for place in same) == 1
        return same[-1] if is_only and coming[who] == 1 else None

    def is_edited(self, place: int, message: Message) -> bool:
        """Whether it says now what it has never said. (An older export brings nothing back.)"""
        versions = [self._versions[other] for other in self._by_who[self._versions[place].identity]]
        return bool(versions[-1].hash) and not any(version.hash == short_hash(line_of(message)) for version in versions)

    def current(self, place: int) -> Version:
        """The text that the message at ``place`` has now."""
        return self._versions[self._by_who[self._versions[place].identity][-1]]

    def part_of(self, place: int) -> int:
        """Which of the parts has the text of the message at ``place``; from 0 on."""
        return self._parts[place]

    def begins_with(self, messages: Sequence[tuple[str, Message]]) -> bool:
        """Whether it begins with these, edited or not; true of nothing."""
        firsts = [at for at, version in enumerate(self._versions) if not version.edit]
        return all(
            mine == self._ids[at] or _who(mine, message) == self._versions[at].identity
            for (mine, message), at in zip(messages, firsts, strict=False)
        )


def _parts(new: Sequence[tuple[str, Message]], there: Sequence[Mapping[str, Any]], limits: Ingest) -> Iterator[_Part]:
    """The messages in parts of at most `part_messages` and `part_characters`: the last that is ``there`` is filled up first.
    A message that is longer stands alone."""
    part = _Part(part_number(there[-1]["key"]) if there else 1)
    size, count = (there[-1]["characters"], len(there[-1]["message_ids"])) if there else (0, 0)
    for hashed, message in new:
        line = line_of(message)
        if count and (count >= limits.part_messages or size + len(line) >= limits.part_characters):
            if part.messages:
                yield part
            part, size, count = _Part(part.number + 1), 0, 0
        part.add(hashed, message)
        size += len(line) + 1
        count += 1
    if part.messages:
        yield part


def _append(last: Mapping[str, Any], part: _Part, version: int | None) -> dict[str, Any]:
    """A row of `ingest/write`."""
    return {
        **{"key": last["key"], "message_ids": last["message_ids"]},
        **{"content": part.content, "raw": part.raw, "ids": part.hashes, "versions": part.versions},
        "forgotten_as_of": version,
        **part.span(),
    }


def line_of(message: Message) -> str:
    """How a message stands in the text of its source: `[2026-01-05 10:00] Anna: what she said`, further lines indented; what she
    attached behind `Anna (attachment):`."""
    when = f"[{message.at:%Y-%m-%d %H:%M}] " if message.at else ""
    names = [*(message.sender or "").split(), *([ATTACHMENT] if message.attachment else [])]
    who = f"{' '.join(names)}: " if names else ""
    if not when and not who:
        return message.text.strip() + "\n"
    return when + who + message.text.strip().replace("\n", "\n  ")


def _name(source: Source) -> object:
    """By which a source is known while it is read. What has no id is one object as long as it lasts."""
    return id(source) if source.id is None else (source.source_type, source.id)


def _who(hashed: str, message: Message) -> str:
    """What stays the same when it is edited: its id, else sender and moment; what has neither has its hash alone."""
    if message.id is not None or message.at is None:
        return hashed
    return short_hash("at", message.sender or "", message.at.isoformat(), *_attached(message))


def _named(message: Message) -> str:
    return "a message" + (f" of {message.at.isoformat()}" if message.at else "")


def _message_hash(message: Message) -> str:
    if message.id is not None:
        return short_hash("id", message.id)
    at = message.at.isoformat() if message.at else ""
    return short_hash("said", message.sender or "", at, message.text, *_attached(message))


def _attached(message: Message) -> tuple[str, ...]:
    return (ATTACHMENT,) if message.attachment else ()


def _source_id(one: _Pending) -> str:
    if one.source.id is not None:
        return id_of(one.source.source_type, "id", one.source.id)
    return id_of(one.source.source_type, one.messages[0][0])


def id_of(*parts: str) -> str:
    """The id of the source that these tell from others."""
    return f"source-{short_hash(*parts)}"
