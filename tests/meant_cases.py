"""Requests in other words than the memory: what the resolver of `forget --about` and `supersede` does with them.

Method, written before the resolver:

- A case has a person (or project), an attribute, a value, one of several wordings in which a memory states it, and another
wording, or a description, in which it is asked for. The memory states it alone, or beside another attribute in one compound
sentence.
- `present`: with it in the scope are near misses: another person with the same value, the same person with another attribute,
another person with another value. Right is to act on that one statement; asking is allowed; anything else is wrong.
- `absent`: the same scope without it; for each of the near misses alone, and for one that denies the value of that person. Right
  is not to act.
- The attributes of `LATER` were written once thresholds, words and rules stood. Their first run acted on 2
wrong; rules and words were mended by it, so they are no unseen set any more.

`python -m tests.meant_cases [--provider minilm]` prints how many were acted on right, acted on wrong, and asked about.
"""

from __future__ import annotations

import hashlib
import itertools
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from typing import Literal, NamedTuple

from jochi.forgetting.candidates import Candidate, Memory, rank_candidates, unambiguous
from jochi.forgetting.statements import remove_statement
from jochi.policy import load_policy
from jochi.policy.forgetting import Forgetting

Near = Callable[[str], Callable[[str], float]]
"""The cosine of a request and a text."""

PEOPLE = ("Ann", "Ben Okafor", "Carla", "Mira Novak", "Tom")
FILL = ("The office has a new printer.", "The train to Porto leaves at nine.", "Rain is likely on Sunday.")


class Attribute(NamedTuple):
    """``says``: wordings of a statement. ``asks``: descriptions without the value. ``values``: at least two. ``new``: what a
    replacement says."""

    says: tuple[str, ...]
    asks: tuple[str, ...]
    values: tuple[str, ...]
    denied: str


ATTRIBUTES = {
    "home": Attribute(
        ("{s} lives in {v}", "{s} resides in {v}", "{s}'s home is {v}", "{s} has moved to {v}"),
        ("where {s} lives", "{s}'s place of residence", "the city {s} lives in"),
        ("Lyon", "Oslo", "New Delhi"),
        "{s} doesn't live in {v}",
    ),
    "work": Attribute(
        ("{s} works at {v}", "{s} is employed by {v}", "{s}'s employer is {v}", "{s} has a job at {v}"),
        ("where {s} works", "{s}'s employer", "the company that {s} works for"),
        ("Acme", "Initech", "Globex"),
        "{s} never worked at {v}",
    ),
    "boss": Attribute(
        ("{s}'s boss is {v}", "{s}'s manager is {v}", "{s} reports to {v}"),
        ("who {s}'s boss is", "{s}'s supervisor"),
        ("Olga", "Piet"),
        "{s}'s boss is not {v}",
    ),
    "phone": Attribute(
        ("{s}'s phone number is {v}", "{s}'s telephone number is {v}", "{s}'s mobile is {v}"),
        ("{s}'s phone number", "the number to call {s}"),
        ("0170 5550199", "0171 5550123"),
        "{s}'s phone number isn't {v}",
    ),
    "drink": Attribute(
        ("{s} likes {v}", "{s} loves {v}", "{s} enjoys {v}", "{s} is fond of {v}"),
        ("what {s} likes", "{s}'s preference"),
        ("green tea", "black coffee"),
        "{s} hates {v}",
    ),
    "allergy": Attribute(
        ("{s} is allergic to {v}", "{s} has an allergy to {v}", "{s}'s allergy is to {v}"),
        ("what {s} is allergic to", "{s}'s allergy"),
        ("peanuts", "penicillin"),
        "{s} is not allergic to {v}",
    ),
    "birthday": Attribute(
        ("{s} was born on {v}", "{s}'s birthday is {v}", "{s}'s date of birth is {v}"),
        ("when {s} was born", "{s}'s birthday"),
        ("May 3", "June 14"),
        "{s} wasn't born on {v}",
    ),
    "spouse": Attribute(
        ("{s} is married to {v}", "{s}'s spouse is {v}", "{s} married {v}"),
        ("who {s} is married to", "{s}'s spouse"),
        ("Robin", "Kim"),
        "{s} isn't married to {v}",
    ),
    "car": Attribute(
        ("{s} drives a {v}", "{s}'s car is a {v}", "{s}'s vehicle is a {v}"),
        ("what {s} drives", "{s}'s car"),
        ("Volvo", "Fiat"),
        "{s} doesn't drive a {v}",
    ),
    "language": Attribute(
        ("{s} speaks {v}", "{s}'s language is {v}", "{s} is fluent in {v}"),
        ("which language {s} speaks",),
        ("Dutch", "Greek"),
        "{s} doesn't speak {v}",
    ),
    "study": Attribute(
        ("{s} studies at {v}", "{s}'s university is {v}", "{s} is enrolled at {v}"),
        ("where {s} studies", "{s}'s university"),
        ("Yale", "Leiden"),
        "{s} doesn't study at {v}",
    ),
    "salary": Attribute(
        ("{s} earns 5,000 euros", "{s}'s salary is 5,000 euros", "{s}'s pay is 5,000 euros"),
        ("how much {s} earns", "{s}'s salary"),
        ("5,000", "5,000"),
        "{s} doesn't earn 5,000 euros",
    ),
}

LATER = {
    "seat": Attribute(
        ("{s} prefers {v} seats", "{s} likes to sit in {v} seats", "{s}'s favourite seats are {v} seats"),
        ("which seats {s} prefers", "{s}'s seat preference"),
        ("window", "aisle"),
        "{s} doesn't prefer {v} seats",
    ),
    "hometown": Attribute(
        ("{s} grew up in {v}", "{s}'s hometown is {v}", "{s} comes from {v}"),
        ("where {s} grew up", "{s}'s hometown"),
        ("Porto", "Gdansk"),
        "{s} didn't grow up in {v}",
    ),
    "doctor": Attribute(
        ("{s}'s doctor is {v}", "{s}'s physician is {v}", "{s} sees {v} as a doctor"),
        ("who {s}'s doctor is", "{s}'s physician"),
        ("Dr. Weiss", "Dr. Amir"),
        "{s}'s doctor isn't {v}",
    ),
    "instrument": Attribute(
        ("{s} plays the {v}", "{s}'s instrument is the {v}", "{s} is learning the {v}"),
        ("which instrument {s} plays", "the instrument of {s}"),
        ("cello", "oboe"),
        "{s} doesn't play the {v}",
    ),
    "rent": Attribute(
        ("{s} pays {v} euros of rent", "{s}'s rent is {v} euros", "the rent of {s} is {v} euros"),
        ("how much rent {s} pays", "{s}'s rent"),
        ("900", "1,100"),
        "{s} doesn't pay {v} euros of rent",
    ),
    "meeting": Attribute(
        ("{s} meets the team at {v}", "{s}'s team meeting is at {v}", "the team meeting of {s} begins at {v}"),
        ("when {s} meets the team", "the time of {s}'s team meeting"),
        ("10:30", "14:00"),
        "{s} doesn't meet the team at {v}",
    ),
}
"""Written once the rules stood."""


class Case(NamedTuple):
    """``memories``: key to text. ``right``: the key that is meant, None where nobody may act. ``rest``: what that memory says
    besides."""

    shape: str
    old: str
    new: str
    memories: dict[str, str]
    right: str | None
    rest: str
    unseen: bool


def cases() -> Iterator[Case]:
    """All of them, in one order."""
    for number, (name, one) in enumerate({**ATTRIBUTES, **LATER}.items()):
        for stated, asked in itertools.permutations((*one.says, *one.asks), 2):
            if stated in one.asks:
                continue
            pick = int(hashlib.sha256(f"{name}{stated}{asked}".encode()).hexdigest(), 16)
            who, other = PEOPLE[pick % len(PEOPLE)], PEOPLE[(pick + 1 + number) % len(PEOPLE)]
            if who == other:
                other = PEOPLE[(pick + 1) % len(PEOPLE)]
            value, second = one.values[pick % len(one.values)], one.values[(pick + 1) % len(one.values)]
            others = [each for each in ATTRIBUTES if each != name]
            beside = ATTRIBUTES[others[pick % len(others)]]
            besides = beside.says[0].format(s=who, v=beside.values[0])
            old = asked.format(s=who, v=value)
            new = one.says[0].format(s=who, v=second) + "."
            if value == second:
                new = new.replace("5,000", "6,000")
            other_person = f"{stated.format(s=other, v=value)}."
            near = {
                "s/person": other_person,
                "s/attribute": f"{besides}.",
                "s/both": f"{one.says[-1].format(s=other, v=second)}.",
            }
            fill = {f"s/fill{n}": text for n, text in enumerate(FILL)}
            target = stated.format(s=who, v=value)
            shared = besides.removeprefix(who)
            unseen = name in LATER
            for shape, text, rest in (
                ("alone", f"{target}.", ""),
                *(
                    [("compound", f"{target} and{shared}.", f"{besides}.")]
                    if not shared.startswith("'") and target.startswith(f"{who} ")
                    else [("sentences", f"{besides}. {target}.", f"{besides}.")]
                ),
            ):
                yield Case(f"present, {shape}", old, new, {"s/right": text, **near, **fill}, "s/right", rest, unseen)
            yield Case("absent", old, new, {**near, **fill}, None, "", unseen)
            for key, text in near.items():
                yield Case(f"absent, {key}", old, new, {key: text}, None, "", unseen)
            denied = f"{one.denied.format(s=who, v=value)}."
            yield Case("absent, denied", old, new, {"s/denied": denied, **fill}, None, "", unseen)


@cache
def _policy() -> Forgetting:
    return load_policy().policy.forgetting


def judged(case: Case, near: Near | None = None) -> Literal["right", "asked", "wrong"]:
    """What `supersede` would do, and `forget --about` where that asks for more than the other."""
    policy = _policy()
    memories = [Memory(key, "MemoryEntry", text) for key, text in case.memories.items()]
    outcomes = []
    for new in (case.new, None):
        cosine = near and near(case.old)
        chosen = unambiguous(rank_candidates(case.old, memories, new=new, cosine_of=cosine), policy)
        left = one_left(chosen[0]) if chosen else None
        right = [one.key for one in chosen] == [case.right] and left == case.rest
        outcomes.append("asked" if left is None else "right" if right else "wrong")
    return "wrong" if "wrong" in outcomes else "asked" if "asked" in outcomes else "right"


def _first(case: Case, near: Near | None) -> str:
    """The memory that stands first in the list of candidates."""
    memories = [Memory(key, "MemoryEntry", text) for key, text in case.memories.items()]
    return rank_candidates(case.old, memories, new=case.new, cosine_of=near and near(case.old))[0].key


def one_left(one: Candidate) -> str | None:
    """What would be left of its memory; None where that isn't sure, so that a person is asked."""
    return "" if one.statement is None or one.parsed is None else remove_statement(str(one.content), one.parsed)


def run(near: Near | None, show: bool) -> None:
    """Prints what became of them by shape, and of the unseen third."""
    counted: dict[tuple[str, str], Counter[str]] = {}
    for case in cases():
        told: str = judged(case, near)
        if told == "asked" and case.right:
            told += ", it is the first" if _first(case, near) == case.right else ", it is not the first"
        counted.setdefault(("unseen" if case.unseen else "seen", case.shape), Counter())[told] += 1
        if (told == "wrong" and not case.unseen) or (
            show and told.startswith("asked") and case.right and not case.unseen
        ):
            print(told, case.old, "|", case.new, "|", case.memories)  # noqa: T201
    for (part, shape), each in sorted(counted.items()):
        print(f"{part:8} {shape:24} {dict(each)}")  # noqa: T201


if __name__ == "__main__":
    near: Near | None = None
    with ExitStack() as stack:
        if "--provider" in sys.argv:
            from jochi.cli.recall import embedder

            made = cache(stack.enter_context(embedder(sys.argv[-1], load_policy().policy.embedding)))

            def near(old: str) -> Callable[[str], float]:
                one = made(old)
                return lambda text: sum(a * b for a, b in zip(one, made(text), strict=True))

        run(near, "--show" in sys.argv)
