"""LoCoMo: each session of each sample is a source, each turn a message."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import tzinfo

from jochi.errors import UsageError
from jochi.text.content import is_blank
from jochi.write.importing.locomo import SESSION, session_date, turn_of
from jochi.write.ingesting.input_file import InputFile
from jochi.write.ingesting.json_values import Json, readable, whole
from jochi.write.ingesting.source import Fault, Message, Piece, Source, clean

NAME = "locomo"

_LOCOMO = re.compile(r'"(?:sample_id|dia_id|session_\d+)"\s*:|"evidence"\s*:\s*\[\s*"D\d+:\d+')


def knows(file: InputFile) -> bool:
    """Whether it is JSON with LoCoMo's names in it."""
    return file.is_json() and _LOCOMO.search(file.start()) is not None


def read(file: InputFile, zone: tzinfo) -> Iterator[Piece]:
    """The turns, sample by sample and session by session. Dates are UTC, as `jochi import` has them. The file is read whole."""
    samples = whole(file)
    if not isinstance(samples, list):
        samples = [samples]
    for number, sample in enumerate(samples, 1):
        if not isinstance(sample, dict) or not isinstance(sample.get("conversation"), dict):
            raise UsageError(
                f"sample {number} isn't LoCoMo: it has no conversation",
                where=file.where,
                fix="name the format of the file",
            )
        yield from _sample(sample, number, file)


def _sample(sample: Json, number: int, file: InputFile) -> Iterator[Piece]:
    conversation = sample["conversation"]
    id = sample.get("sample_id")
    name = (clean(id) if isinstance(id, str) else "") or f"sample {number}"
    for session in sorted(int(found[1]) for key in conversation if (found := SESSION.fullmatch(key))):
        part = f"session_{session}"
        where = f"{name} {part}"
        turns = conversation[part]
        try:
            date = session_date(conversation.get(f"{part}_date_time"))
        except ValueError:
            yield Fault(where, "The session has no date written like '1:56 pm on 8 May, 2023'.")
            continue
        source = Source("conversation", f"{name}/{part}", f"{name}, session {session}", None, file.provenance(NAME))
        for position, turn in enumerate(turns if isinstance(turns, list) else []):
            try:
                line = turn_of(turn, session, position, date)
                text = clean(line["content"])
                if is_blank(text):
                    raise ValueError("it says nothing")
                yield (
                    source,
                    Message(
                        clean(line["id"]) or None,
                        line["created_at"],
                        clean(line["speaker"]) or None,
                        text,
                        readable(turn),
                    ),
                )
            except ValueError as error:
                yield Fault(f"{where} turn {position + 1}", f"The turn can't be read: {error.args[0]}.")
