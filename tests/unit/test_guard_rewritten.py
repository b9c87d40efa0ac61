"""The guard on pairs by another hand than its rules (`tests/merge_pairs/rewritten`), and on what was thought of against them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.merge_pairs import rewritten as rewritten_
from tests.merge_pairs.bound import lower_bound
from tests.merge_pairs.pair import Language, Pair, digest
from tests.merge_pairs.rewritten import SEVERAL, rewritten

from jochi_workers.guard import judge

LEAST: dict[Language, float] = {"en": 0.7, "de": 0.75, "fr": 0.7, "es": 0.7, "it": 0.75, "pt": 0.7, "nl": 0.75}
"""Share of the true duplicates of the seen part that are found, rounded down."""
APART = Path(rewritten_.__file__).with_suffix("") / "apart.txt"


@pytest.fixture(scope="module")
def judged() -> Sequence[tuple[Pair, bool]]:
    return [(pair, merges(pair.left, pair.right)) for pair in rewritten() if not pair.unseen]


def merges(left: str, right: str) -> bool:
    return judge(left, right, cosine=1.0).verdict == "merge"


def test_the_set_is_drawn_alike_and_has_more_that_differs() -> None:
    pairs = list(rewritten())
    assert digest(pairs) == digest(rewritten())
    assert all(pair.left != pair.right for pair in pairs)
    number = Counter((pair.language, pair.label) for pair in pairs)
    assert all(number[language, "different"] > number[language, "same"] for language in LEAST)
    assert 0.2 < sum(pair.unseen for pair in pairs) / len(pairs) < 0.45


def test_it_merges_nothing_that_differs(judged: Sequence[tuple[Pair, bool]]) -> None:
    assert [pair for pair, merged in judged if merged and pair.label == "different"] == []
    right = sum(merged for _, merged in judged)
    assert lower_bound(right, right) >= 0.998


def test_it_finds_most_duplicates_where_it_reads(judged: Sequence[tuple[Pair, bool]]) -> None:
    for language, least in LEAST.items():
        found = [
            merged
            for pair, merged in judged
            if pair.language == language and pair.label == "same" and pair.kind != SEVERAL
        ]
        assert sum(found) / len(found) >= least, language


def test_nothing_merges_that_was_thought_of_against_it() -> None:
    lines = APART.read_text(encoding="utf-8").splitlines()[1:]
    pairs = [(left, right) for left, _, right in (line.partition(" ! ") for line in lines)]
    assert len(pairs) > 200
    assert [pair for pair in pairs if merges(*pair)] == []


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Ann likes to swim.", "Ann likes swimming."),
        ("Ann has got two dogs.", "Ann has 2 dogs."),
        ("Ann's got a car.", "Ann has a car."),
        ("Ann works every Monday.", "Ann works on Mondays."),
        ("The boss is Ann.", "Ann is the boss."),
        ("Please note that Ann works 3 to 5 days.", "Ann works 3–5 days."),
        ("Ann plays games, e.g. chess + go.", "Ann plays games, for instance chess and go."),
        ("On Monday Dr. Hill was at the café at 3:00 PM.", "On Monday Doctor Hill was at the cafe at 3 pm."),
        ("Ann sends the PDF to the firm.", "Ann Sends The Pdf To The Firm."),
        ("Ann sends the PDF to Ben.", "Ann sends the pdf to Ben."),
        ("Sometimes Ann reads.", "Ann reads sometimes."),
        ("Every morning Ann runs.", "Ann runs every morning."),
        ("Last year Ann moved.", "Ann moved last year"),
        ("Set `max_conn` to 5 in db.yaml.", "Set max_conn to 5 in 'db.yaml'."),
        ("The host has 12 500 users.", "The host has 12,500 users."),
        ("Den Plan billigte Anna im Mai.", "Anna billigte den Plan im Mai."),
        ("Igors Hund ist alt.", "Der Hund von Igor ist alt."),
        ("Das Buero liegt in der Schlossstr. in Graz.", "Das Büro liegt in der Schlossstrasse in Graz."),
        ("Ana compró el coche el lunes.", "El lunes Ana compró el coche."),
        ("Se firmó el 05/03/2024.", "Se firmó el 5 de marzo del 2024."),
        ("La reunión empieza a las 3 de la tarde.", "La reunión comienza a las 15 h."),
        ("Ana guarda las llaves en el cajón.", "Ana guarda las llaves en el cajon."),
        ("Anna possède 20% de l'usine.", "Anna possède vingt pour cent de l'usine."),
        ("Marco e' il capo perche' lavora alle ore 15.", "Marco è il capo perché lavora alle 15:00."),
        ("Op maandag belt Anna Ben.", "Anna belt Ben op maandag."),
        ("In de tuin leest de vrouw een boek.", "De vrouw leest een boek in de tuin."),
        ("O comité enviou um e-mail, p. ex. a Ana.", "O comitê enviou um email, por exemplo a Ana."),
    ],
)
def test_it_says_the_same(left: str, right: str) -> None:
    assert merges(left, right)
