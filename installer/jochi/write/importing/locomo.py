"""LoCoMo files: long conversations with dated observations (DESIGN §4, "LoCoMo as input")."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

from pydantic_core import from_json

from jochi.errors import UsageError
from jochi.write.importing import line as lines
from jochi.write.importing.files import Source
from jochi.write.importing.result import BadLine
from jochi.write.record import MemoryRecord, Place

BELIEF_CONFIDENCE = 0.8

SESSION = re.compile(r"session_([1-9][0-9]{0,8})")
_OBSERVATIONS = re.compile(r"session_([1-9][0-9]{0,8})_observation")
_TURN_ID = re.compile(r"D[0-9]+:[0-9]+")
_DATE_FORMAT = "%I:%M %p on %d %B, %Y"

Json = dict[str, Any]


def read(
    source: Source,
    *,
    now: datetime,
    kinds: frozenset[str],
    on_bad: Callable[[BadLine], None],
    on_note: Callable[[str], None],
) -> Iterator[MemoryRecord]:
    """The memories of a LoCoMo file, sample by sample. The file is read whole: it is one JSON array.

    What can't be read goes to ``on_bad`` with the sample and session it stands in; evidence that names no turn is a
    note. UsageError if the array isn't LoCoMo.
    """
    place = Place(str(source.path))
    scopes: set[str] = set()
    for number, sample in enumerate(_samples(source), start=1):
        scope = sample["sample_id"]
        where = f"sample {scope!r}"
        if scope in scopes:
            on_bad(BadLine(place.file, None, f"sample {number}: the sample_id {scope!r} is used before"))
            continue
        scopes.add(scope)
        keys: set[str] = set()
        for part, found in _memories(sample, on_note):
            try:
                if isinstance(found, ValueError):
                    raise found
                record = lines.record({"scope": scope, **found}, now=now, kinds=kinds, place=place)
                if record.key in keys:
                    raise ValueError(f"the id {record.id!r} is used twice")
            except ValueError as error:
                on_bad(BadLine(place.file, None, f"{where} {part}: {error}"))
            else:
                keys.add(record.key)
                yield record


def check(source: Source) -> None:
    """UsageError unless the file is a JSON array of LoCoMo samples."""
    _samples(source)


def session_date(text: object) -> datetime:
    """The date of a session, such as `1:56 pm on 8 May, 2023`, taken as UTC."""
    if not isinstance(text, str):
        raise ValueError("its date is missing")
    try:
        return datetime.strptime(text.strip(), _DATE_FORMAT).replace(tzinfo=timezone.utc)
    except ValueError:
        raise ValueError(f"its date {text!r} isn't written like '1:56 pm on 8 May, 2023'") from None


def turn_ids(evidence: object) -> list[str]:
    """The turns that an evidence value names: one id, several in one text (`D1:3; D1:4`), or lists of such."""
    if isinstance(evidence, list):
        return list(dict.fromkeys(id for item in evidence for id in turn_ids(item)))
    return list(dict.fromkeys(_TURN_ID.findall(evidence))) if isinstance(evidence, str) else []


def _samples(source: Source) -> list[Json]:
    try:
        data = from_json(source.stream.read(), allow_inf_nan=False)
    except (ValueError, OSError, EOFError) as error:
        raise UsageError(
            f"the file begins like a JSON array and isn't one: {error}",
            where=str(source.path),
            fix="give JSON Lines (one object a line) or a LoCoMo file",
        ) from error
    if not all(
        isinstance(item, dict) and isinstance(item.get("conversation"), dict) and isinstance(item.get("sample_id"), str)
        for item in data
    ):
        raise UsageError(
            "this JSON array isn't LoCoMo: its objects need a conversation and a sample_id",
            where=str(source.path),
            fix="write one object a line (JSON Lines), without the brackets and commas",
        )
    return list(data)


def _memories(sample: Json, on_note: Callable[[str], None]) -> Iterator[tuple[str, Json | ValueError]]:
    conversation = sample["conversation"]
    dates: dict[int, datetime] = {}
    known: set[str] = set()
    for number in sorted(int(m[1]) for name in conversation if (m := SESSION.fullmatch(name))):
        part = f"session_{number}"
        turns = conversation[part]
        try:
            dates[number] = session_date(conversation.get(f"{part}_date_time"))
            if not isinstance(turns, list):
                raise ValueError("is no list of turns")
        except ValueError as error:
            yield part, error
            continue
        spoken: list[tuple[str, Json]] = []
        for position, turn in enumerate(turns):
            try:
                spoken.append((f"{part} turn {position + 1}", turn_of(turn, number, position, dates[number])))
            except ValueError as error:
                yield f"{part} turn {position + 1}", error
        known.update(turn["id"] for _, turn in spoken)
        yield from ((part, memory) for memory in _session(number, dates[number], [turn for _, turn in spoken]))
        yield from spoken
    yield from _observations(sample, dates, known, on_note)


def _session(number: int, date: datetime, turns: list[Json]) -> Iterator[Json]:
    id = f"session_{number}"
    yield {
        "kind": "SessionContext",
        "id": id,
        "active": False,
        "created_at": date,
        "last_active_at": date,
        "turns": len(turns),
    }
    yield {
        "kind": "CompressedContext",
        "id": f"{id}.full",
        "compression_level": "full",
        "content": "\n".join(f"{turn['speaker']}: {turn['content']}" for turn in turns),
        "created_at": date,
        "relationships": [{"type": "PART_OF", "to": id}],
    }


def turn_of(turn: object, number: int, position: int, date: datetime) -> Json:
    """A turn as a line of a file states a memory. ValueError says what is wrong with it."""
    if not isinstance(turn, dict):
        raise ValueError("is no object")
    for name in ("dia_id", "speaker", "text"):
        if not isinstance(turn.get(name), str):
            raise ValueError(f"{name} is missing or no text")
    content = turn["text"]
    if isinstance(turn.get("blip_caption"), str):
        content = f"{content} [shared image: {turn['blip_caption']}]".lstrip()
    return {
        "kind": "MemoryEntry",
        "id": turn["dia_id"],
        "content": content,
        "speaker": turn["speaker"],
        # Seconds keep the order of the turns; the file dates sessions only.
        "created_at": date + timedelta(seconds=position),
        "relationships": [{"type": "PART_OF", "to": f"session_{number}"}],
    }


def _observations(
    sample: Json, dates: dict[int, datetime], known: set[str], on_note: Callable[[str], None]
) -> Iterator[tuple[str, Json | ValueError]]:
    by_session = sample.get("observation") or {}
    if not isinstance(by_session, dict):
        yield "observation", ValueError("is no object")
        return
    for name, by_speaker in by_session.items():
        match = _OBSERVATIONS.fullmatch(name)
        if match is None or not isinstance(by_speaker, dict):
            yield f"observation {name!r}", ValueError("isn't session_<n>_observation with its speakers")
            continue
        number = int(match[1])
        if number not in dates:
            yield name, ValueError("its session is missing or has no date")
            continue
        count = 0
        for speaker, items in by_speaker.items():
            for item in items if isinstance(items, list) else [items]:
                count += 1
                part = f"{name} {count}"
                if not isinstance(item, list) or len(item) != 2 or not isinstance(item[0], str):
                    yield part, ValueError("isn't a pair of text and evidence")
                    continue
                evidence = turn_ids(item[1])
                if not evidence:
                    on_note("observations whose evidence names no turn")
                for _ in set(evidence) - known:
                    on_note("evidence to turns that the sample doesn't have")
                yield (
                    part,
                    {
                        "kind": "Belief",
                        "id": f"obs_{number}_{count}",
                        "content": item[0],
                        "subject": speaker,
                        "state": "active",
                        "confidence": BELIEF_CONFIDENCE,
                        "created_at": dates[number],
                        "relationships": [{"type": "EVIDENCE", "to": id} for id in evidence if id in known],
                    },
                )
