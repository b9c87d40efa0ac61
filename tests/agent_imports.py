r"""How agents find `@path` in a file of instructions, in a few lines each: what `jochi.text.imports` says of them.

More than they find is fine here, less is not: `claude_paths` looks at the source of whatever stands in an item, and takes each
piece that Markdown makes for one of its own; `gemini_paths` knows no code, since one backtick too many turns code and text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token

# Characters that an escape stands for must not join what is behind them.
_MARKDOWN = MarkdownIt("commonmark").disable("text_join")
_SIGN = re.compile(r"(?:^|[\s\ufeff])@((?:[^\s\\]|\\ )+)")
_PATH = re.compile(r"\./|~/|/.|[A-Za-z0-9._-]")


def claude_paths(text: str) -> list[str]:
    """Outside of code, at the beginning of a piece of text or behind a blank."""
    depth, found = 0, list[str]()
    for token in _MARKDOWN.parse(text):
        depth += {"list_item_open": 1, "list_item_close": -1}.get(token.type, 0)
        if token.type == "html_block" and token.content.lstrip().startswith("<!--"):
            found += _paths(re.sub(r"<!--.*?-->", "", token.content, flags=re.DOTALL))
        elif token.type == "inline":
            found += _paths(token.content) if depth else []
            for piece in _pieces(token):
                found += _paths(piece)
    return found


def gemini_paths(text: str) -> list[str]:
    return [path for path in re.findall(r"(?:^|(?<=[ \t\r\n]))@([^ \t\r\n]*)", text) if re.match(r"[./A-Za-z]", path)]


def agent_paths(text: str) -> list[str]:
    return claude_paths(text) + gemini_paths(text)


def _pieces(token: Token) -> Iterator[str]:
    before = ""
    for child in token.children or ():
        if child.type == "text":
            yield before + child.content
        before = (
            child.content if child.content == child.markup else ""
        )  # a backslash that escapes nothing ends no piece
        yield from _pieces(child)


def _paths(text: str) -> list[str]:
    paths = (found[1].partition("#")[0].replace("\\ ", " ") for found in _SIGN.finditer(text))
    return [path for path in paths if _PATH.match(path)]
