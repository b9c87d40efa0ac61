"""The formats of raw sources by name, and which of them a file has (docs/reference/ingesting.md)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import timezone, tzinfo
from pathlib import Path
from typing import IO

from jochi.errors import UsageError
from jochi.write.ingesting.input_file import InputFile, open_input
from jochi.write.ingesting.readers import conversation, locomo, mail, markdown, slack, text, transcript
from jochi.write.ingesting.source import Piece

Reader = Callable[[InputFile, tzinfo], Iterator[Piece]]

READERS: dict[str, Reader] = {
    reader.NAME: reader.read for reader in (conversation, mail, slack, transcript, text, markdown, locomo)
}
"""Each reads an open file as a stream of messages with their sources, and of faults; a naive time is in the zone."""

_BY_SUFFIX = {
    ".eml": mail.NAME,
    ".mbox": mail.NAME,
    ".mbx": mail.NAME,
    ".vtt": transcript.NAME,
    ".srt": transcript.NAME,
    ".md": markdown.NAME,
    ".markdown": markdown.NAME,
    ".jsonl": conversation.NAME,
    ".ndjson": conversation.NAME,
}
_LOCOMO = re.compile(r'"(?:sample_id|dia_id|session_\d+)"\s*:|"evidence"\s*:\s*\[\s*"D\d+:\d+')
_SLACK = re.compile(r'"ts"\s*:\s*"\d{9,11}\.\d{6}"')
_MAIL_HEADERS = re.compile(
    r"^(?:Message-ID|MIME-Version|Received|Return-Path|Delivered-To|Date|From|To|Subject):", re.I | re.M
)


def read(
    source: Path | str | IO[bytes], *, format: str | None = None, zone: tzinfo = timezone.utc, name: str | None = None
) -> Iterator[Piece]:
    """The messages of a file or of a stream of bytes, each with its source, in the order of the file, and what couldn't be read.

    ``format`` is one of `READERS`; without it the file's name and first characters tell. ``zone`` is that of times that name
    none. ``name`` stands for the file's own. JSON Lines, e-mail, transcripts and text are streamed. Raised while iterating:
    UsageError for what can't be opened, is no text, or is no file of that format; `JochiError` where a library is missing.
    """
    if format is not None and format not in READERS:
        raise UsageError(f"the format {format!r} is unknown", fix=f"give one of {', '.join(READERS)}")
    with open_input(source, name) as file:
        if file.head:
            try:
                yield from READERS[format or guess(file)](file, zone)
            except OSError as error:
                raise UsageError(
                    f"the file can't be read from here on: {error.strerror or error}",
                    where=file.where,
                    fix="look at its disk",
                ) from None


def guess(file: InputFile) -> str:
    """The format of a file by its suffix, else by how it begins; `text` if nothing else fits."""
    suffix = Path(file.name or "").suffix.lower()
    if suffix in _BY_SUFFIX:
        return _BY_SUFFIX[suffix]
    start = file.start().lstrip("\ufeff \t\r\n")
    if start.startswith(("{", "[{", "[\n", "[\r", "[ ")):
        if _LOCOMO.search(start):
            return locomo.NAME
        return slack.NAME if _SLACK.search(start) else conversation.NAME
    if transcript.CUES.match(start):
        return transcript.NAME
    head, _, _ = start.replace("\r\n", "\n").partition("\n\n")
    if _is_header(re.sub(r"\AFrom .*\n", "", head)):
        return mail.NAME
    return transcript.NAME if _are_turns(start) else text.NAME


def _is_header(head: str) -> bool:
    lines = head.split("\n")
    return all(re.match(r"[\w-]+:|[ \t]", line) for line in lines) and len(_MAIL_HEADERS.findall(head)) >= 3


def _are_turns(start: str) -> bool:
    """Whether most lines say who speaks, and one speaks again."""
    lines = [line for line in start.split("\n")[:200] if line.strip()]
    turns = [found for line in lines if len(line) < 4_000 and (found := transcript.turn(line.rstrip("\r")))]
    return len(turns) >= 3 and 2 * len(turns) >= len(lines) and len({each.sender for each in turns}) < len(turns)
