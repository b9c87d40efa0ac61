"""How much of a request a text says, and how it states it, in languages that no parser reads (docs/reference/forgetting.md, In
other words).

Words are compared by their forms: as they are, in the base forms that simplemma knows, and without letters before them that are
a word of their own (Arabic, Hebrew). In scripts without blanks two neighbouring signs are compared. What only begins alike
orders candidates and makes none sure. The function words of each language are data (`wording_words.toml`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from jochi.errors import JochiError
from jochi.forgetting.words import phrase, words
from jochi.text.dictionary import base_form
from jochi.text.kept import kept
from jochi.text.letters import script_of
from jochi.toml import beside

_ALIKE = 0.7
"""What a word counts that begins as another one does."""
_LEAST_ALIKE = 3
_SHARE_ALIKE = 0.6
_SCRIPTS = {
    "LATIN": ("latin",),
    "CYRILLIC": ("cyrillic",),
    "GREEK": ("greek",),
    "DEVANAGARI": ("devanagari",),
    "BENGALI": ("bengali",),
    "TAMIL": ("tamil",),
    "ARABIC": ("arabic",),
    "HEBREW": ("hebrew",),
    "CJK": ("chinese", "japanese"),
    "HIRAGANA": ("japanese",),
    "KATAKANA": ("japanese",),
    "HANGUL": ("korean",),
    "THAI": ("thai",),
}
"""The first word of the Unicode name of a letter, and the sections that its texts are read by."""
_UNSPACED = frozenset({"chinese", "japanese", "korean", "thai"})
_CASED = frozenset({"latin", "cyrillic", "greek"})


class _Lists(NamedTuple):
    languages: tuple[str, ...]
    plain: frozenset[str]
    nots: frozenset[str]
    within: tuple[str, ...]
    ends: tuple[str, ...]
    past: tuple[str, ...]
    before: tuple[str, ...]
    owners: frozenset[str]
    apart: tuple[str, ...]
    hedges: tuple[str, ...]


@cache
def _lists() -> dict[str, _Lists]:
    found = {}
    for name, data in beside(__file__, "wording_words.toml").items():
        texts = {
            each: tuple(_folded(one) for one in data[each])
            for each in ("nots", "within", "ends", "past", "before", "apart", "hedges")
        }
        found[name] = _Lists(
            tuple(data["languages"]),
            frozenset(_folded(one) for one in data["plain"].split()),
            frozenset(texts["nots"]),
            texts["within"],
            texts["ends"],
            texts["past"],
            texts["before"],
            frozenset(data["owners"]),
            texts["apart"],
            texts["hedges"],
        )
    return found


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()


@kept(1_024)
def sections_of(text: str) -> tuple[str, ...]:
    """By which sections of the lists a text is read: those of its letters; Japanese by its kana, else Chinese."""
    found = dict.fromkeys(each for character in text if character.isalpha() for each in _sections(character))
    kana = any(unicodedata.name(character, "").startswith(("HIRAGANA", "KATAKANA")) for character in text)
    if "chinese" in found and "japanese" in found:
        found.pop("chinese" if kana else "japanese")
    return tuple(found)


def _languages_of(text: str, sections: Sequence[str]) -> tuple[str, ...]:
    """The languages whose base forms a text is read by: each is a dictionary of its own, so one for each script."""
    found: list[str] = []
    for each in sections:
        known = _lists()[each].languages
        if len(known) == 1 or each == "arabic":
            found += known
        elif each == "cyrillic":
            found.append("uk" if re.search("[іїєґ]", text, re.I) else "ru" if re.search("[ыэё]", text, re.I) else "bg")
        elif known:
            try:
                from jochi_workers.language.reader import language_of

                found += [language for language in (language_of(text),) if language in known]
            except JochiError:
                continue
    return tuple(found)


def _sections(character: str) -> tuple[str, ...]:
    return _SCRIPTS.get(script_of(character), ())


@dataclass(frozen=True)
class Piece:
    """A word of a text, or a sign of a script without blanks. ``forms``: what it is compared by. ``name``: it has a capital or a
    digit. ``follows``: no blank parts it from the piece before."""

    word: str
    start: int
    stop: int
    forms: frozenset[str]
    name: bool
    plain: bool
    unspaced: bool
    follows: bool


@kept(4_096)
def pieces_of(text: str) -> tuple[Piece, ...]:
    """The words of a text in their order, function words and denials marked as plain."""
    text = unicodedata.normalize("NFC", text)
    sections = sections_of(text)
    lists = [_lists()[each] for each in sections]
    empty, languages = _empty(text, sections), _languages_of(text, sections)
    found: list[Piece] = []
    for word in words(text):
        raw = text[word.start : word.stop]
        own = _sections(next((each for each in raw if each.isalpha()), " "))
        unspaced = bool(_UNSPACED.intersection(own))
        cased = bool(_CASED.intersection(own))
        digits = any(map(str.isdigit, raw))
        forms = frozenset((word.folded,)) if unspaced or digits else _forms(word.folded, own, languages)
        plain = not digits and (
            empty[word.start : word.stop].isspace()
            if unspaced
            else any(not each.plain.isdisjoint(forms) or word.folded in (*each.nots, *each.ends) for each in lists)
        )
        follows = bool(found) and found[-1].stop == word.start
        found.append(
            Piece(
                word.folded,
                word.start,
                word.stop,
                forms,
                # The name is what stands behind a mark as well: `qu'Anne`.
                digits or "@" in raw or (cased and any(part[:1].isupper() for part in re.split("['’]", raw))),
                plain,
                unspaced,
                follows,
            )
        )
    return tuple(found)


def _empty(text: str, sections: Iterable[str]) -> str:
    """The text with blanks in place of what tells nothing in scripts without blanks."""
    folded = text.casefold()
    if len(folded) != len(text):
        folded = text
    for each in sections:
        if each in _UNSPACED:
            lists = _lists()[each]
            phrases = sorted(
                (*lists.plain, *(one.strip("。、 ") for one in lists.within), *lists.ends), key=len, reverse=True
            )
            folded = re.sub("|".join(map(re.escape, phrases)), lambda one: " " * len(one[0]), folded)
    return folded


@kept(8_192)
def _forms(word: str, sections: tuple[str, ...], languages: tuple[str, ...]) -> frozenset[str]:
    found = {word}
    for each in sections:
        for before in _lists()[each].before:
            if word.startswith(before) and len(word) - len(before) >= 2:
                found.add(word[len(before) :])
    for each in sections:
        for language in set(languages).intersection(_lists()[each].languages):
            found |= {base_form(one, language) for one in tuple(found)}
    return frozenset(found)


def other_forms(text: str) -> tuple[str, ...]:
    """The forms of its words that it doesn't have, of a language that no index knows base forms of."""
    if sections_of(text) in ((), ("latin",)):
        return ()
    return tuple(
        dict.fromkeys(form for one in pieces_of(text) if not one.plain for form in sorted(one.forms - {one.word}))
    )


class Cover(NamedTuple):
    """What a text says of a request: ``shares`` by piece, 0 to 1; ``missing``: what it doesn't say and would have to."""

    shares: tuple[float, ...]
    missing: tuple[str, ...]


def cover(request: Sequence[Piece], text: Sequence[Piece]) -> Cover:
    """What ``text`` says of ``request``. Function words are never missing."""
    forms = frozenset(form for one in text for form in one.forms)
    pairs = {(one.word, two.word) for one, two in pairwise(text) if two.follows and two.unspaced}
    shares = [0.0] * len(request)
    for at, one in enumerate(request):
        if one.unspaced:
            behind = request[at + 1] if at + 1 < len(request) and request[at + 1].follows else None
            if behind is not None and behind.unspaced and (one.word, behind.word) in pairs:
                shares[at] = shares[at + 1] = 1.0
            elif len(one.word) > 2 and one.word in forms:
                shares[at] = 1.0
        elif one.forms & forms:
            shares[at] = 1.0
        elif any(not each.unspaced and alike(one, each) for each in text):
            shares[at] = _ALIKE
    wanted = frozenset(one.word for one in request)
    signs = frozenset(
        one.word
        for at, one in enumerate(text)
        if all(
            each.plain or not each.unspaced or each.word in wanted
            for each in (*text[max(0, at - 1) : at], *text[at + 1 : at + 2])
        )
    )
    missing: list[str] = []
    for at, one in enumerate(request):
        said = shares[at] == 1.0  # what begins alike may be another thing
        alone = one.unspaced and _is_han(one.word) and one.word in signs and _beside_said(request, shares, at)
        if not said and not one.plain and not alone:
            if missing and one.follows and one.unspaced:
                missing[-1] += one.word
            else:
                missing.append(one.word)
    return Cover(tuple(shares), tuple(missing))


def _beside_said(request: Sequence[Piece], shares: Sequence[float], at: int) -> bool:
    """Whether one sign beside it is said, and the other one too, or tells nothing: a sign alone may be a word then."""
    near = [request[each] for each in (at - 1, at + 1) if 0 <= each < len(request)]
    said = any(0 <= each < len(request) and shares[each] == 1.0 for each in (at - 1, at + 1))
    return said and all(one.plain or not one.unspaced or shares[request.index(one)] == 1.0 for one in near)


def _is_han(word: str) -> bool:
    return unicodedata.name(word[0], "").startswith("CJK")


def _cased(one: Piece) -> bool:
    return bool(_CASED.intersection(_sections(one.word[0])))


def alike(one: Piece, other: Piece) -> bool:
    """Whether two words begin alike, as forms of one word do."""
    return any(_alike(a, b) for a in one.forms for b in other.forms)


def _alike(one: str, other: str) -> bool:
    shared = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return shared >= _LEAST_ALIKE and shared >= _SHARE_ALIKE * max(len(one), len(other))


def denies(text: str) -> bool:
    """Whether it says that something isn't so, or isn't any more."""
    sections = sections_of(text)
    folded = f" {_folded(text)}。"
    for one in sorted((one for each in sections for one in _lists()[each].apart), key=len, reverse=True):
        folded = folded.replace(one, "〇")
    own = frozenset(phrase(folded))
    for each in sections:
        lists = _lists()[each]
        if own & lists.nots:
            return True
        if any(one in folded if each in _UNSPACED else _is_part(one, own) for one in lists.within):
            return True
        if any(one in folded if each in _UNSPACED else one in own for one in lists.ends):
            return True
    return False


def _is_part(part: str, own: Iterable[str]) -> bool:
    return any(word.startswith(part[:-1]) if part.endswith("-") else word.endswith(part) for word in own)


def ends(text: str) -> bool:
    """Whether it says that something isn't so any more by a verb of its own, which doesn't say what."""
    folded = _folded(text)
    own = frozenset(phrase(text))
    return any(
        one in folded if each in _UNSPACED else one in own for each in sections_of(text) for one in _lists()[each].ends
    )


def hedges(text: str) -> frozenset[str]:
    """What a text says that it may be so, or is so seldom or on a condition, by."""
    folded, own = _folded(text), frozenset(phrase(text))
    return frozenset(
        one
        for each in sections_of(text)
        for one in _lists()[each].hedges
        if (one in folded if each in _UNSPACED else one in own)
    )


def is_past(text: str) -> bool:
    """Whether it says that something was so, and is no longer."""
    folded = _folded(text)
    own = frozenset(phrase(text))
    past = [(each, one) for each in sections_of(text) for one in _lists()[each].past]
    return any(
        re.search(rf"\b{one[:-1].strip()}\s+(?:\w+\s+)?(?:19|20)\d\d\b", folded) is not None
        if one.endswith("…")
        else one in (folded if each in _UNSPACED else own)
        for each, one in past
    )


def _is_first(request: Sequence[Piece], one: Piece) -> bool:
    """Whether a request names first what a text begins with: who owes whom is told by the order."""
    content = [each for each in request if not each.plain]
    if not one.unspaced and _cased(one) and one.name:
        content = [each for each in content if each.name and not each.word[0].isdigit()] or content
    at = next((at for at, each in enumerate(content) if each.forms & one.forms), None)
    verb_first = _sections(one.word[0]) == ("arabic",)
    return at == 0 or (at == 1 and verb_first) or (at is not None and names_what(request, request.index(content[0])))


def another_one(request: Sequence[Piece], text: Sequence[Piece]) -> str:
    """Whom else a text may speak of than a request: what it begins with, or goes on with behind the name, and the request doesn't
    say; "" if there is no such thing."""
    shares = cover(text, request).shares
    first = next((at for at, one in enumerate(text) if shares[at] == 1.0 and not one.plain), len(text))
    if _in_another_order(request, text, shares, first):
        return f"{text[first].word}, maybe,"
    before = [one.word for one in text[:first] if not one.plain]
    if before:
        return " ".join(before)
    if first < len(text) and not _is_first(request, text[first]):
        return f"{text[first].word}, maybe,"
    behind = next((at for at in range(first, len(text)) if shares[at] < 1.0), len(text))
    run = text[first:behind]
    if run and behind < len(text) and cover(request, run).missing:
        one = text[behind]
        if one.unspaced and one.follows and not one.plain:
            return one.word  # the name may go on
    owners = {each for name in _lists() for each in _lists()[name].owners}
    last = max((at for at, one in enumerate(text) if shares[at] == 1.0 and not one.plain), default=0)
    for at in range(first, last):
        following = next((each for each in range(at + 1, last) if not text[each].plain), None)
        if text[at].word in owners and following is not None and not shares[following]:
            return text[following].word
    return ""


_CASES = frozenset(("der", "den", "dem", "des", "ο", "τον", "του", "η", "την", "της"))
"""Articles that tell who does something to whom."""


def _in_another_order(request: Sequence[Piece], text: Sequence[Piece], shares: Sequence[float], first: int) -> bool:
    """Whether a text says the words of a request, and another does it to another: by the article of the first, or in scripts
    without blanks by their order."""
    if first >= len(text):
        return False
    same = next((at for at, one in enumerate(request) if one.forms & text[first].forms), 0)
    articles = {row[at - 1].word for row, at in ((request, same), (text, first)) if at > 0} & _CASES
    if len(articles) > 1:
        return True
    asked = [one.word for one in request if one.unspaced and not one.plain]
    said = [one.word for one, share in zip(text, shares, strict=True) if one.unspaced and not one.plain and share]
    return asked != said and sorted(asked) == sorted(said)


def goes_on(text: str, request: Sequence[Piece], pieces: Sequence[Piece]) -> str:
    """What a name or a word of a request goes on with in a text, as `Kite 2` for `Kite` and 肉松 for 肉; "" if nothing does."""
    shares = cover(pieces, request).shares
    for at, one in enumerate(pieces[1:], 1):
        if shares[at - 1] == 1.0 and not shares[at] and not one.plain and not pieces[at - 1].plain:
            number = one.word.isdigit() and pieces[at - 1].name and text[pieces[at - 1].stop : one.start].isspace()
            if number or (one.unspaced and one.follows and pieces[at - 1].unspaced):
                return one.word
    for left, right, share, following in zip(pieces, pieces[1:], shares, shares[1:], strict=False):
        # `New York` isn't York, nor is `London, Ontario` London.
        names = left.name and right.name and _cased(left) and _cased(right) and not right.word.isdigit()
        gap = text[left.stop : right.start]
        if names and not left.plain and not right.plain and gap.isspace() and share < 1.0 and following == 1.0:
            return left.word
        if names and not right.plain and gap in (" ", ", ") and share == 1.0 and following < 1.0:
            return right.word
    return ""


def narrower(request: Sequence[Piece], pieces: Sequence[Piece]) -> str:
    """What a denial says more than the request: who eats no raw meat may eat meat; "" if it is as wide."""
    shares = cover(pieces, request).shares
    said = [at for at, one in enumerate(pieces) if shares[at] == 1.0 and not one.plain]
    last, family_name = (said[-1], said[0] + 1) if said else (0, 0)
    for at, one in enumerate(pieces):
        if one.plain or shares[at] == 1.0 or (at == family_name < last):
            continue
        following = pieces[at + 1] if at + 1 < len(pieces) else None
        before_word = following is not None and not following.plain and not following.name and shares[at + 1] == 1.0
        if at > last or (before_word and not one.name) or (before_word and one.name and not _cased(one)):
            return one.word
    return ""


def names_what(request: Sequence[Piece], at: int) -> bool:
    """Whether a word of a request is no name: it is written small where names have capitals, or is what somebody has."""
    one = request[at]
    if _cased(one):
        return not one.name
    owners = {each for name in _lists() for each in _lists()[name].owners}
    before = next((each for each in reversed(request[:at]) if not each.plain or each.word in owners), None)
    return before is not None and before.word in owners
