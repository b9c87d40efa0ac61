"""A cleaned text as tokens: words, numbers as written, identifiers, quotations, marks."""

from __future__ import annotations

import re
from typing import NamedTuple

from jochi_workers.guard.lists import lines


class Token(NamedTuple):
    """``kind``: word, number, clock, day, version, identifier, quoted, genitive, mark or symbol; ``text`` as written."""

    kind: str
    text: str


_APART = {key: frozenset(words) for key, words in lines("any", "apart")}
_LONGEST_QUOTATION = 400
_LONGEST_CORE = 200
_LEADING = "([{"
_TRAILING = ".,;:!?)]}…"
_WORD = re.compile(r"[^\W\d_]+")
_NUMBER = r"\d{1,3}(?:[.,']\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)?"
_SIGNS = "$€£¥₹₩₽₪₫₴₺₱₦฿₿¢%‰°"

_IDENTIFIER = re.compile(
    r"""
      [a-z][a-z0-9+.-]*://\S+                                   # addresses of the web
    | [\w.+-]+@[\w-]+(?:\.[\w-]+)*                              # of mail
    | @\w[\w.-]*                                                # of people
    | \#\w[\w-]*                                                # tags and tickets
    | \w[\w.-]*=\S+                                            # settings
    | --?[A-Za-z][\w-]*(?:=\S*)?                                # switches
    | (?:~|\.{1,2}|[A-Za-z]:)?[/\\][^\s/\\][^\s]*               # paths
    | [^\s/\\]+\\\S+                                            # with the other slash
    | [\w.+-]+(?:/[\w.+-]+){2,}/?                               # of more than two parts
    | (?=[^\s/]*[\d._])[\w.+-]+/[\w.+-]*[A-Za-z][\w.+-]*        # of two, if the first looks like no word
    | [\w-]+(?:::[\w-]+)+                                       # qualified names
    | (?=\S*_)[\w.:-]*\w[\w.:-]*                                # with underscores
    | (?=\S*[^\W\d_])\w[\w-]*(?:\.[\w-]+)+                      # hosts, files, methods
    | (?=\S*\d)(?=\S*[^\W\d_])\w+(?:[-:.+/]\w+)*                # letters and digits
    | \d+(?:-\d+){2,}                                           # numbers in groups
    | \.[A-Z]\w+                                                # .NET
    """,
    re.VERBOSE,
)
_NET = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}(?::\d+|/\d+)?")
_VERSION = re.compile(r"[vV]?\d+(?:\.\d+){2,}(?:[-+][\w.+-]+)?|[vV]\d+(?:\.\d+)*(?:[-+][\w.+-]+)?")
_DAY = re.compile(
    r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}\.\d{1,2}\.(?:\d{4}|\d{2})|\d{1,2}/\d{1,2}/(?:\d{4}|\d{2})|\d{1,2}-\d{1,2}-\d{4}|\d{4}/\d{1,2}/\d{1,2}"
)
# "am 4.8.12" is a day, "Version 4.8.12" is none.
_BEFORE_A_DAY = frozenset(
    [
        *("on", "since", "until", "till", "by", "before", "after", "born"),
        *("am", "vom", "zum", "bis", "seit", "ab", "dem", "den", "der", "geb"),
    ]
)
_CLOCK = re.compile(r"(\d{1,2})[:.](\d{2})(?::(\d{2}))?([ap]\.?m)?|(\d{1,2})([ap]\.?m)", re.IGNORECASE)
_ORDINAL = re.compile(r"(\d+)(st|nd|rd|th)", re.IGNORECASE)
_MEASURED = re.compile(
    rf"([+-]?)([A-Za-z]{{0,3}}[$€£¥₹₩₽₪₫₴₺₱₦฿₿]|[A-Z]{{3}})?([+-]?)({_NUMBER})([^\d\s.,;:'\-–/][^\d\s]*)?"
)
_COUNTED = re.compile(rf"({_NUMBER})-([^\W\d_][^\d\s]*)")
_RANGE = re.compile(rf"({_NUMBER})[-–]({_NUMBER})([^\d\s]*)")
_INNER = re.compile(
    rf"(?P<number>{_NUMBER})|(?P<word>[^\W\d_]+(?:['-][^\W\d_]+)*(?:\+\+|\#(?!\w))?)|(?P<mark>[,;:.!?()\[\]{{}}…–/-])|(?P<symbol>\S)"
)
_PLAIN = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


def scan(text: str) -> list[Token]:
    """The tokens of a text from `clean`, in time that grows with its length."""
    found: list[Token] = []
    place, length = 0, len(text)
    while place < length:
        character = text[place]
        if character.isspace():
            if character == "\n" and found and found[-1].kind != "mark":
                found.append(Token("mark", "\n"))
            place += 1
            continue
        if character in "\"'":
            end = _quotation(text, place)
            if end:
                inner = " ".join(text[place + 1 : end].split()).strip(".,;:!? ")
                found.append(Token("identifier" if _is_identifier(inner) else "quoted", inner))
                place = end + 1
                continue
            if character == '"':
                place += 1
                continue
        end = place
        while end < length and not text[end].isspace() and text[end] != '"':
            end += 1
        _chunk(text[place:end], found)
        place = end
    return found


def _quotation(text: str, start: int) -> int:
    """Where the quotation that begins here ends; 0 if none does."""
    sign = text[start]
    if sign == "'" and start and (text[start - 1].isalnum()):
        return 0
    end = start
    while True:
        end = text.find(sign, end + 1, start + _LONGEST_QUOTATION)
        if end < 0:
            return 0
        if sign == '"' or end + 1 == len(text) or not text[end + 1].isalnum():
            return end if end > start + 1 and not text[start + 1].isspace() else 0


def _chunk(chunk: str, found: list[Token]) -> None:
    """What stands between two blanks."""
    if chunk == "&":
        found.append(Token("word", chunk))
        return
    if len(chunk) <= _LONGEST_CORE and _PLAIN.fullmatch(chunk):
        _words(chunk, found)
        return
    if chunk.startswith("<") and chunk.rstrip(_TRAILING).endswith(">") and len(chunk) > 2:
        chunk = chunk[1:].rstrip(_TRAILING)[:-1]
    start = 0
    while start < len(chunk) and chunk[start] in _LEADING:
        found.append(Token("mark", "("))
        start += 1
    end = len(chunk)
    while end > start and (chunk[end - 1] in _TRAILING or chunk[end - 1] == "'"):
        end -= 1
    core, tail = chunk[start:end], chunk[end:]
    genitive = False
    if tail.startswith("'") and core[-1:] in ("s", "S", "x", "z"):
        genitive, tail = True, tail[1:]
    elif core[-2:] in ("'s", "'S") and len(core) > 2:
        if _known(core):
            pass
        else:
            core, genitive = core[:-2], True
    if core[-1:].casefold() in "aeiou" and tail[:1] == "'" and core.isalpha():
        core, tail = core + "'", tail[1:]  # may be an Italian accent: `perche'`
        found.append(Token("word", core))
    elif core:
        _core(core, tail, found)
    if genitive:
        found.append(Token("genitive", "'s"))
    found.extend(Token("mark", ")" if mark in "])}" else mark) for mark in tail if mark != "'")


def _known(core: str) -> bool:
    return core.casefold() in _APART["no_genitive"]


def _core(core: str, tail: str, found: list[Token]) -> None:
    if len(core) > _LONGEST_CORE:
        found.append(Token("identifier", core))  # nothing that could be read, and patterns would take long
    elif _PLAIN.fullmatch(core):
        _words(core, found)
    elif _DAY.fullmatch(core) and (_dated(core, found) or not _VERSION.fullmatch(core)):
        found.append(Token("day", core))
    elif (tail.startswith(".") and re.fullmatch(r"\d{1,2}\.\d{1,2}", core)) or re.fullmatch(r"\d{1,2}\.", core):
        found.append(Token("number", core))
    elif (clock := _CLOCK.fullmatch(core)) and (":" in core or clock[4] or clock[6]):
        found.append(Token("clock", core))
    elif _NET.fullmatch(core):
        found.append(Token("identifier", core))
    elif _VERSION.fullmatch(core) and not re.fullmatch(r"\d{1,3}(?:\.\d{3}){2,}", core):
        found.append(Token("version", core))
    elif _ORDINAL.fullmatch(core):
        found.append(Token("ordinal", core))
    elif measured := _measured(core):
        found.extend(measured)
    elif span := _RANGE.fullmatch(core):
        found += [Token("number", span[1]), Token("mark", "–"), Token("number", span[2])]
        if span[3]:
            found.append(Token("word", span[3]))
    elif counted := _COUNTED.fullmatch(core):
        found.append(Token("number", counted[1]))
        for part in counted[2].split("-"):
            _inner(part, found)
    elif _IDENTIFIER.fullmatch(core):
        found.append(Token("identifier", core))
    else:
        _inner(core, found)


def _is_identifier(text: str) -> bool:
    """Whether these signs would be an identifier without their quotation marks, too."""
    found: list[Token] = []
    if len(text) <= _LONGEST_CORE and " " not in text:
        _core(text, "", found)
    return found == [Token("identifier", text)]


def _dated(core: str, before: list[Token]) -> bool:
    """Whether `4.8.12` is a day: only behind a word that days stand behind, else it is a version."""
    return re.search(r"\D\d{4}$|^\d{4}\D", core) is not None or bool(
        before and before[-1].text.casefold() in _BEFORE_A_DAY
    )


def _measured(core: str) -> list[Token]:
    """A number with what is glued to it: `$5`, `15kg`, `-16°C`, `5%`; nothing if it is something else."""
    parts = _MEASURED.fullmatch(core)
    if not parts:
        return []
    sign, before, inner_sign, number, behind = parts.groups()
    if behind and behind not in _APART["unit"] and not set(behind) & set(_SIGNS):
        return []
    minus = "-" if "-" in (sign, inner_sign) else ""
    found = [Token("word", before)] if before else []
    found.append(Token("number", minus + number))
    if behind:
        found.append(Token("word", behind))
    return found


def is_unit(text: str) -> bool:
    """Whether this may stand behind a number without a blank."""
    return text in _APART["unit"]


def _words(core: str, found: list[Token]) -> None:
    found.append(Token("word", core))


def _inner(core: str, found: list[Token]) -> None:
    """What is none of the above, piece by piece."""
    for piece in _INNER.finditer(core):
        kind = str(piece.lastgroup)
        text = piece[0]
        if kind == "word" and text[-2:] in ("'s", "'S") and len(text) > 2 and not _known(text):
            found += [Token("word", text[:-2]), Token("genitive", "'s")]
        else:
            found.append(Token(kind, text))
