"""A memory as an item of a list: in one line, or in the lines of its code and lists, where these can be read back as they are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from jochi.context.blocks import LISTS, blocks, fenced, marker
from jochi.context.lines import digest, escape_code, mark, plain, write
from jochi.text.markdown import syntax_tree
from jochi.text.visible import visible

if TYPE_CHECKING:
    from markdown_it.tree import SyntaxTreeNode


@lru_cache(maxsize=2_000)
def shown(text: str) -> str:
    """What the file shows of a memory: its lines, where it holds code or a list that an item can hold, and else `plain`.

    Whether it can is tried: the item is read, between two others.
    """
    said = _ENDS.sub("\n", visible(text)).strip()
    if not _MAY_HAVE_BLOCKS.search(said):
        return plain(text)
    made = _lines_of(said, "bcd")
    if made is None or re.findall("<!--|-->", made) != ["<!--", "-->"]:
        return plain(text)
    found = [(block.text, block.id) for block in blocks(f"- a\n{made}- b\n", apart=False)]
    if len(found) != 3 or (found[0], found[2]) != (("a", None), ("b", None)) or found[1][1] != "bcd":
        return plain(text)
    return said if digest(found[1][0]) == digest(said) else plain(text)


def item(text: str, line_id: str, before: str = "") -> str:
    """The item of what is `shown`. ``before``: what stands before a text of one line."""
    made = _lines_of(text, line_id) if "\n" in text else None
    return made or f"- {before}{write(text)} {mark(line_id)}\n"


def _lines_of(said: str, line_id: str) -> str | None:
    """The item in several lines; None for what has neither code nor a list, or has other blocks, too."""
    nodes = syntax_tree(said).children
    made = _body(nodes)
    if made is None or all(node.type == "paragraph" for node in nodes):
        return None
    if nodes[-1].type == "paragraph":
        made[-1] += f" {mark(line_id)}"
    else:
        made.append(mark(line_id))
    return "- " + _indented(made, 2) + "\n"


def _body(nodes: Sequence[SyntaxTreeNode]) -> list[str] | None:
    made: list[str] = []
    before = ""
    for node in nodes:
        if node.type == "paragraph":
            # What follows a paragraph or a list without a blank line would go on with it.
            made += [*([""] if before and before != "fence" else []), write(plain(node.children[0].content))]
        elif node.type == "fence":
            made += escape_code(fenced(node)).split("\n")
        elif node.type in LISTS:
            made += [""] if before == "paragraph" and node.children[0].info not in ("", "1") else []
            for each in node.children:
                inner = _body(each.children)
                if inner is None:
                    return None
                made.append((marker(each) + _indented(inner, len(marker(each)))).rstrip())
        else:
            return None
        before = node.type
    return made


def _indented(lines: Sequence[str], by: int) -> str:
    return re.sub(r"\n(?=[^\n])", "\n" + " " * by, "\n".join("" if line.isspace() else line for line in lines))


_MAY_HAVE_BLOCKS = re.compile(
    r"\n[^\S\n]*(?:`{3}|~{3}|[-*+] |[0-9]{1,9}[.)] )|^(?:`{3}|~{3}|[-*+] |[0-9]{1,9}[.)] ).*\n", re.MULTILINE
)
_ENDS = re.compile(r"\r\n?")
