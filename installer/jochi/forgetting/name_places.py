"""Where a text says a name: in all orders and forms, and as a part of which longer one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from jochi.forgetting.request_words import Chunk, Language, chunks, is_listed, is_ordinary_word
from jochi.text.kept import kept
from jochi.text.letters import folded

GLUED = frozenset(("ko", "bn", "mr", "ta"))
"""Languages that put particles behind a name, in the same word."""
_SENTENCE = re.compile(r"[.!?。！？।؟](?:\s|$)|\n")


def are_forms_of_one(one: str, other: str, language: Language) -> bool:
    """Whether two are forms of one name."""
    left, right = (sorted(each.folded for each in chunks(text)) for text in (one, other))
    return len(left) == len(right) and all(is_same_word(a, b, language) for a, b in zip(left, right, strict=True))


def folded_words(name: Iterable[str]) -> tuple[str, ...]:
    """The words of a name as they are compared."""
    return tuple(map(folded, name))


def orders(name: Sequence[str]) -> list[tuple[str, ...]]:
    """As it is, and with the family first or last."""
    every = [tuple(name)]
    if len(name) > 1:
        every += [(*name[-1:], *name[:-1]), (*name[1:], *name[:1])]
    return list(dict.fromkeys(every))


@kept(16_384)
def name_places(text: str, name: tuple[str, ...], language: Language) -> tuple[tuple[int, int], ...]:
    """Where a text says the name, with endings of the language."""
    row, found = chunks(text), []
    if len(name) > 1 and any(one.folded in language.lists["titles"] for one in row):
        row = tuple(_without_titles(row, language))
    for at in range(len(row) - len(name) + 1):
        part = row[at : at + len(name)]
        if any(one.gap.strip(" .,،\u00a0") for one in part[1:]):
            continue
        spans = [
            _form_in(one, word, language, first=i == 0) for i, (one, word) in enumerate(zip(part, name, strict=True))
        ]
        if all(span is not None for span in spans):
            places = [span for span in spans if span is not None]
            found.append((places[0][0], places[-1][1]))
    return tuple(found)


def _without_titles(row: Sequence[Chunk], language: Language) -> Iterator[Chunk]:
    gap = ""
    for one in row:
        if one.folded in language.lists["titles"]:
            gap += one.gap
        else:
            yield one._replace(gap=gap + one.gap)
            gap = ""


def _form_in(one: Chunk, word: str, language: Language, *, first: bool) -> tuple[int, int] | None:
    own, wanted = one.folded, folded(word)
    if is_same_word(wanted, own, language):
        return one.start, one.stop
    if first and language.prefixes:
        for prefix in language.prefixes:
            if (own == prefix + wanted and len(wanted) > 1) or (wanted == prefix + own and len(own) > 2):
                return one.start, one.stop
    return None


@kept(65_536)
def is_same_word(one: str, other: str, language: Language) -> bool:
    """Whether two are forms of one word: they share a stem, and their endings stand in one row."""
    if one == other:
        return True
    for row in language.endings:
        for ending in row:
            if ending and "" in row and language.name in GLUED:
                continue  # what it is without is known: `_Reader._bare`
            if one.endswith(ending):
                stem = one[: len(one) - len(ending)]
                if len(stem) >= (1 if len(ending) > 2 else 2) and other.startswith(stem) and other[len(stem) :] in row:
                    return True
    return False


def is_ambiguous(surface: str, name: tuple[str, ...], text: str, start: int, language: Language) -> bool:
    """`Александра`: another one's name, or a form of Александр's, which only a preposition tells."""
    if language.name not in ("ru", "uk", "bg"):
        return False
    forms = {one.folded for one in chunks(surface)}
    wanted = folded_words(name)
    if forms == set(wanted) or not all(
        word in forms or word + "а" in forms or (word[-1:] in "йь" and word[:-1] + "я" in forms) for word in wanted
    ):
        return False
    before = [one.folded for one in chunks(text) if one.stop <= start][-1:]
    return not (before and before[0] in _GOVERNING)


def _is_hers(his: str, hers: str) -> bool:
    return hers in (his + "а", his[:-1] + "я") and hers != his


def two_genders(surfaces: Iterable[str], language: Language) -> tuple[str, str] | None:
    """Two of them that may be a man's and a woman's name: `Валентин Орлов` and `Валентина Орлова`."""
    if language.name not in ("ru", "uk", "bg"):
        return None
    rows = [(each, [one.folded for one in chunks(each)]) for each in surfaces]
    for his, words in rows:
        for hers, others in rows:
            pairs = list(zip(words, others, strict=False))
            # A family name may be the same: `Богдан Коваль` and `Богдана Коваль`.
            if len(words) == len(others) and words != others and all(a == b or _is_hers(a, b) for a, b in pairs):
                return his, hers
    return None


_GOVERNING = frozenset(
    ("у", "для", "от", "без", "до", "из", "с", "против", "около", "после", "про", "від", "після", "за", "проти")
)


def longer_name(text: str, start: int, stop: int, language: Language) -> str | None:
    """The longer name that this one is a part of."""
    row = chunks(text)
    before = next((one for one in reversed(row) if one.stop <= start), None)
    behind = next((one for one in row if one.start >= stop), None)
    goes_on = behind is not None and text[stop : behind.start] in (" ", "\u00a0") and is_name_word(behind.text)
    if behind is not None and goes_on and not is_listed(behind.text):
        return text[start : behind.stop]
    if before is not None and text[before.stop : start] in (" ", "\u00a0") and is_name_word(before.text):
        begins = (
            not text[: before.start].strip() or _SENTENCE.search(text[: before.start].rstrip() + " ", 0) is not None
        )
        if not is_listed(before.text) and not (begins and is_ordinary_word(before.text, language.name)):
            return text[before.start : stop]
    return None


def is_name_word(text: str) -> bool:
    return text[:1].isupper() and not text[:1].isdigit()
