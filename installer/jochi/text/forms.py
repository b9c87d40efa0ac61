"""Canonical forms: by what two spellings of one identifier or name are the same (DESIGN §15). The only home of them.

A form is a text such as `tel:+491701234567`. What is looked for *wants* forms, a text *offers* them, and it says what is looked
for where one of these is one of those. Both are sets, so that a hash of a form can stand for it, and so that what is less exact
needn't be the same both ways: `0170 1234567` may be `+49 170 1234567` or `+43 170 1234567`, which are never one another.
`docs/reference/forgetting.md` has the rules with examples.
"""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import NamedTuple

import regex
from anyascii import anyascii

from jochi.text.kept import kept
from jochi.text.letters import SPACED, UNSPACED, is_unspaced, without_points

LONGEST = 200
"""Characters of a phrase that has forms."""
NATIONAL_PREFIX = "nationally:"
"""Begins the form of a telephone number with a country, as one without."""


class FormMatch(NamedTuple):
    """A form that a text has, and where: characters of the composed (NFC) text."""

    form: str
    start: int
    stop: int


@dataclass(frozen=True)
class FormQuery:
    """What a phrase is looked for by besides its words.

    ``forms``: canonical forms. ``kinds``: which of them a text must be read for (`find_forms`). ``pattern``: regular expression of
    Java's that is in each text (NFKD, lower case) that has one of them, but for texts in ``scripts``: other ones than Latin.
    """

    forms: frozenset[str]
    kinds: tuple[str, ...]
    pattern: str
    scripts: bool = False

    def sealed_kinds(self) -> tuple[str, ...]:
        """The kinds by which it is kept from being learned again: each text that is written is read for them, so names without
        capitals, of which any words might be one, are left out."""
        return tuple(kind for kind in self.kinds if not kind.startswith("plain/"))

    def national_only(self) -> FormQuery:
        """The same of a telephone number, but that with a country's code it is another: there are several of them."""
        return replace(self, forms=frozenset(form for form in self.forms if not form.startswith(NATIONAL_PREFIX)))


@kept(512)
def read_query(phrase: str) -> FormQuery | None:
    """By what forms the whole phrase is known; None: by its words alone."""
    text = unicodedata.normalize("NFC", phrase).strip()
    if len(text) > LONGEST:
        return None
    for read in (_mail_query, _ip_query):
        if (only := read(text)) is not None:
            return only
    found = [one for read in (_hex_query, _phone_query, _row_query) if (one := read(text)) is not None]
    if not found:
        return None
    return FormQuery(
        frozenset().union(*(one.forms for one in found)),
        tuple(dict.fromkeys(kind for one in found for kind in one.kinds)),
        "|".join(one.pattern for one in found if one.pattern),
        any(one.scripts for one in found),
    )


def find_forms(text: str, kinds: Collection[str], *, first_reading: bool = False) -> Iterator[FormMatch]:
    """All forms of these kinds that a text has. Kinds: mail, ip, hex, tel; id/N, id-less/N, name/N,
    latin/N, script/N and cjk/N, N the letters and digits of it; plain/N: names of N letters also where they have no capitals.
    ``first_reading``: as until 0.2, for what was sealed then (`jochi.forgetting.words.READING`)."""
    composed = text if text.isascii() else unicodedata.normalize("NFC", text)
    rows: dict[int, set[str]] = {}
    for kind in kinds:
        name, _, size = kind.partition("/")
        if name in _READERS:
            yield from _READERS[name](composed)
        elif size.isdecimal():
            rows.setdefault(int(size), set()).add(name)
    # A letter of another script may be several Latin ones.
    if rows and not (composed.isascii() and len(composed) < min(rows)):
        yield from _find_rows(composed, rows, first_reading)


# Mail addresses: caseless; the domain as the network knows it; the dots that Google's mail ignores. What stands behind a + tells
# addresses apart.

_AT = r"\s*[\[({<]\s*(?:at|ät)\s*[\])}>]\s*"
_DOT = r"\s*[\[({<]\s*(?:dot|punkt)\s*[\])}>]\s*"
_LOCAL = r"[\w!#$%&'*+/=?^`{|}~.-]"
_MAIL = regex.compile(
    rf"(?<!{_LOCAL})(?:mailto:)?({_LOCAL}+(?:{_DOT}\w+)*)(?:[@＠]|{_AT}| at (?=[\w-]+(?: dot [\w-]+)+(?!\w)))"
    rf"([\w-]+(?:(?:[.．。]|{_DOT}| dot )[\w-]+)+)(?![\w-]|[.@]\w)",
    regex.IGNORECASE,
)
_AT_ALL = re.compile(r"[@＠]|[\[({<]\s*(?:at|ät)\s*[\])}>]| at \S+ dot ", re.IGNORECASE)
_SPELT_DOT = re.compile(rf"{_DOT}| dot |[．。]", re.IGNORECASE)
_GOOGLE = frozenset(("gmail.com", "googlemail.com"))


def _mail_form(local: str, domain: str) -> str:
    local, domain = (_SPELT_DOT.sub(".", unicodedata.normalize("NFKC", part)).casefold() for part in (local, domain))
    local = local.removeprefix("mailto:").lstrip("'.")
    with suppress(UnicodeError):  # no name of the network's is compared as it is written
        domain = domain.encode("idna").decode()
    if domain in _GOOGLE:
        name, plus, tag = local.partition("+")
        local, domain = name.replace(".", "") + plus + tag, "gmail.com"
    return f"mail:{local}@{domain}"


def _mails(text: str) -> Iterator[FormMatch]:
    if _AT_ALL.search(text):
        for found in _MAIL.finditer(text):
            yield FormMatch(_mail_form(found[1], found[2]), found.start(1), found.end())


def _mail_query(text: str) -> FormQuery | None:
    if not (found := _MAIL.fullmatch(text.strip("<>()., "))):
        return None
    form = _mail_form(found[1], found[2])
    local = form[len("mail:") :].split("@")[0]
    return FormQuery(frozenset((form,)), ("mail",), _spaced(_plain(local)) or ".", scripts=not local.isascii())


# Addresses of the network, by the standard library: 2001:db8::1 is 2001:0db8:0:0:0:0:0:1, and 10.0.0.1 is nothing else.

_IP = re.compile(r"(?<![\w:.])(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}(?![\w:])", re.IGNORECASE)


def _ips(text: str) -> Iterator[FormMatch]:
    if ":" in text:
        for found in _IP.finditer(text):
            try:
                yield FormMatch(f"ip:{ipaddress.IPv6Address(found[0])}", *found.span())
            except ValueError:
                continue


def _ip_query(text: str) -> FormQuery | None:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    if address.version == 4:
        return FormQuery(frozenset(), (), "")
    longest = max((part.lstrip("0") for part in address.exploded.split(":")), key=len)
    return FormQuery(frozenset((f"ip:{address}",)), ("ip",), longest or ":")


# Hexadecimal numbers: addresses of cards and fingerprints, whatever parts their pairs; 0x before one.

_HEX = re.compile(
    r"(?<![\w:.-])(?:urn:uuid:)?(?:0x([0-9a-f]{3,})|([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|(?:[0-9a-f]{2}[:-]){5,}[0-9a-f]{2}|(?:[0-9a-f]{4}[.:-]){2,}[0-9a-f]{4}"
    r"|[0-9a-f]{6,})h?)(?![\w:-]|\.\w)",
    re.IGNORECASE,
)
_NOT_HEX = re.compile(r"[:.x-]", re.IGNORECASE)


def _hexes(text: str) -> Iterator[FormMatch]:
    for found in _HEX.finditer(text):
        number = _NOT_HEX.sub("", found[1] or found[2]).lower()
        # Below, words such as facade.
        if len(number) >= 8 or any(character.isdigit() for character in number):
            yield FormMatch(f"hex:{number}", *found.span())


def _hex_query(text: str) -> FormQuery | None:
    text = text.strip("{}")
    found = next(_hexes(text), None)
    if found is None or (found.start, found.stop) != (0, len(text)):
        return None
    return FormQuery(frozenset((found.form,)), ("hex",), _spaced(found.form[len("hex:") :]))


# Telephone numbers. With a country: tel:+49…, and nationally:… for what it would be without one. Without a country: as-written:…,
# which may be any country's. Read where seven digits are: what reads them takes a while to import.

_DIGIT = re.compile(r"\d")
_DIGITS = re.compile(r"(?:\d[^\w]{0,3}){6}\d")
_PHONE_END = 7
"""The last digits, which are the same in every writing."""


def _phones(text: str) -> Iterator[FormMatch]:
    if _DIGITS.search(text):
        from jochi.text.phones import numbers

        for start, stop, number in numbers(text):
            forms = [
                f"{'as-written:' if number.international is None else NATIONAL_PREFIX}{each}"
                for each in number.national
            ]
            if number.international is not None:
                forms.append(f"tel:{number.international}")
            for form in forms:
                yield FormMatch(form, start, stop)


def _phone_query(text: str) -> FormQuery | None:
    if not _DIGITS.search(text):
        return None
    from jochi.text.phones import number_of

    if (number := number_of(text)) is None:
        return None
    forms = {f"as-written:{each}" for each in number.national}
    forms.add(
        f"{NATIONAL_PREFIX}{number.national[0]}" if number.international is None else f"tel:{number.international}"
    )
    return FormQuery(frozenset(forms), ("tel",), _spaced(number.national[0][-_PHONE_END:]))


# Any other identifier, and names: rows of words as Latin letters and digits, and where parts of them met ("joints"). A digit on
# the other side of a joint is another identifier: B-AB 1 is not BA-B 1, and room 1-23 is not room 12-3.

_PIECE = regex.compile(rf"{UNSPACED}|{SPACED}+", regex.V1)
_ASCII_PIECE = re.compile("[A-Za-z0-9]+")
_FIRST_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_FIRST_MARKS = (
    "\u00ad\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670\u0900-\u0903\u093a-\u094f\u0962\u0963\u200b-\u200d\u2060\ufeff"
)
_FIRST_PIECE = re.compile(rf"[{_FIRST_CJK}]|(?:(?![{_FIRST_CJK}])(?:[^\W_]|[{_FIRST_MARKS}]))+")
_FIRST_UNSPACED = re.compile(f"[{_FIRST_CJK}]")
_WITHIN = re.compile(r"[@._+\-/\\:#&%'’]+")
"""Marks that hold a word together (`jochi.forgetting.words`): what begins or ends at one of them is a part of a word."""
_SEPARATORS = re.compile(r"[\s\-‐‑‒–−()]{1,3}")
_AT_DIGITS = re.compile(r"\s?[/:]\s?")
_APOSTROPHES = frozenset("'’ʼʹ`´")
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa", "æ": "ae", "ß": "ss"})
_LEAST, _LEAST_OF_DIGITS, _LEAST_OF_NAMES = 5, 2, 3
_FREE = 9
"""Digits from which on it doesn't matter how they are grouped."""
_LOOSE = 6
"""Digits from which on they may be written without the marks between them."""
_PLAIN = 8
"""Letters from which on a name of several words needs no capitals in what is read for it: chat is written without."""
_MOST_JOINTS = 5
_IDENTIFIERS = frozenset(("id", "id-less"))


class _Piece(NamedTuple):
    """A run of letters and digits, ``latin`` in two ways of spelling: ü as u and as ue. ``gap``: what stands before it."""

    start: int
    stop: int
    latin: tuple[str, str]
    gap: str
    begins: bool
    ends: bool
    named: bool
    script: str
    digits: int


@kept(256)
def _pieces(text: str, first_reading: bool = False) -> list[_Piece]:
    pattern = _FIRST_PIECE if first_reading else _ASCII_PIECE if text.isascii() else _PIECE
    spans = [one.span() for one in pattern.finditer(text)]
    gaps = ["", *(text[stop:start] for (_, stop), (start, _) in pairwise(spans)), ""]
    apart = [gap == " " or not _WITHIN.fullmatch(gap) for gap in gaps]
    result: list[_Piece] = []
    for at, (start, stop) in enumerate(spans):
        raw = text[start:stop]
        begins, ends = apart[at], apart[at + 1]
        if not begins and gaps[at] == ":":
            begins = text[slice(*spans[at - 1])].lower() in ("tel", "mailto")
        if not ends and gaps[at + 1] in ("'", "’"):  # an owner's s belongs to no word
            ends = text[slice(*spans[at + 1])].lower() == "s" and apart[at + 2]
        ascii_ = raw.isascii()
        latin = (raw.lower(),) * 2 if ascii_ else _latin(raw if first_reading else without_points(raw))
        script = "latin" if ascii_ else _script(raw, first_reading)
        digits = 0 if raw.isalpha() else sum(map(str.isdecimal, raw))
        result.append(_Piece(start, stop, latin, gaps[at], begins, ends, not raw[0].islower(), script, digits))
    return result


@kept(8192)
def _latin(raw: str) -> tuple[str, str]:
    lower = unicodedata.normalize("NFC", unicodedata.normalize("NFKC", raw).lower())
    if any(unicodedata.category(character) in ("No", "Nl") for character in raw):
        return f"<{raw}>", f"<{raw}>"  # ½ is not 12
    return _plain(lower), _plain(lower.translate(_UMLAUTS))


def _plain(text: str) -> str:
    return re.sub("[^a-z0-9]", "", anyascii(text).lower())


def _script(raw: str, first_reading: bool) -> str:
    """latin, cjk (no blanks between words), or other."""
    if all(
        ord(character) < 0x370 or 0x1E00 <= ord(character) < 0x2070 or 0xFF00 <= ord(character) < 0xFF60
        for character in raw
    ):
        return "latin"
    return "cjk" if (_FIRST_UNSPACED.match(raw) if first_reading else is_unspaced(raw)) else "other"


class _Row(NamedTuple):
    """Words in a row, in one of the ways of spelling."""

    compact: str
    joints: frozenset[int]
    digits: int
    script: str
    named: bool
    parted: bool
    plain: bool = False

    @property
    def identifier(self) -> bool:
        return self.digits >= _LEAST_OF_DIGITS and len(self.compact) >= _LEAST and not self.parted

    def offers(self, plain: bool) -> Iterator[str]:
        if self.identifier:
            yield from _identifier(self, offering=True)
        elif (self.named or (plain and self.plain)) and not self.parted:
            joints = _joined(self.joints)
            if self.script == "latin":
                yield f"name:{self.compact}|{joints}"
                yield f"latin:{self.compact}"
            elif self.script == "cjk":
                yield f"cjk:{self.compact}"
            else:
                yield f"script:{self.compact}|{joints}"

    def wants(self) -> Iterator[str]:
        if self.identifier:
            yield from _identifier(self, offering=False)
        elif self.named and not self.parted and len(self.compact) >= _LEAST_OF_NAMES:
            joints = _joined(self.joints)
            if self.script == "latin":
                yield f"name:{self.compact}|{joints}"
                if not self.digits:
                    yield f"script:{self.compact}|{joints}"
                    yield f"cjk:{self.compact}"
            elif self.script == "cjk":
                yield f"latin:{self.compact}"
            else:
                # Two names of one other script are the same by their words alone.
                yield f"name:{self.compact}|{joints}"


def _identifier(row: _Row, *, offering: bool) -> Iterator[str]:
    """Two are the same if the joints of one are among those of the other: fewer marks, not others."""
    if row.digits >= _FREE:
        yield f"id:{row.compact}"
        return
    kept = frozenset() if row.digits >= _LOOSE else frozenset(at for at in row.joints if row.compact[at].isdigit())
    free = sorted(row.joints - kept)
    sizes = range(len(free) + 1) if len(free) <= _MOST_JOINTS else (0, len(free))
    fewer = [kept.union(some) for size in sizes for some in combinations(free, size)]
    if offering:
        yield f"id:{row.compact}|{_joined(row.joints)}"
        yield from (f"id-less:{row.compact}|{_joined(joints)}" for joints in fewer)
    else:
        yield from (f"id:{row.compact}|{_joined(joints)}" for joints in fewer)
        yield f"id-less:{row.compact}|{_joined(row.joints)}"


def _joined(joints: Collection[int]) -> str:
    return ".".join(map(str, sorted(joints)))


def _row(pieces: list[_Piece], first: int, last: int, way: int) -> _Row:
    compact, joints, parted = pieces[first].latin[way], set(), False
    for piece in pieces[first + 1 : last + 1]:
        at, latin = len(compact), piece.latin[way]
        ends, begins = compact[-1:], latin[:1]
        digit = ends.isdigit() or begins.isdigit()
        if piece.gap and piece.gap not in _APOSTROPHES:
            # A soft sign may stand at the end of a word: Igor' is Игорь.
            gap = piece.gap.strip("".join(_APOSTROPHES))
            if not (_SEPARATORS.fullmatch(gap) or (digit and _AT_DIGITS.fullmatch(gap))):
                parted = True
            joints.add(at)
        compact += latin
    digits = sum(character.isdigit() for character in compact)
    row = pieces[first : last + 1]
    scripts = {piece.script for piece in row}
    script = "latin" if scripts == {"latin"} else "cjk" if scripts == {"cjk"} else "other"
    odd = [piece for piece in row if piece.script != "latin" or piece.latin[0] != piece.latin[1] or not piece.named]
    named = row[0].named and row[-1].named and all(piece.named or piece.latin[0] == piece.latin[1] for piece in odd)
    plain = len(row) > 1 and len(compact) >= _PLAIN
    if digits >= _LEAST_OF_DIGITS and len(compact) >= _LEAST:
        joints = {at for at in joints if compact[at - 1].isdigit() == compact[at].isdigit()}
    return _Row(compact, frozenset(joints), digits, script, named, parted, plain)


def _find_rows(text: str, sizes: dict[int, set[str]], first_reading: bool) -> Iterator[FormMatch]:
    pieces = _pieces(text, first_reading)
    longest = max(sizes)
    wanted_names = any(names - _IDENTIFIERS for names in sizes.values())
    plain = any("plain" in names for names in sizes.values())
    digits = _DIGIT.search(text) is not None and any(names & _IDENTIFIERS for names in sizes.values())
    for way in (0,) if text.isascii() else (0, 1):
        for first, one in enumerate(pieces):
            # Most words begin neither a name nor what has digits in it.
            named = plain or (wanted_names and one.named)
            if not one.begins or not (named or digits) or (way and not _has_two_ways(pieces, first, longest)):
                continue
            length = seen = 0
            for last in range(first, len(pieces)):
                piece = pieces[last]
                length += len(piece.latin[way])
                seen += piece.digits
                if length > longest:
                    break
                names = sizes.get(length)
                if names is None or not piece.ends:
                    continue
                if not (seen >= _LEAST_OF_DIGITS or "plain" in names or (one.named and piece.named)):
                    continue
                for form in _row(pieces, first, last, way).offers("plain" in names):
                    if form.partition(":")[0] in names:
                        yield FormMatch(form, one.start, piece.stop)


def _has_two_ways(pieces: list[_Piece], first: int, most: int) -> bool:
    length = 0
    for at in range(first, len(pieces)):
        one, other = pieces[at].latin
        if one != other:
            return True
        length += len(one)
        if length > most:
            return False
    return False


def _row_query(text: str) -> FormQuery | None:
    pieces = _pieces(text)
    if not pieces:
        return None
    rows = {_row(pieces, 0, len(pieces) - 1, way) for way in (0, 1)}
    forms = {form for row in rows for form in row.wants()}
    if not forms:
        return None
    rows = {row for row in rows if row.compact}
    kinds = tuple(sorted({f"{form.partition(':')[0]}/{len(row.compact)}" for row in rows for form in row.wants()}))
    kinds += tuple(f"plain/{len(row.compact)}" for row in sorted(rows) if row.plain and not row.identifier)
    patterns = [_spaced(row.compact) for row in sorted(rows)]
    letters = any(not character.isdigit() for row in rows for character in row.compact)
    return FormQuery(frozenset(forms), kinds, "|".join(dict.fromkeys(patterns)), scripts=letters)


_READERS = {"mail": _mails, "ip": _ips, "hex": _hexes, "tel": _phones}

_GAP = r"[^\p{L}\p{N}]*"
_ODD = {"a": "æ", "o": "øœ", "s": "ß", "t": "þŧ", "d": "ðđ", "h": "ħ", "l": "ł", "i": "ı", "n": "ŋ", "q": "ĸ"}
"""Letters of Europe that no normal form takes apart, by the one that they begin with in Latin letters."""
_SECOND = {"e": r"\p{M}æøœ", "a": r"\p{M}", "s": "ß", "h": "þ", "g": "ŋ"}
"""What a second letter may be in: ü is ue, å is aa, ß is ss."""


def _spaced(compact: str) -> str:
    """Pattern of these letters and digits with any marks between them, in a text in NFKD."""
    return _GAP.join(_character(one, at) for at, one in enumerate(compact))


def _character(one: str, at: int) -> str:
    if one.isdigit():
        return rf"[{one}[\p{{Nd}}&&[^0-9]]]"
    plain = f"[{one}{_ODD[one]}]" if one in _ODD else one
    return rf"(?:{plain}|(?<=[{_SECOND[one]}]))" if at and one in _SECOND else plain
