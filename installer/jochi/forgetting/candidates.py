"""Which statement of which memory a request means: by words, slot, names, meaning and kind of change
(docs/reference/forgetting.md)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

from jochi.errors import JochiError
from jochi.forgetting.clauses import reader_of
from jochi.forgetting.parts import parts_of
from jochi.forgetting.request_words import chunks, language_of
from jochi.forgetting.spelling import Spelling
from jochi.forgetting.statements import Statement, Unit, parse_statements, particles, same_slot
from jochi.forgetting.wording import (
    Cover,
    Piece,
    another_one,
    cover,
    denies,
    ends,
    goes_on,
    hedges,
    is_past,
    names_what,
    narrower,
    pieces_of,
    sections_of,
)
from jochi.forgetting.words import phrase, words
from jochi.policy.forgetting import Forgetting
from jochi.text.kept import kept
from jochi.text.letters import folded

_LESS = 0.5
"""What each difference leaves of a score: none alone stays above `[forgetting] sure`, which is at least this."""
_LIKELY = 0.1
_OWNED = re.compile(r"['’]s?\s|\b(?:my|his|her|their|our|of|whose)\s", re.IGNORECASE)
_FUTURE = re.compile(r"\b(?:will|shall|going to|about to|plans to)\b|['’]ll\b", re.IGNORECASE)
_SHORT = 2
"""Words of a request, such as `that Ann runs`, that may be a part of what says something else: `Ann runs a bakery`."""
_LEAST_SAID = 4
"""Signs of a script without blanks that a request has at least; a word of another one counts as two."""
_BY_MEANING = 0.5
"""As much of a word that isn't said can a cosine of 1 stand for: meaning orders candidates and never makes one sure."""


class Memory(NamedTuple):
    """One that recall found. ``cosine``: of the request and the whole of it, None without vectors."""

    key: str
    kind: str | None
    content: str | None
    cosine: float | None = None


@dataclass(frozen=True)
class Candidate:
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
    parsed: Statement | None = None
    alike: bool = False
    """It says what the first one says, in its words or in others: it is meant together with that."""

    @property
    def parts(self) -> tuple[str, ...]:
        """What a person may choose of it, where not all of it is meant: each may be given as a ``statement``."""
        return tuple(one.text for one in parts_of(self.content or ""))

    def as_dict(self) -> dict[str, object]:
        """As JSON and tools have it."""
        names = ("key", "kind", "content", "statement", "score", "margin", "differs", "alike", "parts")
        return {name: getattr(self, name) for name in names}


def rank_candidates(
    about: str,
    memories: Sequence[Memory],
    *,
    new: str | None = None,
    cosine_of: Callable[[str], float] | None = None,
) -> list[Candidate]:
    """All statements that may be meant, best first; of equal ones in the order of ``memories``.

    ``new``: what will be said in its place; it tells which attribute of whom changes. ``cosine_of``: the cosine of the request
    and a text.
    """
    if is_read_by_words(about):
        return _by_words(about, memories, new, cosine_of)
    query = _as_one_statement(about)
    new_statements, attribute_named = parse_statements(new) if new is not None else (), names_attribute(about)
    parsed = [(memory, parse_statements(memory.content or "")) for memory in memories]
    all_statements = [one for _, each in parsed for one in each]
    weight = {unit: _weight(unit, all_statements) for unit in query.units}
    runs = [Spelling(run) for run in query.surface_names]
    international = {
        one: {each for run in runs for each in run.international_numbers(one.full_text)} for one in all_statements
    }
    countries = len(frozenset().union(*international.values())) if international else 0

    def judge(one: Statement, by_meaning: float) -> tuple[float, tuple[str, ...]]:
        unit_matches = {unit: _says(one, unit, query) for unit in query.units}
        weight_found = sum(
            weight[unit] * (1.0 if yes else 0.0 if unit.name else by_meaning) for unit, yes in unit_matches.items()
        )
        weight_of_all = sum(weight.values())
        score = weight_found / weight_of_all if weight_of_all else by_meaning
        return score, (
            *_differences(query, one, unit_matches),
            *(_more_than_short(about, query, one) if new is None else ()),
            *mismatches(new_statements, one, attribute_named=attribute_named),
            *(["may be a number of another country"] if countries > 1 and international[one] else []),
        )

    return _ranked(parsed, judge, cosine_of, wholes=new is None)


def _ranked(
    parsed: Sequence[tuple[Memory, Sequence[Statement]]],
    judge: Callable[[Statement, float], tuple[float, tuple[str, ...]]],
    cosine_of: Callable[[str], float] | None,
    *,
    wholes: bool,
) -> list[Candidate]:
    """The statements of memories, best first. ``judge``: of one, and how much of a word its meaning stands for, the score before
    what differs, and that. ``wholes``: of a memory its best one only."""
    candidates: list[Candidate] = []
    for memory, each in parsed:
        rows = []
        for one in each:
            whole = cosine_of is None or (len(each) == 1 and memory.cosine is not None)
            cosine = memory.cosine if whole or cosine_of is None else cosine_of(one.full_text)
            score, differs = judge(one, _BY_MEANING * max(0.0, cosine or 0.0))
            rows.append(
                Candidate(
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
            rows.append(Candidate(memory.key, memory.kind, memory.content, by_meaning, 0.0))
        candidates += _as_wholes(rows) if wholes else rows
    return with_margins(sorted(candidates, key=lambda one: -one.score))


def is_read_by_words(text: str) -> bool:
    """Whether a text is of a language that neither a parser nor the lists of English and German read."""
    if sections_of(text) != ("latin",):
        return bool(sections_of(text))
    try:
        from jochi_workers.language.reader import language_of

        return language_of(text) not in ("en", "de", "unclear")
    except JochiError:
        return False


def _by_words(
    about: str, memories: Sequence[Memory], new: str | None, cosine_of: Callable[[str], float] | None
) -> list[Candidate]:
    """As `rank_candidates`, by how much of the request each clause says in words of its own (`jochi.forgetting.wording`)."""
    request = pieces_of(about)
    content = [not one.plain for one in request]
    said_anew = None if new is None else pieces_of(new)
    parsed = [(memory, parse_statements(memory.content or "")) for memory in memories]
    texts = {one: _with_lead(request, one) for _, each in parsed for one in each}
    covers = {one: cover(request, text) for one, text in texts.items()}
    weight = [
        math.log(1 + (len(covers) + 1) / (1 + sum(each.shares[at] > 0 for each in covers.values())))
        for at in range(len(request))
    ]
    weight_of_all = sum(each for each, counts in zip(weight, content, strict=True) if counts)

    def judge(one: Statement, by_meaning: float) -> tuple[float, tuple[str, ...]]:
        found = sum(weight[at] * (share or by_meaning) for at, share in enumerate(covers[one].shares) if content[at])
        score = found / weight_of_all if weight_of_all else by_meaning
        if not covers[one].missing or (said_anew and _says_what_changes(request, texts[one], covers[one], said_anew)):
            score = 1.0
        return score, _differences_in_words(about, request, one, texts[one], covers[one], said_anew)

    return _ranked(parsed, judge, cosine_of, wholes=new is None)


def _with_lead(request: Sequence[Piece], one: Statement) -> tuple[Piece, ...]:
    """The words of a clause, behind whom its sentence begins with as far as the request names that."""
    own = pieces_of(one.full_text)
    if not one.lead:
        return own
    lead = pieces_of(one.lead)
    shares = cover(lead, request).shares
    first = next((at for at, piece in enumerate(lead) if shares[at] == 1.0 and not piece.plain), None)
    # In Arabic the verb stands before its subject.
    if first is None or sum(not piece.plain for piece in lead[:first]) > ("arabic" in sections_of(one.lead)):
        return own
    stop = next((at for at in range(first, len(lead)) if shares[at] < 1.0 and not lead[at].plain), len(lead))
    return (*lead[first:stop], *own)


def _differences_in_words(
    about: str,
    request: Sequence[Piece],
    one: Statement,
    text: Sequence[Piece],
    covered: Cover,
    said_anew: Sequence[Piece] | None,
) -> tuple[str, ...]:
    found = []
    if covered.missing and not (said_anew and _says_what_changes(request, text, covered, said_anew)):
        found.append("doesn't say " + ", ".join(covered.missing))
    if sum(1 if piece.unspaced else 2 for piece in request if not piece.plain) < _LEAST_SAID:
        found.append("may be one of several things")
    if one.lead and not _says_of_its_own(request, one):
        found.append("says nothing of it")
    elif one.lead and len(text) == len(pieces_of(one.full_text)) and not _begins_with_named(request, one.full_text):
        found.append(f"may be about {one.lead}")
    if one.ambiguous:
        found.append("can be read in several ways")
    if other := another_one(request, text):
        found.append(f"is about {other}")
    if one.mood[1] == "asked" or hedges(one.full_text) - hedges(about):
        found.append("is stated otherwise")
    if denies(about) != (one.mood[0] or denies(one.full_text)):
        found.append("says that it isn't so")
    if is_past(about) != (one.mood[1] == "past"):
        found.append("is stated otherwise")
    named = (*request, *(said_anew or ()))
    if (said_anew is None or one.mood[0]) and goes_on(one.full_text, named, pieces_of(one.full_text)):
        found.append("may be another word or name")
    if one.mood[0] and (more := narrower(request, pieces_of(one.full_text))):
        found.append(f"denies less: {more}")
    if said_anew is None and ends(about):
        found.append("may say it of something else")
    if said_anew is not None and "japanese" in sections_of(one.full_text):
        # Its clauses are joined without marks, so what else goes with one isn't told.
        found.append("may say more than what changes")
    if said_anew is not None and (other := _about_another(said_anew, one)):
        found.append(f"is about {other}, not what is to be said")
    return tuple(found)


def _about_another(said_anew: Sequence[Piece], one: Statement) -> str:
    """Whom a statement speaks of, where that is another one than the new statement speaks of; "" if it is the same."""
    text = _with_lead(said_anew, one)
    if other := another_one(said_anew, text):
        return other
    first = next((at for at, each in enumerate(said_anew) if not each.plain), 0)
    alone = one.lead and len(text) == len(pieces_of(one.full_text))
    return one.lead if alone and cover(said_anew, text).shares[first] < 1.0 else ""


def says_more(old: str, new: str, one: Statement) -> tuple[str, ...]:
    """Why a statement that has the old words says more than what changes, in a language that no parser reads: each of its words
    must be one of the old or of the new statement, and whom it speaks of one that the new one names."""
    if _read(one.full_text):
        return ()
    said, said_anew = pieces_of(old), pieces_of(new)
    text = _with_lead(said_anew, one)
    shares = zip(text, cover(text, said).shares, cover(text, said_anew).shares, strict=True)
    more = [each.word for each, *shares_of in shares if not each.plain and max(shares_of) < 1.0]
    if other := _about_another(said_anew, one):
        return (f"is about {other}",)
    return (f"says more: {', '.join(more)}",) if more else ()


def _says_of_its_own(request: Sequence[Piece], one: Statement) -> bool:
    """Whether a clause says something of a request that isn't only whom its sentence begins with."""
    shares = zip(
        cover(request, pieces_of(one.full_text)).shares, cover(request, pieces_of(one.lead)).shares, strict=True
    )
    return any(own > lead and not piece.plain for piece, (own, lead) in zip(request, shares, strict=True))


def _begins_with_named(request: Sequence[Piece], clause: str) -> bool:
    """Whether a clause begins with a name, and one that the request says: a subject of its own. In scripts without capitals that
    can't be told."""
    own = pieces_of(clause)
    return clause[:1].isupper() and bool(own) and cover(own, request).shares[0] == 1.0


def _says_what_changes(
    request: Sequence[Piece], text: Sequence[Piece], covered: Cover, said_anew: Sequence[Piece]
) -> bool:
    """Whether it says all that the request and the new statement have in common, and differs from the new one in nothing but a
    value: what the request says besides is another word for that."""
    common = [at for at, share in enumerate(cover(request, said_anew).shares) if share == 1.0 and not request[at].plain]
    if not any(names_what(request, at) for at in common) or min(covered.shares[at] for at in common) < 1.0:
        return False
    ours, theirs = _apart(said_anew, text), _apart(text, said_anew)
    return len(ours) <= 1 and len(theirs) <= 1 and (ours == theirs or not ours or not theirs)


def _apart(text: Sequence[Piece], other: Sequence[Piece]) -> list[int]:
    """Before each row of words that another text doesn't say: how many there are that it does."""
    shares = cover(text, other).shares
    found: list[int] = []
    said, within = 0, False
    for piece, share in zip(text, shares, strict=True):
        if not piece.plain:
            if share < 1.0 and not within:
                found.append(said)
            within = share < 1.0
            said += share == 1.0
    return found


def unambiguous(candidates: Sequence[Candidate], policy: Forgetting) -> list[Candidate]:
    """Those that are meant without doubt: the first, and what says the same; none where a person has to say."""
    first = next(iter(candidates), None)
    if first is None or first.differs or first.score < policy.sure or first.margin < policy.margin:
        return []
    return [first, *(one for one in candidates[1:] if one.alike)]


def short_list(ranked: Sequence[Candidate], most: int, named: frozenset[str] = frozenset()) -> list[Candidate]:
    """What a person is asked about, at most ``most``: of ``ranked``, best first, those that say what is ``named`` (keys), and
    others that are as likely as these; where nothing is named, those that have at least a tenth of the first one's score: three
    differences more."""
    first = [one for one in ranked if one.key in named]
    if first:
        least = max(one.score for one in first)
        return [*first, *(one for one in ranked if one.key not in named and one.score > least)][:most]
    least = _LIKELY * ranked[0].score if ranked else 0.0
    return [one for one in ranked if one.score >= least][:most]


def _as_one_statement(text: str) -> Statement:
    """A request as one statement, whatever it is made of."""
    statements = parse_statements(text)
    units = tuple(dict.fromkeys(unit for one in statements for unit in one.units))
    if not statements:
        return Statement(text, text, (), ())
    mood = statements[0].mood[1] if statements[0].value and statements[0].mood[1] != "asked" else ""
    if mood == "wanted" and sum(unit.verb for unit in units) < 2:
        mood = ""  # `the number to call Ann` wants nothing
    return replace(
        statements[0],
        text=text,
        full_text=text,
        units=units,
        subject=statements[0].subject if len(statements) == 1 else frozenset(),
        mood=(any(one.mood[0] for one in statements), mood),
    )


def _weight(unit: Unit, statements: Sequence[Statement]) -> float:
    """Of a word that few statements have more, and half of one that only describes."""
    having = sum(unit.word in one.names or unit.base in one.bases for one in statements)
    return math.log(1 + (len(statements) + 1) / (1 + having)) * (0.5 if unit.modifier else 1.0)


def _says(one: Statement, unit: Unit, query: Statement) -> bool:
    if unit.name:
        # A name in small letters is no name by its looks.
        return unit.word in one.names or unit.word in one.bases or _spelled(one, unit, query)
    return unit.base in one.bases or unit.word in one.names or bool(unit.kinds & one.kinds)


def _spelled(one: Statement, unit: Unit, query: Statement) -> bool:
    """Whether it has the name in another spelling."""
    runs = [run for run in query.surface_names if unit.word in phrase(run)]
    return any(Spelling(run).says(one.full_text) for run in runs)


def _differences(query: Statement, one: Statement, unit_matches: dict[Unit, bool]) -> tuple[str, ...]:
    candidates = []
    missing = [unit.word for unit, yes in unit_matches.items() if not yes and not unit.modifier]
    if missing:
        candidates.append(
            "doesn't say " + ", ".join(sorted(word for word in missing if word.isprintable()) or ["of whom"])
        )
    if one.ambiguous:
        candidates.append("can be read in several ways")
    if not _one_subject(query, one):
        candidates.append("is about " + _named(one.subject))
    elif belongings := _belongings(query, one):
        candidates.append("is about the " + ", ".join(belongings) + " of " + _named(one.subject))
    request, text = pieces_of(query.full_text), pieces_of(one.full_text)
    by_words = one.value is None and one.subject_text is not None and not _read(query.full_text)
    if by_words and (other := another_one(request, _with_lead(request, one)) or _owned_by_mark(query, one)):
        candidates.append(f"is about {other}")
    if goes_on(one.full_text, request, text) or _another_thing(query, one):
        candidates.append("may be another name")
    if narrows := _narrower_subject(query, one, request):
        candidates.append("is about " + narrows)
    if hedges(one.full_text) - hedges(query.full_text):
        candidates.append("is stated otherwise")
    if query.mood[0] and one.mood[0] and (more := narrower(request, text)):
        candidates.append(f"denies less: {more}")
    if ({unit.base for unit in one.units} - query.bases) & particles():
        candidates.append("is stated otherwise")
    # What is too short to be told from English may deny it in words that the parser doesn't know.
    if not (query.mood[0] or one.mood[0]) and denies(one.full_text) and not denies(query.full_text):
        candidates.append("says that it isn't so")
    if bool(_FUTURE.search(query.full_text)) != bool(_FUTURE.search(one.full_text)) and _read(one.full_text):
        candidates.append("is stated otherwise")
    elif query.mood != one.mood:
        candidates.append("says that it isn't so" if query.mood[0] != one.mood[0] else "is stated otherwise")
    return tuple(candidates)


def _more_than_short(about: str, query: Statement, one: Statement) -> tuple[str, ...]:
    """What a statement says besides a short one that is asked for: `that Ann runs`."""
    stated = any(each.folded in language_of(about).lists["that"] for each in chunks(about))
    if not stated or len(query.units) > _SHORT:
        return ()
    more = [unit.word for unit in one.units if not unit.modifier and not _says(query, unit, one)]
    return (f"says more: {', '.join(more)}",) if more else ()


def _another_thing(query: Statement, one: Statement) -> bool:
    """Whether a noun or a name of a request goes on, and so is of another thing: `car park` for `car`, `Bob's dog` for `Bob`."""
    units = {unit.word: unit for unit in one.units}
    for left, right in pairwise(words(one.full_text)):
        said, following = units.get(left.folded), units.get(right.folded)
        if said is None or following is None or said.verb or said.modifier or following.verb or following.modifier:
            continue
        gap = one.full_text[left.stop : right.start]
        # Behind a name a verb may be taken for a noun.
        beside = gap in ("'s ", "’s ", "' ", "’ ") or (gap == " " and (following.name or not said.name))
        if beside and _says(query, said, one) and not _says(query, following, one):
            return True
    # `the back door`: the parser may take the word for a part of a verb.
    own, asked = [word.folded for word in words(one.full_text)], set(phrase(query.full_text))
    return any(
        left in particles() - asked and right in units and not units[right].verb and right in asked
        for left, right in pairwise(own)
    )


def _narrower_subject(query: Statement, one: Statement, request: Sequence[Piece]) -> str:
    """What a statement is about, where a request that names nobody says a part of it only: `the guest door` for `the door`."""
    if query.subject or any(unit.name for unit in query.units):
        return ""
    subject = pieces_of(one.subject_text or "")
    shares = cover(subject, request).shares
    more = [
        piece.word
        for piece, share in zip(subject, shares, strict=True)
        if share < 1.0 and (not piece.plain or piece.word in particles())
    ]
    said = any(share == 1.0 and not piece.plain for piece, share in zip(subject, shares, strict=True))
    return " ".join(more) if said else ""


@kept(64)
def _read(text: str) -> bool:
    """Whether a parser reads it."""
    return reader_of(text) is not None


def _owned_by_mark(query: Statement, one: Statement) -> str:
    """What belongs to a name with an apostrophe, `Anna Lenz' Mutter`, where the request doesn't say it."""
    found = re.search(r"['’]\s+(\w+)", one.full_text)
    return "" if found is None or folded(found[1]) in phrase(query.full_text) else found[1]


def _belongings(query: Statement, one: Statement) -> list[str]:
    """What of somebody a statement is about, `Ann's mother`, where the request doesn't say that."""
    if not one.subject or not _OWNED.search(one.subject_text or ""):
        return []
    about = phrase(one.subject_text or "")
    return [
        unit.word
        for unit in one.units
        if unit.word in about
        and not (unit.name or unit.modifier or unit.verb)
        and unit.base not in query.bases
        and not unit.kinds & query.kinds
    ]


def _one_subject(query: Statement, one: Statement) -> bool:
    """Whether both may speak of the same one: they name one, in any spelling, or one of them names none."""
    if not query.subject or not one.subject or query.subject & one.subject:
        return True
    names = [run for run in query.surface_names if query.subject.intersection(phrase(run))]
    return any(Spelling(run).says(one.subject_text or "") for run in names)


def says_other(old: str, one: Statement) -> tuple[str, ...]:
    """Why a statement that has the old words says something else: `owns a car park` has `owns a car`."""
    if _another_thing(_as_one_statement(old), one):
        return ("may say it of another thing",)
    return ("is stated otherwise",) if hedges(one.full_text) - hedges(old) or one.mood[1] == "asked" else ()


def mismatches(
    new_statements: Sequence[Statement], one: Statement, *, attribute_named: bool = False
) -> tuple[str, ...]:
    """Why what is said from then on doesn't take the place of ``one``: it speaks of another one, or of something else.

    ``attribute_named``: the request says itself what of it changes. Then only what is known to be something else counts.
    """
    candidates: list[str] = []
    if not new_statements:
        return ()
    if not one.subject and is_read_by_words(one.full_text):
        new = " ".join(each.full_text for each in new_statements)
        if other := _about_another(pieces_of(new), one):
            candidates.append(f"is about {other}")
    subjects = frozenset(name for each in new_statements for name in each.subject)
    if not any(_one_subject(each, one) for each in new_statements):
        candidates.append(f"is about {_named(one.subject)}, not {_named(subjects)}")
    # Who says what was denied, or what holds no longer, needs no words of the denial: "owns no car", "bought a Tesla".
    denied = attribute_named and one.mood[0] and not any(each.mood[0] for each in new_statements)
    if not denied and not any(_one_predicate(each, one, attribute_named) for each in new_statements):
        candidates.append("says something else of it than what is to be said")
    return tuple(candidates)


def _one_predicate(new_statements: Statement, one: Statement, attribute_named: bool) -> bool:
    if new_statements.kinds and one.kinds:
        return bool(new_statements.kinds & one.kinds)
    return attribute_named or bool(new_statements.bases & one.bases) or new_statements.bases == one.bases


def names_attribute(request: str) -> bool:
    """Whether a request says what of somebody changes, and not only a name or a value."""
    return any(
        unit.verb or unit.kinds or (one.subject and not unit.name)
        for one in parse_statements(request)
        for unit in one.units
    )


def _named(names: frozenset[str]) -> str:
    return ", ".join(sorted(name for name in names if name.isprintable())) or "whoever speaks"


def _as_wholes(rows: Sequence[Candidate]) -> list[Candidate]:
    """Of a memory its best statement; the memory as a whole where several are as good."""
    best = max(rows, key=lambda one: one.score)
    if sum(one.score == best.score for one in rows) > 1:
        return [replace(best, statement=None)]
    return [best]


def _as_a_rival(one: Candidate) -> float:
    """Its score without what only may differ: doubt about another one makes none surer."""
    return one.score / _LESS ** sum(each.startswith("may ") for each in one.differs)


def with_margins(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Candidates, best first, each with how far it is before the others."""
    made = []
    first = candidates[0] if candidates else None
    for at, one in enumerate(candidates):
        others = (
            _as_a_rival(each)
            for place, each in enumerate(candidates)
            if place != at and not (one.parsed and each.parsed and same_slot(one.parsed, each.parsed))
        )
        alike = at > 0 and bool(first and first.parsed and one.parsed and same_slot(first.parsed, one.parsed))
        made.append(replace(one, margin=one.score - max(others, default=0.0), alike=alike))
    return made
