"""Plain text: each paragraph is a message."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import tzinfo

from jochi.text.content import is_blank
from jochi.write.ingesting.input_file import InputFile
from jochi.write.ingesting.source import Fault, Message, Piece, Source, clean

NAME = "text"
LONGEST = 32_000
"""Characters of a paragraph; one that is longer is divided at the end of a line."""


def knows(file: InputFile) -> bool:
    """Any other text."""
    return True


def read(file: InputFile, zone: tzinfo) -> Iterator[Piece]:
    """The paragraphs, which blank lines part, in their order. They have neither sender nor time."""
    source = Source("text-note", provenance=file.provenance(NAME))
    held: list[str] = []
    size = 0
    for _, line in file.lines():
        if isinstance(line, Fault):
            yield line
            continue
        if held and (size > LONGEST or not line.strip()):
            yield from _paragraph(source, held)
            held, size = [], 0
        if line.strip():
            held.append(line)
            size += len(line)
    yield from _paragraph(source, held)


def _paragraph(source: Source, lines: list[str]) -> Iterator[Piece]:
    text = clean("\n".join(lines))
    if not is_blank(text):
        yield source, Message(None, None, None, text, text)
