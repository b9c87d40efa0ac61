"""What a text holds (seed 001, Enhanced CompressedContext Node): something preferred, to be done, or found out; or chitchat, where
most of it is small talk; and whether it holds something personal. By rules over a reading (`content_types.toml`)."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from jochi.toml import beside
from jochi_workers.language.reading import Reading, Statement
from jochi_workers.language.relevance import relevance
from jochi_workers.language.speech import act

ContentType = Literal["preference", "task", "insight", "chitchat"]
ORDER: tuple[ContentType, ...] = ("task", "preference", "insight")
"""Of two types that as many sentences say, the first: what is open must not be overlooked."""
LEAST_SHARE = 0.15
"""A type that a smaller share of the sentences says isn't what the text is about."""
MOST_RELEVANT = 0.5
"""A text without such a type is chitchat where its sentences are, in the mean, less probably worth keeping. Else it is unknown."""
_MOST_JUDGED = 32
"""Sentences of a text that are judged, evenly chosen."""

_OF_PERSONS = frozenset(
    {
        *("EMAIL_ADDRESS", "PHONE_NUMBER", "IBAN_CODE", "CREDIT_CARD"),
        *("US_SSN", "UK_NHS", "ES_NIF", "IT_FISCAL_CODE", "IN_AADHAAR"),
    }
)
"""What reaches or identifies a person. A name alone doesn't: hardly any conversation is without one. Nor do places and groups."""
_FIRST = frozenset({"i", "we"})


def content_type(reading: Reading) -> ContentType | None:
    """What most sentences say that say something, by `ORDER` where two are as many; else chitchat, where most is small talk. None
    where neither can be told, and in a language without rules: there the model alone takes polite requests for small talk."""
    if reading.language != "en" or not reading.sentences:
        return None
    counts = Counter(sentence_types(reading))
    found = max(ORDER, key=lambda each: counts[each])
    if counts[found] >= LEAST_SHARE * len(reading.sentences):
        return found
    return "chitchat" if _is_idle(reading) else None


def _is_idle(reading: Reading) -> bool:
    """Whether it is small talk, by the model of relevance; without it, whether half of it only reacts, greets or asks."""
    step = -(-len(reading.sentences) // _MOST_JUDGED)
    said = [one.text for one in reading.sentences[::step]]
    known = relevance(said)
    if known is not None:
        return sum(known) < MOST_RELEVANT * len(said)
    acts = [act(one, reading.language) for one in said]
    return 2 * sum(each in ("reaction", "question") for each in acts) >= len(acts)


def contains_pii(reading: Reading) -> bool | None:
    """Whether something personal is said: a person's number or address. None where none was found and not all could be read."""
    if any(one.type in _OF_PERSONS for one in reading.personal):
        return True
    return None if reading.partial else False


def sentence_types(reading: Reading) -> list[ContentType]:
    """Of each sentence, in their order."""
    starts = [one.start for one in reading.sentences]
    statements: list[list[Statement]] = [[] for _ in starts]
    for statement in reading.statements:
        statements[max(bisect_right(starts, statement.start) - 1, 0)].append(statement)
    timed = {bisect_right(starts, moment.start) - 1 for moment in reading.moments}
    found: list[ContentType] = []
    end = 0
    for n, sentence in enumerate(reading.sentences):
        # With what stands before it: `TODO:` looks like a speaker.
        words = _plain(reading.text[end : sentence.end])
        end = sentence.end
        fitting = (rule.type for rule in _rules() if rule.fits(words, statements[n], timed=n in timed))
        found.append(next(fitting, "chitchat"))
    return found


@dataclass(frozen=True)
class _Rule:
    """One entry of `content_types.toml`; what is None plays no part."""

    type: ContentType
    words: re.Pattern[str] | None
    about: bool  # it asks something of a statement
    modality: frozenset[str] | None
    verbs: frozenset[str] | None
    not_verbs: frozenset[str]
    not_objects: re.Pattern[str] | None
    negated: bool | None
    subject: str | None
    moment: bool

    def fits(self, sentence: str, statements: Sequence[Statement], *, timed: bool) -> bool:
        if (self.words and not self.words.search(sentence)) or (self.moment and not timed):
            return False
        return not self.about or any(self._of(each) for each in statements)

    def _of(self, one: Statement) -> bool:
        verb = {one.verb, one.verb.split(" ")[0]}
        object_ = _plain(one.object.text) if one.object else ""
        return (
            (self.modality is None or (one.modality or "plain") in self.modality)
            and (self.verbs is None or bool(verb & self.verbs))
            and not verb & self.not_verbs
            and (self.negated is None or self.negated == one.negated)
            and (self.subject is None or (one.subject is not None and one.subject.text.casefold() in _FIRST))
            and not (self.not_objects and self.not_objects.match(object_))
        )


def _plain(text: str) -> str:
    return text.casefold().replace("’", "'")


def _one_of(words: list[str] | None) -> re.Pattern[str] | None:
    """Any of them as whole words; one that begins with an apostrophe stands behind a word."""
    if not words:
        return None
    edged = (("" if word[0] == "'" else r"(?<!\w)") + re.escape(word) + r"(?!\w)" for word in words)
    return re.compile("|".join(edged))


@cache
def _rules() -> tuple[_Rule, ...]:
    data = beside(__file__, "content_types.toml")
    return tuple(_rule(entry) for entry in data["rule"])


def _rule(entry: dict[str, Any]) -> _Rule:
    own = {"modality", "verbs", "not_verbs", "not_objects", "negated", "subject"}
    if strange := entry.keys() - own - {"type", "words", "moment"}:
        raise ValueError(f"content_types.toml: a rule has {', '.join(sorted(strange))}")

    def some(name: str) -> frozenset[str] | None:
        return frozenset(entry[name]) if name in entry else None

    return _Rule(
        type=entry["type"],
        words=_one_of(entry.get("words")),
        about=bool(own & entry.keys()),
        modality=some("modality"),
        verbs=some("verbs"),
        not_verbs=some("not_verbs") or frozenset(),
        not_objects=_one_of(entry.get("not_objects")),
        negated=entry.get("negated"),
        subject=entry.get("subject"),
        moment=entry.get("moment", False),
    )
