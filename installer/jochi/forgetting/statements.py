"""What a text says, statement by statement, so that two texts in other words can be compared (docs/reference/forgetting.md, In
other words).

English is read by its dependency parse (extra [language]); other texts, and without the extra, by clauses and words.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

import regex

from jochi.forgetting.clauses import clauses_of, is_single, is_verb, is_word, reader_of, remove_clauses, sentences
from jochi.forgetting.wording import denies, is_past, sections_of
from jochi.forgetting.words import Word, phrase, words
from jochi.text.dictionary import base_form
from jochi.text.kept import kept
from jochi.toml import beside

SPEAKER = "\0i"
"""Stands for whoever speaks of himself, as a name."""

_PRONOUNS = frozenset({"he", "she", "they", "him", "her", "them", "his", "their", "er", "sie", "ihr", "sein"})
_PREDICATES = ("VB", "MD")
_SOFT = ("RB", "WRB", "UH")
_PARTICLE = "RP"
_IS = re.compile(r"(?:is|are|was|were)\b")
_QUESTION = re.compile(r"[?？؟][\s\"'”’»)\]]*$")
"""Ends a question, which says nothing."""


class Unit(NamedTuple):
    """A word that tells something. ``kinds``: of what it is about. ``name``: a name or a number. ``modifier``: it only describes
    another one, so that a statement may go without it."""

    word: str
    base: str
    kinds: frozenset[int]
    name: bool
    modifier: bool
    verb: bool = False


@dataclass(frozen=True)
class Statement:
    """One statement. ``text``: its own words; ``full_text``: with the subject that it shares; ``spans``: where they stand in the
    composed (NFC) text. ``subject``: its names. ``value``: what it says of it, None where that can't be told. ``mood``: denied
    or not, and how it is stated."""

    text: str
    full_text: str
    spans: tuple[tuple[int, int], ...]
    units: tuple[Unit, ...]
    subject: frozenset[str] = frozenset()
    value: str | None = None
    mood: tuple[bool, str] = (False, "")
    subject_text: str | None = None
    ambiguous: bool = False
    """It may be read otherwise."""
    lead: str = ""
    """The clause that its sentence begins with, where that may have its subject, in texts that no parser reads."""

    @property
    def surface_names(self) -> tuple[str, ...]:
        """Names and numbers as they are written, those that stand beside each other together: such as `José García`."""
        names = {unit.word for unit in self.units if unit.name}
        found: list[tuple[int, int, bool]] = []
        for word in words(self.full_text):
            number = word.folded[-1:].isdigit()
            if word.folded not in names:
                continue
            if found and number == found[-1][2] and not self.full_text[found[-1][1] : word.start].strip(" +()-/"):
                found[-1] = (found[-1][0], word.stop, number)
            else:
                found.append((word.start, word.stop, number))
        return tuple(self.full_text[start:stop] for start, stop, _ in found)

    @property
    def names(self) -> frozenset[str]:
        """Its names and numbers, the subject's as well."""
        return self.subject | {unit.word for unit in self.units if unit.name}

    @property
    def kinds(self) -> frozenset[int]:
        """What it is about, as far as the words tell."""
        return frozenset(kind for unit in self.units for kind in unit.kinds)

    @property
    def bases(self) -> frozenset[str]:
        """The words that it is told by, but for names."""
        return frozenset(unit.base for unit in self.units if not unit.name)


@dataclass(frozen=True)
class _Lists:
    kinds: Mapping[str, frozenset[int]]
    opposites: frozenset[str]
    nots: frozenset[str]
    plain: frozenset[str]
    particles: frozenset[str]
    speaker: frozenset[str]
    forms: Mapping[str, str]
    past: frozenset[str]
    subordinators: frozenset[str]


@cache
def _lists() -> _Lists:
    data = beside(__file__, "statement_words.toml")
    kinds: dict[str, frozenset[int]] = {}
    for number, line in enumerate(data["kinds"]):
        for word in line.split():
            kinds[word] = kinds.get(word, frozenset()) | {number}
    for word, other in data["opposites"].items():
        kinds[word] = kinds[other]
    return _Lists(
        kinds,
        frozenset(data["opposites"]),
        frozenset(data["nots"]),
        frozenset(data["plain"].split()),
        frozenset(data["particles"]),
        frozenset(data["speaker"]),
        {form: line.split()[0] for line in data["forms"] for form in line.split()[1:]},
        frozenset(data["past"]),
        frozenset(data["subordinators"]),
    )


def particles() -> frozenset[str]:
    """What makes another verb of one that it stands behind: working out isn't working."""
    return _lists().particles


def related_words(text: str) -> tuple[str, ...]:
    """Words that a memory may have in place of those of ``text``: what else is of the same kind."""
    lists = _lists()
    wanted = {kind for word in words(text) for kind in lists.kinds.get(_base(word.folded), ())}
    # The first form of each: an index finds no others of a word.
    forms = {base: form for form, base in reversed(list(lists.forms.items()))}
    found = [word for word, kinds in lists.kinds.items() if kinds & wanted]
    return tuple(dict.fromkeys(each for word in found for each in (word, forms.get(word)) if each))


@kept(1_024)
def parse_statements(text: str) -> tuple[Statement, ...]:
    """The statements of a text in their order; of a fragment without one, such as `Ann's address`, the fragment.

    Kept until `jochi.forgetting.clauses.forget_readings`.
    """
    text = unicodedata.normalize("NFC", text)
    reader = reader_of(text)
    found: list[Statement] = []
    at = 0
    for sentence in sentences(text):
        asked = is_question(sentence)
        for one in _parsed(reader.read_clauses(sentence)) if reader else _plain(sentence):
            found.append(_placed(replace(one, mood=(one.mood[0], "asked")) if asked else one, at))
        at += len(sentence)
    return tuple(_referred(found))


def _placed(one: Statement, at: int) -> Statement:
    return replace(one, spans=tuple((start + at, stop + at) for start, stop in one.spans))


def _referred(found: Iterable[Statement]) -> Iterator[Statement]:
    """A pronoun stands for the only one that statements before it speak of."""
    known: set[frozenset[str]] = set()
    for one in found:
        pronoun = one.subject_text is not None and words(one.subject_text)[:1]
        if one.subject:
            known.add(one.subject)
        elif len(known) == 1 and (one.subject_text is None or (pronoun and pronoun[0].folded in _PRONOUNS)):
            one = replace(one, subject=next(iter(known)))
        yield one


def is_question(text: str) -> bool:
    """Whether it ends as a question does."""
    return _QUESTION.search(text) is not None


def same_slot(one: Statement, other: Statement) -> bool:
    """Whether two statements say the same of the same: subject, kind, names and all other words that tell of a value."""
    if one.lead != other.lead and not (one.subject and other.subject):
        return False  # whose it is stands elsewhere
    if not one.subject and not other.subject and sections_of(one.full_text) not in ((), ("latin",)):
        # Names look like other words: who does what to whom is told by their order.
        return phrase(one.full_text) == phrase(other.full_text) and one.mood == other.mood
    if one.bases == other.bases and one.names == other.names and one.mood == other.mood:
        return True
    kinds = one.kinds & other.kinds
    return bool(
        one.subject
        and kinds
        and one.subject == other.subject
        and one.mood == other.mood
        and one.names == other.names
        and _beside(one, kinds) == _beside(other, kinds)
    )


def _beside(one: Statement, kinds: frozenset[int]) -> frozenset[str]:
    """The words that are not of these kinds: those of the value, such as green tea."""
    return frozenset(unit.base for unit in one.units if not unit.name and not unit.kinds & kinds)


def remove_statement(text: str, one: Statement) -> str | None:
    """``text`` without that one of its statements; None where that isn't sure. The others must be what it says then, and nothing
    else.

    It is looked for by its own words, else by its value or subject, where these are said nowhere else.
    """
    others = [each for each in parse_statements(text) if each != one]
    for part in (one.text, one.full_text, one.value, one.subject_text):
        rest = remove_clauses(text, phrase(part)) if part and phrase(part) else None
        if rest is None or _stands_alone_now(text, rest, one):
            continue
        if one.lead and rest and _all_else(text, rest, one):
            return rest
        left = parse_statements(rest)
        if len(left) == len(others) and all(_still(now, was, one) for now, was in zip(left, others, strict=True)):
            return rest
    return None


def in_place_of(text: str, one: Statement, new: str) -> str | None:
    """``text`` with another statement in place of the clause that one of its sentences begins with, whose subject what follows
    shares; None where it is no such clause. For texts that no parser reads."""
    if one.lead or one.ambiguous:
        return None
    text = unicodedata.normalize("NFC", text)
    following = [each for each in parse_statements(text) if each.lead and phrase(each.lead) == phrase(one.text)]
    begins = [each.spans[0][0] for each in following if each.spans[0][0] >= one.spans[0][1]]
    if not begins:
        return None
    rest = text[min(begins) :]
    return f"{text[: one.spans[0][0]]}{new} {rest[:1].upper()}{rest[1:]}"


def _all_else(text: str, rest: str, one: Statement) -> bool:
    """Whether a rest has the words of a text in their order, but for one clause and what joined it to the others."""
    start, stop = one.spans[0]
    before, behind, left = phrase(text[:start]), phrase(text[stop:]), phrase(rest)
    joins = len(before) + len(behind) - len(left)
    at = len(before) if left[: len(before)] == before else len(before) - joins
    return 0 <= joins <= 1 and left[:at] == before[:at] and left[at:] == behind[len(behind) - len(left) + at :]


def _stands_alone_now(text: str, rest: str, one: Statement) -> bool:
    """Whether what was said on a condition, or of a time or a reason, would be stated by itself: `Ann sings when she is drunk`."""
    lost = Counter(phrase(text)) - Counter(phrase(rest)) - Counter(phrase(one.full_text))
    return bool(rest) and not _lists().subordinators.isdisjoint(lost)


def _still(now: Statement, was: Statement, removed: Statement) -> bool:
    """Whether it says what it said before; a pronoun may have lost the one that stood for it."""
    lost = was.names - now.names
    return (now.bases, now.mood) == (was.bases, was.mood) and now.names <= was.names and lost <= removed.subject


# By the parse -------------------------------------------------------------------------------------------------------------


def _parsed(clauses: Iterable[Any]) -> Iterator[Statement]:
    for clause in clauses:
        all_words = words(clause.text)
        tops = [one for one in clause.statements if one.clauses and not _within(one, clause.statements)]
        if not tops:
            for part in _fragment(clause.text, clause.start, clause.tags):
                yield replace(part, ambiguous=clause.ambiguous)
            continue
        for one in tops:
            # Of a clause that makes one statement all words are its own, also those that the parse has left over.
            is_only = len(clause.statements) == 1
            spans = ((0, len(clause.text)),) if is_only else tuple((span.start, span.end) for span in one.clauses)
            own_words = [word for word in all_words if any(start <= word.start < stop for start, stop in spans)]
            units = tuple(_units(clause.text, own_words, clause.tags))
            # A passive is turned round; what stands first is what it speaks of.
            is_passive = one.object is not None and one.object.start == spans[0][0] and _behind(one.subject, one)
            first, value = (one.object, one.subject) if is_passive else (one.subject, one.object)
            subject = _names_in(first, own_words, units)
            modality = "" if one.modality in (None, "asked") else str(one.modality)
            if not modality and any(word.folded in _lists().past for word in own_words):
                modality = "past"
            if not modality and is_passive and one.subject is not None:
                modality = "passive"  # `Ann was taught by Bob` isn't `Ann taught Bob`
            opposite = any(unit.base in _lists().opposites for unit in units)
            yield Statement(
                clause.text if is_only else clause.text[one.start : one.end],
                " ".join(clause.text[start:stop] for start, stop in spans),
                tuple((start + clause.start, stop + clause.start) for start, stop in spans),
                units,
                subject,
                value.text if value else None,
                (one.negated != opposite, modality),
                first.text if first else None,
                clause.ambiguous or _is_half(one, tops, clause.text),
            )


def _is_half(one: Any, others: Iterable[Any], clause: str) -> bool:
    """Whether it says one of two things that something is at once: `is black` of `is black and white`."""
    text = clause[one.start : one.end]
    return _IS.match(text) is not None and any(
        clause[each.start : each.end].startswith(f"{text} and ") for each in others
    )


def _behind(subject: Any, one: Any) -> bool:
    """Whether who does it stands behind, or isn't said."""
    return subject is None or (not one.start <= subject.start < one.end and subject.start > one.start)


def _within(one: Any, others: Iterable[Any]) -> bool:
    """Whether it is only told within another one: `where Ann lives` of what Lyon is."""
    return any(
        other is not one and other.object and other.object.start <= one.start and one.end <= other.object.end
        for other in others
    )


def _names_in(span: Any, own_words: list[Word], units: Iterable[Unit]) -> frozenset[str]:
    if span is None:
        return frozenset()
    here = {word.folded for word in own_words if span.start <= word.start < span.end}
    found = frozenset(unit.word for unit in units if unit.name and unit.word in here)
    return found | ({SPEAKER} if here & _lists().speaker else frozenset())


def _fragment(text: str, start: int, tags: Mapping[int, str]) -> Iterator[Statement]:
    all_words = words(text)
    units = tuple(_units(text, all_words, tags))
    if not all_words:
        return
    owners = frozenset(
        word.folded
        for word in all_words
        if text[word.stop : word.stop + 2] in ("'s", "’s") or word.folded in _lists().speaker
    )
    subject = frozenset(unit.word for unit in units if unit.name and unit.word in owners)
    subject |= {SPEAKER} if owners & _lists().speaker else frozenset()
    denied = any(word.folded in _lists().nots for word in all_words) != any(
        unit.base in _lists().opposites for unit in units
    )
    yield Statement(
        text.strip(), text.strip(), ((start, start + len(text)),), units, subject, None, (denied, ""), text.strip()
    )


def _units(text: str, all_words: Iterable[Word], tags: Mapping[int, str]) -> Iterator[Unit]:
    lists = _lists()
    for word in all_words:
        tag = tags.get(word.start, "")
        if word.folded in lists.speaker:
            yield Unit(SPEAKER, SPEAKER, frozenset(), True, False)
            continue
        base = _base(word.folded)
        named = _is_name(text, word, tag)
        kinds = frozenset() if named else lists.kinds.get(base) or lists.kinds.get(word.folded) or frozenset()
        particle = tag == _PARTICLE and word.folded in lists.particles
        plain = not particle and (base in lists.plain or word.folded in lists.plain)
        if not named and not kinds and (plain or word.folded in lists.nots):
            continue
        verb = tag.startswith(_PREDICATES)
        soft = not named and not kinds and tag.startswith(_SOFT)
        yield Unit(word.folded, base, kinds, named, soft, verb)


def _is_name(text: str, word: Word, tag: str) -> bool:
    raw = text[word.start : word.stop]
    if any(letter.isdigit() for letter in raw) or "@" in raw:
        return True
    base = _base(word.folded)
    if not raw[:1].isupper() or word.folded in _lists().plain or base in _lists().kinds:
        return False
    if tag.startswith("NNP") or re.search(r"\w", text[: word.start]):
        return True
    return not is_word(word.folded)


# By words ---------------------------------------------------------------------------------------------------------------


def _plain(sentence: str) -> Iterator[Statement]:
    shared: frozenset[str] = frozenset()
    lead = ""
    for number, (text, start) in enumerate(clauses_of(sentence)):
        all_words = words(text)
        for one in _fragment(regex.sub(r"[ .\p{STerm}]+$", "", text), start, {}):
            first, second = (
                text[all_words[0].start : all_words[0].stop],
                all_words[1].folded if len(all_words) > 1 else "",
            )
            named = first[:1].isupper() and all_words[0].folded not in _lists().plain and is_verb(second)
            units = tuple(
                unit._replace(name=True, kinds=frozenset()) if named and unit.word == all_words[0].folded else unit
                for unit in one.units
            )
            own = one.subject | ({all_words[0].folded} if named else frozenset())
            if own or number == 0 or all_words[0].folded in _PRONOUNS:
                shared = own
            yield replace(
                one,
                units=units,
                subject=shared,
                subject_text=first,
                ambiguous=not is_single(one.text),
                mood=(one.mood[0] or denies(one.text), "past" if is_past(one.text) else one.mood[1]),
                lead=lead,
            )
        lead = lead or text


def _base(word: str) -> str:
    """The base form of a word, as far as libraries or the list tell."""
    lists = _lists()
    if word in lists.kinds or word in lists.plain:
        return word
    if word in lists.forms:
        return lists.forms[word]
    return base_form(word, "en", "de")
