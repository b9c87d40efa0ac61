"""Takes over a MEMORY.md or a file like it that people or agents wrote: once, and the old file stays (seed 001)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from jochi.context.blocks import BOX, STRIKABLE, blocks, refuse_conflicts, source_lines, struck_from
from jochi.context.layout import is_ours, require_scope
from jochi.context.lines import digest
from jochi.context.manifest import Entry
from jochi.context.recognition import OLD, known_of, parts_of, without_comments
from jochi.context.rendering import Count, Rendering
from jochi.context.sections import Where, is_section, personal_lines, private_lines, section_of, text_with_headings
from jochi.context.state import Generation, State, file_hash, save_state
from jochi.context.writer import Store, render_for, taking_in
from jochi.errors import JochiError, Refused
from jochi.files import EditedMeanwhileError, keep, mend, read_text, real_file, replace_text
from jochi.text.content import content_hash, is_blank


@dataclass(frozen=True)
class Segment:
    """One thing that an old file says. ``text`` with the headings that it needs; ``headings`` all that are above it;
    ``lines`` first and last, from 1. ``private``: kinds of personal data or secrets that it shows."""

    section: Where
    text: str
    headings: tuple[str, ...]
    lines: tuple[int, int]
    private: tuple[str, ...] = ()


@dataclass(frozen=True)
class Report:
    """What became of the lines of a file: ``memories`` with their keys (None where nothing was written), ``personal`` and
    ``skipped`` by first and last line. ``kept``: the old file. ``left_out``: what is in the graph and not in the
    new file, or not whole; of a dry run what wouldn't be, as far as lines that nobody has remembered yet can be foreseen."""

    memories: tuple[tuple[Segment, str | None], ...] = ()
    personal: tuple[Segment, ...] = ()
    skipped: tuple[tuple[int, int, str], ...] = ()
    kept: Path | None = None
    already: bool = False
    left_out: tuple[Segment, ...] = ()


def read_memories(text: str) -> list[Segment]:
    """Paragraphs, items of lists, rows of tables with their columns' names, quotations, whole blocks of code and whole lists of
    numbered steps (`blocks`), in their order.

    An item stands behind the items above it, a text behind headings that say more than a section. An open task (`- [ ]`) is in
    `tasks` and loses its box; a done one is in `recent` and keeps it. What is struck out (`~~so~~`) is none.
    What stands under a personal heading is `personal`, and what shows personal data or secrets under any other.
    """
    return [*_read(text).segments]


def migrate(
    path: Path,
    store: Store,
    count: Count,
    *,
    dry_run: bool = False,
    include_sensitive: bool = False,
    shrink: bool = False,
) -> Report:
    """Remembers what ``path`` says and makes it a MEMORY.md of Jochi's. Its personal sections, and lines that show personal data
    or secrets, become the personal part; the old file stays as `<file>.pre-migration`. A file that is Jochi's is left alone,
    also where an editor dropped its comments, and `Refused` if it is another scope's.

    `Refused` where a memory of it is not in the new file, or not whole, unless ``shrink``: the memories are then in the
    graph, and the file is as it was. `JochiError` where it can't be read or written.
    Killed in between, it can be called again: the graph recognises what it has.
    """
    real = real_file(path)
    if not dry_run:
        mend(real)
    old = read_text(real) or ""
    if not old.strip():
        raise JochiError("there is nothing in this file, or no file", where=str(path), fix="name the file to take over")
    known = known_of(real, old)
    looked = store.look()
    if is_ours(old) or without_comments(old, known, looked.sections):
        require_scope(parts_of(old, known, looked.sections, str(path)), looked.scope, str(path))
        return Report(already=True)
    refuse_conflicts(old, str(path))
    found = _read(old)
    memories = [segment for segment in found.segments if segment.section != "personal"]
    personal = tuple(segment for segment in found.segments if segment.section == "personal")
    part = found.personal_part
    render_for(real, looked, part, count, include_sensitive)  # first of all, whether the personal part has room
    if dry_run:
        new = tuple(_entry(segment, count) for segment in memories)
        foreseen = render_for(real, replace(looked, entries=(*looked.entries, *new)), part, count, include_sensitive)
        left_out = _left_out(memories, [each.key for each in new], foreseen)
        return Report(tuple((segment, None) for segment in memories), personal, found.skipped, left_out=left_out)

    keys = _remembered(memories, store, path)
    rendered = render_for(real, store.manifest(), part, count, include_sensitive)
    left_out = _left_out(memories, keys, rendered)
    if left_out and not shrink:
        raise Refused(
            f"{len(left_out)} of {len(memories)} memories of this file would not be in the new one, or not whole; "
            "all are in the graph, and the file is as it was",
            where=f"{path}, lines {', '.join(str(segment.lines[0]) for segment in left_out)}",
            fix="give it more room with --max-tokens, or use --shrink if they need not be in the file",
        )
    backup = keep(real, old, OLD)
    generation = Generation(id=rendered.generation, file=file_hash(rendered.text), lines=rendered.lines)
    save_state(real, State(generations=(generation,)))

    try:
        replace_text(real, old, rendered.text)
    except EditedMeanwhileError:
        raise JochiError("somebody changed the file meanwhile", where=str(path), fix="migrate it again") from None
    return Report(tuple(zip(memories, keys, strict=True)), personal, found.skipped, backup, left_out=left_out)


def _entry(segment: Segment, count: Count) -> Entry:
    """As it would be chosen, where it is worth as much as anything."""
    key = f"line {segment.lines[0]} {digest(segment.text)}"
    tokens = count(segment.text)
    return Entry(key, segment.section, segment.text, tokens, 1.0, "new", False, content_hash(segment.text))


def _left_out(memories: Sequence[Segment], keys: Sequence[str], rendered: Rendering) -> tuple[Segment, ...]:
    """Of the memories with these keys those that the file hasn't, or not whole. Of those that say the same one stands there."""
    whole = [line for line in rendered.lines.values() if line.hash == line.whole]
    told = {line.key for line in whole} | {line.content_hash for line in whole}
    return tuple(
        segment for segment, key in zip(memories, keys, strict=True) if not told & {key, content_hash(segment.text)}
    )


def _remembered(memories: Sequence[Segment], store: Store, path: Path) -> list[str]:
    """Their keys. What must or must never be done comes first, then what the file says, in its order."""
    keys: dict[int, str] = {}
    order = sorted(range(len(memories)), key=lambda at: _OBLIGATION.search(memories[at].text) is None)
    for behind, at in enumerate(order):
        segment = memories[at]
        where, fix = f"{path}, line {segment.lines[0]}", "change or delete that line, and migrate the file again"
        with taking_in(segment.text, where, fix):
            keys[at] = store.remember(segment.section, segment.text, behind)
    return [keys[at] for at in range(len(memories))]


_OBLIGATION = re.compile(
    r"""\b(?:
      must | shall | never | always | do\ not | don't | under\ no\ circumstances
    | forbidden | mandatory | required | important | critical
    | muss | müssen | (?:darfst|darf|dürfen)\ (?:nie|nicht|kein\w*) | nie | niemals | immer | auf\ keinen\ fall
    | verboten | pflicht | wichtig
    )\b""",
    re.VERBOSE | re.IGNORECASE,
)
"""What a rule of obligation says, in English and German."""


class _Reading(NamedTuple):
    """``skipped``: the lines that say nothing to remember, with the reason. ``personal_part``: what stays in the file, as it is."""

    segments: list[Segment]
    skipped: tuple[tuple[int, int, str], ...]
    personal_part: str


def _read(text: str) -> _Reading:
    """All that a file says."""
    lines = source_lines(text)
    text, skipped = _without_front_matter(text)
    segments: list[Segment] = []
    found = blocks(text, apart=True, is_section=is_section)
    shown = private_lines(found)
    private = personal_lines(found, (), lines) | shown.keys()
    for block in found:
        section = "personal" if block.first in private else section_of(block.path)
        if block.comments and section != "personal" and not block.is_comment:
            skipped.append((block.first, block.last, "a comment in it"))
        if block.is_comment:
            skipped.append((block.first, block.last, "a comment"))
            continue
        if section != "personal" and block.kind in STRIKABLE and (left := struck_from(block)) != block.text:
            skipped.append((block.first, block.last, "struck-out text in it" if left else "struck out"))
            block = replace(block, text=left)
        box = BOX.match(block.text) if block.kind == "item" else None
        if block.kind in ("title", "heading") or is_blank(block.text[box.end() :] if box else block.text):
            continue
        if block.kind == "bare heading" and is_section(block.text):
            skipped.append((block.first, block.last, "a heading with nothing below it"))
        else:
            paragraph = text_with_headings(replace(block, text=block.text[box.end() :] if box else block.text))
            if box and section != "personal":
                section, paragraph = ("tasks", paragraph) if box[1] == " " else ("recent", box[0] + paragraph)
            segments.append(
                Segment(section, paragraph, block.headings, (block.first, block.last), shown.get(block.first, ()))
            )
    part = "".join(lines[at - 1] for at in sorted(private)).strip("\r\n")
    return _Reading(segments, tuple(skipped), part + "\n" if part else "")


def _without_front_matter(text: str) -> tuple[str, list[tuple[int, int, str]]]:
    found = _FRONT_MATTER.match(text)
    if found is None:
        return text, []
    lines = len(source_lines(found[0]))
    return "\n" * lines + text[found.end() :], [(1, lines, "front matter")]


_FRONT_MATTER = re.compile(r"\A\ufeff?---[ \t]*\r?\n(?=[\w-]+:)(?:.*\n)*?---[ \t]*(?:\r?\n|\Z)")
