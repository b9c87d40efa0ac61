"""Loads the conversations of the set and checks them against METHOD.md: a person's turns, and the key that goes with them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

from jochi.errors import UsageError
from jochi.toml import tomllib

FOLDER = Path(__file__).with_name("conversations")
BETWEEN_SESSIONS = timedelta(hours=6)
"""A pause of more than this begins a new session: the sessions of a conversation lie on different days."""
COUNTS = {
    **{"turns": (20, 60), "facts": (8, 20), "never": (4, 10), "questions": (6, 10), "slots": (2, 8), "stays": (2, 5)},
    **{"must": (4, 8), "must_not": (4, 8), "sessions": (1, 5)},
}
"""How many entries METHOD.md asks for, from and to."""

Language = Literal["en", "de", "others"]
LANGUAGES: tuple[Language, ...] = ("en", "de", "others")
Groups = tuple[tuple[str, ...], ...]
"""Of each group one string must occur, in one and the same text; case is ignored."""


@dataclass(frozen=True)
class Turn:
    """``name``: of a user or a guest. ``at``: zoned."""

    at: datetime
    speaker: Literal["user", "assistant", "guest"]
    name: str
    text: str

    @property
    def line(self) -> str:
        """As a transcript shows it."""
        return f"{self.name or 'Assistant'}: {self.text}"


@dataclass(frozen=True)
class Statement:
    """What was said in ``turn``, counted from 1, and holds at the end."""

    turn: int
    has: Groups


@dataclass(frozen=True)
class Never:
    """What no remembered statement may say, and ``why``: small_talk, order, offer, question, trap, quotation, sarcasm, other."""

    has: Groups
    why: str


@dataclass(frozen=True)
class Outdated:
    """A text that has ``old`` and not ``new`` is outdated; None: whatever has ``old``."""

    old: str
    new: str | None


@dataclass(frozen=True)
class Question:
    """What somebody asks days later; one of the first hits must have ``has``, and none may be ``outdated``."""

    ask: str
    has: Groups
    outdated: tuple[Outdated, ...]


@dataclass(frozen=True)
class Slot:
    """One attribute of a subject, with its values in the order in which they held."""

    subject: str
    attribute: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Conversation:
    """``number``: the first two characters of its file. ``unseen``: its third is kept for the end, and shown in sums only.

    ``must`` and ``must_not``: what a file has, and hasn't, that an assistant reads before the next conversation.
    """

    number: str
    slug: str
    language: str
    domain: str
    personal: bool
    unseen: bool
    title: str
    turns: tuple[Turn, ...]
    facts: tuple[Statement, ...]
    never: tuple[Never, ...]
    questions: tuple[Question, ...]
    must: tuple[Groups, ...]
    must_not: tuple[Outdated, ...]
    slots: tuple[Slot, ...]
    stays: tuple[Statement, ...]

    @property
    def group(self) -> Language:
        """The languages that figures are summed by."""
        return "en" if self.language == "en" else "de" if self.language == "de" else "others"

    @property
    def sessions(self) -> list[list[Turn]]:
        """The turns, cut where there was a long pause."""
        sessions = [[self.turns[0]]]
        for before, turn in pairwise(self.turns):
            if turn.at - before.at > BETWEEN_SESSIONS:
                sessions.append([])
            sessions[-1].append(turn)
        return sessions


def load(*, unseen: bool = False, only: Collection[str] = ()) -> list[Conversation]:
    """The seen ones, or with ``unseen`` the others. ``only``: those of these numbers; `UsageError` where one isn't among them."""
    found = [each for each in map(read, files()) if each.unseen is unseen]
    if unknown := sorted({*only} - {each.number for each in found}):
        part = "unseen" if unseen else "seen"
        raise UsageError(f"no {part} conversation has the number {unknown[0]}", fix="give one such as 01")
    return [each for each in found if not only or each.number in only]


def files() -> list[Path]:
    """All of them, seen and unseen."""
    return sorted(FOLDER.glob("*.toml"))


def read(file: Path) -> Conversation:
    """One file. `UsageError` that names the place and quotes nothing of the file: it may be an unseen one."""
    number, _, slug = file.stem.partition("-")
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError:
        raise UsageError("this is no TOML", where=file.name, fix="look at it with a TOML reader") from None
    place = [""]
    try:
        conversation = _conversation(number, slug, data, place)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise UsageError(
            "this isn't written as METHOD.md says", where=f"{file.name}, {place[0]}", fix="compare it with METHOD.md"
        ) from None
    return conversation


def faults(conversation: Conversation) -> Iterator[str]:
    """What METHOD.md asks for and a program can check: counts, moments that rise, strings that occur where they were said."""
    one = conversation
    counts = {name: len(getattr(one, name)) for name in COUNTS}
    for name, (least, most) in COUNTS.items():
        if not least <= counts[name] <= most:
            yield f"{counts[name]} {name}, {least} to {most} are wanted"
    if one.unseen is not (int(one.number) % 3 == 0):
        yield "every third file is unseen, and no other"
    if not any(len(slot.values) > 1 for slot in one.slots) or not any(len(slot.values) == 1 for slot in one.slots):
        yield "no slot changed, or none stayed"
    if 2 * sum(bool(question.outdated) for question in one.questions) < len(one.questions):
        yield "fewer than half of the questions are about a change"
    for n, (before, turn) in enumerate(pairwise(one.turns), 2):
        if turn.at <= before.at:
            yield f"turn {n} isn't later than the one before"
    for name in ("facts", "stays"):
        for n, statement in enumerate(getattr(one, name), 1):
            said = "\n".join(turn.line for turn in one.turns[max(0, statement.turn - 3) : statement.turn]).casefold()
            if not 1 <= statement.turn <= len(one.turns):
                yield f"{name} {n} names a turn that isn't there"
            elif not all(any(each.casefold() in said for each in group) for group in statement.has):
                yield f"{name} {n} has strings that stand neither in its turn nor in the two before"
    whole = "\n".join(turn.line for turn in one.turns).casefold()
    for n, question in enumerate(one.questions, 1):
        if any(each.old.casefold() not in whole for each in question.outdated):
            yield f"questions {n} has an outdated string that no turn has"


def _conversation(number: str, slug: str, data: Mapping[str, Any], place: list[str]) -> Conversation:
    """``place`` is kept at what is being read, for the message."""

    def each(name: str, entries: Any) -> Iterator[Any]:
        for n, entry in enumerate(entries, 1):
            place[0] = f"{name} {n}"
            yield entry
        place[0] = "the head"

    place[0] = "the head"
    return Conversation(
        number=number,
        slug=slug,
        turns=tuple(
            Turn(_moment(turn["at"]), _speaker(turn["speaker"]), str(turn.get("name", "")), _text(turn["text"]))
            for turn in each("turns", data["turns"])
        ),
        facts=tuple(Statement(int(fact["turn"]), _groups(fact["has"])) for fact in each("facts", data["facts"])),
        never=tuple(Never(_groups(entry["has"]), _text(entry["why"])) for entry in each("never", data["never"])),
        questions=tuple(
            Question(
                _text(question["ask"]), _groups(question["has"]), tuple(map(_outdated, question.get("outdated", ())))
            )
            for question in each("questions", data["questions"])
        ),
        must=tuple(_groups(groups) for groups in each("start.must", data["start"]["must"])),
        must_not=tuple(_outdated(entry) for entry in each("start.must_not", data["start"]["must_not"])),
        slots=tuple(
            Slot(_text(slot["subject"]), _text(slot["attribute"]), tuple(map(_text, slot["values"])))
            for slot in each("slots", data["slots"])
        ),
        stays=tuple(Statement(int(stay["turn"]), _groups(stay["has"])) for stay in each("stays", data["stays"])),
        **{name: _text(data[name]) for name in ("language", "domain", "title")},
        **{name: _truth(data[name]) for name in ("personal", "unseen")},
    )


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise TypeError("no text")
    return value


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError("neither true nor false")
    return value


def _moment(value: Any) -> datetime:
    moment = datetime.fromisoformat(value)
    if moment.tzinfo is None:
        raise ValueError("no zone")
    return moment


def _speaker(value: Any) -> Any:
    if value not in ("user", "assistant", "guest"):
        raise ValueError("no speaker")
    return value


def _groups(value: Any) -> Groups:
    groups = tuple(tuple(map(_text, group)) for group in value if isinstance(group, list))
    if not groups or len(groups) != len(value) or not all(groups):
        raise TypeError("no list of groups")
    return groups


def _outdated(value: Any) -> Outdated:
    if isinstance(value, str):
        return Outdated(_text(value), None)
    new = value.get("new")
    return Outdated(_text(value["old"]), None if new is None else _text(new))
