"""A Markdown file as its sections and what stands in them, each with its source as it was written."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.tree import SyntaxTreeNode

_MARKER = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])(?:\s+|$)")
_COLUMN = re.compile(r"(?<!\\)\|")
_FRONT = re.compile(r"\A---\n(?:[\w-]+:.*\n|[ \t-].*\n)*---\n")


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    # What stands within a line is nobody's business here, and a definition of a link is text like any other.
    return MarkdownIt("commonmark", {"maxNesting": 100}).enable("table").disable(["inline", "text_join", "reference"])


def heading_underlines(text: str) -> set[int]:
    """The lines, from 1, that end a heading."""
    return {each.map[1] for each in _parser().parse(text) if each.type == "heading_open" and each.map}


def syntax_tree(text: str) -> SyntaxTreeNode:
    """The blocks of ``text``."""
    from markdown_it.tree import SyntaxTreeNode

    return SyntaxTreeNode(_parser().parse(text))


@dataclass(frozen=True)
class Block:
    """One block of a section. ``source``: as written, an item without its marker and indentation, code without its fence.

    ``first`` and ``last``: its lines in the file, from 1. ``cells``: of a row, its texts by the heads of the columns.
    ``language``: of code, as its fence says. A list within an item belongs to that item.
    """

    kind: Literal["text", "item", "row", "code", "comment"]
    source: str
    first: int
    last: int
    cells: Mapping[str, str] = field(default_factory=dict)
    language: str = ""


@dataclass(frozen=True)
class Section:
    """What stands under one heading, up to the next of any level. ``level`` 0: before the first heading, without a title."""

    level: int
    title: str
    first: int
    last: int
    blocks: tuple[Block, ...]
    source: str
    """All of it below the heading, as written."""


def sections(text: str) -> list[Section]:
    """The sections of a file in their order (CommonMark with tables), those without a word left out, and YAML at its head."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").lstrip("\ufeff").split("\n")
    for at in range(front_matter("\n".join(lines)).count("\n")):
        lines[at] = ""
    tree = syntax_tree("\n".join(lines))
    found: list[tuple[int, str, int, int, list[Block]]] = [(0, "", 0, 0, [])]
    for node in tree.children:
        start, end = node.map or (0, 0)
        if node.type == "heading":
            found.append((int(node.tag[1]), _inline_text(node), start, end, []))
        else:
            found[-1][4].extend(_blocks(node, lines))
    ends = [start for _, _, start, _, _ in found[1:]] + [len(lines)]
    made = [
        Section(level, title, start + 1, end, tuple(blocks), "\n".join(lines[below:end]).strip("\n"))
        for (level, title, start, below, blocks), end in zip(found, ends, strict=True)
    ]
    return [each for each in made if each.title or each.blocks]


def front_matter(text: str) -> str:
    """The YAML at the head of a file whose lines end with LF, with the lines of dashes around it; empty where there is none."""
    found = _FRONT.match(text)
    return found[0] if found else ""


def _blocks(node: SyntaxTreeNode, lines: list[str]) -> Iterator[Block]:
    start, end = node.map or (0, 0)
    while end > start and not lines[end - 1].strip():
        end -= 1
    source = "\n".join(lines[start:end])
    if node.type in ("bullet_list", "ordered_list"):
        for item in node.children:
            first, last = item.map or (start, end)
            own = lines[first:last]
            head = _MARKER.sub("", own[0], count=1)
            text = "\n".join([head, textwrap.dedent("\n".join(own[1:]))]).strip()
            while last > first + 1 and not lines[last - 1].strip():
                last -= 1
            yield Block("item", text, first + 1, last)
    elif node.type == "table" and len(node.children) > 1:
        heads: list[str] = []
        for number, cell in enumerate(node.children[0].children[0].children, 1):
            cell_text = _inline_text(cell)
            heads.append(cell_text if cell_text and cell_text not in heads else f"{cell_text} {number}".strip())
        for row in node.children[1].children:
            first, last = row.map or (start, end)
            cells = dict(zip(heads, (_inline_text(cell) for cell in row.children), strict=True))
            source = "\n".join(lines[first:last])
            if len(_COLUMN.split(source.strip().strip("|"))) > len(heads):
                cells["row"] = source.strip()  # Markdown drops cells that have no head
            yield Block("row", source, first + 1, last, cells)
    elif node.type in ("fence", "code_block"):
        yield Block("code", node.content.rstrip("\n"), start + 1, end, language=node.info.split(" ")[0].lower())
    elif node.type == "html_block" and node.content.lstrip().startswith("<!--"):
        yield Block("comment", source, start + 1, end)
    elif node.type != "hr":
        yield Block("text", source, start + 1, end)


def _inline_text(node: SyntaxTreeNode) -> str:
    """The source of a heading or a cell in one line."""
    return " ".join("".join(child.content for child in node.children if child.type == "inline").split())
