"""What a Markdown file says, block by block, by CommonMark with tables (markdown-it-py)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise, zip_longest
from typing import TYPE_CHECKING, Literal

from jochi.context.lines import (
    Piece,
    begins_with_mark,
    is_earlier,
    marks_in,
    read,
    unescape_code,
    without_comments,
    without_struck,
)
from jochi.errors import Refused
from jochi.text.content import is_blank
from jochi.text.markdown import heading_underlines, syntax_tree

if TYPE_CHECKING:
    from markdown_it.tree import SyntaxTreeNode

Kind = Literal["item", "paragraph", "row", "fence", "steps", "quote", "html", "title", "heading", "bare heading"]


@dataclass(frozen=True)
class Block:
    """One thing that is said. ``id``: of the line that it was. ``headings`` above it without the ``title``, the highest first.
    ``first`` and ``last`` line, from 1. ``comments`` that stand in it, and are no part of the text. ``table``: of a row the first
    line of its table, whose names it has."""

    kind: Kind
    text: str
    id: str | None
    headings: tuple[str, ...]
    first: int
    last: int
    title: str = ""
    comments: tuple[str, ...] = ()
    table: int = 0

    @property
    def is_heading(self) -> bool:
        return self.kind in ("title", "heading", "bare heading")

    @property
    def is_comment(self) -> bool:
        """Whether it is nothing else."""
        return bool(self.comments) and not self.text and self.id is None

    @property
    def path(self) -> tuple[str, ...]:
        """All headings that it stands under, and itself if it is one."""
        return (self.title, *self.headings, *([self.text] if self.is_heading else []))


def blocks(text: str, *, apart: bool, is_section: Callable[[str], bool] = lambda _: True) -> list[Block]:
    """In the order of the lines.

    A list of numbered steps is one block, where an intro (a paragraph with a colon at its end) or a heading says what it is of; a
    heading that ``is_section`` doesn't. Code has its intro, too.

    A list within an item belongs to the item; ``apart``: each of its items stands alone, behind the text of those above it.
    What has the id of a line is always one of its own, and so is what stands there as
    said earlier. A heading is bare where nothing is below it. The title is the
    only heading of the first level.
    """
    return sorted(_Reader(text, apart, is_section).blocks(), key=lambda block: block.first)


def struck_from(block: Block) -> str:
    """Its text without what is struck out; empty where that was all."""
    left = without_struck(block.text)
    if left == block.text:
        return left
    left = _MARKER_ALONE.sub("", left)
    return "" if is_blank(BOX.sub("", left + " ")) else left


def source_lines(text: str) -> list[str]:
    """The lines of a file with their ends, as Markdown counts them."""
    return _LINES.findall(text)


def refuse_conflicts(text: str, where: str) -> None:
    """`Refused` where git left what two sides wrote: neither is what a person wants to be remembered."""
    lines = [line.rstrip("\r\n") for line in source_lines(text)]
    underlines: set[int] | None = None
    for at, line in enumerate(lines, 1):
        if not _CONFLICT.fullmatch(line):
            continue
        if line.startswith("="):  # it may underline a heading
            if underlines is None:
                underlines = heading_underlines(text)
            if at in underlines:
                continue
        raise Refused(
            "a conflict of git stands in the file, and nobody has settled it",
            where=f"{where}, line {at}",
            fix="settle it and save the file; a line that is meant to begin like that must be indented",
        )


class _Reader:
    def __init__(self, text: str, apart: bool, is_section: Callable[[str], bool]) -> None:
        text = text.removeprefix("\ufeff")
        self.lines = [line.rstrip("\r\n") for line in source_lines(text)]
        self.apart = apart
        self.is_section = is_section
        self.nodes = [node for node in syntax_tree(text).children if node.type != "hr"]
        self.headings: tuple[str, ...] = ()
        self.title = ""

    def blocks(self) -> Iterator[Block]:
        levels = [(int(node.tag[1]) if node.type == "heading" else 0) for node in self.nodes]
        title = levels.index(1) if levels.count(1) == 1 else None
        path: list[tuple[int, str]] = []
        intros = {id(following): node for node, following in pairwise(self.nodes) if self._introduces(node, following)}
        in_blocks = {id(node) for node in intros.values()}
        for at, (node, level, following) in enumerate(zip_longest(self.nodes, levels, levels[1:])):
            if level == 0:
                if id(node) not in in_blocks:
                    yield from self._of(node, intros.get(id(node)))
                continue
            path = [each for each in path if each[0] < level]
            self.headings = tuple(heading for _, heading in path)
            if at == title:
                yield from self._told("title", _pieces(node, self.lines), node)
                self.title = _inline(node)
                continue
            bare = following is None or 0 < following <= level
            yield from self._told("bare heading" if bare else "heading", _pieces(node, self.lines), node)
            path.append((level, _inline(node)))
            self.headings = tuple(heading for _, heading in path)

    def _of(self, node: SyntaxTreeNode, intro: SyntaxTreeNode | None) -> Iterator[Block]:
        named = intro is not None or (self.headings and not self.is_section(self.headings[-1]))
        if named and self._are_steps(node):
            pieces = [*(_pieces(intro, self.lines) if intro else ()), *self._listed(node)]
            yield from self._told("steps", pieces, node, intro)
        elif node.type in LISTS:
            for item in node.children:
                yield from self._item(item)
        elif node.type == "table":
            yield from self._rows(node)
        else:
            pieces = [*(_pieces(intro, self.lines) if intro else ()), Piece("\n", None), *_pieces(node, self.lines)]
            yield from self._told(_KINDS.get(node.type, "html"), pieces, node, intro)

    def _introduces(self, node: SyntaxTreeNode, following: SyntaxTreeNode) -> bool:
        if node.type != "paragraph" or not (following.type in ("fence", "code_block") or self._are_steps(following)):
            return False
        said = node.children[0].content.rstrip()
        # A bold line is a heading: `**Private:**`.
        return said.endswith((":", "：")) and not said.startswith(("**", "__")) and not marks_in(said)

    def _are_steps(self, node: SyntaxTreeNode) -> bool:
        """A list in an order that counts. One with boxes is of tasks, and a very long one of anything."""
        start, end = node.map or (0, 0)
        source = "\n".join(self.lines[start:end])
        boxes = any(
            BOX.match(item.children[0].children[0].content) for item in node.children if _begins_with_text(item)
        )
        return node.type == "ordered_list" and 2 <= len(node.children) <= _STEPS and not boxes and not marks_in(source)

    def _listed(self, node: SyntaxTreeNode) -> Iterator[Piece]:
        """The items of a list with their numbers."""
        for item in node.children:
            for block in self._whole(item):
                yield _under(marker(item), block)

    def _item(self, item: SyntaxTreeNode, above: str = "") -> Iterator[Block]:
        if not self.apart:
            yield from self._whole(item)
            return
        own: list[Piece] = []
        inner: list[SyntaxTreeNode] = []
        for child in item.children:
            if child.type in LISTS:
                inner.append(child)
            else:
                own += (Piece("\n", None), *_pieces(child, self.lines))
        for text, _, _ in _claimed(own):
            above = _below(above, text)
        comments = tuple(comment for piece in own for comment in piece.comments)
        if not inner:
            yield from self._told("item", [Piece(above, None, comments)], item)
        elif comments:
            first = (item.map or (0, 0))[0] + 1
            yield Block("item", "", None, self.headings, first, first, self.title, comments)
        for child in inner:
            if above and self._are_steps(child):
                yield from self._told("item", [Piece(_with_colon(above), None), *self._listed(child)], child)
                continue
            for each in child.children:
                yield from self._item(each, above)

    def _whole(self, item: SyntaxTreeNode) -> Iterator[Block]:
        """An item with the lists in it, apart from lines of Jochi's and what stands there as said earlier."""
        own: list[Piece] = []
        for child in item.children:
            if child.type not in LISTS:
                own.append(Piece("\n", None))
                for piece in _pieces(child, self.lines):
                    is_escaped = child.type == "fence" and not self.apart
                    own.append(piece._replace(text=unescape_code(piece.text)) if is_escaped else piece)
                continue
            for each in child.children:
                for block in self._whole(each):
                    if block.id is None and not is_earlier(block.text):
                        own.append(_under(marker(each), block))
                    else:
                        yield block
        yield from self._told("item", own, item)

    def _rows(self, table: SyntaxTreeNode) -> Iterator[Block]:
        """A row with the names of its columns; the header alone, where there is no row."""
        head, *body = [row for part in table.children for row in part.children]
        names = [_inline(cell) for cell in head.children]
        if body and (above := _comments(head)):
            yield from self._told("row", [Piece("", None, above)], head)
        for row in body or [head]:
            cells = [(name, _inline(cell)) for name, cell in zip(names, row.children, strict=False)]
            text = "; ".join(f"{name}: {cell}" if name and body else cell for name, cell in cells if cell)
            first = (table.map or (0, 0))[0] + 1 if body else 0
            for block in self._told("row", [Piece(text, None, _comments(row))], row):
                yield replace(block, table=first)

    def _told(
        self,
        kind: Kind,
        pieces: Iterator[Piece] | list[Piece],
        node: SyntaxTreeNode,
        intro: SyntaxTreeNode | None = None,
    ) -> Iterator[Block]:
        start, end = node.map or (0, 0)
        start = (intro.map or (start, 0))[0] if intro else start
        while end > start + 1 and not self.lines[end - 1].strip():
            end -= 1
        for text, line_id, comments in _claimed(pieces):
            if text or line_id or comments:
                yield Block(kind, text, line_id, self.headings, start + 1, end, self.title, comments)


def _claimed(pieces: Iterator[Piece] | list[Piece]) -> list[Piece]:
    """Texts with their ids. What stands before an id is its line's, and what stands behind the last one too."""
    units: list[Piece] = []
    left = Piece("", None)
    for piece in pieces:
        left = Piece(left.text + piece.text, piece.id, (*left.comments, *piece.comments))
        if piece.id:
            units.append(left if not units else left._replace(text=_MARKER.sub("", left.text)))
            left = Piece("", None)
    last = units.pop() if units else Piece("", None)
    units.append(Piece(last.text + left.text, last.id, (*last.comments, *left.comments)))
    return [unit._replace(text=unit.text.strip()) for unit in units]


def _pieces(node: SyntaxTreeNode, lines: list[str]) -> Iterator[Piece]:
    """What a block holds that isn't a list of its own. Ids count in ordinary text and where one begins a line."""
    if node.type == "fence":
        yield Piece(fenced(node), None)
    elif node.type == "code_block":
        yield Piece(fenced(node) if "\n" in node.content.rstrip("\n") else node.content, None)
    elif node.type in ("paragraph", "heading"):
        yield from read(_WRAP.sub(" ", node.children[0].content))
    elif node.type == "html_block" and begins_with_mark(node.content):
        yield from read(node.content)
    elif node.type == "html_block":
        yield without_comments(node.content)
    elif node.map:
        start, end = node.map
        yield without_comments("\n".join(_QUOTE.sub("", line) for line in lines[start:end]))


def _inline(node: SyntaxTreeNode) -> str:
    """The text of a heading or a cell."""
    return "".join(piece.text for piece in read(node.children[0].content)).strip() if node.children else ""


def _comments(row: SyntaxTreeNode) -> tuple[str, ...]:
    inner = (piece for cell in row.children if cell.children for piece in read(cell.children[0].content))
    return tuple(comment for piece in inner for comment in piece.comments)


def _below(above: str, text: str) -> str:
    """``text`` behind what is above it, and behind the box of a task."""
    box = BOX.match(text)
    first, rest = (box[0], text[box.end() :]) if box else ("", text)
    above = BOX.sub("", above)
    return first + (f"{_with_colon(above)} {rest}" if above else rest)


def _with_colon(above: str) -> str:
    return f"{above}{'' if above.endswith((':', '?')) else ':'}"


def _under(listed: str, block: Block) -> Piece:
    """The block behind the marker of its item."""
    text = "\n" + listed + block.text.replace("\n", "\n" + " " * len(listed)) if block.text else ""
    return Piece(text, None, block.comments)


def _begins_with_text(item: SyntaxTreeNode) -> bool:
    return bool(item.children) and item.children[0].type == "paragraph"


def marker(item: SyntaxTreeNode) -> str:
    """What stands before an item of a list."""
    return f"{item.info}{item.markup} " if item.info else "- "


def fenced(code: SyntaxTreeNode) -> str:
    """A block of code between fences, as it is written or, where it is only indented, as it could be."""
    longest = max((len(run) for run in re.findall("`+", code.content)), default=0)
    markup = code.markup or "`" * max(3, longest + 1)
    return f"{markup}{code.info}\n{code.content}{markup}"


LISTS = ("bullet_list", "ordered_list")
_STEPS = 20
_KINDS: dict[str, Kind] = {"paragraph": "paragraph", "fence": "fence", "code_block": "fence", "blockquote": "quote"}
_LINES = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+\Z")
_CONFLICT = re.compile(r"(?:<{7}|>{7})(?: .*)?|={7}")
_WRAP = re.compile(r"(?: {2,}|\\)?\n[ \t]*")
_QUOTE = re.compile(r"^\s*(?:> ?)+")
_MARKER = re.compile(r"^\s*(?:[-*+]|[0-9]{1,9}[.)])\s+")
_MARKER_ALONE = re.compile(r"^[ \t]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]*(?:\n|\Z)", re.MULTILINE)
STRIKABLE = ("item", "paragraph", "row", "steps")
"""Kinds whose text can be struck out."""
BOX = re.compile(r"^\[([ xX])\](?:\s+|\Z)")
"""The box of a task, and whether it is ticked. One may stand there without a task."""
