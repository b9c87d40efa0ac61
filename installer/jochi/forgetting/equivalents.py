"""Sentences that say that two spellings are of one thing: "also known as", "same number, written …", a name in two scripts.

What is found is a link with its evidence, the memory that says it. Nothing is stored: what is to be forgotten is read anyway, so
a link is there in whatever order memories were written, and is gone with the sentence that told of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from functools import cache
from typing import NamedTuple

import regex
from anyascii import anyascii

from jochi.text.forms import read_query
from jochi.text.kept import kept
from jochi.text.letters import script_of
from jochi.toml import beside

_WINDOW = 160
"""Characters before and behind a spelling in which another is looked for."""

_LEAST = 5
"""Characters of an identifier: of a shorter one too much would go."""
_LEAST_ALIKE = 0.5
"""How much of a name in another script must be read in it, where nothing else says that it is the same."""

_MARK = r"[\s,;:()\[\]\"“”„'‘’«»–—=/-]"
_NAME_WORD = r"[^\W\d_]+(?:['’-][^\W\d_]+)*"
PARTICLES = frozenset(
    ("van", "von", "de", "der", "den", "da", "di", "del", "al", "el", "bin", "ibn", "la", "le", "zu", "af")
)
_NAMES = regex.compile(rf"(?<!\w){_NAME_WORD}(?:[ \u00a0]{_NAME_WORD})*(?!\w)")
_TOKEN = re.compile(r"\S+")
_CODE = re.compile(r"[(+＋]?[^\s,;\"“”„'‘’«»]*\d[^\s,;\"“”„'‘’«»]*|[A-Z]{1,4}(?:-[A-Z]{1,4})*|\S+@\S+")
"""A part of an identifier: a digit is in it, or few capitals are all of it."""
_MOST_WORDS = 6
_QUOTED = re.compile(r"[\"“„‘«]([^\"“”„‘’«»\n]{2,60})[\"”“’»]")
_OWNERS = ("'s", "’s")
_IS = frozenset(("is", "was", "ist", "war"))
_OWNS = re.compile(r"(?:['’]s?|s)\s+")
_END = re.compile(r"[.!?](?=\s)|\n")


class _Mention(NamedTuple):
    """A spelling in a text. ``kind``: name, identifier, or reachable (a telephone, a mail address: nobody's name)."""

    text: str
    start: int
    stop: int
    kind: str


class _Lists(NamedTuple):
    cores: re.Pattern[str]
    scripts: re.Pattern[str]
    owned: re.Pattern[str]
    between: frozenset[str]
    names: frozenset[str]
    identifiers: frozenset[str]
    joins: frozenset[str]
    no_names: frozenset[str]


@cache
def _lists() -> _Lists:
    data = beside(__file__, "equivalent_words.toml")

    def every(name: str) -> frozenset[str]:
        return frozenset(word for language in data.values() for word in language[name])

    def pattern(name: str) -> re.Pattern[str]:
        phrases = sorted(every(name), key=len, reverse=True)
        return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, phrases))})(?!\w)")

    between, names, identifiers = every("between"), every("names"), every("identifiers")
    spoken = frozenset(word for phrase in every("scripts") for word in phrase.split())
    no_names = every("no_names") | between | names | identifiers | spoken
    return _Lists(
        pattern("cores"), pattern("scripts"), pattern("owned"), between, names, identifiers, every("joins"), no_names
    )


def find_equivalents(text: str, start: int, stop: int) -> Iterator[str]:
    """The other spellings that ``text`` (in NFC) says to be the same as what stands from ``start`` to ``stop``."""
    one = _mention(text, start, stop)
    after, before = text[stop : stop + _WINDOW], text[max(0, start - _WINDOW) : start]
    here = max(0, start - _WINDOW)
    found = [
        *(_moved(other, stop) for other in _mentions(after)),
        *(_moved(other, here) for other in _mentions(before)),
    ]
    equivalents: dict[tuple[str, bool], _Mention] = {}
    for other in found:
        behind = other.start >= stop
        first, second = (one, other) if behind else (other, one)
        if _fit(one, other) and _says_same(text, first, second):
            # Of one that is in another the longer one is meant.
            known = equivalents.get((other.kind, behind))
            if known is None or len(other.text) > len(known.text):
                equivalents[other.kind, behind] = other
    yield from dict.fromkeys(
        (
            *(other.text for other in equivalents.values()),
            *_by_patterns(text, start, stop),
            *_in_brackets(text, start, stop),
        )
    )


def _moved(one: _Mention, by: int) -> _Mention:
    return one._replace(start=one.start + by, stop=one.stop + by)


def _mention(text: str, start: int, stop: int) -> _Mention:
    return _Mention(text[start:stop], start, stop, _kind(text[start:stop]))


def _kind(text: str) -> str:
    found = read_query(text)
    kinds = {kind.partition("/")[0] for kind in found.kinds} if found else set()
    if kinds & {"mail", "tel"} or "@" in text:
        return "reachable"
    return "identifier" if any(character.isdigit() for character in text) else "name"


def _mentions(text: str) -> Iterator[_Mention]:
    yield from _codes(text)
    for found in _NAMES.finditer(text):
        yield from _names(text, found)
    for found in _QUOTED.finditer(text):
        yield _mention(text, *found.span(1))


def _codes(text: str) -> Iterator[_Mention]:
    """The longest rows of parts of identifiers."""
    row: list[tuple[int, int]] = []
    for found in [*_TOKEN.finditer(text), None]:
        start = stop = last = 0
        if found is not None:
            core = found[0].strip(".,;:!?\"“”„'‘’«»[]{}<>")
            core = core if core.count("(") == core.count(")") else core.strip("()")
            start = found.start() + found[0].find(core)
            stop, last = start + len(core), found.end()
            if core and _CODE.fullmatch(core):
                # A mark before a part ends what was before it.
                if row and start > found.start():
                    yield from _code(text, row)
                    row = []
                row.append((start, stop))
                if stop == last:
                    continue
        yield from _code(text, row)
        row = []


def _code(text: str, row: list[tuple[int, int]]) -> Iterator[_Mention]:
    if row and len(row) <= _MOST_WORDS * 2:
        one = _mention(text, row[0][0], row[-1][1])
        if "@" in one.text or sum(map(str.isdigit, one.text)) >= 2:
            yield one


def _names(text: str, found: re.Match[str]) -> Iterator[_Mention]:
    """The rows of words in a run of them that are written like names."""
    row = [(found.start() + word.start(), found.start() + word.end()) for word in re.finditer(r"\S+", found[0])]
    first = 0
    for at in range(len(row) + 1):
        word = text[slice(*row[at])] if at < len(row) else ""
        written = bool(word) and not word[0].islower() and word.lower() not in _lists().no_names
        if not written and not (word in PARTICLES and first < at < len(row) - 1):
            if first < at <= first + _MOST_WORDS:
                start, stop = row[first][0], row[at - 1][1]
                yield _mention(text, start, stop - 2 if text[start:stop].endswith(_OWNERS) else stop)
            first = at + 1


def names(text: str) -> Iterator[str]:
    """The rows of words in a text that are written like names."""
    for found in _NAMES.finditer(text):
        yield from (one.text for one in _names(text, found))


def _fit(one: _Mention, other: _Mention) -> bool:
    """Whether both may be spellings of one thing: nobody's name is a telephone number."""
    if one.text == other.text or (other.kind == "identifier" and len(other.text) < _LEAST):
        return False
    kinds = {one.kind, other.kind}
    return len(kinds) == 1 or kinds == {"name", "identifier"}


def _says_same(text: str, first: _Mention, second: _Mention) -> bool:
    between = text[first.stop : second.start]
    lists = _lists()
    nouns = lists.identifiers if first.kind == second.kind != "name" else lists.names
    if _only(between, nouns, first.kind != "name"):
        return True
    scripts = _scripts(first.text, second.text)
    if scripts and lists.scripts.search(between.lower()) and _all_known(lists.scripts.sub(" ", between.lower()), nouns):
        return True
    if (
        scripts
        and _all_known(between.lower().replace("（", "("), nouns | lists.joins)
        and _alike(first.text, second.text)
    ):
        return True
    if re.fullmatch(rf"{_MARK}+", between) and "=" in between:
        return True
    joined = between.strip(" \"“”„'‘’«»\u00a0").lower()
    if joined in _IS and (theirs := _OWNS.match(text, second.stop)) and lists.owned.match(text.lower(), theirs.end()):
        return True
    if joined in lists.joins or joined in ("&", "/", "+", ","):
        behind = text[second.stop : second.stop + _WINDOW]
        end = _END.search(behind)
        behind = behind[: end.start()] if end else behind.rstrip(".!?")
        return _only(behind, nouns, first.kind != "name")
    return False


def _only(text: str, nouns: frozenset[str], identifiers: bool) -> bool:
    """Whether the words say that two are the same, and nothing else. One of them may begin a sentence: "Same number, written …"."""
    lower = text.lower()
    cores = _lists().cores
    if not cores.search(lower) or "\n" in text.strip("\n"):
        return False
    rest = cores.sub(" ", lower)
    if not identifiers and set(cores.findall(lower)) == {"same"} and not nouns.intersection(rest.split()):
        return False  # "same here, Bob"
    if identifiers:
        rest = re.sub(r"^\s*\.(?=\s)", " ", rest)
    return _all_known(rest, nouns)


def _all_known(rest: str, nouns: frozenset[str]) -> bool:
    known = _lists().between | nouns
    return all(word in known for word in re.sub(_MARK, " ", rest).replace("i.e.", "i.e").split())


def _scripts(one: str, other: str) -> bool:
    """Whether they are written in two scripts."""
    return _is_latin(one) != _is_latin(other)


def _is_latin(text: str) -> bool:
    return all(script_of(each) == "LATIN" for each in text if each.isalpha())


def _alike(one: str, other: str) -> bool:
    left, right = (re.sub("[^a-z]", "", anyascii(each).lower()) for each in (one, other))
    return SequenceMatcher(None, left, right, autojunk=False).ratio() >= _LEAST_ALIKE


# Whole sentences --------------------------------------------------------------------------------------------------------

_NAME_CHUNK = r"[^\s,;:!?()（）。、，；：！？।؟،\"“”„«»「」]+"
_UNSPACED_NAME = r"[^,;:!?()（）。、，；：！？\"“”„«»「」\n]{1,24}?"
_MOST_OTHERS = 5
_SENTENCE = re.compile(r"(?<=[.!?])(?<![\s(]\w\.)(?<!^\w\.)\s+|(?<=[。！？।؟])|\n")
_CLAUSE_END = r"$|[,;!?()（）。、，；：！？।؟،]"
_UNSPACED = ("zh", "ja", "th")


class _Pattern(NamedTuple):
    needle: str
    pattern: re.Pattern[str]
    unspaced: bool
    open_ended: bool


@cache
def _patterns() -> tuple[_Pattern, ...]:
    found = []
    for language, each in beside(__file__, "same_patterns.toml").items():
        unspaced = language in _UNSPACED
        name = _UNSPACED_NAME if unspaced else rf"{_NAME_CHUNK}(?:[ \u00a0]{_NAME_CHUNK}){{0,5}}?"
        others = r"[^,;。、，]{0,10}?" if unspaced else rf"(?:{_NAME_CHUNK} ){{0,{_MOST_OTHERS}}}?"
        for one in each:
            body = re.escape(one).replace(r"\ ", " ").replace("…" if unspaced else "… ", others)
            body = body.replace("_ ", rf"{_NAME_CHUNK} ")
            for letter in "ab":
                body = body.replace(rf"\{{{letter}\}}", f"(?P<{letter}>{name})")
            fixed = max(re.split(r"\{[ab]\}|…|_", one), key=len).strip()
            begins = "" if unspaced or one.startswith("{") else r"(?<!\w)"
            ends = f"(?={_CLAUSE_END})" if unspaced and one.endswith("{b}") else "" if unspaced else r"(?!\w)"
            pattern = re.compile(begins + body + ends, re.IGNORECASE)
            found.append(_Pattern(fixed.lower(), pattern, unspaced, one.endswith("{b}")))
    return tuple(found)


@cache
def _titles() -> tuple[str, ...]:
    every = {word for each in beside(__file__, "request_words.toml").values() for word in each["titles"].split()}
    return tuple(sorted(every, key=len, reverse=True))


def _by_patterns(text: str, start: int, stop: int) -> Iterator[str]:
    """What sentences say to be the same as what stands there, by `same_patterns.toml`."""
    for first, last, other in _pairs(text):
        beside_it = (text[first:start], text[stop:last]) if first <= start and stop <= last else None
        if beside_it is not None and all(not each.strip() or each.strip() in _titles() for each in beside_it):
            yield other


# A name, and in brackets behind it the same in another script --------------------------------------------------------------------

_BRACKETS = re.compile(r"[(（]([^()（）\n]{2,60})[)）]")
_ASIDE = re.compile(r"^(?:[^\s]+ ){0,3}$|^[^A-Za-z]{0,8}$")
"""What may stand before the name in brackets: "on the sign", "in English mails"."""
_LEAST_OF_BRACKETS = 0.6
_LEAST_OF_BLOCKS = 0.65
"""In Chinese and Japanese, of all letters: a word such as "manager" may stand before the brackets, too."""
_BLOCK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff・]+$")


def _in_brackets(text: str, start: int, stop: int) -> Iterator[str]:
    for found in _BRACKETS.finditer(text):
        before = text[: found.start()].rstrip()
        within, at = found[1].strip().rstrip("."), found.start(1)
        if before and stop >= len(before) - 1 and stop <= len(before) and not text[stop : len(before)].strip(".\"”»'’"):
            # The name is in front: what is in another script in the brackets, and nothing else, is its like.
            if _other_script(text[start:stop], within) and _sounds_like(text[start:stop], within):
                yield within
        elif at <= start and stop <= found.end(1) and not text[stop : found.end(1)].strip():
            front = _front_of(before, text[start:stop]) if _ASIDE.match(text[at:start]) else None
            if front:
                yield front


def name_before_brackets(text: str, start: int, stop: int) -> str | None:
    """In Chinese and Japanese what stands before the brackets that have what is from ``start`` to ``stop``: whose name it may
    be."""
    for found in _BRACKETS.finditer(text):
        if found.start(1) <= start and stop <= found.end(1):
            block = _BLOCK.search(text[: found.start()].rstrip())
            return block[0] if block else None
    return None


def _front_of(before: str, name: str) -> str | None:
    """The name in another script that ends there, with as many words as sound most like this one."""
    if block := _BLOCK.search(before):
        bare = block[0]
        for title in _titles():
            bare = bare.removesuffix(title) or bare
        ends = [bare[at:] for at in range(len(bare) - 1)] if _other_script(bare, name) else []
        return max(ends, key=lambda end: _letters_alike(end, name), default=None) if _most(ends, name) else None
    rows = before.rstrip("\"”»'’").split(" ")
    best, most = None, _LEAST_OF_BRACKETS
    for size in range(1, min(_MOST_WORDS, len(rows)) + 1):
        front = " ".join(rows[-size:]).lstrip("\"“„«'‘")
        if re.search(r"[,;:.!?،]\s", front) or not _other_script(front, name):
            break
        if (alike := _likeness(front, name)) > most:
            best, most = front, alike
    return best


def _other_script(one: str, other: str) -> bool:
    scripts = [{script_of(each) for each in text if each.isalpha()} for text in (one, other)]
    return bool(scripts[0]) and bool(scripts[1]) and scripts[0].isdisjoint(scripts[1])


def _most(ends: list[str], name: str) -> bool:
    return max((_letters_alike(end, name) for end in ends), default=0.0) >= _LEAST_OF_BLOCKS


def _letters_alike(one: str, other: str) -> float:
    left, right = (re.sub("[^a-z]", "", anyascii(each).lower()) for each in (one, other))
    return SequenceMatcher(None, left, right, autojunk=False).ratio()


def _sounds_like(one: str, other: str) -> bool:
    if _BLOCK.search(one) or _BLOCK.search(other):
        return _letters_alike(one, other) >= _LEAST_OF_BLOCKS
    return _likeness(one, other) >= _LEAST_OF_BRACKETS


def _likeness(one: str, other: str) -> float:
    """Of the consonants: scripts differ in what they say of vowels."""
    left, right = (
        re.sub("[^b-df-hj-np-tvwxz]", "", _SOUNDS.sub(_sound, anyascii(each).lower())) for each in (one, other)
    )
    return SequenceMatcher(None, left, right, autojunk=False).ratio()


_SOUNDS = re.compile("dzh|kh|ph|th|ck|z|c|w")


def _sound(found: re.Match[str]) -> str:
    return {"dzh": "j", "kh": "h", "ph": "f", "th": "t", "ck": "k", "z": "s", "c": "k", "w": ""}[found[0]]


def is_told(text: str, start: int, stop: int) -> bool:
    """Whether a sentence says that what stands there is another's name."""
    return any((start, stop) == (first, last) for first, last, _ in _pairs(text))


@kept(1_024)
def _pairs(text: str) -> tuple[tuple[int, int, str], ...]:
    """Each name that a sentence says to be another one's: its place and the other one, both ways."""
    found: dict[tuple[int, int, str], None] = {}
    lower = text.lower()
    wanted = [one for one in _patterns() if one.needle in lower]
    at = 0
    for sentence in [*_SENTENCE.split(text)] if wanted else ():
        base = text.find(sentence, at)
        at = base + len(sentence)
        for one in wanted:
            for start in [0, *(each.end() for each in re.finditer(r"[\s,;、，]+", sentence))]:
                match = one.pattern.match(sentence, start)
                if match is None:
                    continue
                a_place, (b_start, b_stop) = match.span("a"), match.span("b")
                if one.open_ended and not one.unspaced:
                    b_stop = b_start + (re.search(_CLAUSE_END, sentence[b_start:]) or match).start()
                spans = [
                    _name_span(
                        sentence, *a_place, begins=a_place[0] > b_start or bool(match.start("a") > match.start())
                    ),
                    _name_span(sentence, b_start, b_stop, begins=True),
                ]
                if spans[0] is None or spans[1] is None:
                    continue
                (a, b), (c, d) = spans[0], spans[1]
                if sentence[a:b] == sentence[c:d] or _goes_on_before(sentence, min(a, c)):
                    continue
                found[base + a, base + b, sentence[c:d]] = None
                # Where there are no capitals, what stands before a name can't be told from it but at the beginning.
                if _has_case(sentence[a:b]) or not sentence[: min(a, c)].strip():
                    found[base + c, base + d, sentence[a:b]] = None
    return tuple(found)


def _has_case(text: str) -> bool:
    return any(each.isupper() or each.islower() for each in text)


def _is_written_like_a_name(word: str) -> bool:
    return word[:1].isupper() or word[:1] == "@" or any(map(str.isdigit, word))


def _goes_on_before(text: str, start: int) -> bool:
    """Whether the name that begins there has more words before it."""
    before = re.search(r"(\S+)[ \u00a0]$", text[:start])
    word = before[1] if before else ""
    return _has_case(text[start : start + 1]) and _is_written_like_a_name(word) and not _is_no_name(word)


_ARTICLES = frozenset(("the", "die", "der", "das", "η", "ο", "οι", "το", "τα"))
"""Before a name, and no part of it. Others, such as *Al*, *La* and *An*, may be."""


def _is_no_name(word: str) -> bool:
    return word.lower() in _lists().no_names or word.lower() in _ARTICLES


def without_article(name: str) -> str:
    """A name without an article in front."""
    first, _, rest = name.partition(" ")
    return rest if rest and first.lower() in _ARTICLES else name


@cache
def _plain_words() -> frozenset[str]:
    data = beside(__file__, "request_words.toml")
    return frozenset(word for each in data.values() for name in ("frame", "titles") for word in each[name].split())


def _name_span(text: str, start: int, stop: int, *, begins: bool) -> tuple[int, int] | None:
    """The name within a part of a pattern: where there are capitals the words that have them, beside the pattern."""
    part = text[start:stop].rstrip(".'’ ").removesuffix("というの")
    stop = start + len(part)
    if not _has_case(part):
        return (start, stop) if part else None
    words = [(start + one.start(), start + one.end()) for one in re.finditer(r"\S+", part)]
    named = [_is_written_like_a_name(text[a:b]) for a, b in words]
    if begins:
        first = next((at for at, yes in enumerate(named[:3]) if yes), None)
        if first is None or not all(text[slice(*word)] in _plain_words() for word in words[:first]):
            return None  # "is the sister of Olga"
        last = first
        while last + 1 < len(words) and (named[last + 1] or text[slice(*words[last + 1])] in PARTICLES):
            last += 1
    else:
        if not named or not named[-1]:
            return None
        first = last = len(words) - 1
        while first and (named[first - 1] or text[slice(*words[first - 1])] in PARTICLES):
            first -= 1
    while first < last and _is_no_name(text[slice(*words[first])]):
        first += 1
    after = re.match(r"[ \u00a0]*(\S+)", text[words[last][1] :]) if begins else None
    goes_on = after is not None and after[1][:1].isalpha() and after[1].rstrip(".,;:!?") not in _plain_words()
    if (goes_on and stop > words[last][1]) or text[slice(*words[last])].endswith(_OWNERS):
        return None  # "used to be Bob's manager"
    return words[first][0], words[last][1]
