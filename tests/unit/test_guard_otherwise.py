"""The guard on texts that are only written otherwise, in every language that it reads, and on near ones that say another thing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest
from tests.merge_pairs.otherwise import LANGUAGES, otherwise
from tests.merge_pairs.pair import Language, Pair, digest

from jochi_workers.guard import judge
from jochi_workers.guard.language import detect_language

LEAST = {"en": 0.85, "de": 0.9, "fr": 0.8, "es": 0.6, "it": 0.7, "pt": 0.75, "nl": 0.85}
"""Share of the true duplicates of the seen part that are found, rounded down."""


@pytest.fixture(scope="module")
def seen() -> Sequence[Pair]:
    return [pair for pair in otherwise() if not pair.unseen]


def merged(pair: Pair) -> bool:
    return judge(pair.left, pair.right, cosine=1.0).verdict == "merge"


def test_the_set_is_drawn_alike_and_has_more_that_differs() -> None:
    pairs = list(otherwise())
    assert digest(pairs) == digest(otherwise())
    assert all(pair.left != pair.right for pair in pairs)
    number = Counter((pair.language, pair.label) for pair in pairs)
    for language in LANGUAGES:
        assert number[language, "different"] > number[language, "same"] > 150
    assert 0.2 < sum(pair.unseen for pair in pairs) / len(pairs) < 0.45


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_merges_nothing_that_differs_and_finds_most_of_the_rest(seen: Sequence[Pair], language: Language) -> None:
    mine = [pair for pair in seen if pair.language == language]
    assert [pair for pair in mine if pair.label == "different" and merged(pair)] == []
    same = [merged(pair) for pair in mine if pair.label == "same"]
    assert sum(same) / len(same) >= LEAST[language]


SAME = [
    # a sign, a hyphen that the dictionary knows, letters
    ("Anna & Ben paid Carl.", "Anna and Ben paid Carl."),
    ("Anna sends the e-mail today.", "Anna sends the email today."),
    ("Anna has a part-time job.", "Anna has a part time job."),
    ("Der Online-Shop ist neu.", "Der Onlineshop ist neu."),
    ("Anna laeuft fuer Ben nach Muenchen.", "Anna läuft für Ben nach München."),
    ("Anna shouldn't've gone.", "Anna should not have gone."),
    ("Anna doesnt eat meat.", "Anna does not eat meat."),
    ("Anna's not moving to Rome.", "Anna is not moving to Rome."),
    ("A hundred guests came to the house.", "100 guests came to the house."),
    # order
    ("Anna gave the keys to Ben in May.", "Anna gave Ben the keys in May."),
    ("Wenn Anna kommt, hat Ben Zeit.", "Ben hat Zeit, wenn Anna kommt."),
    ("Anna swims at 9 a.m. every Monday.", "Every Monday at 9 am, Anna swims."),
    ("Every 4 minutes, the job runs.", "The job runs every 4 minutes."),
    # by their words alone
    ("Anna travaille ici depuis vingt et un ans.", "Anna travaille ici depuis 21 ans."),
    ("La réunion est le lundi à 15h30.", "La réunion est le lundi à 15 h 30."),
    ("Cuando llueve, Anna toma el autobús.", "Anna toma el autobús cuando llueve."),
    ("Anna ha comprato mele, pere e prugne.", "Anna ha comprato pere, prugne e mele."),
    ("O servidor custa mil e duzentos euros por ano.", "O servidor custa 1.200 € por ano."),
    ("Anna drinkt één kop thee met haar zus.", "Anna drinkt 1 kop thee met haar zus."),
]
OTHER = [
    ("Anna wrote 5 man-hour reports.", "Anna wrote 5 man hour reports."),
    ("Anna wrote five man-hour reports.", "Anna wrote five man hour reports."),
    ("No. Anna vive en la ciudad.", "No Anna vive en la ciudad."),
    ("No. Anna is here with Ben.", "No Anna is here with Ben."),
    ("Anna sold the house next to Ben.", "Anna sold Ben the house next."),
    ("Anna gave Carl to Ben.", "Anna gave Carl Ben."),
    ("Bevor Anna kommt, geht Ben.", "Ben kommt, bevor Anna geht."),
    ("Every 4 minutes Anna swims.", "Anna swims for 4 minutes."),
    ("Anna will re-sign the contract.", "Anna will resign the contract."),
    ("Anna saw a man-eating shark.", "Anna saw a man eating shark."),
    ("Anna bought 5 year-old trees.", "Anna bought 5-year-old trees."),
    ("Anna bought a two-bedroom flat.", "Anna bought two bedroom flats."),
    ("Anna saw a black bird.", "Anna saw a blackbird."),
    ("Anna mag die Staub-Ecken.", "Anna mag die Staubecken."),
    ("Anna zeigt Kinder Bilder.", "Anna zeigt Kinder-Bilder."),
    ("Anna konnte kommen.", "Anna koennte kommen."),
    ("Wir kennen Frau Mueller gut.", "Wir kennen Frau Müller gut."),
    ("Anna plays the cello.", "Anna is playing the cello."),
    ("Well go to Rome with Anna.", "We'll go to Rome with Anna."),
    ("Anna a acheté un iPhone neuf.", "Anna a acheté un iPhone 9."),
    ("Anna ne mange pas de viande.", "Anna ne mange plus de viande."),
    ("No, Anna vive en la ciudad.", "No Anna vive en la ciudad."),
    ("Anna tiene cinco años.", "Anna tiene cinco anos."),
    ("Llamó a Peter y vio a Tom en la calle.", "Vio a Tom y llamó a Peter en la calle."),
    ("Anna vende mele, non pere.", "Anna vende pere, non mele."),
    ("Anna heeft 1.500 euro op de bank.", "Anna heeft 1,5 euro op de bank."),
    ("La réunion est à 7h15.", "La réunion est à 19h15."),
    ("Le tour est grand.", "La tour est grand."),
]


@pytest.mark.parametrize(("left", "right"), SAME)
def test_it_is_only_written_otherwise(left: str, right: str) -> None:
    assert merged(Pair("", "", "en", left, right, "same", ""))


@pytest.mark.parametrize(("left", "right"), OTHER)
def test_it_says_another_thing(left: str, right: str) -> None:
    assert not merged(Pair("", "", "en", left, right, "different", ""))


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Vegan since March", "en"),
        ("In Sydney Clara met Simon", "other"),  # sure of nothing: names alone
        ("Zahnarzt am Mittwoch", "de"),
        ("Laura a payé Nora en mars", "fr"),
        ("Clara llama a Simon el sábado", "es"),
        ("Preferisce il finestrino", "it"),
        ("Ana não gosta de café", "pt"),
        ("Nora werkt al zes jaar in Oslo", "nl"),
        ("Jag vet inte varför han är här", "other"),
        ("Jonas Kubernetes", "unclear"),
        ("", "unclear"),
    ],
)
def test_the_language_of_short_texts(text: str, language: str) -> None:
    assert detect_language(text.split()) == language
