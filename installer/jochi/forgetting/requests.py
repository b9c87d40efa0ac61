"""What a request in a person's words names, and whether everything that it names is meant (docs/reference/forgetting.md, Requests).

Identifiers and names are looked for in the texts of the scope: in all orders, forms and scripts, and over what memories say to be
the same. The words around them come from `request_words.toml`. Where something tells that only a part is meant, or that two
things may be, nobody acts.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from jochi.forgetting.equivalents import (
    PARTICLES,
    find_equivalents,
    is_told,
    name_before_brackets,
    names,
    without_article,
)
from jochi.forgetting.identifiers import URL, countries_before, says_identifier, variants
from jochi.forgetting.name_places import (
    GLUED,
    are_forms_of_one,
    folded_words,
    is_ambiguous,
    is_name_word,
    is_same_word,
    longer_name,
    name_places,
    orders,
    two_genders,
)
from jochi.forgetting.request_words import (
    LISTS,
    Chunk,
    chunks,
    first_script,
    is_cased,
    is_ordinary_word,
    language_of,
    scripts_of,
)
from jochi.forgetting.romanizations import VOWELLESS, consonants, romanizations_in
from jochi.forgetting.spelling import Spelling
from jochi.text.dictionary import LANGUAGES
from jochi.text.forms import find_forms
from jochi.text.letters import folded

MOST_CHARACTERS = 300
"""Characters of a request that is read for what it names; a longer one is a description."""
_MOST_NAMES = 40
"""Spellings of one thing."""
_MOST_PARTS = 6
"""Words of a name or parts of an identifier."""
_ARTICLE = re.compile(r"\b(?:the|a|an)\s+$", re.IGNORECASE)

_FREE = 9
"""Digits from which on a number is known without letters in front."""


@dataclass(frozen=True)
class Resolution:
    """What a request names. ``spellings``: all that is to be looked for, the first as it was asked for; empty where it names
    nothing that is said. ``keys``: of the memories that say it. ``reason``: why it isn't sure that all of that is meant; None: it
    is.
    """

    spellings: tuple[Spelling, ...] = ()
    keys: frozenset[str] = frozenset()
    reason: str | None = None
    described: bool = False
    """The words around it may tell a part of what is said of it."""
    explicit: bool = False
    """It asks for everything in so many words."""

    @property
    def sure(self) -> bool:
        """Whether everything that says it is meant."""
        return bool(self.spellings) and self.reason is None


@dataclass
class _Found:
    """A name as it stands in the texts: its surface forms, by memory; what else is there of a longer name."""

    surfaces: dict[str, None] = field(default_factory=dict)
    keys: set[str] = field(default_factory=set)
    longer: dict[str, None] = field(default_factory=dict)
    alone: bool = False
    """Somewhere it is said without more of the name."""
    unsure: str | None = None
    articles: set[bool] = field(default_factory=set)
    """Whether an article stands before it, by place: a river has one and a shop has none."""


def needles(request: str) -> list[str]:
    """What a text has one of, folded, if it says something that the request may name: the beginnings of its words."""
    return list(dict.fromkeys(each for each in _Reader(unicodedata.normalize("NFC", request), ()).needles() if each))


def resolve(request: str, texts: Iterable[tuple[str, str]]) -> Resolution:
    """What ``request`` names in ``texts`` (key and content of memories), and whether all of it is meant."""
    request = unicodedata.normalize("NFC", request)
    if len(request) > MOST_CHARACTERS:
        return Resolution(reason="it is too long to be read for a name")
    reader = _Reader(request, [(key, unicodedata.normalize("NFC", text)) for key, text in texts])
    return replace(reader.resolution(), explicit=reader.explicit)


class _Reader:
    """Reads one request beside the texts of a scope."""

    def __init__(self, request: str, texts: Sequence[tuple[str, str]]) -> None:
        self.request, self.texts = request, texts
        self.language = language_of(request)

    def resolution(self) -> Resolution:
        limits = self._of("limits")
        whole = self.whole
        identifiers = list(self._identifiers())
        if len(identifiers) > 1:
            said = [Spelling(each) for each in identifiers]
            keys = frozenset(key for key, text in self.texts if any(one.says(text) for one in said))
            return Resolution(tuple(said), keys, "it names several things")
        if identifiers:
            return self._identified(identifiers[0], whole, limits)
        named = self._unspaced_name() if self.language.unspaced else self._name()
        if named is None:
            return Resolution(reason="it names nothing that a memory says", described=True)
        name, others = named
        if others is None and not self.explicit and (self.states or not whole):
            others = "it doesn't ask for everything"
        return self._all_of(name, others, limits)

    @property
    def whole(self) -> bool:
        """Whether it asks for everything of something."""
        return bool(self._of("whole") or self._of("containers"))

    @property
    def explicit(self) -> bool:
        """Whether it says so itself, and doesn't only name what is kept of it."""
        return bool(self._of("whole"))

    @property
    def states(self) -> bool:
        """Whether it names a statement: "that Ann …"."""
        if self.language.unspaced:
            return any(word in self.request for word in self.language.lists["that"])
        return any(one.folded in self.language.lists["that"] for one in chunks(self.request))

    def needles(self) -> Iterator[str]:
        """The beginnings of words that may be of a name, and the last digits of numbers."""
        row = chunks(self.request)
        for at, one in enumerate(row):
            if any(each.isdigit() for each in one.text):
                yield max(re.split(r"\D", one.text), key=len)[-2:]
            elif re.search(r"[@/_]|\w\.\w", one.text):
                yield max(re.split(r"\W|_", one.folded), key=len)
            elif not self.language.unspaced and self._tag(one, at, row) == "name":
                yield one.folded[: max(2, len(one.text) - 3)]
        if self.language.unspaced:
            for part in self._parts():
                yield from (part[at : at + 2].lower() for at in range(max(1, len(part) - 1)))

    def _of(self, name: str) -> list[str]:
        """The words of a list that the request has."""
        if self.language.unspaced:
            return [word for word in self.language.lists[name] if word in self.request]
        return [one.text for one in chunks(self.request) if self.language.tag(one.folded) == name]

    # Identifiers -----------------------------------------------------------------------------------------------------

    def _identifiers(self) -> Iterator[str]:
        taken = [
            (one.start, one.stop)
            for one in find_forms(self.request, ("mail", "ip", "hex"))
            if not self.request[one.start : one.stop].isdecimal()
            and any(says_identifier(self.request[one.start : one.stop], text) for _, text in self.texts)
        ]
        for url in URL.finditer(self.request):
            inside = any(start < url.end() and url.start() < stop for start, stop in taken)
            if not inside and any(says_identifier(url[0], text) for _, text in self.texts):
                taken.append(url.span())
        yield from dict.fromkeys(self.request[start:stop] for start, stop in taken)
        row = [one for one in chunks(self.request) if not any(a < one.stop and one.start < b for a, b in taken)]
        at = 0
        while at < len(row):
            size = next(
                (n for n in range(min(_MOST_PARTS, len(row) - at), 0, -1) if self._is_said(row[at : at + n])), 0
            )
            if size:
                part = row[at : at + size]
                # `SSN 123-45-6789`: a number that long is the same without what it is called.
                if part[0].text.isalpha() and sum(map(str.isdigit, "".join(_texts_of(part[1:])))) >= _FREE:
                    part = part[1:]
                yield self.request[part[0].start : part[-1].stop]
            at += size or 1

    def _is_said(self, parts: Sequence[Chunk]) -> bool:
        """Whether these are an identifier that a text has."""
        if any(part.gap not in (" ", "\u00a0", "(", " (", ") ", ")", "") for part in parts[1:]):
            return False
        if not all(self._is_part(part, alone=len(parts) == 1) for part in parts):
            return False
        text = self.request[parts[0].start : parts[-1].stop]
        if not any(each.isdigit() or each in "@_/" for each in text) and "://" not in text:
            return False
        return any(says_identifier(text, other) for _, other in self.texts)

    def _is_part(self, one: Chunk, *, alone: bool) -> bool:
        if any(each.isdigit() for each in one.text) or "@" in one.text or "/" in one.text or "_" in one.text:
            return True
        written = one.text.isupper() or one.text.islower() or not is_cased(one.text)  # `5 Elm Street` is a name
        return not alone and len(one.text) <= 4 and written and not self.language.tag(one.folded)

    def _identified(self, text: str, whole: bool, limits: Sequence[str]) -> Resolution:
        spellings = tuple(Spelling(each) for each in variants(text))
        keys = frozenset(key for key, other in self.texts if any(one.says(other) for one in spellings))
        parts = sum(each.isalnum() for each in text)
        coded = any(map(str.isalpha, text)) and any(map(str.isdigit, text)) and len(chunks(text)) == 1
        weak = parts < 5 and not coded
        if weak and "@" not in text:
            return Resolution(spellings, keys, f"{text} is too short to be told from other numbers")
        if limits:
            return Resolution(spellings, keys, f"{limits[0]!r} may leave something out")
        countries = {form for _, other in self.texts for form in spellings[0].international_numbers(other)}
        prefixes = {each for _, other in self.texts for each in countries_before(spellings[0], other)}
        if len(countries) > 1 or (prefixes and len(prefixes | countries) > 1):
            return Resolution(spellings, keys, f"{text} may be the number of several countries")
        if not self.explicit and (others := self._others_beside(text, keys)):
            return Resolution(spellings, keys, f"it says {', '.join(others[:3])} of it", described=True)
        return Resolution(spellings, keys)

    def _others_beside(self, name: str, keys: frozenset[str]) -> list[str]:
        """The words in the clause of the name that are neither frame nor what a thing is called, and those elsewhere that a memory
        says."""
        start = self.request.find(name)
        found = []
        clause_start = max((self.request.rfind(mark, 0, start) for mark in ",;—،、，"), default=-1)
        ends = [at for mark in ",;—،、，" if (at := self.request.find(mark, start + len(name))) >= 0]
        clause_end = min(ends, default=len(self.request))
        said = " ".join(folded(text) for key, text in self.texts if key in keys)
        for one in self._open():
            if start <= one.start < start + len(name):
                continue
            within = clause_start < one.start < clause_end
            if re.fullmatch("[\u3041-\u3096]+", one.text):
                continue
            if within or one.folded[: max(4, len(one.text) - 2)] in said:
                found.append(one.text)
        return found

    def _open(self) -> list[Chunk]:
        """The chunks that no list has."""
        if not self.language.unspaced:
            return [one for one in chunks(self.request) if not self.language.tag(one.folded)]
        text = self.request
        for word in self._all_words():
            text = text.replace(word, "\u3000" * len(word))
        return [one for one in chunks(text) if one.text.strip("\u3000")]

    @property
    def _cased(self) -> bool:
        return bool(scripts_of(self.language.name) & {"LATIN", "CYRILLIC", "GREEK"})

    def _all_words(self) -> list[str]:
        every = {word for name in LISTS for word in self.language.lists[name]}
        return sorted(every, key=len, reverse=True)

    # Names in scripts with blanks --------------------------------------------------------------------------------------

    def _name(self) -> tuple[tuple[str, ...], str | None] | None:
        """The words of what is named, and why a part of it alone may be meant."""
        row = chunks(self.request)
        cased = self._cased
        tags = [self._tag(one, at, row) for at, one in enumerate(row)]
        runs = list(_runs(row, tags))
        best: tuple[int, int] | None = None
        foreign = [at for at, one in enumerate(row) if tags[at] == "name" and self._is_foreign(one)]
        if foreign:
            runs = [run for run in runs if any(run[0] <= at < run[1] for at in foreign)]
        for first, stop in runs:
            for size in range(min(_MOST_PARTS, stop - first), 0, -1):
                spans = [(at, at + size) for at in range(first, stop - size + 1)]
                said = [span for span in spans if self._bare(_texts_of(row[slice(*span)]))]
                if said:
                    best = max(filter(None, (best, said[-1])), key=lambda span: (span[1] - span[0], span[0]))
                    break
        if best is None:
            return None
        first, stop = best
        name = self._bare(_texts_of(row[first:stop])) or ()
        reverse = self._family_first(row, tags, first, stop)
        if reverse is not None:
            first, stop, name = reverse
        return name, self._narrowed(row, tags, first, stop, cased)

    def _tag(self, one: Chunk, at: int, row: Sequence[Chunk]) -> str:
        if self._is_foreign(one):
            return "name"
        initial = len(one.text) == 1 and one.text.isupper() and self.request[one.stop : one.stop + 1] == "."
        if initial:
            return "name"
        tag = self.language.tag(one.folded)
        if tag in ("containers", "roles") and one.folded not in self.language.lists[tag] and one.text[:1].isupper():
            tag = ""  # a name may be like any word
            if _is_ordinary_like(one, at, row) or self.language.name == "de":
                tag = self.language.tag(one.folded)
        if tag:
            return tag
        if not self._cased or one.text[:1] == "@":
            return "name"
        return "name" if one.text[:1].isupper() else "other"

    def _is_foreign(self, one: Chunk) -> bool:
        return one.text[:1].isalpha() and first_script(one.text) not in scripts_of(self.language.name)

    def _family_first(
        self, row: Sequence[Chunk], tags: Sequence[str], first: int, stop: int
    ) -> tuple[int, int, tuple[str, ...]] | None:
        """`Hatch, Ingrid`: the whole name in the order of speech, where a text has it."""
        before = first
        while before > 0 and tags[before - 1] == "name" and row[before].gap.strip() in ("", ",", "،"):
            before -= 1
        behind = stop
        while behind < len(row) and tags[behind] == "name" and row[behind].gap.strip() in ("", ",", "،"):
            behind += 1
        for at in range(before + 1, behind):
            if row[at].gap.strip() in (",", "،"):
                name = _texts_of(row[at:behind]) + _texts_of(row[before:at])
                if self._occurrences(name):
                    return before, behind, name
        return None

    def _narrowed(self, row: Sequence[Chunk], tags: Sequence[str], first: int, stop: int, cased: bool) -> str | None:
        last = row[stop - 1]
        open_ = [at for at, tag in enumerate(tags) if tag in ("name", "other") and not first <= at < stop]
        if last.owner and stop < len(row) and tags[stop] not in ("containers", "roles", "frame", "titles", "whole"):
            return f"it says {row[stop].text} of it"
        for at in open_:
            word = row[at].text
            if tags[at] == "name":
                if cased and at == 0 and not word[1:].isupper() and word.lower() != word:
                    continue  # it begins a sentence
                german = cased and self.language.name == "de"
                if german and is_ordinary_word(word, "de") and not self._is_said_anywhere(word):
                    continue
                if not cased and not self._is_near(row, at, first, stop):
                    if not self.explicit or self._is_said_anywhere(word):
                        return f"it says {word} as well"
                    continue
                return f"it says {word} as well"
            # `the allergy of Ann`: what somebody has, and not who somebody is.
            if at < first and all(tags[i] in ("frame", "titles", "other") for i in range(at + 1, first)):
                between = [row[i].folded for i in range(at + 1, first) if tags[i] == "frame"]
                if any(each in _OF for each in between) and row[first].gap.strip() == "":
                    return f"it says {word} of it"
            if at == first - 1 and row[first].gap.strip() == "" and self.language.name in _BARE_GENITIVE:
                return f"it says {word} of it"
            if at + 1 < len(row) and tags[at + 1] == "containers" and row[at + 1].gap.strip() == "":
                return f"it says {word} of it"
            # `everything Ann wrote`: not what is told of her.
            joined = all(one.gap.strip() == "" for one in row[stop : at + 1])
            behind = at >= stop and joined and all(tag == "frame" for tag in tags[stop:at])
            before = at == first - 1 and row[at - 1].folded in self.language.lists["that"] and at > 0
            if behind or before:
                return f"it says {word} of it"
            if at >= stop and (not self.explicit or self._is_said_anywhere(word)):
                return f"it says {word} of it"
            if at < first and not self.explicit and row[first].gap.strip() == "":
                return f"it says {word} of it"
        return None

    def _is_said_anywhere(self, word: str) -> bool:
        """Whether a memory says a word that tells something, in any of its forms as far as its beginning tells."""
        stem = folded(word)[: max(3, len(word) - 2)]
        return any(each.folded.startswith(stem) for _, text in self.texts for each in chunks(text))

    def _is_near(self, row: Sequence[Chunk], at: int, first: int, stop: int) -> bool:
        """Whether it may be a part of the name."""
        return (at == first - 1 and row[first].gap.strip() == "") or (at == stop and row[at].gap.strip() == "")

    def _bare(self, name: tuple[str, ...]) -> tuple[str, ...] | None:
        """A name as the texts have it, without particles that are glued to its last word; the longest that they have. None: they
        have none."""
        if self._occurrences(name):
            return name
        ends = self._forms_of(name[-1])[1:] if self.language.name in GLUED else []
        every = ((*name[:-1], end) for end in sorted(ends, key=len, reverse=True) if len(end) > 1)
        return next((each for each in every if self._occurrences(each)), None)

    def _occurrences(self, name: Sequence[str]) -> list[tuple[str, int, int]]:
        """Where the texts say a name in one of its forms: key and place in the text."""
        return [
            (key, start, stop)
            for key, text in self.texts
            for order in orders(name)
            for start, stop in name_places(text, order, self.language)
        ]

    # Names in scripts without blanks -----------------------------------------------------------------------------------

    def _unspaced_name(self) -> tuple[tuple[str, ...], str | None] | None:
        lists = self.language.lists
        parts = self._parts()
        found: tuple[str, str] | None = None
        for part in parts:
            for size in range(len(part), 1, -1):
                spots = (part[at : at + size] for at in range(len(part) - size + 1))
                said = [each for each in spots if each.strip() == each and self._has(each)]
                if said:
                    if found is None or size > len(found[0]):
                        found = said[-1], part
                    break
        if found is None:
            return None
        name, part = found
        left = self._stripped(part.replace(name, "", 1)) or next((each for each in parts if each and each != part), "")
        explicit = any(word in self.request for word in lists["whole"])
        if left and (not explicit or left in part or any(left in other for _, other in self.texts)):
            return (name,), f"it says {left} as well"
        words = tuple(name.split(" ")) if is_cased(name) else (name,)
        return words, None

    def _parts(self) -> list[str]:
        """What is left between the words of the lists."""
        text = self.request
        for word in self._all_words():
            if len(word) > 1:
                text = text.replace(word, "\n")
        return [self._stripped(part) for part in re.split(r"[\n,;!?。、，；：！？()（）「」]+", text)]

    def _has(self, part: str) -> bool:
        return any(part in text for _, text in self.texts)

    def _stripped(self, part: str) -> str:
        """A part of a request without what tells nothing at its edges."""
        edges = [word for name in ("titles", "roles", "frame", "whole") for word in self.language.lists[name]]
        before = None
        while part != before:
            before = part
            part = part.strip(" .\u3000")
            for word in edges:
                part = part.removeprefix(word) if len(part) > len(word) + 1 or part == word else part
                part = part.removesuffix(word) if len(part) > len(word) + 1 or part == word else part
        return part

    # All of it --------------------------------------------------------------------------------------------------------

    def _all_of(self, name: tuple[str, ...], doubt: str | None, limits: Sequence[str]) -> Resolution:
        """Everything that says the name or what is the same, to the end of it."""
        open_, known = [name], {folded_words(name)}
        spellings: dict[str, Spelling] = {}
        keys: set[str] = set()
        told: dict[tuple[str, ...], dict[str, str]] = {}
        sources: dict[tuple[str, ...], str] = {}
        fronts: dict[tuple[str, ...], dict[str, None]] = {}
        doubts = [doubt] if doubt else []
        if limits:
            doubts.append(f"{limits[0]!r} may leave something out")
        while open_ and len(known) < _MOST_NAMES:
            one = open_.pop(0)
            found = self._find(one)
            keys |= found.keys
            if found.unsure:
                doubts.append(found.unsure)
            for surface in found.surfaces:
                spellings.setdefault(folded(surface), Spelling(surface, sources.get(folded_words(one))))
            for key, text, start, stop in self._spans(found.surfaces):
                keys.add(key)
                if front := name_before_brackets(text, start, stop):
                    fronts.setdefault(folded_words(one), {})[front] = None
                ends = [start + len(each) for each in self._forms_of(text[start:stop])]
                others = dict.fromkeys(each for end in ends for each in find_equivalents(text, start, end))
                latin = dict.fromkeys(self._romanized(one, doubts))
                for other in (*others, *latin):
                    other = without_article(other)
                    if other not in latin:
                        told.setdefault(folded_words(one), {}).setdefault(folded(other), other)
                    words = tuple(chunk.text for chunk in chunks(other)) if not self._runs_on(other) else (other,)
                    words = self._bare(words) or words
                    if words and folded_words(words) not in known:
                        known.add(folded_words(words))
                        open_.append(words)
                        spellings.setdefault(folded(other), Spelling(other, key))
                        sources.setdefault(folded_words(words), key)
        doubts += [f"it may be {' or '.join(each)}" for each in map(list, fronts.values()) if len(each) > 1]
        doubts += self._of_several(told, list(spellings.values()))
        doubts += self._of_like_letters(list(spellings.values()))
        reason = doubts[0] if doubts else None
        return Resolution(tuple(spellings.values()), frozenset(keys), reason, described=doubt is not None)

    def _romanized(self, name: tuple[str, ...], doubts: list[str]) -> Iterator[str]:
        """The name in Latin letters, where the texts have it by one of the tables, and not as another one's."""
        for _, text in self.texts:
            for order in orders(name):
                for start, stop in romanizations_in(text, order):
                    surface = text[start:stop]
                    if longer_name(text, start, stop, self.language) is not None or not is_name_word(surface):
                        continue
                    own = [
                        each
                        for each in find_equivalents(text, start, stop)
                        if first_script(each) == first_script(name[0])
                    ]
                    if all(are_forms_of_one(each, " ".join(name), self.language) for each in own):
                        yield surface
                    else:
                        doubts.append(f"{surface} may be {own[0]} as well")

    def _of_like_letters(self, spellings: Sequence[Spelling]) -> Iterator[str]:
        """Where vowels aren't written: names in Latin letters that may be this one's, and aren't told to be another's."""
        others = {first_script(one.text) for one in spellings} & VOWELLESS
        latin = {consonants(one.text): one for one in spellings if first_script(one.text) == "LATIN"}
        for _, text in self.texts if others else ():
            for name in names(text):
                one = latin.get(consonants(name))
                if one is None or any(each.says(name) for each in spellings):
                    continue
                start = text.find(name)
                told = list(find_equivalents(text, start, start + len(name)))
                if not any(first_script(each) in others for each in told):
                    yield f"{name} may be the same"

    def _may_sound_alone(self, surface: str, one: Spelling, spellings: Sequence[Spelling]) -> bool:
        """Whether nothing but a table says that two are the same, of a script in which many names are read alike."""
        if {first_script(surface), first_script(one.text)} <= {"LATIN", "CYRILLIC", "GREEK"}:
            return False
        return not any(first_script(each.text) == first_script(surface) and each.says(surface) for each in spellings)

    def _of_several(
        self, told: Mapping[tuple[str, ...], Mapping[str, str]], spellings: Sequence[Spelling]
    ) -> Iterator[str]:
        """Where one short name is told of two, or one in Latin letters is that of two in another script."""
        for name, others in told.items():
            whole = [each for each in others.values() if len(each.split()) > 1 or not is_cased(each)]
            same = {first_script(each) for each in whole}
            apart = [
                one
                for one in whole
                if not any(are_forms_of_one(one, each, self.language) for each in whole if each != one)
            ]
            short = len(name) == 1 and is_cased(name[0])
            if len(apart) > 1 and (short or (same.isdisjoint({first_script(name[0])}) and len(same) == 1)):
                yield f"it may be {' or '.join(apart[:3])}"
        for one in spellings:
            rows: dict[str, dict[str, str]] = {}
            for _, text in self.texts:
                for start, stop in one.places(text):
                    surface = text[start:stop]
                    if first_script(surface) != first_script(one.text):
                        if self._may_sound_alone(surface, one, spellings):
                            yield f"{surface} may only sound like {one.text}"
                        rows.setdefault(first_script(surface), {}).setdefault(folded(surface), surface)
            for found in rows.values():
                apart = list(found.values())
                if len(apart) > 1 and not all(are_forms_of_one(apart[0], each, self.language) for each in apart[1:]):
                    yield f"it may be {' or '.join(apart[:3])}"

    def _runs_on(self, text: str) -> bool:
        return first_script(text) in ("CJK", "HIRAGANA", "KATAKANA", "THAI")

    def _spans(self, surfaces: Iterable[str]) -> list[tuple[str, str, int, int]]:
        """Where the texts say one of the surfaces, in any spelling: key, text and place in it."""
        every = [Spelling(surface) for surface in surfaces]
        return [(key, text, *place) for key, text in self.texts for one in every for place in one.places(text)]

    def _find(self, name: tuple[str, ...]) -> _Found:
        found = _Found()
        if len(name) == 1 and self._runs_on(name[0]):
            self._find_unspaced(name[0], found)
            return found
        for order in orders(name):
            other = _Found()
            for key, text in self.texts:
                for start, stop in name_places(text, order, self.language):
                    self._judge(text, start, stop, key, name, other)
            if order != name and other.longer:
                continue  # `Venkat Stores` is a shop
            found.surfaces |= other.surfaces
            found.keys |= other.keys
            found.longer |= other.longer
            found.alone |= other.alone
            found.articles |= other.articles
            found.unsure = found.unsure or other.unsure
        if (pair := two_genders(found.surfaces, self.language)) is not None:
            found.unsure = f"it may be {' or '.join(pair)}"
        surface = " ".join(name)
        found.surfaces.setdefault(surface, None)
        if len(name) > 1 and found.longer:
            found.unsure = f"{next(iter(found.longer))} is another name"
        if len(name) == 1:
            self._judge_single(name[0], found)
        return found

    def _judge(self, text: str, start: int, stop: int, key: str, name: tuple[str, ...], found: _Found) -> None:
        surface = text[start:stop]
        if is_cased(surface):
            longer = longer_name(text, start, stop, self.language)
            if longer is not None:
                found.longer[longer] = None
                if len(name) > 1:
                    return
            else:
                found.alone = True
                if len(name) == 1 and self.language.name == "en":
                    found.articles.add(bool(_ARTICLE.search(text[:start])))
            # `will young people`: not all of it is written as the name is.
            small = [own.islower() and not each.islower() for own, each in zip(surface.split(), name, strict=False)]
            if any(small) and (len(name) == 1 or not all(small)):
                found.unsure = f"{surface} is written like a word in {key}"
        if is_ambiguous(surface, name, text, start, self.language):
            return
        found.surfaces[surface] = None
        found.keys.add(key)

    def _judge_single(self, name: str, found: _Found) -> None:
        if found.unsure:
            return
        if len({folded_words(each.split()) for each in found.longer}) > 1:
            found.unsure = f"it may be {' or '.join(list(found.longer)[:3])}"
        elif found.longer and self._is_another(next(iter(found.longer)), name, alone=found.alone):
            found.unsure = f"it may be {next(iter(found.longer))}"
        elif len(found.articles) > 1:
            found.unsure = f"{name} stands with an article and without one"
        elif name[:1] == "@" or any(each.isdigit() for each in name):
            return
        elif len(name) < 3:
            found.unsure = f"{name} is too short to be told from a word"
        elif is_ordinary_word(name, self.language.name):
            found.unsure = f"{name} is a word as well"
        elif not is_cased(name):
            if self._may_be_word(name):
                found.unsure = f"{name} may be a word as well"
                return
            for surface in found.surfaces:
                for key, text in self.texts:
                    for start, stop in Spelling(surface).places(text):
                        if not (self._stands_as_name(text, start, stop) or is_told(text, start, stop)):
                            found.unsure = f"whether {surface} is a name in {key} can't be told"
                            return

    def _is_another(self, longer: str, name: str, *, alone: bool) -> bool:
        """Whether a longer name may be another thing's: `Hart Street`, or `New York` beside York."""
        words = [one.text for one in chunks(longer)]
        behind = bool(words) and is_same_word(folded(name), folded(words[0]), self.language)
        other = words[-1] if behind else words[0]
        return (alone and not behind) or is_ordinary_word(other, self.language.name) or self.language.name == "de"

    def _may_be_word(self, name: str) -> bool:
        """Of a word without capitals, in a language whose words no dictionary tells: only particles or a title show that it is a
        name."""
        if self.language.name in LANGUAGES or "\u200c" in name or "-" in name:
            return False
        return not (self.language.name == "ko" and len(name) >= 3)

    def _stands_as_name(self, text: str, start: int, stop: int) -> bool:
        """Of a single word in a script without capitals: it begins a clause, or has a title beside it."""
        bare = min(self._forms_of(text[start:stop]), key=len)
        if self.language.name == "ko" and len(bare) >= 3 and len(bare) < stop - start:
            return True  # a particle stands behind it
        before = [one for one in chunks(text) if one.stop <= start]
        behind = [one for one in chunks(text) if one.start >= stop]
        gap = text[before[-1].stop : start].strip() if before else "."
        if not before or gap:
            return True
        titles = self.language.lists["titles"] | self.language.lists["roles"]
        return before[-1].folded in titles or bool(behind and behind[0].folded in titles)

    def _forms_of(self, surface: str) -> list[str]:
        """A word, and what it is without an ending."""
        ends = [end for row in self.language.endings if "" in row for end in row if end and surface.endswith(end)]
        return [surface, *(surface[: -len(end)] for end in ends)]

    def _find_unspaced(self, name: str, found: _Found) -> None:
        found.surfaces[name] = None
        for key, text in self.texts:
            for one in re.finditer(re.escape(name), text):
                found.keys.add(key)
                if not self._is_apart(name, text, one.start(), one.end()):
                    found.unsure = f"{name} may be a part of another word in {key}"

    def _is_apart(self, name: str, text: str, start: int, stop: int) -> bool:
        """Whether a name in a script without blanks stands for itself there."""
        before, behind = text[max(0, start - 6) : start], text[stop : stop + 4]
        marks = [word for each in ("titles", "roles") for word in self.language.lists[each]]
        if first_script(name) == "THAI":
            extended = behind[:1] and unicodedata.category(behind[0]) == "Mn"
            return len(name) >= 6 and not extended
        if len(name) < 3 and first_script(name) == "CJK" and self.language.name == "zh":
            return any(behind.startswith(word) for word in marks)
        same = _same_writing(name[-1], behind[:1])
        ends = not same or any(behind.startswith(word) for word in marks) or behind[:1] in _BEHIND_NAMES
        if not ends and len(name) >= 3 and not name.startswith(_TWO_CHARACTER_FAMILIES):
            ends = not first_script(name).startswith("KATAKANA")
        if not ends and len(name) >= 4:
            ends = True
        begins = not _same_writing(name[0], before[-1:]) or any(before.endswith(word) for word in marks)
        begins = begins or before[-1:] in _BEFORE_NAMES or len(name) >= 4
        return bool(ends and begins)


_OF = frozenset(("of", "von", "vom", "de", "del", "della", "di", "da", "do", "du", "des", "d"))
_BARE_GENITIVE = frozenset(("ru", "uk", "bg", "el", "ar", "fa", "he", "hi", "mr", "bn", "ta", "ko"))
"""Languages in which what stands before a name may be what it has."""
_BEHIND_NAMES = frozenset(
    "是的在有和跟与與同对對给給被把让讓去来來吃住说說要会會能可也都不没沒很已还還上下每开開于於向为為、"
)
_BEFORE_NAMES = frozenset("让讓给給叫和跟与與找见見到的把被对對向问問是由、の")
_TWO_CHARACTER_FAMILIES = (
    "欧阳",
    "歐陽",
    "司马",
    "司馬",
    "上官",
    "诸葛",
    "諸葛",
    "尉迟",
    "闻人",
    "东方",
    "皇甫",
    "令狐",
    "慕容",
    "长孙",
)


def _same_writing(one: str, other: str) -> bool:
    return bool(other) and other.isalpha() and first_script(one) == first_script(other)


def _texts_of(row: Iterable[Chunk]) -> tuple[str, ...]:
    return tuple(one.text for one in row)


def _runs(row: Sequence[Chunk], tags: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The rows of names, with what joins them."""
    first: int | None = None
    for at in range(len(row) + 1):
        named = at < len(row) and tags[at] == "name"
        joins = (
            at + 1 < len(row) and first is not None and row[at].text in PARTICLES and tags[at + 1] == "name"
        ) and row[at].gap.strip() == ""
        apart = at < len(row) and row[at].gap.strip(" .\u00a0") != ""
        if first is not None and (apart or not (named or joins)):
            yield first, at
            first = None
        if named and first is None:
            first = at


def _is_ordinary_like(one: Chunk, at: int, row: Sequence[Chunk]) -> bool:
    return at == 0 or one.gap.strip() != ""
