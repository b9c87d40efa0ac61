"""Compound sentences made of parts, with what must be left once one part is forgotten (docs/reference/forgetting.md, Clauses).

`python -m tests.clause_cases` counts: right (the very text that was expected), asked (not sure: nothing is done), and wrong.
"""

from __future__ import annotations

import itertools
import random
import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from jochi.forgetting.clauses import UNSURE, remove_clauses
from jochi.forgetting.words import phrase

PREDICATES = [
    ("works at Acme", "Acme"),
    ("lives in Lyon", "Lyon"),
    ("drives a red Volvo", "red Volvo"),
    ("speaks Dutch", "Dutch"),
    ("is allergic to nuts", "nuts"),
    ("plays the cello", "cello"),
    ("was born in Oslo", "Oslo"),
    ("has two cats", "two cats"),
    ("studied law in Bonn", "law in Bonn"),
    ("takes Ibuprofen 400 every morning", "Ibuprofen 400"),
    ("earns 5000 euros a month", "5000 euros"),
    ("can be reached at kim@acme.io", "kim@acme.io"),
    ("moved to 5 Elm St in March", "5 Elm St"),
    ("never eats meat", "meat"),
    ("wants to buy a boat", "boat"),
    ("doesn't like opera", "opera"),
    ("has worked for Siemens", "Siemens"),
    ("is married to Robert Klein", "Robert Klein"),
]
SUBJECTS = ["Alice", "She", "My brother", "The new manager", "Mr. Novak", "Our neighbour Tom"]
OTHERS = [("Bob", "sells used cars"), ("her sister", "teaches chemistry"), ("the dog", "hates the postman")]
LISTS = [
    ("likes", ["chess", "tennis", "golf"]),
    ("bought", ["milk", "three eggs", "a jar of honey"]),
    ("has lived in", ["Rome", "Oslo", "Lima"]),
    ("is allergic to", ["penicillin", "cats", "pollen"]),
]
PAIRS = [("Ann", "Peter"), ("my aunt", "her neighbour"), ("Maria Lopez", "John Smith")]
SHARED = [("live in Rome", "lives in Rome"), ("bought a house", "bought a house"), ("are on leave", "is on leave")]


_AGAIN = re.compile(r"\b(?:also|now) ")
"""Lost or kept, they say nothing of what is forgotten."""


class Case(NamedTuple):
    """``wanted`` is forgotten of ``text``, and ``left`` is what must be there then. ``shape``: how the text is made."""

    shape: str
    text: str
    wanted: str
    left: str


def cases() -> Iterator[Case]:
    """7,664, always the same."""
    yield from _two()
    yield from _three()
    yield from _beside()
    yield from _lists()
    yield from _german()


def _begun(text: str) -> str:
    return text[:1].upper() + text[1:]


def _two() -> Iterator[Case]:
    for (one, first), (two, second) in itertools.permutations(PREDICATES, 2):
        subject = random.Random(one + two).choice(SUBJECTS)
        for join in (" and ", ", but ", ", and also ", " and now "):
            tail = {" and now ": "now ", ", and also ": "also "}.get(join, "")
            text = f"{subject} {one}{join}{two}."
            yield Case("shared subject" + join, text, first, f"{subject} {tail}{two}.")
            yield Case("shared subject" + join, text, second, f"{subject} {one}.")
        yield Case("no subject", f"{one} and {two}", first, two)
        yield Case("no subject", f"{one} and {two}", second, one)
        other, says = random.Random(two + one).choice(OTHERS)
        for join in (" and ", ", while ", "; ", ", and "):
            text = f"{subject} {one}{join}{other} {says}."
            yield Case("own subjects" + join, text, first, f"{_begun(other)} {says}.")
            yield Case("own subjects" + join, text, says.split(" ", 1)[1], f"{subject} {one}.")
        text = f"Eva says that {subject if subject in ('Alice', 'Mr. Novak') else subject.lower()} {one} and {two}."
        inner = text[len("Eva says that ") :].split(one)[0]
        yield Case("reported", text, first, f"Eva says that {inner}{two}.")
        yield Case("reported", text, second, f"Eva says that {inner}{one}.")


def _three() -> Iterator[Case]:
    for at in range(0, len(PREDICATES) * 4):
        chosen = random.Random(at).sample(PREDICATES, 3)
        subject = random.Random(-at).choice(SUBJECTS)
        (one, first), (two, second), (three, third) = chosen
        text = f"{subject} {one}, {two} and {three}."
        yield Case("three", text, first, f"{subject} {two} and {three}.")
        yield Case("three", text, second, f"{subject} {one} and {three}.")
        yield Case("three", text, third, f"{subject} {one} and {two}.")
        text = f"{subject} {one} and {two}. Later {subject.lower() if subject == 'She' else subject} {three}."
        later = text.split(". Later ")[1] if "Mr." not in subject else f"{subject} {three}."
        yield Case("sentences", text, first, f"{subject} {two}. Later {later}")
        yield Case("sentences", text, third, f"{subject} {one} and {two}.")


def _beside() -> Iterator[Case]:
    for (one, first), (two, second) in itertools.permutations(PREDICATES, 2):
        subject = random.Random(two + one).choice([s for s in SUBJECTS if s != "She"])
        text = f"{subject}, who {one}, {two}."
        yield Case("relative clause", text, first, f"{subject} {two}.")
        yield Case("relative clause", text, second, f"{subject} {one}.")
    for (one, first), role in itertools.product(PREDICATES, ["a nurse from Kiel", "the owner of the bakery"]):
        text = f"Alice, {role}, {one}."
        yield Case("apposition", text, role.split(" ")[-1], f"Alice {one}.")
        if one.split(" ")[0] not in ("was", "studied", "moved", "can", "never"):
            yield Case("apposition", text, first, f"Alice is {role}.")
    for (one, first), because in itertools.product(
        PREDICATES, ["because her mother is ill", "although the rent is high"]
    ):
        text = f"She {one} {because}."
        yield Case("adverbial", text, because.split(" ")[-1], f"She {one}.")
        yield Case("adverbial", text, first, f"{_begun(because.split(' ', 1)[1])}.")


def _lists() -> Iterator[Case]:
    for subject, (verb, (one, two, three)) in itertools.product(SUBJECTS, LISTS):
        begin = f"{subject} {verb}"
        for comma in ("", ","):
            text = f"{begin} {one}, {two}{comma} and {three}."
            yield Case("list", text, one, f"{begin} {two} and {three}.")
            yield Case("list", text, two, f"{begin} {one} and {three}.")
            yield Case("list", text, three, f"{begin} {one} and {two}.")
        yield Case("pair", f"{begin} {one} and {two}.", one, f"{begin} {two}.")
        yield Case("pair", f"{begin} {one} and {two}.", two, f"{begin} {one}.")
        more = f"{begin} {one} and {two} and plays the cello."
        yield Case("pair and more", more, one, f"{begin} {two} and plays the cello.")
        yield Case("pair and more", more, "cello", f"{begin} {one} and {two}.")
    for (one, two), (plural, singular) in itertools.product(PAIRS, SHARED):
        text = f"{_begun(one)} and {two} {plural}."
        yield Case("subjects", text, one.split()[-1], f"{_begun(two)} {singular}.")
        yield Case("subjects", text, two, f"{_begun(one)} {singular}.")


def _german() -> Iterator[Case]:
    said = [
        ("wohnt in Lyon", "Lyon"),
        ("arbeitet bei Acme", "Acme"),
        ("mag Opern", "Opern"),
        ("spricht Dänisch", "Dänisch"),
        ("hat zwei Katzen", "Katzen"),
        ("fährt einen Volvo", "Volvo"),
    ]
    for (one, first), (two, second) in itertools.permutations(said, 2):
        subject = random.Random(one + two).choice(["Alicja", "Sie", "Herr Nowak", "Mein Bruder", "Meine Nachbarin"])
        for join in (" und ", ", aber "):
            text = f"{subject} {one}{join}{two}."
            yield Case("de: shared subject", text, first, f"{subject} {two}.")
            yield Case("de: shared subject", text, second, f"{subject} {one}.")
        text = f"{subject} {one}, und er {two}."
        yield Case("de: own subjects", text, first, f"Er {two}.")
        yield Case("de: own subjects", text, second, f"{subject} {one}.")


def judged(case: Case) -> str:
    """right, asked, or wrong."""
    rest = remove_clauses(case.text, phrase(case.wanted))
    if rest is UNSURE:
        return "asked"
    return "right" if _AGAIN.sub("", rest) == _AGAIN.sub("", case.left) else "wrong"


if __name__ == "__main__":
    counted: dict[str, Counter[str]] = {}
    for case in cases():
        told = judged(case)
        counted.setdefault(case.shape, Counter())[told] += 1
        if told == "wrong":
            print(  # noqa: T201
                f"{case.text} - {case.wanted}\n    {remove_clauses(case.text, phrase(case.wanted))!r}\n    {case.left!r}"
            )
    for shape, each in counted.items():
        print(f"{shape:28} {dict(each)}")  # noqa: T201
