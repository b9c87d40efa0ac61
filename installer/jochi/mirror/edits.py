"""What a person wrote into a file of the mirror, as edits of the graph (docs/reference/mirror.md).

Three ways, as in MEMORY.md: what was written (its hashes stand in the front matter), what stands there, what the graph says now.
"""

from __future__ import annotations

import re

from jochi.context.blocks import refuse_conflicts
from jochi.context.edits import Addition, Change, Edit, Strike, compare
from jochi.context.manifest import Entry
from jochi.context.state import Line
from jochi.context.writer import refuse_many
from jochi.errors import Refused
from jochi.mirror.document import Document, visible_text
from jochi.mirror.kinds import BY_LABEL, Memory, shown_parts
from jochi.text.content import content_hash, is_blank
from jochi.text.imports import unescape_imports

_SECTION = "insights"
"""Of seed 001's sections the one for everything else: files of the mirror have none."""


def edits_of(document: Document, memory: Memory | None, where: str, *, strike_many: bool) -> tuple[Edit, ...]:
    """Of a file that somebody edited; ``memory``: what the graph says now, None where it has no file any more. `Refused` where it
    can't be told what is meant."""
    if (memory is not None and BY_LABEL[memory.kind].adds) or "lines" in document.front:
        return _of_lines(document, memory, where, strike_many)
    refuse_conflicts(document.body, where)
    text, written = visible_text(unescape_imports(document.body)), document.front.get("content_hash")
    if memory is None or memory.text is None:  # it is nobody's any more, or nobody may read it here
        return () if is_blank(text) else (Addition(_SECTION, text),)
    if visible_text(memory.text) == text:
        return ()
    if not isinstance(written, str):
        raise Refused(
            "the front matter doesn't say any more what the text was made from",
            where=where,
            fix="put back its `content_hash`, or delete the file: it is made again",
        )
    known = memory.content_hash if content_hash(memory.text) == written else written
    if is_blank(text):
        return (Strike(memory.key, known),)
    return (Change(memory.key, known, text, _SECTION),)


_TITLE = re.compile(r"\A# [^\r\n]*")


def _of_lines(document: Document, memory: Memory | None, where: str, strike_many: bool) -> tuple[Edit, ...]:
    given = document.front.get("lines")
    scope = str(document.front["key"]).partition("/")[0]
    lines = _lines(given, f"{scope}/") if isinstance(given, dict) else None
    if lines is None:
        raise Refused(
            "the front matter doesn't say any more which line is which memory",
            where=where,
            fix="put back its `lines`, or delete the file: it is made again",
        )
    now = shown_parts(memory) if memory else {}
    hashes = {part.key: part.content_hash for part in now.values()}
    same = {part.key: content_hash(part.text) for part in now.values()}
    lines = {
        line: each._replace(content_hash=hashes[each.key]) if same.get(each.key) == each.content_hash else each
        for line, each in lines.items()
    }
    entries = [Entry(part.key, _SECTION, part.text, 0, 0, "", False, part.content_hash) for part in now.values()]
    body = _TITLE.sub("", document.body)  # it is Jochi's, and a name such as "Personal trainer" makes nothing personal
    found = compare(body, lines, entries, where)
    if found.personal.strip():
        raise Refused(
            "a comment, or what stands under a personal heading, has no place in this file: it is made anew from the graph",
            where=where,
            fix="keep it in the personal part of MEMORY.md, or in a file of your own",
        )
    if not strike_many:
        refuse_many(where, len(found.strikes), len(lines))
    return found.in_order()


def _lines(given: dict[str, object], begin: str) -> dict[str, Line] | None:
    found = {}
    for line, each in given.items():
        if not (isinstance(each, list) and len(each) == 3 and all(isinstance(one, str) for one in each)):
            return None
        key, hash, written = each
        if not key.startswith(begin):
            return None
        found[line] = Line(key, hash, written, hash)
    return found
