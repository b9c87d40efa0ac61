"""The file's own lines: its header, which says what it was made of, the markers round what is the person's, and its end."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote

from jochi.context.blocks import refuse_conflicts
from jochi.context.lines import digest, outside_code
from jochi.errors import Refused

TITLE = "# Memory"
PERSONAL = "<!-- personal: stays in this file -->\n"
PERSONAL_END = "<!-- /personal -->\n"
END = "<!-- /jochi -->\n"
"""The last line, so that a file which was cut off is seen to be one."""

_HEADER = re.compile(r"^<!-- jochi scope=(\S*) version=(-?\d+) generation=([0-9a-f]{8}) -->[ \t]*\r?$", re.MULTILINE)
_PERSONAL = re.compile(r"^[ \t]*<!-- ?personal\b[^\n]*-->[ \t]*\r?(?:\n|\Z)", re.MULTILINE)
_PERSONAL_END = re.compile(r"^[ \t]*<!-- ?/personal ?-->[ \t]*\r?$", re.MULTILINE)
_END = re.compile(r"^[ \t]*<!-- ?/jochi ?-->[ \t]*\r?$", re.MULTILINE)
_PART_OF_END = re.compile(rf"^(?:{'|'.join(re.escape(END[:n]) for n in range(len(END) - 2, 0, -1))})\r?$", re.MULTILINE)
"""Cut off within its last line the file has lost nothing."""
_BEGINNING = f"{TITLE}\n<!-- jochi "


@dataclass(frozen=True)
class Parts:
    """A file taken apart. ``generation``: None where the header is gone. ``rest``: the file without its header and the personal
    part, in the same lines. ``whole``: whether its end is there, too."""

    scope: str | None
    generation: str | None
    personal: str
    rest: str
    whole: bool = True


def header(scope: str, version: int, generation: str) -> str:
    return f"<!-- jochi scope={scope_label(scope)} version={version} generation={generation} -->"


def scope_label(scope: str) -> str:
    """A scope in the header: it ends no comment and takes little room, whatever it is called."""
    quoted = quote(scope.encode("utf-8", "surrogatepass"), safe=":@+")
    return quoted if len(quoted) <= 80 else f"{quoted[:60]}~{digest(scope)}"


def is_ours(text: str) -> bool:
    """Whether anything in it says that Jochi wrote it."""
    marks = (_HEADER, _PERSONAL, _PERSONAL_END, _END)
    return text.startswith(_BEGINNING) or any(mark.search(text) for mark in marks)


def without_markers(text: str) -> str:
    """``text`` for the personal part: a line that would be one of its markers is an item of a list."""
    for mark in (_PERSONAL, _PERSONAL_END):
        text = mark.sub(r"- \g<0>", text)
    return text


def split_file(text: str, where: str) -> Parts:
    """`Refused` where it isn't clear what is personal, or a conflict of git is left: nothing of that may be taken for a memory.
    In the personal part a conflict is the person's own."""
    if not is_ours(text):
        raise Refused(
            "this file isn't one of Jochi's",
            where=where,
            fix="take over what it holds with `jochi context migrate`, which keeps the old file, or name another file",
        )
    starts, ends = outside_code(_PERSONAL, text), outside_code(_PERSONAL_END, text)
    if (len(starts), len(ends)) != (1, 1):  # a fence that the person never closed hides a marker
        starts, ends = list(_PERSONAL.finditer(text)), list(_PERSONAL_END.finditer(text))
    if not ends and not _END.search(text):
        raise cut_off(where)
    if len(starts) != 1 or len(ends) != 1 or ends[0].start() < starts[0].end():
        refuse_conflicts(text, where)
        at = sorted(text.count("\n", 0, each.start()) + 1 for each in (*starts, *ends))
        raise Refused(
            f"the personal part needs one line where it begins and one where it ends (found in lines {at})",
            where=where,
            fix=f"put {PERSONAL.strip()} before what is personal and {PERSONAL_END.strip()} behind it, once each",
        )
    start, end = starts[0], ends[0]
    rest = text[: start.start()] + "\n" * text.count("\n", start.start(), end.end()) + text[end.end() :]
    refuse_conflicts(rest, where)
    found = next(iter(outside_code(_HEADER, rest)), None)
    whole = bool(outside_code(_END, rest))
    return Parts(
        scope=found[1] if found else None,
        generation=found[3] if found else None,
        personal=text[start.end() : end.start()],
        rest=_without(_END if whole else _PART_OF_END, _without(_HEADER, rest)),
        whole=whole,
    )


def _without(mark: re.Pattern[str], text: str) -> str:
    for found in reversed(outside_code(mark, text)):
        text = text[: found.start()] + text[found.end() :]
    return text


def require_scope(parts: Parts, scope: str, where: str) -> None:
    """`Refused` where the file says that it is another scope's."""
    if parts.scope not in (None, scope_label(scope)):
        raise Refused(
            f"the file holds the memories of scope {parts.scope}, not of {scope}",
            where=where,
            fix="name another file, or the scope that it was made for",
        )


def cut_off(where: str) -> Refused:
    """Of a file that ends before its end."""
    return Refused(
        f"the file was cut off: its last line, {END.strip()}, is gone, and what stood before it; nothing was taken in",
        where=where,
        fix="take an older copy; or keep its personal part and delete the file: it is made again. "
        f"If nothing else is gone, write {END.strip()} as its last line; if all that is gone should go, use --strike-many",
    )
