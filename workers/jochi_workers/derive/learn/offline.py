"""Facts without a model: what people state, in their own words, with what it is of and how sure it is (DESIGN §16). What is less
sure is kept with less confidence; what states nothing is left out by `passages`."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate, groupby

from jochi.text.tokens import TokenCounter
from jochi.write.observing.signals import scan
from jochi_workers.derive.extract.messages import messages
from jochi_workers.derive.extract.names import words
from jochi_workers.derive.learn.output import LONGEST_NAME, Category, Fact, LearningOutput
from jochi_workers.derive.learn.passages import Passage, passages
from jochi_workers.derive.learn.wordlists import data, has
from jochi_workers.handler import Row
from jochi_workers.language import Reading, Statement, read_all, speech
from jochi_workers.language.reader import language_of

_EXPLICIT, _IMPLIED, _INFERRED, _SPECULATIVE = 0.95, 0.8, 0.55, 0.3
"""How sure: said in so many words and worth a signal; said plainly; with a hedge or heard from somebody; on a condition, a wish."""
_NAMES = frozenset({"PERSON", "ORG", "GPE", "LOC", "FAC", "PRODUCT", "EVENT", "WORK_OF_ART", "NORP", "LANGUAGE"})
_ME = frozenset({"i", "we"})
_MY = frozenset({"my", "our"})
_NOTHING = frozenset(
    {"that", "this", "it", "you", "there", "what", "which", "who", "they", "he", "she", "those", "these"}
)
"""Subjects that say nothing by themselves: of whom, stands in another sentence."""
_EMPTY_VERBS = frozenset(
    {"think", "guess", "hope", "mean", "know", "bet", "thank", "see", "say", "wonder", "agree", "appreciate"}
)
_ARTICLE = re.compile(r"^(?:an?|the|my|our|his|her|their)\s+", re.IGNORECASE)


def offline(row: Row, _counter: TokenCounter) -> LearningOutput:
    """What the turns state, the surest first where there are more than `most` of the row."""
    turns = [message for message in messages(row["inputs"][0]["content"]) if message.text]
    earlier = [message for text in row["before"][-1:] for message in messages(text) if message.text]
    language = language_of("\n".join(turn.text for turn in (*earlier, *turns)))
    found = list(passages(turns, earlier[-1] if earlier else None, language))
    readings = read_all(" ".join(one.sentences) for one in found)
    facts = [fact for one, read in zip(found, readings, strict=True) for fact in _facts(one, read, language)]
    best = sorted(range(len(facts)), key=lambda at: (-facts[at].confidence, at))[: row["most"]]
    return LearningOutput(facts=tuple(facts[at] for at in sorted(best)))


def _facts(passage: Passage, reading: Reading, language: str) -> Iterator[Fact]:
    """One of the passage; each of its sentences that fills a slot is one of its own, for its value may change alone."""
    slots: dict[int, dict[str, str]] = {}
    names = _names(reading)
    ends = list(accumulate(len(one) + 1 for one in passage.sentences))
    for statement in reading.statements:
        if _tells(statement, names) and (slot := _slot(statement, passage.speaker)):
            slots.setdefault(bisect_right(ends, statement.start), slot)
    for number, part in _parts(passage, slots):
        yield _fact(part, reading, names, slots.get(number, {}), language)


def _parts(passage: Passage, slots: Collection[int]) -> Iterator[tuple[int, Passage]]:
    """The passage, cut before and behind each sentence whose number is in ``slots``, with the number of each part's first one."""
    for _, group in groupby(enumerate(passage.sentences), key=lambda one: one[0] if one[0] in slots else -1):
        numbers, sentences = zip(*group, strict=True)
        yield numbers[0], passage._replace(sentences=sentences, taken_up="" if numbers[0] else passage.taken_up)


def _names(reading: Reading) -> list[str]:
    return [one.text for one in reading.entities if one.type in _NAMES]


def _fact(passage: Passage, reading: Reading, known: Sequence[str], slot: dict[str, str], language: str) -> Fact:
    text = " ".join(passage.sentences)
    scanned = scan(text)
    names = [name for name in known if name in text]
    statement = next(
        (one for one in reading.statements if one.subject and one.subject.text in text and _tells(one, names)), None
    )
    category: Category = scanned.category or _category(statement, names)  # type: ignore[assignment]
    own = [passage.speaker] if passage.speaker else []
    return Fact(
        text=passage.text,
        category=category,
        confidence=_confidence(passage.sentences, language, high=scanned.signal == "high"),
        turn=passage.turn,
        answers=passage.answers or None,
        entities=tuple(dict.fromkeys(one for one in (*own, *names) if len(one) <= LONGEST_NAME))[:12],
        **slot,
    )


def _confidence(sentences: Sequence[str], language: str, *, high: bool) -> float:
    """Of a passage as sure as the surest of its sentences."""
    return max(_sure(one, language, high=high) for one in sentences)


def _sure(sentence: str, language: str, *, high: bool) -> float:
    if speech.has(sentence, "unreal", language):
        return _INFERRED if speech.has(sentence, "change", language) else _SPECULATIVE
    if speech.has(sentence, "hearsay", language) or has("importance", "hedging", sentence):
        return _INFERRED
    return _EXPLICIT if high else _IMPLIED


def _tells(one: Statement, names: Sequence[str]) -> bool:
    """Whether it says something of its speaker, of what is the speaker's, or of a name."""
    if one.subject is None or one.modality in ("asked", "command"):
        return False
    subject = words(one.subject.text)
    if not subject or subject[0] in _NOTHING:
        return False
    mine = subject[0] in _ME or subject[0] in _MY
    named = any(one.subject.text in name or name in one.subject.text for name in names)
    return (mine or named) and one.verb not in _EMPTY_VERBS and (one.object is not None or bool(one.adjuncts))


def _category(statement: Statement | None, names: Sequence[str]) -> Category:
    """Of what has no signal: a name that is something is an entity."""
    if (
        statement
        and statement.subject
        and statement.object
        and statement.verb == "be"
        and words(statement.subject.text)[0] not in _ME | _MY
    ):
        return "entity" if any(name in statement.subject.text for name in names) else "fact"
    return "fact"


def _slot(statement: Statement, speaker: str) -> dict[str, str]:
    """Of whom it says what, where that can be one thing at a time; nothing of what is denied or may be."""
    if statement.negated or statement.modality is not None or statement.subject is None or statement.object is None:
        return {}
    subject_words, value = (
        words(statement.subject.text),
        _ARTICLE.sub("", " ".join(statement.object.text.split())).strip(" .,!"),
    )
    slots = data("slots")
    subject, attribute = " ".join(statement.subject.text.split()), slots["verbs"].get(statement.verb)
    if subject_words[0] in _ME:
        subject = speaker
    elif subject_words[0] in _MY and statement.verb == "be":
        nouns, favourites = slots["nouns"]["values"].split(), slots["nouns"]["favourites"].split()
        if (len(subject_words) == 2 and subject_words[1] in nouns) or (
            len(subject_words) == 3 and subject_words[1] in favourites
        ):
            subject, attribute = speaker, " ".join(subject_words[1:]).replace("favourite", "favorite")
    if not attribute or not subject or not value or max(len(subject), len(value)) > LONGEST_NAME:
        return {}
    return {"subject": subject, "attribute": attribute, "value": value}
