"""Markdown: headings, paragraphs, items of lists and rows of tables are messages."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, tzinfo

from jochi.errors import UsageError
from jochi.extras import extra_named
from jochi.text.content import is_blank
from jochi.text.markdown import Block, front_matter, sections
from jochi.text.visible import visible
from jochi.write.ingesting.input_file import InputFile
from jochi.write.ingesting.moments import moment
from jochi.write.ingesting.source import Message, Piece, Source, clean

NAME = "markdown"
LONGEST = 1024 * 1024
"""Characters of a file."""
_LONGEST_FRONT = 64 * 1024
"""Characters of YAML; what is longer is a message, and states nothing."""


def knows(file: InputFile) -> bool:
    """Whether its name says that it is Markdown."""
    return file.suffix in (".md", ".markdown")


def read(file: InputFile, zone: tzinfo) -> Iterator[Piece]:
    """The blocks of a file in their order; `title` and `date` of YAML at its head are those of all. The file is read whole."""
    text = file.text()
    if len(text) > LONGEST:
        raise UsageError("the file is longer than 1 MB", where=file.where, fix="divide it, or give it as text")
    text = visible(text)
    front = front_matter(text)
    found = sections(text)
    stated = _stated(front)
    title = stated.get("title")
    if not isinstance(title, str | int | float | date):  # a text made of lists within lists could become endless
        title = next((section.title for section in found if section.title), "")
    source = Source("text-note", title=clean(str(title)) or None, provenance=file.provenance(NAME))
    at = _moment(stated.get("date"), zone)
    if front:
        yield from _message(source, at, front.strip("-\n"), front)
    for section in found:
        if section.title:
            yield from _message(source, at, section.title, f"{'#' * section.level} {section.title}")
        for block in section.blocks:
            if block.kind != "comment":
                yield from _message(source, at, _text_of(block), block.source)


def _message(source: Source, at: datetime | None, text: str, raw: str) -> Iterator[Piece]:
    text = clean(text)
    if not is_blank(text):
        yield source, Message(None, at, None, text, clean(raw))


def _text_of(block: Block) -> str:
    if block.kind != "row":
        return block.source
    return "; ".join(f"{head}: {cell}" for head, cell in block.cells.items() if cell)


def _stated(front: str) -> dict[object, object]:
    """What the YAML at the head of a file says; nothing where it is no map, broken, or long."""
    if not 0 < len(front) <= _LONGEST_FRONT:
        return {}
    with extra_named():
        import yaml
    try:
        found = yaml.safe_load(front.strip("-\n"))
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _moment(value: object, zone: tzinfo) -> datetime | None:
    return moment(value.isoformat() if isinstance(value, date) else value, zone)
