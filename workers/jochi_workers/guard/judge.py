"""Whether two memories say the same: the guard that stands before every merge.

Deterministic, symmetric, and without a model: both texts are read into items (numbers, dates, names, words …) and how they hang
together, and they may merge only if everything that carries meaning in one has its counterpart in the other.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import combinations

from jochi_workers.guard.differences import flag_codes, opposed, veto_codes
from jochi_workers.guard.inflect import compatible, lemma
from jochi_workers.guard.items import VALUES, Element, Item, Phrase, Separator
from jochi_workers.guard.language import LanguageCode, detect_language
from jochi_workers.guard.lists import LANGUAGES, READ, WORDED, Language, grammar, words
from jochi_workers.guard.reading import MOST_CHARACTERS, Reading, content_tokens, read
from jochi_workers.guard.ruling import Ruling, ruling
from jochi_workers.guard.scan import Token
from jochi_workers.guard.scope import tied
from jochi_workers.guard.shape import Key, Part, same
from jochi_workers.guard.spelling import together, umlauted

GUARD_VERSION = "guard 3"
MOST_UNKNOWN = 0.3
"""Share of a text's tokens that the embedding model may not know; above, its cosines mean nothing."""
_MOST_PEERS = 8
_MOST_FORMS = 16


def judge(left: str, right: str, *, cosine: float | None, unknown_share: float | None = 0.0) -> Ruling:
    """May two texts become one memory?

    ``cosine``: raw, of their embeddings, which the caller has compared with its threshold; None (or not a number) if unknown,
    then only texts with the same words in the same order merge. ``unknown_share``: the greater of the two texts' (0 to 1); None:
    nobody knows it, and then the cosine supports nothing. Never raises, whatever the texts are; `judge(a, b) == judge(b, a)`.
    """
    left, right = sorted((left, right))
    if max(len(left), len(right)) > MOST_CHARACTERS:
        return ruling("flag", {"length"})
    if unknown_share is not None and not unknown_share <= MOST_UNKNOWN:
        return ruling("flag", {"unread"})
    first, second = read(left), read(right)
    if not first.plain or not second.plain:
        return ruling("flag", {"empty"})
    if not first.script or not second.script:
        return ruling("flag", {"script"})
    languages = {reading.language for reading in (first, second)}
    known = languages - {"unclear"}
    if len(known - {"other"}) < 2 and languages & {"unclear", "other"}:
        # Two texts that could be one tell their language together.
        together_ = detect_language([*first.words, *(word for word in second.words if word not in first.words)])
        if together_ in READ:
            first, second = read(left, together_), read(right, together_)
            known = languages = {together_}
    if "other" in languages or len(known) > 1:
        return ruling("flag", {"language"})
    if first.plain == second.plain:
        return _alike(first, second)
    if not known:
        return ruling("flag", {"language"})
    doubt = "cosine" if cosine is None or not math.isfinite(cosine) else "unread" if unknown_share is None else None
    language: Language = next(name for name in (*LANGUAGES, *WORDED) if name in known)
    return _compared(first, second, language, doubt)


def _alike(first: Reading, second: Reading) -> Ruling:
    """The same words in the same order."""
    if first.language == "unclear" and (len(first.plain) > _MOST_UNCLEAR or not _whole_numbers(first.tokens)):
        return ruling("flag", {"language"})
    if _case_counts(first, second) or _capitals_differ(first, second, first.language):
        return ruling("flag", {"case"})
    return ruling("merge", {"same words"})


_MOST_UNCLEAR = 4


def _whole_numbers(tokens: tuple[Token, ...]) -> bool:
    """Whether no number has a mark that languages read in two ways: `1.500`."""
    return all(token.text.isdecimal() for token in tokens if token.kind == "number")


def _capitals_differ(first: Reading, second: Reading, language: LanguageCode) -> bool:
    """Whether a word within a sentence has a capital in one text only: the same words, so nothing else tells `May` from `may`."""
    if first.mono or second.mono:
        return False
    return any(
        _spelling(one, language) != _spelling(other, language) and one.kind == "word" and not (first_one or first_other)
        for (one, first_one), (other, first_other) in zip(_counted(first), _counted(second), strict=True)
    )


def _spelling(token: Token, language: LanguageCode) -> str:
    """`PDF` as `pdf`; in German `heisst` as `heißt`."""
    if token.text.casefold() in words("acronym"):
        return token.text.casefold()
    return umlauted(token.text) if language == "de" else token.text


def _counted(reading: Reading) -> list[tuple[Token, bool]]:
    """The tokens of `plain` that aren't marks, and whether each begins a sentence."""
    found = []
    begins = True
    for token in reading.tokens:
        if token.kind != "mark":
            found.append((token, begins))
        begins = token.kind == "mark" and (begins or token.text in (".", "!", "?", ":", ";", "…", "–", "\n"))
    return found


def _case_counts(first: Reading, second: Reading) -> bool:
    """Whether a word has capitals inside in one text and not in the other (`IT` and `it`), in texts that have both cases."""
    if first.mono or second.mono:
        return False
    ours, theirs = (_inner_capitals(reading) for reading in (first, second))
    return any(written != theirs.get(word, written) for word, written in ours.items()) or any(
        written != ours.get(word, written) for word, written in theirs.items()
    )


def _inner_capitals(reading: Reading) -> dict[str, str]:
    found = {}
    acronyms = words("acronym")
    for place, token in enumerate(reading.tokens):
        half = token.text.casefold() in ("am", "pm") and reading.tokens[place - 1].kind in ("number", "clock")
        if token.kind == "word" and len(token.text) > 1 and not half and token.text.casefold() not in acronyms:
            inner = token.text if token.text[1:] != token.text[1:].lower() else ""
            found[token.text.casefold()] = inner
    return found


def _articles_differ(left: tuple[Token, ...], right: tuple[Token, ...], language: Language) -> bool:
    """Whether one text speaks of a thing that is known where the other speaks of any: "a book", "the book"."""
    (ours, our_any), (theirs, their_any) = (
        [sum(token.text.casefold() in grammar(language, group) for token in tokens) for group in _ARTICLES]
        for tokens in (left, right)
    )
    return (ours - theirs) * (our_any - their_any) < 0 or (language == "de" and _cases_differ(left, right))


def _cases_differ(left: tuple[Token, ...], right: tuple[Token, ...]) -> bool:
    """Whether one says "der Frau" where the other says "die Frau", and neither is a passive of the other."""
    ours, theirs = (Counter(token.text.casefold() for token in tokens) for tokens in (left, right))
    passive = [sum(said[word] for word in grammar("de", "become")) for said in (ours, theirs)]
    return passive[0] == passive[1] and any(
        ours[one] - theirs[one] == theirs[other] - ours[other] != 0
        for one, other in (("der", "die"), ("einer", "eine"))
    )


_ARTICLES = ("definite", "indefinite")


def _items(elements: tuple[Element, ...]) -> Iterator[Item]:
    for element in elements:
        if isinstance(element, Item):
            yield element
        elif isinstance(element, Phrase):
            yield from element.items


def _compared(first: Reading, second: Reading, language: Language, doubt: str | None) -> Ruling:
    """``doubt``: why nothing but the texts themselves speaks for a merge."""
    ours, theirs = (content_tokens(tokens, language) for tokens in together(first.tokens, second.tokens, language))
    matched = _Matching(tuple(_items(ours)), tuple(_items(theirs)), language)
    left, right = matched.left_over, matched.right_over
    if left or right:
        # Without base forms another form of a word isn't told from another word.
        alone = matched.in_one_place and language in LANGUAGES
        vetoes = veto_codes(left, right, language, in_one_place=alone)
        return ruling("veto", vetoes) if vetoes else ruling("flag", flag_codes(left, right))
    flags = set(matched.doubts)
    if _case_counts(first, second) or (matched.cased and not first.mono and not second.mono):
        flags.add("case")
    if _articles_differ(first.tokens, second.tokens, language):
        flags.add("article")
    rows = (_parts(ours, matched.left_keys, language), _parts(theirs, matched.right_keys, language))
    firm = language in LANGUAGES and any(tied(row, language, listed=True) for row in (ours, theirs))
    if not same(*rows, language, tied=firm):
        return _ordered_otherwise(rows, matched, language)
    if flags:
        return ruling("flag", flags)
    return ruling("flag", {doubt}) if doubt else ruling("merge", {"same meaning"})


class _Matching:
    """Which items of two texts stand for each other, and what is left over on either side."""

    def __init__(self, left: tuple[Item, ...], right: tuple[Item, ...], language: Language) -> None:
        self.left_keys: dict[int, Key] = {}
        self.right_keys: dict[int, Key] = {}
        self.doubts: set[str] = set()
        self.cased = False  # a name on one side is a word of small letters on the other
        self.peers: list[Key] = []
        open_: dict[Key, list[int]] = defaultdict(list)
        for place, item in enumerate(right):
            open_[_group(item)].append(place)
        self.left_over: list[Item] = []
        over: list[int] = []
        for place, item in enumerate(left):
            found = self._counterpart(item, open_[_group(item)], right, language)
            if found is None:
                if item.kind not in ("case", "voice"):
                    over.append(place)
                    self.left_over.append(item)
                self.left_keys[place] = _group(item)
            else:
                open_[_group(item)].remove(found)
                self.cased |= _cased(item, right[found]) or _cased(right[found], item)
                key = (*_group(item), tuple(sorted(item.readings & right[found].readings)))
                self.left_keys[place] = self.right_keys[found] = key
                if item.kind in VALUES or item.text[:1].isupper() or right[found].text[:1].isupper():
                    self.peers.append(key)
        rest = sorted(place for places in open_.values() for place in places)
        for place in rest:
            self.right_keys[place] = _group(right[place])
        behind = [place for place in rest if right[place].kind not in ("case", "voice")]
        self.right_over = [right[place] for place in behind]
        self.in_one_place = len(over) == len(behind) == 1 and self._neighbours(over[0], behind[0])

    def _neighbours(self, left: int, right: int) -> bool:
        return all(self.left_keys.get(left + step) == self.right_keys.get(right + step) for step in (-1, 1))

    def _counterpart(self, item: Item, places: list[int], right: tuple[Item, ...], language: Language) -> int | None:
        doubtful: int | None = None
        for place in places[:_MOST_FORMS]:
            other = right[place]
            if item.readings and not item.readings & other.readings:
                continue
            if item.kind == "time" and item.form != other.form:
                doubtful = place
                continue
            if item.kind == "voice" or item.kind == "case" or _forms(item, other, language):
                return place
            doubtful = place
        if doubtful is not None:
            self.doubts.add("time" if item.kind == "time" else "inflection")
        return doubtful


def _cased(name: Item, word: Item) -> bool:
    return name.kind == "name" and word.kind == "word" and word.text[:1].islower()


def _forms(left: Item, right: Item, language: Language) -> bool:
    if left.form == right.form or left.kind in VALUES:
        return True
    return compatible(left.form, right.form, language, noun=left.text[:1].isupper())


def _group(item: Item) -> tuple[str, str]:
    kind = item.kind
    if kind in ("word", "name", "function"):
        kind = "word"
    elif kind in ("number", "version"):
        kind = "number"
    return kind, item.key


def _parts(elements: tuple[Element, ...], keys: dict[int, Key], language: Language) -> tuple[Part, ...]:
    found: list[Part] = []
    place = 0
    for element in elements:
        if isinstance(element, Separator):
            found.append(Part("separator", (), element.word))
        elif isinstance(element, Phrase):
            mine = tuple(keys[at] for at in range(place, place + len(element.items)))
            place += len(element.items)
            by = element.marker.partition(" + ")[0] in (grammar(language, "by")) and not element.moment
            found.append(Part("phrase", mine, element.marker, element.moment, agent=by))
        else:
            found.append(_part(element, keys[place], language))
            place += 1
    return tuple(found)


def _part(item: Item, key: Key, language: Language) -> Part:
    if item.kind in ("case", "voice"):
        return Part(item.kind, (), item.key)
    if item.kind == "negation":
        return Part("negation", (key,))
    if language != "de":
        return Part("item", (key,))
    noun = item.kind in VALUES or item.kind == "function" or item.text[:1].isupper()
    adjective = not noun and item.text.endswith(("e", "en", "em", "es", "er")) and not item.key.endswith("n")
    return Part("noun" if noun else "item", (key,), adjective=adjective)


def _ordered_otherwise(
    rows: tuple[tuple[Part, ...], tuple[Part, ...]], matched: _Matching, language: Language
) -> Ruling:
    """The same items in another order: a veto if changing two of a kind puts it right, else nobody can tell."""
    left, right = rows
    markers = [sorted(part.marker for part in parts if part.kind == "phrase") for parts in rows]
    if markers[0] != markers[1]:
        against = opposed(_only(markers[0], markers[1]), _only(markers[1], markers[0]), language)
        if against:
            return ruling("veto", against)
    peers = sorted(set(matched.peers), key=repr)[:_MOST_PEERS]
    for one, other in combinations(peers, 2):
        if isinstance(one, tuple) and isinstance(other, tuple) and one[0] == other[0]:
            swapped = tuple(_swapped(part, one, other) for part in right)
            if same(left, swapped, language):
                return ruling("veto", {"role"})
    return ruling("flag", {"order"})


def _only(markers: list[str], others: list[str]) -> list[str]:
    return [marker.partition(" + ")[0] for marker in markers if marker not in others]


def _swapped(part: Part, one: Key, other: Key) -> Part:
    change = {one: other, other: one}
    return part._replace(keys=tuple(change.get(key, key) for key in part.keys))


def warm() -> None:
    """Loads what tells languages and words, which takes two seconds: for a worker that wants it done before the first pair."""
    lemma("word", "en")
    lemma("Wort", "de")
    detect_language(["warm"])
