"""When two contents are the same: the normal form of a text, and its hash (DESIGN §9). The only home of both.

Two texts with the same normal form are taken for the same memory, so whatever could change the meaning is kept; what is
kept without need only costs a duplicate that isn't found. `docs/reference/content-hash.md` has the rules with examples.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata

from jochi.text.names import HYPHENS, names

VERSION = "v2"
"""Stands before every hash. A rule that changes gets a new version, so that hashes of two versions are never compared."""

_ENTIRELY = "\x00"  # no normal form begins with it: control characters are separators


def content_hash(text: str) -> str:
    """`'v2:'` and 64 hex digits: SHA-256 over the UTF-8 of ``normalise(text)``.

    A text that normalises to nothing (emoji, punctuation) is hashed as it is, but for case, composition and blanks, behind
    a mark that no normal form has: so it is never the empty key and never the hash of another text.
    """
    normal = normalise(text) or _ENTIRELY + " ".join(_folded(text).split())
    # A lone surrogate can't be stored in Neo4j, but a hash must not fail over it.
    return f"{VERSION}:{hashlib.sha256(normal.encode('utf-8', 'surrogatepass')).hexdigest()}"


def text_hash(text: str) -> str:
    """SHA-256 in hex of the exact text in UTF-8, as `apoc.util.sha256([text])` has it: to the letter, not by its normal form."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def is_blank(text: str) -> bool:
    """Whether nothing can be read in it: separators, control and format characters only, as `memory/remember` judges it."""
    return all(unicodedata.category(character)[0] in "ZC" for character in text)


def normalise(text: str) -> str:
    """The words of ``text`` in lower case, one space between them; empty if nothing in it is a word.

    Names (`jochi.text.names`) are kept as they are written. Else kept are letters, marks, numbers, `+`, `#`, currency signs,
    and what belongs to a number: its sign, the points, commas, colons and slashes within it, `%` after it and `<`, `>`, `≤`,
    `≥`, `≠`, `±` before it. All else separates words. `normalise(normalise(text)) == normalise(text)`.
    """
    folded, classes = _read(text)
    parts: list[str] = []
    end = 0
    for unit in _UNIT.finditer(classes):
        start, stop = unit.span()
        group = unit.lastgroup
        if parts and (start != end or group == "relation"):
            parts.append(" ")
        if group == "sign":
            parts.append("-")
        elif group is None:
            parts.append(folded[start:stop])
        else:
            parts.append(folded[start:stop].replace(" ", ""))
        end = stop
    return "".join(parts)


def _read(text: str) -> tuple[str, str]:
    """``text`` with all but its names folded, and the class of each of its characters."""
    composed = unicodedata.normalize("NFC", text.translate(_INVISIBLE)).replace(
        "\u0345", "\u03b9"
    )  # a mark that folds to a letter
    for written, sign in _TWO_CHARACTERS:
        composed = composed.replace(written, sign)
    folded: list[str] = []
    classes: list[str] = []
    end = 0
    for name in names(composed):
        between = _folded(composed[end : name.start])
        folded += between, name.normal_form
        first, last = (unicodedata.category(name.normal_form[at])[0] == "N" for at in (0, -1))
        classes += (
            between.translate(_CLASSES),
            "D" if first else "I",
            "i" * (len(name.normal_form) - 2),
            "d" if last else "e",
        )
        end = name.stop
    rest = _folded(composed[end:])
    return "".join((*folded, rest)), "".join((*classes, rest.translate(_CLASSES)))


def _folded(text: str) -> str:
    """Unicode's canonical caseless form, composed. Folding can undo a composition, so the composition comes last."""
    if text.isascii():
        return _BLANK.sub(" ", text.lower())
    folded = unicodedata.normalize("NFD", text).casefold()
    return _BLANK.sub(" ", unicodedata.normalize("NFC", folded))


_BLANK = re.compile(r"\s")
_TWO_CHARACTERS = (("<=", "≤"), (">=", "≥"), ("!=", "≠"))

# Each character's class. A text is read as the string of its classes, so that one pattern says what is kept:
# L letter, M mark, J joiner, N number, C currency, + kept anywhere, - sign, . point, : other marks within numbers,
# % per cent, < relation, U underscore, blank, _ separator. A name begins with I, or D for a digit, goes on with i and ends
# with e, or d for a digit.
_NAMED = {
    **dict.fromkeys("+#＋＃", "+"),
    **dict.fromkeys(HYPHENS, "-"),
    **dict.fromkeys(".．", "."),
    **dict.fromkeys(",:/·٫٬，：／", ":"),
    **dict.fromkeys("%‰٪％", "%"),
    **dict.fromkeys("<>≤≥≠±＜＞", "<"),
    **dict.fromkeys("\u200c\u200d", "J"),
    " ": " ",
    "_": "U",
}
# Private and unassigned characters count as letters: they may be letters of a script that this Python is too old to know.
_BY_CATEGORY = {"Sc": "C", "Co": "L", "Cn": "L"}


class _Classes(dict[int, str]):
    """Code point to class, filled as characters are met; for `str.translate`."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        category = unicodedata.category(character)
        found = _NAMED.get(character) or _BY_CATEGORY.get(category)
        self[code] = found = found or (category[0] if category[0] in "LMN" else "_")
        return found


class _Invisible(dict[int, int | None]):
    """Drops what nobody sees and what changes no word: variation selectors, soft hyphens, marks of direction."""

    _KEPT = frozenset({0x200B, 0x200C, 0x200D})  # the space of width zero separates words; joiners spell some words

    def __missing__(self, code: int) -> int | None:
        selector = 0xFE00 <= code <= 0xFE0F or 0xE0100 <= code <= 0xE01EF or 0x180B <= code <= 0x180F
        dropped = selector or code == 0x034F or (unicodedata.category(chr(code)) == "Cf" and code not in self._KEPT)
        self[code] = found = None if dropped else code
        return found


_CLASSES = _Classes()
_INVISIBLE = _Invisible()

_NUMBER_AHEAD = r"(?=(?:C+\ *)?\.?[ND])"
_WORD = r"(?:[LNC+](?:M|J+(?=[LM]))*)"
_UNIT = re.compile(
    rf"""
      {_WORD}+(?:U+(?=[LN]){_WORD}+)*             # a mark belongs to the character before it
    | [ID]i*[ed]                                  # a name
    | (?<=[Nd])[.:](?=[ND])                       # 1.5 1,000 1.2.3 10:30 3/4
    | (?<![LMN%.:ed])\.(?=[ND])                   # .5
    | (?P<sign>(?<![LMN%ed])-{_NUMBER_AHEAD})     # -3 and -$3, but neither 3-4 nor 3 days-4
    | (?P<percent>(?<=[Nd])\ *%)                  # 5% and 5 %
    | (?P<relation><\ *(?=-?(?:C+\ *)?\.?[ND]))   # < 5
    """,
    re.VERBOSE,
)
