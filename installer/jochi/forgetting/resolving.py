"""Which statement of which memory a request means: by words, slot, names, meaning and kind of change
(docs/reference/forgetting.md)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from jochi.forgetting.saying import Said, Unit, said_in, same_slot
from jochi.forgetting.spelled import Spelling
from jochi.forgetting.words import phrase
from jochi.policy.forgetting import Forgetting

_LESS = 0.5
"""What each difference leaves of a score: none alone stays above `[forgetting] sure`, which is at least this."""
_BY_MEANING = 0.5
"""As much of a word that isn't said can a cosine of 1 stand for: meaning orders candidates and never makes one sure."""


class Memory(NamedTuple):
    """One that recall found. ``cosine``: of the request and the whole of it, None without vectors."""

    key: str
    kind: str | None
    content: str | None
    cosine: float | None = None


@dataclass(frozen=True)
class Meant:
    """A candidate. ``statement``: its own words of the one statement that is meant, where the memory makes others too; None: all
    of it.

    ``score``: 0 to 1, the share of the request's words that the statement says, or says in words of the same kind, rare ones
    weighing more; a word that it doesn't say counts up to half by the cosine. Each of ``differs``, such as another name, halves
    it. ``margin``: how far it is before the best of the others that say something else; negative behind it.
    """

    key: str
    kind: str | None
    content: str | None
    score: float
    margin: float
    statement: str | None = None
    differs: tuple[str, ...] = ()
    said: Said | None = None
    alike: bool = False
    """It says what the first one says, in its words or in others: it is meant together with that."""

    def shown(self) -> dict[str, object]:
        """As JSON and tools have it."""
        names = ("key", "kind", "content", "statement", "score", "margin", "differs", "alike")
        return {name: getattr(self, name) for name in names}


def resolve(
    about: str,
    memories: Sequence[Memory],
    *,
    new: str | None = None,
    near: Callable[[str], float] | None = None,
) -> list[Meant]:
    """All statements that may be meant, best first; of equal ones in the order of ``memories``.

    ``new``: what will be said in its place; it tells which attribute of whom changes. ``near``: the cosine of the request and a
    text.
    """
    wanted = _together(about)
    then, named = said_in(new) if new is not None else (), names_what(about)
    read = [(memory, said_in(memory.content or "")) for memory in memories]
    all_said = [one for _, each in read for one in each]
    weight = {unit: _weight(unit, all_said) for unit in wanted.units}
    found: list[Meant] = []
    for memory, each in read:
        rows = []
        for one in each:
            whole = near is None or (len(each) == 1 and memory.cosine is not None)
            cosine = memory.cosine if whole or near is None else near(one.whole)
            told = {unit: _says(one, unit, wanted) for unit in wanted.units}
            by_meaning = _BY_MEANING * max(0.0, cosine or 0.0)
            got = sum(weight[unit] * (1.0 if yes else 0.0 if unit.name else by_meaning) for unit, yes in told.items())
            most = sum(weight.values())
            score = got / most if most else by_meaning
            differs = (*_differences(wanted, one, told), *speaks_of(then, one, named=named))
            rows.append(
                Meant(
                    memory.key,
                    memory.kind,
                    memory.content,
                    score * _LESS ** len(differs),
                    0.0,
                    one.text if len(each) > 1 else None,
                    differs,
                    one,
                )
            )
        if not each:
            by_meaning = _BY_MEANING * max(0.0, memory.cosine or 0.0)
            rows.append(Meant(memory.key, memory.kind, memory.content, by_meaning, 0.0))
        found += rows if new is not None else _as_wholes(rows)
    return with_margins(sorted(found, key=lambda one: -one.score))


def alone(candidates: Sequence[Meant], policy: Forgetting) -> list[Meant]:
    """Those that are meant without doubt: the first, and what says the same; none where a person has to say."""
    first = next(iter(candidates), None)
    if first is None or first.differs or first.score < policy.sure or first.margin < policy.margin:
        return []
    return [first, *(one for one in candidates[1:] if one.alike)]


def _together(text: str) -> Said:
    """A request as one statement, whatever it is made of."""
    said = said_in(text)
    units = tuple(dict.fromkeys(unit for one in said for unit in one.units))
    if not said:
        return Said(text, text, (), ())
    mood = said[0].mood[1] if said[0].value else ""
    if mood == "wanted" and sum(unit.verb for unit in units) < 2:
        mood = ""  # `the number to call Ann` wants nothing
    return replace(
        said[0],
        text=text,
        whole=text,
        units=units,
        subject=said[0].subject if len(said) == 1 else frozenset(),
        mood=(any(one.mood[0] for one in said), mood),
    )


def _weight(unit: Unit, said: Sequence[Said]) -> float:
    """Of a word that few statements have more, and half of one that only describes."""
    having = sum(unit.word in one.names or unit.base in one.bases for one in said)
    return math.log(1 + (len(said) + 1) / (1 + having)) * (0.5 if unit.soft else 1.0)


def _says(one: Said, unit: Unit, wanted: Said) -> bool:
    if unit.name:
        # A name in small letters is no name by its looks.
        return unit.word in one.names or unit.word in one.bases or _spelled(one, unit, wanted)
    return unit.base in one.bases or unit.word in one.names or bool(unit.kinds & one.kinds)


def _spelled(one: Said, unit: Unit, wanted: Said) -> bool:
    """Whether it has the name in another spelling."""
    runs = [run for run in wanted.called if unit.word in phrase(run)]
    return any(Spelling(run).says(one.whole) for run in runs)


def _differences(wanted: Said, one: Said, told: dict[Unit, bool]) -> tuple[str, ...]:
    found = []
    missing = [unit.word for unit, yes in told.items() if not yes and not unit.soft]
    if missing:
        found.append("doesn't say " + ", ".join(sorted(word for word in missing if word.isprintable()) or ["of whom"]))
    if one.doubtful:
        found.append("can be read in several ways")
    if not _one_subject(wanted, one):
        found.append("is about " + _named(one.subject))
    if wanted.mood != one.mood:
        found.append("says that it isn't so" if wanted.mood[0] != one.mood[0] else "is stated otherwise")
    return tuple(found)


def _one_subject(wanted: Said, one: Said) -> bool:
    """Whether both may speak of the same one: they name one, in any spelling, or one of them names none."""
    if not wanted.subject or not one.subject or wanted.subject & one.subject:
        return True
    called = [run for run in wanted.called if wanted.subject.intersection(phrase(run))]
    return any(Spelling(run).says(one.subject_text or "") for run in called)


def speaks_of(then: Sequence[Said], one: Said, *, named: bool = False) -> tuple[str, ...]:
    """Why what is said from then on doesn't take the place of ``one``: it speaks of another one, or of something else.

    ``named``: the request says itself what of it changes. Then only what is known to be something else counts.
    """
    found: list[str] = []
    if not then:
        return ()
    subjects = frozenset(name for each in then for name in each.subject)
    if not any(_one_subject(each, one) for each in then):
        found.append(f"is about {_named(one.subject)}, not {_named(subjects)}")
    if not any(_one_predicate(each, one, named) for each in then):
        found.append("says something else of it than what is to be said")
    return tuple(found)


def _one_predicate(then: Said, one: Said, named: bool) -> bool:
    if then.kinds and one.kinds:
        return bool(then.kinds & one.kinds)
    return named or bool(then.bases & one.bases) or then.bases == one.bases


def names_what(request: str) -> bool:
    """Whether a request says what of somebody changes, and not only a name or a value."""
    return any(
        unit.verb or unit.kinds or (one.subject and not unit.name) for one in said_in(request) for unit in one.units
    )


def _named(names: frozenset[str]) -> str:
    return ", ".join(sorted(name for name in names if name.isprintable())) or "whoever speaks"


def _as_wholes(rows: Sequence[Meant]) -> list[Meant]:
    """Of a memory its best statement; the memory as a whole where several are as good."""
    best = max(rows, key=lambda one: one.score)
    if sum(one.score == best.score for one in rows) > 1:
        return [replace(best, statement=None)]
    return [best]


def with_margins(found: Sequence[Meant]) -> list[Meant]:
    """Candidates, best first, each with how far it is before the others."""
    made = []
    first = found[0] if found else None
    for at, one in enumerate(found):
        others = (
            each.score
            for place, each in enumerate(found)
            if place != at and not (one.said and each.said and same_slot(one.said, each.said))
        )
        alike = at > 0 and bool(first and first.said and one.said and same_slot(first.said, one.said))
        made.append(replace(one, margin=one.score - max(others, default=0.0), alike=alike))
    return made
