"""People, concepts and entities without a model: by the names and noun phrases of a reading, and by who speaks.

**Confidence** is 10 · (1 − Π(1 − weight)) over the pieces of evidence, so that each further one raises it: `_WEIGHTS` says how much
each kind of evidence weighs. A name that the reader took for another kind of thing at times counts there only where it didn't.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from jochi.text.tokens import TokenCounter
from jochi_workers.derive.extract.capitals import TITLES, capital_runs
from jochi_workers.derive.extract.checks import without_orders
from jochi_workers.derive.extract.lists import words_in
from jochi_workers.derive.extract.messages import Message, messages, person
from jochi_workers.derive.extract.names import canonical_name, singular, words
from jochi_workers.derive.extract.output import (
    LONGEST_NAME,
    LONGEST_TEXT,
    MOST_RELATIONS,
    MOST_SUBPOINTS,
    MOST_THINGS,
    ExtractionOutput,
    Kind,
    Lifetime,
    Relation,
    Subpoint,
    Thing,
)
from jochi_workers.guard import lists
from jochi_workers.guard.inflect import lemma
from jochi_workers.handler import Row
from jochi_workers.language import Reading, Statement, read_all
from jochi_workers.language.keywords import MOST_CHARACTERS, keywords
from jochi_workers.language.reader import language_of
from jochi_workers.language.sentences import sentences

_WEIGHTS = {
    "speaker": 0.9,
    "name": 0.35,
    "phrase": 0.15,
    "word": 0.1,
    "message": 0.15,
    "keyword": 0.5,
    "capital": 0.2,
    "full": 0.2,
}
"""Of each: the name of a speaker; a mention that the reader knows as a name of this kind, as a noun phrase, or not at all; each
message after the first that has it; a keyword of the text; a capital within a sentence; a person's name of two words or more."""

_KINDS: dict[str, tuple[Kind, str | None]] = {
    "PERSON": ("Person", None),
    "ORG": ("Entity", "organisation"),
    **dict.fromkeys(("GPE", "LOC", "FAC"), ("Entity", "place")),
    "PRODUCT": ("Entity", "product"),
    "EVENT": ("Entity", "event"),
    **dict.fromkeys(("WORK_OF_ART", "LAW"), ("Entity", "work")),
}
_MOST_WORDS = 6
_MOST_CONCEPT_WORDS = 3
_MOST_CANDIDATES = 2_000
_MOST_PHRASES = 50_000
_MOST_LOOKED_AT = 50
_LEAST_MENTIONS = 2
_LEAST_WORDS = 3
_SAME = 0.8
"""Share of their words that two sentences have in common when they count as one."""
_FIRST = re.compile(r"(?<![\w'’.])(?:[Ii]|[Mm](?:e|y|ine|yself)|[Ww]e|us|[Oo]ur(?:s|selves)?)(?!\w|\.\w)")
_ABBREVIATION = re.compile(r"[^\W\d_]{1,3}\.")
"""Within a name, as people write it (St. Anne, J. Smith)."""
_NUMBER = re.compile(r"(?:\s+\S*\d\S*)+$")
_ME = frozenset({"i", "me", "myself"})
_HE = frozenset({"he", "she", "him", "her", "himself", "herself"})
_OPENERS = words_in("openers")
_GENERIC = words_in("generic")
_EVENTS = words_in("events")
_NEAR = re.compile(
    r"\b(?:to(?:day|night|morrow)|yesterday|(?:this|next|last) (?:week|weekend|\w+day)|now|currently|at the moment)\b",
    re.I,
)
_PROJECT = re.compile(r"\b(?:project|wedding|pregnan\w+|birth|degree|semester|contract|campaign|roadmap)\b", re.I)
_KINSHIP = re.compile(
    r"\b(?:my|his|her|their|our) (?:wife|husband|partner|mother|father|mom|dad|mum|sister|brother|son|daughter|aunt|uncle|cousin"
    r"|boss)\b|\b(?:born|allergic|vegetarian|vegan)\b",
    re.I,
)
_UNSAID = frozenset({"be", "do", "say", "think", "mean"})
"""Verbs alone that relate nothing."""


class _Line(NamedTuple):
    """A sentence. ``words``: in lower case; ``bases``: the same in their base forms. ``about``: canonical names that it is said of,
    '' for its speaker. ``score``: how telling it is by itself."""

    text: str
    speaker: str
    message: int
    words: tuple[str, ...]
    bases: tuple[str, ...]
    about: frozenset[str]
    pronouns: frozenset[str]
    mine: bool
    score: float
    lifetime: Lifetime


class _Claim(NamedTuple):
    """That one does something to another, by their names as written ('' for the speaker)."""

    of: str
    to: str
    verb: str
    line: int


@dataclass
class _Draft:
    kind: Kind
    type: str | None = None
    phrase: bool = False  # found as a noun phrase, not as a name that the reader knows
    speaker: bool = False
    keyword: bool = False
    capital: bool = False
    known: int = 0
    forms: Counter[str] = field(default_factory=Counter)
    keys: set[tuple[str, ...]] = field(default_factory=set)
    lines: list[int] = field(default_factory=list)

    @property
    def name(self) -> str:
        # The fullest first: Anna Smith, not Anna.
        return min(self.forms, key=lambda form: (-len(words(form)), -self.forms[form], form))


def offline(row: Row, _counter: TokenCounter) -> ExtractionOutput:
    """What the inputs hold. `owner` of the row: the owner's name, of whom nothing is made."""
    return extract("\n\n".join(each["content"] for each in row["inputs"]), owner=row.get("owner") or "")


def extract(text: str, *, owner: str = "") -> ExtractionOutput:
    """What ``text`` holds, the surest things first. Languages but English: who speaks, and keywords.

    Time and memory grow with the text. `JochiError` without the extra [language].
    """
    parts = [part._replace(text=without_orders(part.text)) for part in messages(text)]
    head = " ".join(part.text for part in parts[:50])[:2_000]
    language = language_of(head) if head else "unclear"
    found = _Extractor(parts, language, canonical_name(owner))
    return found.extracted()


class _Extractor:
    def __init__(self, parts: list[Message], language: str, owner: str) -> None:
        self._english = language in ("en", "unclear")
        self._language = language
        self._owner = owner
        self._lines: list[_Line] = []
        self._claims: list[_Claim] = []
        self._names: dict[str, Counter[str]] = defaultdict(Counter)
        self._forms: dict[str, Counter[str]] = defaultdict(Counter)
        self._capital: set[str] = set()
        self._runs: dict[str, Counter[str]] = defaultdict(Counter)
        self._phrases: Counter[tuple[str, ...]] = Counter()
        self._where: dict[tuple[str, ...], list[int]] = defaultdict(list)
        self._shown: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
        self._speakers: Counter[str] = Counter(part.speaker for part in parts if part.speaker and person(part.speaker))
        self._first = {word for name in self._speakers for word in words(name)[:1]}
        self._telling = self._keywords(parts)
        if self._english:
            for number, (part, reading) in enumerate(zip(parts, read_all(part.text for part in parts), strict=True)):
                self._read(number, part, reading)
        else:
            for number, part in enumerate(parts):
                for one in sentences(part.text):
                    self._capitals(one.text)
                    self._add(number, part, one.text, (), frozenset(), [])

    # Gathering

    def _keywords(self, parts: list[Message]) -> set[tuple[str, ...]]:
        """Keywords of each stretch of the text, by their words in base form."""
        found: dict[tuple[str, ...], str] = {}
        stretch, size = list[str](), 0
        for text in (*(part.text for part in parts), None):
            if text is None or (stretch and size + len(text) > MOST_CHARACTERS):
                for word in keywords("\n".join(stretch), self._language) if size > 20 else ():
                    found.setdefault(self._bases(words(word)), word)
                stretch, size = [], 0
            if text is not None:
                stretch.append(text)
                size += len(text) + 1
        if not self._english and not any(word != word.upper() for word in found.values()):
            for key, word in found.items():
                if key and not key[0].isdigit():
                    self._phrases[key] = _LEAST_MENTIONS
                    self._shown[key][word] += 1
        return set(found)

    def _capitals(self, sentence: str, known: str = "") -> None:
        """What begins with capitals and isn't a part of what is ``known`` there: where every noun does, a word of the dictionary is
        a concept."""
        for run in capital_runs(sentence, self._language):
            if run.text in known:
                continue
            key = self._bases(words(run.text))
            if run.common and key[0] not in self._first | {self._owner.split("-")[0]}:
                self._phrases[key] += 1
                self._shown[key][run.text] += 1
            elif key_ := canonical_name(run.text, "Person" if run.title else "Entity"):
                self._runs[key_][run.text] += 1
                if run.within:
                    self._capital.add(key_)

    def _bases(self, words: Sequence[str]) -> tuple[str, ...]:
        return tuple(map(singular, words)) if self._english else tuple(words)

    def _read(self, number: int, part: Message, reading: Reading) -> None:
        starts = [one.start for one in reading.sentences]

        def at(place: int) -> int:
            return bisect_right(starts, place) - 1

        first = len(self._lines)
        taken: list[tuple[int, int]] = []
        for entity in reading.entities:
            taken.append((entity.start, entity.end))
            if entity.type in _KINDS and at(entity.start) >= 0:
                name = clean_name(entity.text)
                if entity.type == "PERSON":  # of a version it is none
                    name = _NUMBER.sub("", name)
                key = canonical_name(name, _KINDS[entity.type][0])
                if key:
                    self._names[key][entity.type] += 1
                    self._forms[key][name] += 1
                    if entity.start > starts[at(entity.start)] + 1:
                        self._capital.add(key)
        for span in reading.phrases:
            whole = not reading.text[span.end : span.end + 1].isalnum()  # not `gon` of gonna
            near = _near_to(taken, span.start, span.end)
            free = whole and not any(start < span.end and span.start < end for start, end in near)
            if free and at(span.start) >= 0:
                self._phrase(span.text, first + at(span.start))
        referred = {one.start: canonical_name(clean_name(one.to.text)) for one in reading.references}
        statements: dict[int, list[Statement]] = defaultdict(list)
        for statement in reading.statements:
            statements[at(statement.start)].append(statement)
        for place, sentence in enumerate(reading.sentences):
            refers = frozenset(name for start, name in referred.items() if at(start) == place)
            timed = [one.kind for one in reading.moments if at(one.start) == place]
            here = (
                one.text
                for one in reading.entities
                if one.type in _KINDS and sentence.start <= one.start < sentence.end
            )
            self._capitals(sentence.text, "\n".join(here))
            self._add(number, part, sentence.text, statements[place], refers, timed)
            for one in statements[place]:
                if one.subject and one.object and one.modality is None and not one.negated and one.verb not in _UNSAID:
                    of, to = (referred.get(each.start, each.text) for each in (one.subject, one.object))
                    if not (words(of)[:1] and words(of)[0] in _HE):
                        self._claims.append(_Claim(of, to, one.verb, first + place))

    def _phrase(self, text: str, line: int) -> None:
        all_words = words(text)
        while all_words and (all_words[0] in _frequent() or all_words[0] in _OPENERS or all_words[0] in _GENERIC):
            all_words = all_words[1:]
        if not 0 < len(all_words) <= _MOST_CONCEPT_WORDS + 1 or any(any(map(str.isdigit, word)) for word in all_words):
            return
        bases = self._bases(all_words)
        for first in range(len(all_words)):
            key = bases[first:]
            if len(key) > _MOST_CONCEPT_WORDS or (len(key) == 1 and (len(key[0]) < 3 or _empty(key[0]))):
                continue
            if key in self._phrases or len(self._phrases) < _MOST_PHRASES:
                self._phrases[key] += 1
                self._where[key].append(line)

    def _add(
        self,
        number: int,
        part: Message,
        text: str,
        statements: Iterable[Statement],
        refers: frozenset[str],
        moments: Sequence[str],
    ) -> None:
        all_words = tuple(words(text))
        mine = bool(_FIRST.search(text)) if self._english else True
        plain = [one for one in statements if one.modality is None and not one.negated]
        about = {_about(one.subject.text) for one in plain if one.subject} if plain else set()
        full = {word for word in all_words if word not in _frequent()} if self._english else set(all_words)
        score = 0.25 * min(12, len(full)) + 0.5 * bool(moments) + bool(plain) - 3 * text.rstrip().endswith("?")
        lifetime = self._lifetime(text, plain, moments) if self._english else "month"
        self._lines.append(
            _Line(
                text,
                part.speaker,
                number,
                all_words,
                self._bases(all_words),
                frozenset(about),
                refers,
                mine,
                score,
                lifetime,
            )
        )

    def _lifetime(self, text: str, plain: Sequence[Statement], moments: Sequence[str]) -> Lifetime:
        if any(one.verb.split(" ")[0] in _EVENTS for one in plain) or _PROJECT.search(text):
            return "year"
        if _NEAR.search(text):
            return "week"
        if _KINSHIP.search(text) or any(map(self._is, plain)):
            return "forever"
        return "year" if "fixed" in moments else "month"

    def _is(self, statement: Statement) -> bool:
        """`Ann is a nurse`: what somebody with a name is, not how they are."""
        if statement.verb != "be" or not statement.subject or not statement.object:
            return False
        all_words = words(statement.subject.text)
        named = all_words and (
            all_words[0] in _ME
            or all_words[0] in _HE
            or "-".join(all_words) in self._names
            or all_words[0] in self._first
        )
        return bool(named) and statement.object.text.casefold().startswith(("a ", "an "))

    # Putting together

    def extracted(self) -> ExtractionOutput:
        drafts = [*self._people_and_entities(), *self._concepts()]
        self._mention(drafts)
        drafts = [draft for draft in drafts if draft.lines or draft.speaker]
        drafts = self._without_common(drafts)
        drafts = _without_parts(drafts)
        made = [(draft, self._thing(draft)) for draft in drafts if self._owner not in map("-".join, draft.keys)]
        made.sort(key=lambda each: (-each[1].confidence, -len(each[1].subpoints), each[1].name))
        made = made[:MOST_THINGS]
        return ExtractionOutput(things=tuple(thing for _, thing in made), relations=tuple(self._relations(made)))

    def _people_and_entities(self) -> list[_Draft]:
        drafts: dict[str, _Draft] = {}
        for speaker in self._speakers:
            key = canonical_name(speaker)
            if key and len(speaker) <= LONGEST_NAME:
                draft = drafts.setdefault(key, _Draft("Person", speaker=True, keys={tuple(key.split("-"))}))
                draft.forms[speaker] += self._speakers[speaker]
        ranked = sorted(self._names, key=lambda key: (-self._names[key].total(), key))[:_MOST_CANDIDATES]
        for key in ranked:
            kinds: Counter[tuple[Kind, str | None]] = Counter()
            for label, times in self._names[key].items():
                kinds[_KINDS[label]] += times
            kind, type_ = min(
                kinds, key=lambda each: (-kinds[each], (each[0] == "Person") != ("-" in key), str(each[1]))
            )
            draft = drafts.get(key) or _Draft(kind, type_, keys={tuple(key.split("-"))})
            draft.known += kinds[(draft.kind, draft.type)]
            draft.forms += self._forms[key]
            draft.capital |= key in self._capital
            drafts[key] = draft
        people = [key for key, draft in drafts.items() if draft.kind == "Person"]
        first = {key.split("-")[0] for key in (*people, self._owner) if "-" in key}
        for key, forms in self._runs.items():
            if key not in drafts:
                named = key in first or any(words(form)[0] in TITLES for form in forms)
                drafts[key] = _Draft("Person" if named else "Entity", keys={tuple(key.split("-"))}, forms=forms)
                drafts[key].capital = key in self._capital
        return _first_names(drafts, self._owner)

    def _concepts(self) -> list[_Draft]:
        found = []
        counts = [
            (key, times)
            for key, times in self._phrases.items()
            if times >= _LEAST_MENTIONS or any(_within(key, other) for other in self._telling)
        ]
        for key, times in sorted(counts, key=lambda each: (-each[1], each[0]))[:_MOST_CANDIDATES]:
            name, proper = self._as_written(key) if self._english else (self._shown[key].most_common(1)[0][0], False)
            # Said once, a word alone is hardly what a text turns on.
            keyword = (times > 1 or len(key) > 1) and any(_within(key, other) for other in self._telling)
            kind: Kind = "Entity" if proper else "Concept"
            found.append(
                _Draft(
                    kind,
                    phrase=True,
                    keyword=keyword,
                    capital=proper,
                    known=times,
                    forms=Counter({name: 1}),
                    keys={key},
                )
            )
            found[-1].lines = list(dict.fromkeys(self._where[key]))
        return found

    def _as_written(self, key: tuple[str, ...]) -> tuple[str, bool]:
        """A phrase's name: its words in the singular, small but where the text always has a capital within sentences (LGBTQ
        community); and whether all of them have, so that it is the name of something the reader doesn't know."""
        pattern = re.compile(r"(?<!\w)" + r"[\W_]+".join(map(re.escape, key)) + r"(?!\w)", re.IGNORECASE)
        lines = (self._lines[line].text for line in self._where[key][:_MOST_LOOKED_AT])
        within = Counter(found[0] for text in lines for found in pattern.finditer(text, 1))
        small = " ".join(key)
        if not within or any(form == form.lower() for form in within):
            return small, False
        name = within.most_common(1)[0][0]
        return name, all(word[0].isupper() for word in name.split())

    def _mention(self, drafts: list[_Draft]) -> None:
        """Which sentences have which names."""
        index: dict[str, list[tuple[tuple[str, ...], _Draft]]] = defaultdict(list)
        by_name: dict[str, _Draft] = {}
        for draft in drafts:
            for key in draft.keys if not draft.lines else ():
                index[key[0]].append((key, draft))
                if not draft.phrase:
                    by_name["-".join(key)] = draft
        for number, line in enumerate(self._lines):
            here: list[_Draft] = []
            for place, word in enumerate(line.bases):
                for exact in {word, line.words[place]}:
                    for key, draft in index.get(exact, ()):
                        candidates = line.bases if draft.phrase else line.words
                        if candidates[place : place + len(key)] == key:
                            here.append(draft)
            here += [by_name[name] for name in line.pronouns if name in by_name]
            if line.mine and (own := by_name.get(canonical_name(line.speaker))) and own.speaker:
                here.append(own)
            for draft in here:
                if not draft.lines or draft.lines[-1] != number:
                    draft.lines.append(number)

    def _without_common(self, drafts: list[_Draft]) -> list[_Draft]:
        """Without names that are common words: written small as often as with a capital, or with one only where a sentence begins,
        and small elsewhere (`Nature`) or never who does something (`Glad`)."""
        doing = {name for line in self._lines for name in line.about}
        kept = []
        for draft in drafts:
            forms = [*draft.forms]
            if not draft.phrase and not draft.speaker:
                lines = [self._lines[line] for line in draft.lines if not self._lines[line].pronouns]
                small = sum(not any(form in line.text for form in forms) for line in lines)
                key = min(map("-".join, draft.keys))
                if 2 * small > len(draft.lines) or (
                    not draft.capital and (small or (_known(key) and key not in doing))
                ):
                    continue
            kept.append(draft)
        return kept

    def _thing(self, draft: _Draft) -> Thing:
        lines = [self._lines[line] for line in draft.lines]
        spread = len({line.message for line in lines})
        pieces = ["speaker"] * draft.speaker + ["message"] * (spread - 1) + ["keyword"] * draft.keyword
        pieces += ["capital"] * draft.capital + ["full"] * (draft.kind == "Person" and len(words(draft.name)) > 1)
        known = "phrase" if draft.phrase else "name"
        pieces += [known] * draft.known + ["word"] * max(0, len(lines) - draft.known)
        doubt = 1.0
        for piece in pieces:
            doubt *= 1 - _WEIGHTS[piece]
        return Thing(
            kind=draft.kind,
            name=draft.name[:LONGEST_NAME],
            type=draft.type,
            confidence=round(10 * (1 - doubt), 2),
            subpoints=tuple(self._subpoints(draft, lines)),
            statements=sum(
                len(line.words) >= _LEAST_WORDS and line.score > 0 for line in {*lines, *self._spoken(draft)}
            ),
        )

    def _spoken(self, draft: _Draft) -> Iterator[_Line]:
        """What somebody says, of whatever: who speaks in several texts is somebody."""
        names = {"-".join(key) for key in draft.keys} if draft.speaker else set()
        return (line for line in self._lines if names and canonical_name(line.speaker) in names)

    def _subpoints(self, draft: _Draft, lines: list[_Line]) -> Iterator[Subpoint]:
        """The most telling sentences, none that says what another says, nor one that only calls somebody (`Great, Ann!`)."""
        keys = {"-".join(key) for key in draft.keys}

        def score(line: _Line) -> float:
            own = draft.speaker and canonical_name(line.speaker) in keys
            return line.score + 3 * bool(keys & line.about or (own and "" in line.about) or keys & line.pronouns)

        names = "|".join(re.escape(form) for form in draft.forms)
        called = re.compile(rf"(?:,|^\w+|^)\s*(?:{names})\s*(?:[,!?]|[.…]*$)") if draft.kind == "Person" else None
        chosen: list[set[str]] = []
        for line in sorted(lines, key=lambda line: (-score(line), line.message)):
            text = _quoted(line)
            own = set(line.words)
            if called and called.search(line.text) and not keys & line.about:
                continue
            if len(line.words) < _LEAST_WORDS or len(text) > LONGEST_TEXT or score(line) <= 0:
                continue
            if not any(len(own & other) >= _SAME * max(len(own), len(other)) for other in chosen):
                chosen.append(own)
                yield Subpoint(text=text, lifetime=line.lifetime)
                if len(chosen) == MOST_SUBPOINTS:
                    return

    def _relations(self, made: list[tuple[_Draft, Thing]]) -> Iterator[Relation]:
        names = {key: thing.name for draft, thing in made for key in draft.keys}
        concepts = {key: thing.name for draft, thing in made if draft.phrase for key in draft.keys}
        seen: set[tuple[str, str, str]] = set()
        for claim in self._claims:
            line = self._lines[claim.line]
            ends = []
            for end in (claim.of, claim.to):
                all_words = words(end)
                if len(all_words) == 1 and all_words[0] in _ME:
                    all_words = canonical_name(line.speaker).split("-") if line.speaker else [""]
                while all_words and all_words[0] in _OPENERS:
                    all_words = all_words[1:]
                ends.append(names.get(tuple(all_words)) or concepts.get(self._bases(all_words)))
            of, to = ends
            verb = "_".join(word for word in words(claim.verb) if word.isascii())
            text = _quoted(line)
            if not of or not to or of == to or not verb[:1].isalpha() or len(verb) > 60 or len(text) > LONGEST_TEXT:
                continue
            if not re.fullmatch(r"[a-z0-9_]+", verb) or (of, to, verb) in seen or len(seen) == MOST_RELATIONS:
                continue
            seen.add((of, to, verb))
            yield Relation(of=of, to=to, type=verb, note=text)


def _quoted(line: _Line) -> str:
    text = " ".join(line.text.split())
    return f"{line.speaker}: {text}" if line.mine and line.speaker else text


def clean_name(text: str) -> str:
    """As people say it: without greeting, article, possessive s and quotation marks; '' for what can't be a name."""
    if "\n" in text.strip() or "@" in text or "/" in text:
        return ""
    all_words = re.sub(r"['’]s\b", "", text).split()
    parts = [
        word if place < len(all_words) and _ABBREVIATION.fullmatch(word) else word.strip("\"'“”‘’.,!?;:()[]*_")
        for place, word in enumerate(all_words, 1)
    ]
    parts = [word for word in parts if word]
    while parts and parts[0].casefold() in _OPENERS:
        parts = parts[1:]
    name = " ".join(parts)
    common = all(word.casefold() in _frequent() or word.casefold() in _GENERIC for word in parts)
    if common or not any(word[0].isupper() or not word[0].islower() for word in parts):
        return ""
    return name if 0 < len(parts) <= _MOST_WORDS and 1 < len(name) <= LONGEST_NAME else ""


def _about(subject: str) -> str:
    """The canonical name of who a sentence is said of; '' for its speaker."""
    all_words = words(subject)
    return (
        ""
        if all_words[:1] and (all_words[0] in _ME or all_words[0] in ("my", "we"))
        else canonical_name(clean_name(subject) or subject)
    )


def _first_names(drafts: dict[str, _Draft], owner: str) -> list[_Draft]:
    """With a first name alone joined to the one full name that begins with it."""
    full: dict[str, set[str]] = defaultdict(set)
    for key, draft in drafts.items():
        if draft.kind == "Person" and "-" in key:
            full[key.split("-")[0]].add(key)
    if "-" in owner:
        full[owner.split("-")[0]].add(owner)
        drafts = {owner: _Draft("Person", forms=Counter({owner: 1}), keys={tuple(owner.split("-"))}), **drafts}
    for key in [key for key, draft in drafts.items() if draft.kind == "Person" and len(full.get(key, ())) == 1]:
        draft, (whole,) = drafts.pop(key), full[key]
        into = drafts[whole]
        into.speaker |= draft.speaker
        into.capital |= draft.capital
        into.known += draft.known
        into.forms += draft.forms
        into.keys |= draft.keys
    return [*drafts.values()]


def _without_parts(drafts: list[_Draft]) -> list[_Draft]:
    """Without concepts that are words of a name, or of a longer concept that stands in half of their sentences."""
    named = {key for draft in drafts if not draft.phrase for whole in draft.keys for key in _runs(whole)}
    longer: dict[tuple[str, ...], int] = defaultdict(int)
    for draft in drafts:
        if draft.phrase and len(draft.lines) >= _LEAST_MENTIONS:
            for key in draft.keys:
                for part in _runs(key):
                    if part != key:
                        longer[part] = max(longer[part], len(draft.lines))
    return [
        draft
        for draft in drafts
        if not draft.phrase or (not any(key in named or 2 * longer[key] >= len(draft.lines) for key in draft.keys))
    ]


def _runs(key: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for first in range(len(key)):
        for last in range(first + 1, len(key) + 1):
            yield key[first:last]


def _within(key: tuple[str, ...], other: tuple[str, ...]) -> bool:
    return any(other[place : place + len(key)] == key for place in range(len(other) - len(key) + 1))


def _near_to(taken: list[tuple[int, int]], start: int, end: int) -> list[tuple[int, int]]:
    place = bisect_right(taken, (end, 0))
    return taken[max(0, place - 3) : place]


def _empty(base: str) -> bool:
    return base in _GENERIC or base in _frequent()


def _known(word: str) -> bool:
    """Whether the dictionary has it."""
    return lemma(word, "en") is not None


@lru_cache(maxsize=1)
def _frequent() -> frozenset[str]:
    return dict(lists.by_language())["en"]
