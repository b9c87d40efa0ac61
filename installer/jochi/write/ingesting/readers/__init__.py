"""The formats of raw sources by name, and which of them a file has (docs/reference/ingesting.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timezone, tzinfo
from pathlib import Path
from typing import IO

from jochi.errors import UsageError
from jochi.write.ingesting.input_file import InputFile, open_input
from jochi.write.ingesting.readers import (
    chatgpt,
    claude,
    claude_code,
    codex,
    conversation,
    copilot_cli,
    gemini_cli,
    locomo,
    mail,
    markdown,
    pi,
    signal,
    slack,
    telegram,
    text,
    transcript,
    whatsapp,
)
from jochi.write.ingesting.source import Piece

Reader = Callable[[InputFile, tzinfo], Iterator[Piece]]

_BY_SHAPE = (
    signal,
    markdown,
    mail,
    locomo,
    telegram,
    slack,
    claude_code,
    codex,
    gemini_cli,
    copilot_cli,
    pi,
    chatgpt,
    claude,
    conversation,
    whatsapp,
    transcript,
    text,
)
"""Modules of readers, the narrowest shape first: the first whose `knows` says yes reads the file."""

READERS: dict[str, Reader] = {reader.NAME: reader.read for reader in _BY_SHAPE}
"""Each reads an open file as a stream of messages with their sources, of faults, and of what was left out on purpose; a naive
time is in the zone."""


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
            yield from read_opened(file, format or guess(file), zone)


def read_opened(file: InputFile, format: str, zone: tzinfo) -> Iterator[Piece]:
    """The pieces of an open file, read as ``format``."""
    try:
        yield from READERS[format](file, zone)
    except OSError as error:
        raise UsageError(
            f"the file can't be read from here on: {error.strerror or error}",
            where=file.where,
            fix="look at its disk",
        ) from None


def guess(file: InputFile) -> str:
    """The format of a file by its suffix and by how it begins; `text` if nothing else fits."""
    name: str = next(reader.NAME for reader in _BY_SHAPE if reader.knows(file))
    return name
