"""What a person changed in the file, three ways: the line as it was written, the line as it is, the memory as it is now."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

from jochi.context.blocks import BOX, STRIKABLE, Block, blocks, refuse_conflicts, source_lines, struck_from
from jochi.context.layout import Parts, cut_off, require_scope, without_markers
from jochi.context.lines import digest, digests, is_earlier, marks_in, without_earlier, without_marks
from jochi.context.manifest import Entry, Manifest, Section
from jochi.context.recognition import parts_of
from jochi.context.sections import is_section, personal_lines, private_lines, section_of, text_with_headings
from jochi.context.state import AppliedEdit, Generation, Line, State, file_hash
from jochi.errors import Refused
from jochi.text.content import content_hash, is_blank
from jochi.text.visible import visible


class Addition(NamedTuple):
    section: str
    text: str


class Change(NamedTuple):
    """``old_hash``: the memory's content hash when its line was written. ``section``: where the line stands."""

    key: str
    old_hash: str | None
    text: str
    section: str


class Strike(NamedTuple):
    """``old_hash``: the memory's content hash when its line was written."""

    key: str
    old_hash: str | None


class Completion(NamedTuple):
    """Of the task that a line is, whose box was ticked. ``old_hash``: the memory's content hash when its line was written."""

    key: str
    old_hash: str | None


class Conflict(NamedTuple):
    """The graph's text stays. What the person wrote, if anything, comes in as a memory of its own, in ``added``."""

    key: str
    text: str
    why: str


Edit = Strike | Change | Completion | Addition


@dataclass(frozen=True)
class Edits:
    """``personal``: what stands under personal headings outside of the personal part, and comments: to be moved there.
    ``known``: whether the file's generation is; if not, nothing is said of the lines that have an id. ``left``: keys of memories
    that came from this file when its other edits were refused, and that it doesn't say any more."""

    additions: tuple[Addition, ...] = ()
    changes: tuple[Change, ...] = ()
    strikes: tuple[Strike, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    personal: str = ""
    known: bool = True
    left: tuple[str, ...] = ()
    completions: tuple[Completion, ...] = ()

    def in_order(self) -> tuple[Edit, ...]:
        """What is struck, what changed, what is done, what is new: in this order, so that a text which was moved into another
        memory isn't taken for the one that goes."""
        return (*self.strikes, *self.changes, *self.completions, *self.additions)

    def __bool__(self) -> bool:
        return bool(self.in_order() or self.conflicts or self.personal)


def edits(
    file_text: str, state: State, manifest: Manifest, *, where: str = "MEMORY.md", cut_is_meant: bool = False
) -> Edits:
    """What to do so that the graph has what the person wrote. `Refused` where that can't be told: what is personal, a line
    that was swallowed by a block of code, a conflict of git, a file that was cut off (unless ``cut_is_meant``)."""
    parts = parts_of(file_text, state, manifest.sections, where)
    require_scope(parts, manifest.scope, where)
    generation = state.generation(parts.generation)
    taken = state.taken_from(parts.generation)
    if generation and generation.file == file_hash(file_text) and not taken:
        return Edits()
    is_cut = (
        parts.generation is not None and not parts.whole and not (generation and _has_last_line(generation, parts.rest))
    )
    if is_cut and not cut_is_meant:
        raise cut_off(where)
    lines = state.lines(generation) if generation else None
    return _Comparison(parts, lines, manifest.sections, manifest.entries, taken, where, keeps_private=True).edits()


def _has_last_line(generation: Generation, rest: str) -> bool:
    """What an editor without comments, or a release that wrote no end, left whole is. An id stands behind its line's words."""
    return not generation.lines or [*generation.lines][-1] in marks_in(rest)


def compare(text: str, lines: dict[str, Line], entries: Iterable[Entry], where: str) -> Edits:
    """The same for a file of lines with ids that has neither a header nor a personal part. ``lines``: as they were written;
    ``entries``: what the graph says now."""
    refuse_conflicts(text, where)
    return _Comparison(Parts(None, None, "", text), lines, (), entries, (), where).edits()


class _Comparison:
    """One file against the lines of its generation (None where that is unknown), what the graph says now, and what it
    has of its edits. ``keeps_private``: it has a personal part, to which lines go that show personal data or secrets."""

    def __init__(
        self,
        parts: Parts,
        lines: dict[str, Line] | None,
        sections: tuple[Section, ...],
        entries: Iterable[Entry],
        taken: Iterable[AppliedEdit],
        where: str,
        *,
        keeps_private: bool = False,
    ) -> None:
        self.known, self.where = lines is not None, where
        self.content_hash = cache(content_hash)
        self.lines = lines or {}
        self.sections = sections
        self.now = {entry.key: visible(entry.text).strip() for entry in entries}
        self.added: list[Addition] = []
        self.changed: list[Change] = []
        self.struck: list[Strike] = []
        self.completed: list[Completion] = []
        self.conflicts: list[Conflict] = []

        found = blocks(parts.rest, apart=False, is_section=lambda heading: is_section(heading, self.sections))
        source = source_lines(parts.rest)
        private = personal_lines(found, self.sections, source)
        if keeps_private:
            private |= self._newly_private(found)
        own: set[int] = set()
        kept_back: set[int] = set()
        comments: list[str] = []
        said: set[str] = set()
        self.there: dict[str, list[Block]] = defaultdict(list)
        self.free: list[Block] = []
        self.withheld: set[str] = set()
        self.ticked: set[str] = set()
        for block in map(self._without_box, map(self._without_struck, map(self._without_earlier, found))):
            here = set(range(block.first, block.last + 1))
            is_personal = block.first in private
            if block.is_comment and block.kind == "html":
                private |= here
            elif block.id in self.lines:
                if is_personal and block.text and digest(block.text) != self.lines[block.id].hash:
                    self.withheld.add(block.id)
                    kept_back |= here
                    continue
                self.there[block.id].append(block)
                own |= here
                comments += block.comments
            elif not is_personal:
                comments += block.comments
                if not (block.id and not self.known) and self._says_something(block):
                    self.free.append(block)
            if not is_personal:
                said |= {digest(block.text), digest(text_with_headings(block, self.sections))}
        private = private - own | kept_back
        moved = "".join(without_marks(source[at - 1]) for at in sorted(private)).strip("\r\n")
        self.personal = without_markers("\n".join(filter(None, (moved, *comments))))
        self.left = tuple(each.key for each in taken if each.text is not None and each.text not in said)
        unread = (marks_in(parts.rest) & self.lines.keys()) - self.there.keys() - self.withheld
        for line_id in sorted(unread):
            at = next(at for at, line in enumerate(source, 1) if line_id in marks_in(line))
            raise Refused(
                f"Jochi's line {line_id} stands in a quotation, a table, HTML, code or a comment, where it can't be read",
                where=f"{where}, line {at}",
                fix="close the block before it, or delete the line if it should go",
            )

    def _newly_private(self, found: Iterable[Block]) -> set[int]:
        """Lines that show personal data or secrets, and whose memory doesn't."""
        from jochi.text.private_data import private_kinds  # as in `sections.private_lines`

        known = {
            at
            for block in found
            if block.id in self.lines and private_kinds(self.now.get(self.lines[block.id].key, ""))
            for at in range(block.first, block.last + 1)
        }
        return private_lines(found).keys() - known

    def _says_something(self, block: Block) -> bool:
        titles_only = block.kind == "bare heading" and is_section(block.text, self.sections)
        return not (block.kind in ("title", "heading") or titles_only or is_blank(block.text))

    def edits(self) -> Edits:
        gone = [line_id for line_id in self.lines if line_id not in self.there]
        for line_id in gone:
            self._without_its_id(line_id)
        for line_id, line in self.lines.items():
            self._compare(line_id, line, self.there.get(line_id, []))
        self._add_free()
        return Edits(
            tuple(dict.fromkeys(self.added)),
            tuple(self.changed),
            tuple(self.struck),
            tuple(self.conflicts),
            self.personal and self.personal + "\n",
            self.known,
            self.left,
            tuple(self.completed),
        )

    def _without_its_id(self, line_id: str) -> None:
        """Takes a line without an id for the one that is gone, if it says the same: else a memory would be struck, and the text
        that stays would be taken for that memory again."""
        line = self.lines[line_id]
        block = next((each for each in self.free if digest(each.text) == line.hash), None) or next(
            (each for each in self.free if self.content_hash(each.text) == line.content_hash), None
        )
        ticked = (each for each in self.free if each.kind == "item" and digest(BOX.sub("", each.text)) == line.hash)
        if block is None and (block := next(ticked, None)) is not None:
            self.ticked.add(line_id)
            self.free.remove(block)
            self.there[line_id] = [replace(block, text=BOX.sub("", block.text))]
        elif block is not None:
            self.free.remove(block)
            self.there[line_id] = [block]

    def _compare(self, line_id: str, line: Line, there: list[Block]) -> None:
        now = self.now.get(line.key)
        meanwhile = now is not None and line.whole not in digests(now)
        if not there or not any(block.text for block in there):
            if line_id in self.withheld:
                why = "what you wrote into its line is personal, so it is in the personal part alone"
                self.conflicts.append(Conflict(line.key, "", why))
            elif meanwhile:
                self.conflicts.append(Conflict(line.key, "", "it was struck, and changed in the graph meanwhile"))
            else:
                self.struck.append(Strike(line.key, line.content_hash))
            return
        old_hash = line.content_hash
        others = [block for block in there if block.text and digest(block.text) != line.hash]
        if len(others) == len([block for block in there if block.text]):  # its own text is nowhere
            block = others.pop(0)
            section, text = self._section(block), block.text
            if now is not None and digest(text) in digests(now):
                pass
            elif meanwhile or line.hash != line.whole:
                why = "it changed in the graph meanwhile" if meanwhile else "the line shows only a part of the memory"
                self.conflicts.append(Conflict(line.key, text, why))
                self.added.append(Addition(section, text))
            else:
                self.changed.append(Change(line.key, line.content_hash, text, section))
                old_hash = self.content_hash(text)
        self.free += others
        if line_id in self.ticked and meanwhile:
            self.conflicts.append(Conflict(line.key, "", "it was ticked, and changed in the graph meanwhile"))
        elif line_id in self.ticked:
            self.completed.append(Completion(line.key, old_hash))

    def _add_free(self) -> None:
        """All that is no line, except what a line or a memory of the manifest says that stays as it is."""
        going = {*(each.key for each in self.struck), *(change.key for change in self.changed)}
        hashes = {line.hash for line in self.lines.values() if line.key not in going}
        hashes |= {each for key, text in self.now.items() if key not in going for each in digests(text)}
        for block in self.free:
            text = text_with_headings(block, self.sections)
            if not hashes & {digest(block.text), digest(text)}:
                self.added.append(Addition(self._section(block), text))

    def _without_earlier(self, block: Block) -> Block:
        """What stands before an earlier memory of a matter is the file's, unless the memory itself begins so. Without an id it is
        known by the memory's words."""
        line, text = self.lines.get(block.id or ""), without_earlier(block.text)
        if line:
            is_own = digest(block.text) == line.hash or (
                is_earlier(self.now.get(line.key, "")) and not is_earlier(text)
            )
        else:
            is_own = digest(text) not in {each.hash for each in self.lines.values()}
        return block if block.kind != "item" or is_own else replace(block, text=text)

    def _without_struck(self, block: Block) -> Block:
        """What a person struck out (`~~so~~`) is gone, unless the memory itself has it so."""
        line = self.lines.get(block.id or "")
        if block.kind not in STRIKABLE or (line and digest(block.text) == line.hash):
            return block
        return replace(block, text=struck_from(block))

    def _without_box(self, block: Block) -> Block:
        """A box that its memory hasn't: an open one says nothing, and a ticked one that the line's task is done."""
        box, line = BOX.match(block.text), self.lines.get(block.id or "")
        if block.kind != "item" or box is None:
            return block
        if line and (digest(block.text) == line.hash or BOX.match(self.now.get(line.key, ""))):
            return block
        if block.id and line and box[1] != " ":
            self.ticked.add(block.id)
        text = block.text[box.end() :]
        return replace(block, text=text) if line or box[1] == " " or not text else block

    def _section(self, block: Block) -> str:
        return section_of(block.path, self.sections)
