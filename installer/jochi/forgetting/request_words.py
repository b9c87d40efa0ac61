"""The words of a request and of texts as they are looked through for names, and what they are by the lists of their language
(`request_words.toml`)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from jochi.text.dictionary import is_known, is_plain_word
from jochi.text.kept import kept
from jochi.text.letters import folded, script_of
from jochi.toml import beside

_APART = r"\s,;!?:。、，；：！？()（）\[\]「」『』《》«»\"“”„<>…؟،؛|।"
_CHUNK = re.compile(rf"[^{_APART}—–]+")
_OTHER = "\u0370-\u03ff\u0400-\u052f\u0590-\u1cff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_BLOCKS = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WRITING_EDGE = re.compile(
    rf"(?<=[{_OTHER}])(?=-?[A-Za-z@])|(?<=[A-Za-z])(?=-?[{_OTHER}])|(?<=[{_BLOCKS}])(?=[0-9])|(?<=[0-9])(?=[{_BLOCKS}])"
)
_ENDS = ".-'’·"
_OWNER = re.compile(r"['’]s$", re.IGNORECASE)


class Chunk(NamedTuple):
    """What stands between blanks and marks. ``gap``: what stands before it, within the text."""

    text: str
    start: int
    stop: int
    gap: str
    owner: bool

    @property
    def folded(self) -> str:
        """As it is compared."""
        return folded(self.text)


@dataclass(frozen=True, eq=False)
class Language:
    name: str
    unspaced: bool
    lists: Mapping[str, frozenset[str]]
    endings: tuple[tuple[str, ...], ...]
    prefixes: tuple[str, ...]

    def tag(self, word: str) -> str:
        """Which list a word is of, or would be without an ending; "" for none."""
        found = self._tag(word)
        if not found and any("" in row for row in self.endings):
            stems = {word[: -len(end)] for row in self.endings for end in row if end and word.endswith(end)}
            found = next((tag for each in sorted(stems) if len(each) > 1 and (tag := self._listed(each))), "")
        return found

    def _listed(self, word: str) -> str:
        return next((name for name in _PRECEDENCE if word in self.lists[name]), "")

    def _tag(self, word: str) -> str:
        if listed := self._listed(word):
            return listed
        return "containers" if self._is_like(word, "containers") else "roles" if self._is_like(word, "roles") else ""

    def _is_like(self, word: str, name: str) -> bool:
        """Whether it is one of them with a slip of the pen."""
        if len(word) < 5:
            return False
        from jellyfish import damerau_levenshtein_distance

        return any(
            abs(len(word) - len(one)) <= 1
            and one[0] == word[0]
            and damerau_levenshtein_distance(word, one) <= (1 if len(word) < 8 else 2)
            for one in self.lists[name]
            if len(one) >= 5
        )


_PRECEDENCE = ("limits", "whole", "containers", "titles", "frame", "roles")
LISTS = ("whole", "containers", "roles", "titles", "frame", "limits")
"""Those that say of a word of a request what it is."""


@cache
def languages() -> Mapping[str, Language]:
    data = beside(__file__, "request_words.toml")
    return {
        name: Language(
            name,
            bool(each.get("unspaced")),
            {
                one: frozenset(folded(word) for word in each.get(one, "").split())
                for one in (*LISTS, "joins", "that", "months", "keeps")
            },
            tuple(tuple(folded(end.replace("∅", "")) for end in row.split()) for row in each.get("endings", ())),
            tuple(each.get("prefixes", "").split()),
        )
        for name, each in data.items()
    }


_SCRIPTS = {
    "DEVANAGARI": "hi", "BENGALI": "bn", "TAMIL": "ta", "ARABIC": "ar", "HEBREW": "he", "HANGUL": "ko", "THAI": "th",
    "GREEK": "el", "CYRILLIC": "ru", "CJK": "zh", "HIRAGANA": "ja", "KATAKANA": "ja",
}  # fmt: skip
"""The language whose lists a text in a script is read by, where it isn't told by its words."""


def first_script(text: str) -> str:
    """The script of its first letter, as Unicode names it."""
    return next((script_of(each) for each in text if each.isalpha()), "")


def is_cased(text: str) -> bool:
    """Whether its script has capitals."""
    return any(each.isupper() or each.islower() for each in text)


def language_of(request: str) -> Language:
    """By its script, and of several languages by its words."""
    known_languages = languages()
    scripts = [first_script(chunk.text) for chunk in chunks(request)]
    if "HIRAGANA" in scripts or "KATAKANA" in scripts or re.search("[\u3041-\u3096]", request):
        return known_languages["ja"]
    found = {script for script in scripts if script}

    def known(language: Language) -> int:
        if language.unspaced:
            return sum(word in request for name in LISTS for word in language.lists[name])
        return sum(
            chunk.folded in language.lists[name] for chunk in chunks(request) for name in LISTS if name != "titles"
        )

    fitting = [one for one in known_languages.values() if scripts_of(one.name) & found] or [known_languages["en"]]
    return max(fitting, key=known)


def asks_to_keep(request: str) -> bool:
    """Whether it asks for the opposite: "remember that …"."""
    language = language_of(request)
    if language.unspaced:
        return any(word in request for word in language.lists["keeps"])
    return any(one.folded in language.lists["keeps"] for one in chunks(request)[:3])


@cache
def scripts_of(language: str) -> frozenset[str]:
    """The scripts that a language of `request_words.toml` is written in, as Unicode names them."""
    own = frozenset(script for script, name in _SCRIPTS.items() if name == language)
    more = {"uk": "CYRILLIC", "bg": "CYRILLIC", "mr": "DEVANAGARI", "fa": "ARABIC"}
    return own or frozenset((more.get(language, "LATIN"),))


@kept(2_048)
def chunks(text: str) -> tuple[Chunk, ...]:
    """The chunks of a text (NFC) in order; an owner's 's and marks at the edges belong to none."""
    found: list[Chunk] = []
    end = 0
    for raw, start in _raw_chunks(text):
        left = raw.lstrip(_ENDS + "/")
        start += len(raw) - len(left)
        right = left.rstrip(_ENDS + "/")
        bare = _OWNER.sub("", right)
        if bare:
            found.append(Chunk(bare, start, start + len(bare), text[end:start], bare != right))
            end = start + len(bare)
    return tuple(found)


def _raw_chunks(text: str) -> Iterator[tuple[str, int]]:
    """What stands between blanks and marks, and what of it is of one writing: `ל-Thomas` is two."""
    for one in _CHUNK.finditer(text):
        at = 0
        for edge in _WRITING_EDGE.finditer(one[0]):
            yield one[0][at : edge.start()], one.start() + at
            at = edge.start()
        yield one[0][at:], one.start() + at


@kept(4_096)
def is_listed(word: str) -> bool:
    own = folded(word)
    return any(own in language.lists[name] for language in languages().values() for name in LISTS)


def is_ordinary_word(word: str, language: str) -> bool:
    """Whether a dictionary has it as a word that isn't a name."""
    lower = word.lower()
    if lower in languages()[language].lists["months"]:
        return True
    if language in ("hi", "fa", "de"):  # names aren't told from words by their base form
        return bool(is_known(lower, language))
    return bool(is_plain_word(lower, language))
