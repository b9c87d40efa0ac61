"""Facts without a model: sentences that say something of their speaker or of a name, as they were said, judged by what they are
made of. What no reader is there for (a language without a model of its own) is known by its signals alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from jochi.text.tokens import TokenCounter
from jochi.write.observing.signals import scan
from jochi_workers.derive.extract.checks import orders
from jochi_workers.derive.extract.messages import Message, messages
from jochi_workers.derive.extract.names import words
from jochi_workers.derive.learn.output import LONGEST_NAME, LONGEST_TEXT, Category, Fact, LearningOutput
from jochi_workers.derive.learn.wordlists import data, has
from jochi_workers.handler import Row
from jochi_workers.language import Reading, Statement, read_all

_EXPLICIT, _IMPLIED, _INFERRED, _SPECULATIVE = 0.95, 0.8, 0.55, 0.3
"""How sure: said in so many words and worth a signal; said plainly; with a modality or a hedge; reported, or on a condition."""
_UNSURE = frozenset({"condition", "hypothetical", "reported"})
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
_LEAST_WORDS = 3
_ARTICLE = re.compile(r"^(?:an?|the|my|our|his|her|their)\s+", re.IGNORECASE)
_SAME = 0.8


def offline(row: Row, _counter: TokenCounter) -> LearningOutput:
    """What the turns hold, the surest first where there are more than `most` of the row."""
    turns = [message for message in messages(row["inputs"][0]["content"]) if message.text]
    readings = list(read_all(turn.text for turn in turns))
    found = [
        fact
        for at, (turn, reading) in enumerate(zip(turns, readings, strict=True))
        for fact in _facts(at + 1, turn, reading)
    ]
    best = sorted(range(len(found)), key=lambda at: (-found[at].confidence, at))[: row["most"]]
    return LearningOutput(facts=tuple(found[at] for at in sorted(best)))


def _facts(number: int, turn: Message, reading: Reading) -> Iterator[Fact]:
    """Of one turn those sentences that say something, none twice."""
    seen: list[set[str]] = []
    for sentence in reading.sentences:
        text = " ".join(sentence.text.split())
        own = set(words(text))
        if text.endswith("?") or len(own) < _LEAST_WORDS or len(text) > LONGEST_TEXT - LONGEST_NAME or orders(text):
            continue
        inside = [one for one in reading.statements if sentence.start <= one.start < sentence.end]
        names = [
            one.text for one in reading.entities if one.type in _NAMES and sentence.start <= one.start < sentence.end
        ]
        scanned = scan(text)
        statement = next((one for one in inside if _tells(one, names)), None)
        if statement is None and (inside or scanned.signal != "high"):
            continue
        if any(len(own & other) >= _SAME * max(len(own), len(other)) for other in seen):
            continue
        seen.append(own)
        category: Category = scanned.category or _category(statement, names)  # type: ignore[assignment]
        slot = _slot(statement, turn.speaker) if statement else {}
        yield Fact(
            text=f"{turn.speaker}: {text}" if turn.speaker else text,
            category=category,
            confidence=_confidence(statement, text, high=scanned.signal == "high"),
            turn=number,
            entities=tuple(dict.fromkeys([*([turn.speaker] if turn.speaker else []), *names]))[:12],
            **slot,
        )


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


def _confidence(statement: Statement | None, text: str, *, high: bool) -> float:
    modality = statement.modality if statement else None
    if modality in _UNSURE:
        return _SPECULATIVE
    if has("importance", "hedging", text) or modality in ("possible", "able", "advised"):
        return _INFERRED
    return _EXPLICIT if high else _IMPLIED


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
