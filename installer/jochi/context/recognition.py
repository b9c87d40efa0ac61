"""Knows a file of Jochi's again whose header, or all of whose comments, an editor dropped: by what stands beside it."""

from __future__ import annotations

import glob
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from jochi.context.blocks import Block, blocks, refuse_conflicts, source_lines
from jochi.context.layout import TITLE, Parts, is_ours, scope_label, split_file
from jochi.context.lines import digest, plain, without_earlier
from jochi.context.manifest import Section
from jochi.context.state import Generation, State, load_state
from jochi.files import read_text

OLD = "pre-migration"
"""The suffix of a copy of the file that was taken over."""


def known_of(path: Path, text: str) -> State:
    """What is known of the file ``path``: nothing where it is still, or again, the file that was taken over."""
    copies = () if is_ours(text) else path.parent.glob(f"{glob.escape(path.name)}.{OLD}*")
    return State() if any(copy.is_file() and read_text(copy) == text for copy in copies) else load_state(path)


def parts_of(text: str, state: State, sections: Iterable[Section], where: str) -> Parts:
    """`split_file`, also of a file without its comments."""
    parts = without_comments(text, state, sections)
    if parts is not None:
        refuse_conflicts(parts.rest, where)
        return parts
    parts = split_file(text, where)
    known = None if parts.generation else _generation(blocks(parts.rest, apart=False), state)
    return replace(parts, scope=_scope(known), generation=known.id) if known else parts


def without_comments(text: str, state: State, sections: Iterable[Section]) -> Parts | None:
    """The parts of a file of Jochi's in which nothing says so any more; None where it isn't known by ``state``.

    What stands before the first section with a line of Jochi's is personal: nobody knows where the personal part ended.
    """
    if is_ours(text) or not state.generations:
        return None
    found = blocks(text, apart=False)
    generation = _generation(found, state)
    if generation is None:
        return None
    titles = {plain(section.title) for section in sections}
    hashes = {line.hash for line in generation.lines.values()}
    start: int | None = None
    for before, block in zip([None, *found], found, strict=False):
        if block.is_heading:
            goes_on = before is not None and before.kind == "bare heading"  # all lines of that section were struck
            start = (start if start and goes_on else block.first) if block.text in titles else None
        elif start is not None and _said(block) & hashes:
            break
    else:
        return None
    lines = source_lines(text.removeprefix("\ufeff"))
    personal = lines[: start - 1]
    if personal and personal[0].strip() == TITLE:
        del personal[0]
    return Parts(
        scope=_scope(generation),
        generation=generation.id,
        personal="".join(personal).strip("\r\n") + "\n" if "".join(personal).strip() else "",
        rest="\n" * (start - 1) + "".join(lines[start - 1 :]),
    )


def _generation(found: Iterable[Block], state: State) -> Generation | None:
    """The one of which most lines stand there, and at least half."""
    said = {each for block in found for each in _said(block)}
    there = [(sum(line.hash in said for line in each.lines.values()), each) for each in state.generations]
    known = [(number, each) for number, each in there if number and 2 * number >= len(each.lines)]
    return max(known, key=lambda one: one[0])[1] if known else None


def _said(block: Block) -> set[str]:
    return {digest(block.text), digest(without_earlier(block.text))}


def _scope(generation: Generation) -> str:
    return scope_label(next(iter(generation.lines.values())).key.partition("/")[0])
