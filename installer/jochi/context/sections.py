"""Which section a heading means, and which headings are personal: by a small table, in English and German."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, cast
from unicodedata import normalize

import regex

from jochi.context.blocks import Block
from jochi.context.manifest import Section, SectionName
from jochi.toml import beside

Where = SectionName | Literal["personal"]

# By the beginnings of words: rather too much than too little.
_PERSONAL = re.compile(r"\b(?:personal|persönlich|privat|confidential|vertraulich|about me\b|über mich\b)")
_SECTIONS: dict[SectionName, tuple[str, ...]] = {
    cast("SectionName", name): tuple(words) for name, words in beside(__file__, "sections.toml").items()
}


def section_of(headings: Sequence[str], sections: Iterable[Section] = ()) -> Where:
    """The section that the nearest heading means, `insights` where none does; personal if any of them is.

    The titles of ``sections`` go before the table: a section of Jochi's is never personal.
    """
    titles = _titles(sections)
    if any(_words(heading) not in titles and _PERSONAL.search(_words(heading)) for heading in headings):
        return "personal"
    return next(filter(None, (_section(heading, titles) for heading in reversed(headings))), "insights")


def text_with_headings(block: Block, sections: Iterable[Section] = ()) -> str:
    """The block's text behind the headings above it that say more than a section does, so that it can be understood alone."""
    above = ": ".join(heading for heading in block.headings if not is_section(heading, sections))
    if not above:
        return block.text
    in_lines = block.kind in ("fence", "steps") and (_OPENS.match(block.text) or "\n" not in block.text)
    return above + (":\n" if in_lines else ": ") + block.text


def is_section(heading: str, sections: Iterable[Section] = ()) -> bool:
    """Whether it says no more than that: `My notes` does not, `Notes on Apollo` does."""
    words = _words(heading)
    return words in _titles(sections) or not set(_SECTION_WORDS.sub("", words).split()) - _FILL


def personal_lines(blocks: Iterable[Block], sections: Iterable[Section], source: Sequence[str]) -> set[int]:
    """The lines, from 1, of all that stands under personal headings, with these headings. ``source``: all lines.

    A bold line is a heading for that, too: up to the next one, or the next heading.
    """
    found: set[int] = set()
    since: int | None = None
    under = False
    for block in blocks:
        bold = _BOLD.match(source[block.first - 1]) if block.kind == "paragraph" and block.id is None else None
        if not block.is_heading and bold is None:
            continue
        if since is not None:
            found.update(range(since, block.first))
        if block.is_heading:
            under = section_of(block.path, sections) == "personal"
        personal = under or (bold is not None and section_of((bold["said"],), sections) == "personal")
        since = block.first if personal else None
    return found if since is None else found | set(range(since, len(source) + 1))


def private_lines(blocks: Iterable[Block]) -> dict[int, tuple[str, ...]]:
    """The lines, from 1, of all that shows personal data or secrets wherever it stands, by their kinds, with the headings that
    say what it is. A heading counts with what stands below it, too: `Wi-Fi password` and then the value."""
    from jochi.text.private_data import private_kinds  # its expressions take 10 ms, and most commands read no file

    found: dict[int, tuple[str, ...]] = {}
    above: list[Block] = []
    for block in blocks:
        if block.is_heading:
            above = [each for each in above if each.path == block.path[: len(each.path)]]
        if kinds := private_kinds(text_with_headings(block)):
            needed = [each for each in above if each.text in block.headings and not is_section(each.text)]
            for each in (*needed, block):
                found |= dict.fromkeys(range(each.first, each.last + 1), kinds)
            if block.table:  # a row without the names of its columns says little, in the personal part as well
                found |= dict.fromkeys(range(block.table, block.table + 2), kinds)
        if block.is_heading:
            above.append(block)
    return found


def _titles(sections: Iterable[Section]) -> dict[str, SectionName]:
    return {_words(section.title): section.name for section in sections}


def _section(heading: str, titles: Mapping[str, SectionName]) -> SectionName | None:
    exact = titles.get(_words(heading))
    return exact or next((name for name, words in _SECTIONS.items() if _means(heading, words)), None)


def _means(heading: str, words: tuple[str, ...]) -> bool:
    return re.search(rf"\b(?:{'|'.join(words)}){_ENDING}\b", _words(heading)) is not None


_OPENS = re.compile(r"`{3}|~{3}|[0-9]{1,9}[.)] ")
_BOLD = re.compile(r"\s*(?P<bold>\*\*|__)(?P<said>[^*\n]+)(?P=bold):?\s*$")
_ENDING = "(?:e?s|e[nd]?|n|se|y|ies|ed|ings?)?"
_SECTION_WORDS = re.compile(rf"\b(?:{'|'.join(word for words in _SECTIONS.values() for word in words)}){_ENDING}\b")
_FILL = frozenset(
    [
        "my",
        "our",
        "the",
        "a",
        "and",
        "or",
        "of",
        "for",
        "key",
        "active",
        "current",
        "important",
        "high",
        "value",
        "meine",
        "unsere",
        "der",
        "die",
        "das",
        "und",
        "oder",
    ]
)


def _words(heading: str) -> str:
    return " ".join(regex.findall(r"\w+", normalize("NFC", heading).casefold()))
