"""Takes the statement that says something out of a text and leaves the rest, where that can be done without making nonsense.

What is kept is kept word for word, but for a verb that has one subject left of several. English is read by its dependency parse
(`jochi_workers.language.clauses`, extra [language]); other texts by what joins clauses and the words that begin one
(`clause_words.toml`).
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import regex

from jochi.errors import JochiError
from jochi.forgetting.wording import sections_of
from jochi.forgetting.words import rows, says, spots, words
from jochi.text.dictionary import is_plain_word
from jochi.text.kept import let_go
from jochi.text.letters import folded
from jochi.toml import beside

_SENTENCE = regex.compile(
    r"[^\n.\p{STerm}]*(?:[.!?](?![\s\"'”’)\]]|$)[^\n.\p{STerm}]*)*[.\p{STerm}]*[\"'”’)\]]*(?:\s+|$|(?<=[\p{STerm}--[!?]]))|\n+",
    regex.V1,
)
"""Sentences of every script, by what Unicode knows to end one: a point, !, and ? only before a blank."""
_LEAST = 2
"""Words that must be left, or it is no statement any more."""

_LONGEST_SUBJECT = 4
"""Words of a subject that is taken over."""

_TITLE = re.compile(r"(?:^|[\s(])(?:[A-Z]|Dr|Mr|Mrs|Ms|Prof|Nr|No|e\.g|i\.e|z\.B|ca|vs)\.\s*$")
"""Ends in a point that ends no sentence."""

_NUMBER = re.compile(r"\s*\(?(?:\d{1,3}|[A-Za-z]|[ivx]{1,4})[.)]\s*")
"""The number of an item, on a line of its own: it ends no sentence."""

_STAMP = r"\[\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d)?)?\] *"
_TURN = regex.compile(rf"(?P<stamp>{_STAMP})?(?P<name>[^\W\d_][\w.'’-]*(?: [^\W\d_][\w.'’-]*){{0,2}}: +)?")
"""Begins a turn of a conversation, `[2026-01-05 10:00] Ann: `, and says nothing by itself."""

_BULLET = re.compile(rf"\s*(?:[-*•–—]\s+|\(?\d{{1,3}}[.)]\s+|{_STAMP})")
"""Begins a line of a list or of a conversation, and says nothing."""

_SHORT = re.compile(r"(?:^|[\s(])(?:St|Ave|Rd|Blvd|\w*[Ss]tr)\.\s*$")
"""Ends in a point that may end one: where the next word begins a clause."""

_STREET = re.compile(r"(?:\d|\b[A-Z]\w+) (?:St|Ave|Rd|Blvd)\.\s+[A-Z]")
"""A point that may end a sentence is within one: `5 Elm St. Then …`."""


WHOLE = ""
"""Nothing is left: the text, or a sentence, states nothing else."""

UNSURE = None
"""It says more, and which of its words say what can't be told: a person has to."""

_BLANKS_PART = regex.compile(r"\p{LB=SA}")
_MARKS = re.compile(r"[,;:()、，；：،؛]")
"""What may set statements of one sentence apart."""


@cache
def _lists() -> tuple[re.Pattern[str], frozenset[str], frozenset[str]]:
    """What joins clauses, and the words that begin one: with a subject of its own, or sharing the one before."""
    data = {name: each for name, each in beside(__file__, "clause_words.toml").items() if name != "other"}
    links = sorted({word for each in data.values() for word in each["joins"]}, key=len, reverse=True)
    joined = "|".join(re.escape(word) for word in links)
    return (
        re.compile(rf"\s*(?:[,;]\s*(?:(?:{joined})\s+)?|\s(?:{joined})\s+)", re.IGNORECASE),
        frozenset(word for each in data.values() for word in each["subjects"]),
        frozenset(word for each in data.values() for word in each["verbs"]),
    )


_GOES_ON = ("있", "계시")
"""Begins the second word of a Korean verb."""


class _Joins(NamedTuple):
    """What joins clauses of a script: see `clause_words.toml`. ``pattern``: a mark with or without a link, or a link alone."""

    pattern: re.Pattern[str]
    link: re.Pattern[str]
    behind: tuple[str, ...]
    alone: bool


@cache
def _other_joins() -> dict[str, _Joins]:
    found = {}
    for name, each in beside(__file__, "clause_words.toml")["other"].items():
        links = "|".join(map(re.escape, sorted(each["links"], key=len, reverse=True))) or r"(?!)"
        blank = "" if name in ("chinese", "japanese", "thai") else r"\s+"
        glued = "".join(rf"|(?={one}\w{{2}})" for one in each.get("glued", ()))
        link = rf"(?P<link>(?:{links}){blank or chr(92) + 's*'}{glued})"
        marks = "|".join(map(re.escape, each["marks"])) or r"(?!)"
        found[name] = _Joins(
            re.compile(rf"(?P<mark>{marks})\s*{link}?|{blank or chr(92) + 's*'}{link.replace('?P<link>', '?P<only>')}"),
            re.compile(
                rf"{blank}(?:{links}){blank}"
                + "".join(rf"|\s{one}\w{{3}}" for one in each.get("glued", ()))
                + (r"|(?<!\d)\s(?!\d)" if name == "thai" else "")
                + ("|は.+は|も.+も" if name == "japanese" else "")  # what is said of two things
            ),
            tuple(each.get("behind", ())),
            each.get("alone", False),
        )
    return found


def _joins_of(text: str) -> list[_Joins]:
    return [joins for name in sections_of(text) if (joins := _other_joins().get(name)) is not None]


def _cuts(sentence: str) -> list[tuple[int, int]]:
    """Where clauses are joined in a language that is read by marks and links alone."""
    every = _joins_of(sentence)
    if len(every) != 1:
        return []
    joins = every[0]
    found: list[tuple[int, int]] = []
    waiting: list[tuple[int, int]] = []
    for match in joins.pattern.finditer(sentence):
        before, behind = sentence[: match.start()].rstrip(), sentence[match.end() :]
        if not before or len(words(behind)) < _LEAST or behind.startswith(_GOES_ON):
            continue
        linked = match["link"] is not None or match["only"] is not None
        if joins.behind:
            ended = before.endswith(joins.behind)
            if ended or (match["mark"] and match["link"] is not None):
                found.append(match.span())
        elif joins.alone or (match["mark"] and linked):
            found += [*waiting, match.span()]
            waiting = []
        elif match["mark"]:
            # A member of a row, if a link ends it. `Elm Street, house 12` is one.
            following = re.split(r"[,،]", behind, maxsplit=1)[0]
            if sum(not any(map(str.isdigit, word.folded)) for word in words(following)) < _LEAST:
                return found
            waiting.append(match.span())
        elif linked and (found or waiting):
            found += [*waiting, match.span()]
            waiting = []
    return found


def remove_clauses(text: str, wanted: Sequence[str]) -> str | None:
    """``text`` without the statements that say the phrase: WHOLE where nothing is left, UNSURE where that can't be told."""
    text = unicodedata.normalize("NFC", text)
    folded = [word.folded for word in words(text)]
    gone = {place for at in rows(folded, wanted) for place in range(at, at + len(wanted))}
    reader = reader_of(text) if gone else None
    parts = sentences(text, reader.is_clause if reader else None)
    sizes = [len(words(part)) for part in parts]
    if sum(sizes) != len(folded):
        return UNSURE
    turns = [turn for turn in map(_turn, text.splitlines()) if turn]
    talk = len(turns) > 1 or any(turn.startswith("[") for turn in turns)
    rest, at, head, begins = "", 0, "", True
    for part, size in zip(parts, sizes, strict=True):
        mine = gone.intersection(range(at, at + size))
        at += size
        opens, begins = begins, part.endswith("\n")
        if opens:
            head = _turn(part) if talk else ""
        if mine and len(mine) == size:
            continue
        if mine:
            if not says(part, wanted) or _STREET.search(part):
                return UNSURE  # the phrase, or what may be a sentence, ends within the sentence
            bullet = _BULLET.match(part)
            begin = bullet.end() if bullet else 0
            clause = part[begin:]
            left = (
                reader.remove_clauses(clause, lambda each: spots(words(each), wanted))
                if reader
                else _cut(clause, wanted)
            )
            if left is UNSURE:
                return UNSURE
            if left is WHOLE:
                continue
            part = part[:begin] + left
        # Who says it stays before what else is said in a turn.
        rest += part if opens else head + part
        head = ""
    rest = rest.strip()
    if says(rest, wanted):  # across a seam
        return UNSURE
    stays = Counter(word.folded for word in words(rest))
    stays.subtract(word for place, word in enumerate(folded) if place not in gone)
    # Half of a number is as telling as all of it; a name may stay as the subject of what else is said.
    if any(stays[word] > 0 and any(map(str.isdigit, word)) for word in wanted):
        return UNSURE
    return rest if len(words(rest)) >= _LEAST else WHOLE


def _turn(line: str) -> str:
    """What a turn begins with: its moment, and who speaks if that looks like a name."""
    found = _TURN.match(line)
    assert found is not None
    name = found["name"] or ""
    return (found["stamp"] or "") + ("" if any(word[0].islower() for word in name.split()) else name)


class Reader(NamedTuple):
    """Who reads a text by its parse: what is left of a sentence, whether what follows stands as one, and what its clauses say
    (`jochi_workers.language.clauses`)."""

    remove_clauses: Callable[[str, Callable[[str], list[tuple[int, int]]]], str | None]
    is_clause: Callable[[str], bool]
    read_clauses: Callable[[str], list[Any]]


def reader_of(text: str) -> Reader | None:
    """Who reads this text by its parse; None in other languages than English, and without the extra [language]."""
    try:
        from jochi_workers.language import clauses
        from jochi_workers.language.reader import language_of

        english = language_of(text) in ("en", "unclear") and clauses.ready()
        return Reader(clauses.remove_clauses, clauses.is_clause, clauses.read_clauses) if english else None
    except JochiError:
        return None


def sentences(text: str, stands: Callable[[str], bool] | None = None) -> list[str]:
    """The sentences with the blanks behind them; together they are the text. ``is_clause``: whether a text is one, where a
    point tells nothing."""
    found: list[str] = []
    for match in _SENTENCE.finditer(text):
        if found and not found[-1].endswith("\n") and _goes_on(found[-1], match[0], stands):
            found[-1] += match[0]
        elif match[0]:
            found.append(match[0])
    return found


def _goes_on(sentence: str, following: str, stands: Callable[[str], bool] | None) -> bool:
    """Whether what looks like the end of a sentence is none: too long a sentence only takes more away."""
    if not following or not following[0].isalnum() or _TITLE.search(sentence) or _NUMBER.fullmatch(sentence):
        return True
    if following[0].islower() or following[0].isdigit():
        return True
    first = words(following[:40])
    if not _SHORT.search(sentence) or (first and first[0].folded in _lists()[1] | _lists()[2]):
        return False
    return not (stands and _STREET.search(sentence + following) and stands(following.strip()))


def _cut(sentence: str, wanted: Sequence[str]) -> str | None:
    parts, joins = _clauses(sentence)
    if len(parts) == 1:
        several = _MARKS.search(sentence.rstrip()) or _lists()[0].search(sentence) or _says_more(sentence, wanted)
        return UNSURE if several else WHOLE
    out = [says(part, wanted) for part in parts]
    if not all(is_single(part) for part, gone in zip(parts, out, strict=True) if gone):
        return UNSURE  # a list, or more than one clause by its marks
    _, subjects, _ = _lists()
    kept, subject = "", ""
    for part, join, gone in zip(parts, ["", *joins], out, strict=True):
        first = words(part)[0].folded
        own = not join or first in subjects
        if own:
            subject = subject_of(part) or ""
        if gone:
            continue
        if kept:
            kept += join + part
        elif own:
            kept = part
        elif subject:
            kept = f"{subject} {part}"
        else:
            return UNSURE
    if says(kept, wanted):
        return UNSURE
    if not kept:
        return WHOLE
    tail = regex.search(r"[.\p{STerm}]*[\"'”’)\]]*\s*$", sentence)
    end = tail[0] if tail else ""
    body: str = regex.sub(r"[,;.\p{STerm}\s]+$", "", kept)
    body = body[:1].upper() + body[1:] if sentence[:1].isupper() else body
    return body + end if end.strip() else body + (". " if end else "")


def _says_more(sentence: str, wanted: Sequence[str]) -> bool:
    """Whether a sentence of a script such as Thai may say more: its blanks part what is said, not words."""
    parts = sentence.split() if _BLANKS_PART.search(sentence) else []
    said = [part for part in parts if says(part, wanted)]
    return len(said) < len(parts) and any(len(words(part)) > len(wanted) for part in said)


def is_single(part: str) -> bool:
    """Whether a clause is one statement: no list, nothing set apart in it."""
    return not any(each.search(part) for each in (_MARKS, _lists()[0], *(one.link for one in _joins_of(part))))


def subject_of(clause: str) -> str | None:
    """The subject of a clause that begins with it: a pronoun or a name, or a noun behind an article or the like, then the verb."""
    _, subjects, verbs = _lists()
    found = words(clause)
    at = next((number for number, word in enumerate(found) if word.folded in verbs), 0)
    if not 0 < at <= _LONGEST_SUBJECT:
        return None
    first = found[0].folded
    named = all(clause[word.start].isupper() for word in found[1:at])
    if not named or not (first in subjects or (clause[found[0].start].isupper() and not is_word(first))):
        return None
    return clause[: found[at - 1].stop]


def is_word(word: str) -> bool:
    """Whether a dictionary has it, and not as a name or a German noun: no subject. True where no dictionary is there."""
    return is_plain_word(word, "de", "en") is not False


def _clauses(sentence: str) -> tuple[list[str], list[str]]:
    """The clauses of a sentence and what joins them: cut only before a word that begins a clause."""
    pattern, subjects, verbs = _lists()
    begins = subjects | verbs
    parts, joins, start = [], [], 0
    for match in pattern.finditer(sentence):
        following = words(sentence[match.end() : match.end() + 40])
        if match.start() == 0 or not following or following[0].start != 0 or following[0].folded not in begins:
            continue
        if not sentence[match.end()].islower() and folded(sentence[match.end()]) != "i":
            continue
        parts.append(sentence[start : match.start()])
        joins.append(match[0])
        start = match.end()
    parts.append(sentence[start:])
    if not joins:
        for begin, end in _cuts(sentence):
            parts[-1:] = [sentence[start:begin], sentence[end:]]
            joins.append(sentence[begin:end])
            start = end
    return parts, joins


def clauses_of(sentence: str) -> list[tuple[str, int]]:
    """The clauses of a sentence, each with where it begins."""
    parts, joins = _clauses(sentence)
    found, at = [], 0
    for part, join in zip(parts, ["", *joins], strict=True):
        at += len(join)
        found.append((part, at))
        at += len(part)
    return found


def is_verb(word: str) -> bool:
    """Whether it is a finite verb, or stands before one, as far as the list knows them."""
    return word in _lists()[2]


def forget_readings() -> None:
    """Lets go what this process has read of texts: what is forgotten must not live on in memory."""
    let_go()
    if (language := sys.modules.get("jochi_workers.language")) is not None:
        language.forget_readings()
