"""One text, read once: its language, its pieces, and everything that `Reading` holds."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

import regex

from jochi.text.content import content_hash
from jochi_workers.language import english, moments, personal
from jochi_workers.language.cache import ReadingCache
from jochi_workers.language.extra import packages
from jochi_workers.language.reading import Entity, Personal, Reading, Reference, Span, Statement
from jochi_workers.language.references import references
from jochi_workers.language.sentences import sentences
from jochi_workers.language.statements import statements

MOST_CHARACTERS = 100_000
"""What a model reads of one text; sentences alone are found in the rest, and the reading is partial."""
_AT_ONCE = 1_000
_PIECE = 5_000
_MOST_TOLD = 1_000  # characters that tell a text's language
_WORD = regex.compile(r"[^\W\d_]+")
_PERSONAL = {"PERSON": "PERSON", "GPE": "LOCATION", "LOC": "LOCATION", "FAC": "LOCATION", "NORP": "NRP"}
_BY_MODEL = 0.85
"""How sure a name by the model is: Presidio's own figure for spaCy."""
_SCRIPTS = {
    **{
        "CYRILLIC": "ru",
        "HIRAGANA": "ja",
        "KATAKANA": "ja",
        "HANGUL": "ko",
        "CJK": "zh",
        "ARABIC": "ar",
        "GREEK": "el",
    },
    **{"HEBREW": "he", "DEVANAGARI": "hi", "THAI": "th"},
}
_kept = ReadingCache()


def read(text: str, *, now: datetime | None = None) -> Reading:
    """The reading of ``text``, kept for the next time it is asked for. ``now`` resolves what is said as seen from today; its
    time zone holds for all times of the text. `JochiError` without the extra [language]."""
    return next(read_all([text], now=now))


def read_all(texts: Iterable[str], *, now: datetime | None = None) -> Iterator[Reading]:
    """A reading a text, in their order; several at once cost half of one by one. As `read`."""
    waiting: list[str] = []
    characters = 0
    for text in texts:
        waiting.append(text)
        characters += len(text)
        if len(waiting) >= _AT_ONCE or characters >= MOST_CHARACTERS:
            yield from _read(waiting, now)
            waiting, characters = [], 0
    yield from _read(waiting, now)


def forget_readings() -> None:
    """Lets everything go that is kept of texts that were read: what is forgotten must not live on here."""
    _kept.forget()
    moments.forget()


def _read(texts: Sequence[str], now: datetime | None) -> Iterator[Reading]:
    keys = [content_hash(text) for text in texts]
    known = [_kept.get(key, text) for key, text in zip(keys, texts, strict=True)]
    fresh = list(dict.fromkeys(text for text, reading in zip(texts, known, strict=True) if reading is None))
    made = dict(zip(fresh, _fresh(fresh), strict=True))
    for key, text, reading in zip(keys, texts, known, strict=True):
        found = reading
        if found is None:
            found = made[text]
            _kept.put(key, found)
        yield _at(found, now)


def _at(reading: Reading, now: datetime | None) -> Reading:
    """With its moments resolved as seen from ``now``."""
    if not reading.moments:
        return reading
    near, far = reading.moments[: moments.MOST], reading.moments[moments.MOST :]
    return replace(reading, moments=(*(moments.resolve(one, reading.language, now) for one in near), *far))


def language_of(text: str) -> str:
    """`en`, `de`, … by frequent words or by the script; `other` or `unclear` where that doesn't tell."""
    language, lists = packages("jochi_workers.guard.language", "jochi_workers.guard.lists")
    head = text[:_MOST_TOLD]
    if not language.readable_script(head):
        scripts = Counter(unicodedata.name(letter, "").split(" ")[0] for letter in head if letter.isalpha())
        names = [_SCRIPTS[script] for script, _ in scripts.most_common() if script in _SCRIPTS]
        return "ja" if "ja" in names else (names[0] if names else "other")
    words = _WORD.findall(head)
    code: str = language.detect_language(words)
    if code != "other":
        return code
    counts = Counter(code for word in words for code, frequent in lists.by_language() if word.casefold() in frequent)
    ranked = counts.most_common(2)
    return ranked[0][0] if ranked and (len(ranked) == 1 or ranked[0][1] > ranked[1][1]) else "other"


class _Draft:
    """What is gathered of one text before it is a `Reading`."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.head = text[:MOST_CHARACTERS]
        self.language = language_of(text)
        self.modelled = self.language in ("en", "unclear")
        self.sentences = sentences(text)
        self.entities: list[Entity] = []
        self.phrases: list[Span] = []
        self.statements: list[Statement] = []
        self.references: list[Reference] = []
        self.named: list[Personal] = []

    def pieces(self) -> Iterator[tuple[int, english.Piece]]:
        """What the model reads, with its offsets: sentences as many as go into one piece; a longer one is cut at a blank."""
        start = 0
        begins: list[int] = []
        for sentence in (*self.sentences, None):
            first = min(sentence.start, len(self.head)) if sentence else len(self.head)
            while first - start > _PIECE and (begins or not sentence or first - start > 2 * _PIECE):
                end = self._cut(start, begins)
                yield start, english.Piece(self.head[start:end], [at - start for at in begins if at < end])
                start, begins = end, [at for at in begins if at >= end]
            begins.append(first)
        if start < len(self.head):
            yield start, english.Piece(self.head[start:], [at - start for at in begins if at < len(self.head)])

    def _cut(self, start: int, begins: list[int]) -> int:
        end = max((at for at in begins if start < at <= start + _PIECE), default=0)
        if not end:
            blank = self.head.rfind(" ", start + _PIECE // 2, start + _PIECE)
            end = blank + 1 if blank > 0 else min(start + _PIECE, len(self.head))
        return end

    def add(self, tree: english.Tree, offset: int) -> None:
        """What the model found in one piece."""
        for kind, start, end in tree.entities:
            text = tree.text[start:end]
            left, right = len(text) - len(text.lstrip()), len(text.rstrip())
            if any(character.isalnum() for character in text):
                first, last = offset + start + left, offset + start + right
                self.entities.append(Entity(kind, text[left:right], first, last))
                if kind in _PERSONAL:
                    self.named.append(Personal(_PERSONAL[kind], text[left:right], first, last, _BY_MODEL))
        for one, two in english.phrases(tree):
            start, end = tree.starts[one], tree.ends[two]
            self.phrases.append(Span(tree.text[start:end], offset + start, offset + end))
        self.statements += statements(tree, offset)
        self.references += references(tree, offset)

    def reading(self) -> Reading:
        """All of it together with what needs no model."""
        by_pattern, complete = personal.match_patterns(self.head)
        forms = [Entity(one.type, one.text, one.start, one.end) for one in by_pattern]
        taken = personal.SpanSet()
        for one in by_pattern:
            taken.add(one.start, one.end)
        for start, end in personal.identifiers(self.head):
            if taken.add(start, end):
                forms.append(Entity("IDENTIFIER", self.head[start:end], start, end))
        language = "en" if self.modelled else self.language
        times = [one for one in moments.find_spans(self.head, language) if taken.is_free(one.start, one.end)]
        names = [one for one in self.entities if taken.is_free(one.start, one.end)]
        whole = self.language == "en" and complete and len(self.head) == len(self.text)
        return Reading(
            text=self.text,
            language=self.language,
            partial=not whole,
            sentences=tuple(Span(one.text, one.start, one.start + len(one.text)) for one in self.sentences),
            entities=tuple(sorted((*forms, *names), key=lambda one: one.start)),
            phrases=tuple(self.phrases),
            statements=tuple(self.statements),
            moments=tuple(times),
            personal=tuple(personal.without_overlaps((*by_pattern, *self.named))),
            references=tuple(self.references),
        )


def _fresh(texts: Sequence[str]) -> list[Reading]:
    drafts = [_Draft(text) for text in texts]
    places = [(draft, offset, piece) for draft in drafts if draft.modelled for offset, piece in draft.pieces()]
    for (draft, offset, _), tree in zip(places, english.parse(piece for _, _, piece in places), strict=True):
        draft.add(tree, offset)
    return [draft.reading() for draft in drafts]
