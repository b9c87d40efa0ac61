"""Personal data by pattern: what is found, what a checksum refuses, and how little reaches the recognisers."""

from __future__ import annotations

import socket

import pytest

from jochi_workers.language import english, forget_readings, personal, read

FOUND = [
    ("Mail me at mia.novak+home@mail.example.org, please.", "EMAIL_ADDRESS", "mia.novak+home@mail.example.org"),
    ("My number is +49 30 901820 these days.", "PHONE_NUMBER", "+49 30 901820"),
    ("Call (415) 555-2671 now.", "PHONE_NUMBER", "(415) 555-2671"),
    ("The IBAN is GB82 WEST 1234 5698 7654 32 as before.", "IBAN_CODE", "GB82 WEST 1234 5698 7654 32"),
    ("Pay with 4111 1111 1111 1111 today.", "CREDIT_CARD", "4111 1111 1111 1111"),
    ("It runs on 192.168.17.4 in the lab.", "IP_ADDRESS", "192.168.17.4"),
    ("See https://docs.example.org/page for more.", "URL", "https://docs.example.org/page"),
]
NOT_FOUND = [
    ("The IBAN is GB82 WEST 1234 5698 7654 33 as before.", "IBAN_CODE"),
    ("Pay with 4111 1111 1111 1112 today.", "CREDIT_CARD"),
    ("It happened at 10:30, and/or later.", "URL"),
    ("ann@localhost wrote.", "EMAIL_ADDRESS"),
]


@pytest.mark.parametrize(("text", "kind", "expected"), FOUND)
def test_what_is_found(text: str, kind: str, expected: str) -> None:
    assert (kind, expected) in {(one.type, one.text) for one in personal.match_patterns(text).matches}


@pytest.mark.parametrize(("text", "kind"), NOT_FOUND)
def test_what_is_not(text: str, kind: str) -> None:
    assert kind not in {one.type for one in personal.match_patterns(text).matches}


def test_identifiers_are_entities_but_nobody_s_data() -> None:
    reading = read("Ticket INC-2041 is about the A380 and nothing else, 5th of its kind.")
    assert [one.text for one in reading.entities if one.type == "IDENTIFIER"] == ["INC-2041", "A380"]
    assert not {"INC-2041", "A380"} & {one.text for one in reading.personal}


def test_of_overlapping_ones_the_surest_stays() -> None:
    given = [
        personal.Personal("URL", "example.org", 4, 15, 0.5),
        personal.Personal("EMAIL_ADDRESS", "ann@example.org", 0, 15, 1.0),
        personal.Personal("PERSON", "Ann", 20, 23, 0.85),
    ]
    assert [one.type for one in personal.without_overlaps(given)] == ["EMAIL_ADDRESS", "PERSON"]


def test_nothing_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)
    personal._recognisers.cache_clear()
    assert personal.match_patterns("ann@some.museum and bob@x.co.uk").matches[0].score == 1.0


ADVERSARIAL = [
    "12 34 56 ",
    "x",
    "a@",
    "a.",
    "((",
    "A1-",
    "1.2.3.4 ",
    "DE89 ",
    "\u202e1\u200b2 ",
    "12/",
    "https://a.org/",
]


@pytest.mark.parametrize(
    "made", [*ADVERSARIAL[:3], *(pytest.param(made, marks=pytest.mark.exhaustive) for made in ADVERSARIAL[3:])]
)
def test_recognisers_get_a_bounded_share_of_any_text(made: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[str] = []

    class Counting:
        supported_entities = ("X",)

        def analyze(self, text: str, entities: object) -> list[object]:
            given.append(text)
            return []

    monkeypatch.setattr(personal, "_recognisers", lambda: {"address": [Counting()], "number": [Counting()]})
    read(made * (110_000 // len(made)))
    assert len(given) <= personal.MOST_WINDOWS
    assert all(len(text) <= personal.LONGEST_WINDOW for text in given)
    forget_readings()


WORDS = ["the box of ", "x", "\n\u200b", "12 34 56 ", "he said that ", "Ann Bob: ", "a. ", "bread and "]


@pytest.mark.parametrize(
    "made", [*WORDS[:3], *(pytest.param(made, marks=pytest.mark.exhaustive) for made in WORDS[3:])]
)
def test_the_model_gets_pieces_up_to_a_bound(made: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[english.Piece] = []

    def counted(pieces: object) -> list[english.Tree]:
        given.extend(pieces)  # type: ignore[arg-type]
        return [english.Tree(one.text, [], [], [], [], [], [], [], [], [], [], []) for one in given]

    monkeypatch.setattr(english, "parse", counted)
    monkeypatch.setattr("jochi_workers.language.reader.language_of", lambda text: "en")
    text = made * (250_000 // len(made))
    reading = read(text)
    assert "".join(piece.text for piece in given) == text[:100_000]
    assert max(len(piece.text) for piece in given) <= 10_000
    assert reading.partial
    assert reading.sentences == () or reading.sentences[-1].end > 249_000
    forget_readings()
