"""Which parts of a text are names that are compared as they are written: `web-03`, `a.b@x.org`, `/srv/Report`, `v1.2-rc1`.

In a name a mark or a capital tells two things apart, in a sentence it doesn't. The rule is one of shape, and in doubt a part
counts as a name: that only costs a duplicate that isn't found. `docs/reference/content-hash.md` has it with examples.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

HYPHENS = "-−‐‑–－﹣"
"""What is read as a hyphen or minus."""


class Name(NamedTuple):
    """A part of a text, from ``start`` to before ``stop``, and how it is kept: never empty, and at least two characters."""

    start: int
    stop: int
    normal_form: str


def names(text: str) -> Iterator[Name]:
    """The names in ``text`` (in NFC), in order. Each is found again in its own ``kept``, and kept alike."""
    shape = text.translate(_SHAPES)
    for run in _RUN.finditer(shape):
        before = text[run.start() - 1] if run.start() else " "
        found = _name(text[run.start() : run.end()], run[0], free=not _is_kept(before))
        if found is not None:
            start, stop, kept = found
            yield Name(run.start() + start, run.start() + stop, kept)


def _name(text: str, shape: str, *, free: bool) -> Name | None:
    """The name in one run, or None for words and numbers. ``free``: no word touches the run, so it may begin with a mark."""
    start = len(shape) - len(shape.lstrip(_MARKS))
    stop = len(shape.rstrip(_MARKS))
    if _EMPHASISED.fullmatch(shape, start, stop):
        start, stop = start + 1, stop - 1
    core, inner = text[start:stop], shape[start:stop].replace("M", "")
    if not _WORD_OR_DIGIT.search(inner) or ("_" not in inner and not ("l" in inner and _LATIN.search(core))):
        return None
    if free and _may_lead(text[:start], inner):
        start = 0
    elif "_" not in inner and not any(map(_is_mixed, _PART.findall(core))):
        if _ORDINARY.fullmatch(inner):
            return None
        caseless = unicodedata.normalize("NFC", unicodedata.normalize("NFD", core).casefold())
        # Asked of what it becomes: ŉ becomes two characters, and the first of them is no letter that has case.
        if _JOINED.fullmatch(caseless.translate(_SHAPES).replace("M", "")) or _VERSION.fullmatch(caseless):
            return Name(start, stop, caseless.translate(_HYPHEN))
    return Name(start, stop, text[start:stop].translate(_HYPHEN))


def _may_lead(lead: str, inner: str) -> bool:
    """Whether a name may begin with the marks ``lead``: a path, a switch, a handle, a hidden file."""
    if lead in ("/", "./", "../", "~/"):
        return "l" in inner
    return lead in (".", "@", "\\", "\\\\", "-", "--") and inner[0] == "l"


def _is_mixed(part: str) -> bool:
    """`userId`; and small, capital and digit in one, `dQw4w9WgXcQ`, `Ab3dEf`: but neither `Covid19` nor `5Pm`."""
    if not (part.isascii() and _HUMP.search(part)):
        return False
    return part[0].islower() or (not part.isalpha() and not part.isupper() and not _COUNTED.fullmatch(part))


def _is_kept(character: str) -> bool:
    category = unicodedata.category(character)
    return category[0] in "LMN" or category in ("Sc", "Co", "Cn") or character in "+#%\u200c\u200d"


class _Shapes(dict[int, str]):
    """Code point to its shape: l letter that has case, N digit, M mark on a letter, the signs of names as they are, else blank."""

    def __missing__(self, code: int) -> str:
        category = unicodedata.category(chr(code))
        self[code] = found = _BY_CATEGORY.get(category, " ")
        return found


_BY_CATEGORY = {"Lu": "l", "Ll": "l", "Lt": "l", "Nd": "N", "Mn": "M", "Mc": "M", "Me": "M"}
_SHAPES = _Shapes(
    str.maketrans({sign: sign for sign in r"._/\@:=~&"} | dict.fromkeys(HYPHENS, "-") | dict.fromkeys("+#", "+"))
)
_HYPHEN = dict.fromkeys(map(ord, HYPHENS), "-")
_MARKS = r"-./\@:=~&"

_RUN = re.compile(
    r"""(?:
      [lN+]M*
    | [_/\\@:=~&]
    | (?<!\.)\.{1,2}(?!\.)     # three are an ellipsis
    | (?<!-)-(?!-)
    | (?<![lN+M-])--(?!-)      # before a word a switch, between two words a dash
    )+""",
    re.VERBOSE,
)
_WORD_OR_DIGIT = re.compile("[lN]")
_LATIN = re.compile(r"[A-Za-z0-9@\\]")
_EMPHASISED = re.compile(r"_[lN+](?:[^_]*[lN+]M*|M*)_")

# In the shape of a run without its M.
_WORD = r"[l+]+"
_AMOUNT = r"\+*N+(?:[.:/]N+)*[l+]*"  # 5, 60km, 1.5, 10:30am, 3/4
_ORDINARY = re.compile(rf"{_AMOUNT}(?:-{_AMOUNT})*(?:-{_WORD})*|{_WORD}(?:-{_WORD})*|[lN+]+|l(?:\.l)+")
_JOINED_PART = rf"(?:{_AMOUNT}(?:-{_WORD})*|{_WORD}(?:-{_WORD})*|[lN+]+)"
_JOINED = re.compile(rf"{_JOINED_PART}[/:&]{_JOINED_PART}")
_VERSION = re.compile(r"v[0-9]+(?:\.[0-9]+)+")

_PART = re.compile(r"[^\W_]+")
_HUMP = re.compile("[a-z0-9][A-Z]")
_COUNTED = re.compile("[0-9]+[A-Za-z]*")
