"""What people of a conversation say they will do, and by which day: tasks (seed 001, Active tasks).

Only what is said in so many words is one. A question, a hedge, a condition, a denial, what somebody else is said to do, and what an
assistant does at once are none. The words are data (`commitments.toml`), by language; of other languages none are found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from functools import cache
from typing import Literal, NamedTuple

from jochi.toml import beside
from jochi_workers.derive.extract.checks import orders
from jochi_workers.derive.extract.messages import Message
from jochi_workers.derive.learn.passages import LONGEST_SENTENCE, is_assistant
from jochi_workers.derive.learn.wordlists import has as has_words
from jochi_workers.language import speech
from jochi_workers.language.due import due_day, without_times
from jochi_workers.language.sentences import sentences

_FILE = "commitments.toml"
_QUOTED = re.compile(r"[\"“„»].*[\"”“«]")
_CLAUSE = re.compile(r"[,;](?!\s*(?:by|on|the|before|no later|bis|am|spätestens|vor|morgen|tomorrow)\b)", re.IGNORECASE)
"""What is said of another day stands in another clause; a day that is added behind a comma belongs to the words before it."""


class Commitment(NamedTuple):
    """``turn``: the number of its turn, from 1. ``due``: the day by which; None where none is said."""

    turn: int
    speaker: str
    text: str
    due: date | None


def commitments(turns: Sequence[Message], moments: Sequence[datetime], language: str) -> Iterator[Commitment]:
    """Those of the turns, each said at its moment. What nobody says (pasted, attached) is passed over."""
    for number, (turn, said) in enumerate(zip(turns, moments, strict=False), 1):
        line = -1
        for one in sentences(turn.text) if turn.speaker else ():
            # `TODO: …` is no speaker.
            head, line = f"{one.speaker}: " if one.speaker and one.line != line else "", one.line
            text = head + " ".join(one.text.split())
            found = commitment(text, language, said)
            if found and not (is_assistant(turn.speaker) and (found.due is None or found.due <= said.date())):
                yield found._replace(turn=number, speaker=turn.speaker)


def commitment(sentence: str, language: str, said: datetime) -> Commitment | None:
    """The task that a sentence, said at that moment, is for whoever says it; None where it isn't sure that it is one."""
    if language not in beside(__file__, _FILE) or len(sentence) > LONGEST_SENTENCE or orders(sentence):
        return None
    folded = _folded(sentence)
    found = Commitment(0, "", sentence, due_day(sentence, language, said))
    if _says(folded, "sure", language):
        return found
    plain = without_times(sentence, language)
    if (
        speech.asks(sentence)
        or _QUOTED.search(sentence)
        or _says(folded, "denies", language)
        or any(speech.has(plain, sign, language) for sign in ("unreal", "hearsay"))
        or has_words("importance", "hedging", plain)
    ):
        return None
    for clause in _CLAUSE.split(sentence):
        folded, due = _folded(clause), due_day(clause, language, said)
        if _says(folded, "planned", language) or (due is not None and _says(folded, "dated", language)):
            return found._replace(due=due)
    return None


def _folded(text: str) -> str:
    return text.casefold().replace("’", "'")


def _says(folded: str, name: Literal["sure", "planned", "dated", "denies"], language: str) -> bool:
    return any(pattern.search(folded) for pattern in _patterns(name, language))


@cache
def _patterns(name: str, language: str) -> tuple[re.Pattern[str], ...]:
    words = beside(__file__, _FILE)[language]

    def listed(found: re.Match[str]) -> str:
        return str(words["lead"]) if found[1] == "lead" else f"(?:{'|'.join(words[found[1]].split())})"

    return tuple(re.compile(re.sub(r"\{([a-z_]+)\}", listed, each)) for each in words[name])
