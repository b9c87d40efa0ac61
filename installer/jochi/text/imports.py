r"""`@path` in files that agents load: some command line agents read it as "load that file", and no memory may do that.

What they do, by their source (November 2026):

- *Claude Code* reads a file with Markdown's parser `marked`. Outside of code `@` and what isn't blank behind it is a path where it
  stands at the beginning of a piece of text or behind a blank. Emphasis, code, a link, a tag and an escaped character end a piece,
  so `**x**@path` loads a file. The text of an item is looked through once more as it is written, with its code: `- see `x @path``.
- *Gemini CLI* and *Qwen Code* look at the characters alone: `@`, behind a blank or at the beginning, before a letter, a point or a
  slash. Text between runs of backticks of one length is left out, whatever they mean, so one backtick more turns all over.

Depths and folders that they allow don't matter here: what isn't taken for an import goes nowhere. Neither takes `\@path`, which is
`@path` to every reader of Markdown. A sign behind a letter or a digit, as in a mail address, begins no path for anybody.
"""

from __future__ import annotations

import re

IMPORT = r"(?<![^\W_])@(?=\S)"
"""An `@` that might begin a path, as a pattern."""


def escape_imports(text: str) -> str:
    r"""``text`` of any kind, in which no reader finds a path to load: `\` before each sign that might begin one, and those that
    stand there already twice. `unescape_imports` gives ``text`` again."""
    return _SIGN.sub(lambda found: (found["there"] or "") * 2 + "\\@", text)


def unescape_imports(text: str) -> str:
    r"""What `escape_imports` made, or a person wrote there: `@path` and `\@path` say the same."""
    return _ESCAPED.sub(lambda found: "\\" * (len(found[1]) // 2) + "@", text)


def escape_json_imports(encoded: str) -> str:
    """JSON that says the same, in which no reader finds a path to load."""
    return re.sub(IMPORT, r"\\u0040", encoded)


_SIGN = re.compile(rf"(?P<there>(?<!\\)\\+)@(?=\S)|{IMPORT}")
_ESCAPED = re.compile(r"((?<!\\)\\+)@(?=\S)")
