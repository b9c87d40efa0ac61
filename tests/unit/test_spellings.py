"""Two spellings of one thing, and things that only look like it (DESIGN §15; docs/reference/forgetting.md).

A group holds spellings of one thing: each is found by each other. Groups of a family are different things: none finds another's.
"""

from __future__ import annotations

import itertools
import unicodedata

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from jochi.forgetting.equivalents import find_equivalents
from jochi.forgetting.sound_alikes import sound_alikes_in
from jochi.forgetting.spelling import Spelling, pattern
from jochi.forgetting.words import phrase
from jochi.text.forms import find_forms, read_query


def _mobile(country: str, digits: str) -> list[str]:
    """A number with a country, as people write it."""
    a, b, c = digits[:3], digits[3:6], digits[6:]
    return [
        f"+{country} {a} {b}{c}",
        f"+{country}{digits}",
        f"00{country} {a}-{b}-{c}",
        f"+{country} (0){a}/{b} {c}",
        f"＋{country} {a}.{b}{c}",
        f"+{country}\u00a0{a} {b[:2]} {b[2:]}{c[:1]} {c[1:]}",
        f"tel:+{country}-{a}-{b}{c}",
    ]


def _grouped(text: str, *sizes: int) -> list[str]:
    """A long number in one piece, in groups with several marks, in lower case and in full width."""
    groups, rest = [], text
    for size in itertools.cycle(sizes):
        if not rest:
            break
        groups.append(rest[:size])
        rest = rest[size:]
    wide = "".join(chr(ord(each) + 0xFEE0) for each in text)
    return [text, text.lower(), " ".join(groups), "-".join(groups), "\u2011".join(groups), wide]


def _plate(*parts: str) -> list[str]:
    a, b, n = parts
    return [f"{a}-{b} {n}", f"{a} {b} {n}", f"{a.lower()}-{b.lower()}-{n}", f"{a} {b}{n}", f"{a}–{b} {n}"]


FAMILIES: dict[str, list[list[str]]] = {
    "telephone": [
        _mobile("49", "1701234567"),
        _mobile("49", "1701234568"),
        _mobile("49", "17012345678"),
        _mobile("43", "1701234567"),
        ["+49 170 123456"],
    ],
    "telephone without a country": [
        ["0170 1234567", "0170/123 45 67", "(0170) 1234567", "0170-1234567", "01701234567"],
        ["0170 1234568", "0170/123 45 68"],
        ["0170 12345678"],
        ["0171 1234567"],
    ],
    "mail": [
        ["alice@acme.io", "ALICE@Acme.IO", "alice [at] acme [dot] io", "alice at acme dot io", "mailto:alice@acme.io"],
        ["alice.smith@acme.io"],
        ["alicesmith@acme.io"],
        ["alice+news@acme.io"],
        ["alice@acme.io.uk"],
        ["alice@mail.acme.io"],
        ["alice2@acme.io"],
    ],
    "mail of Google's": [
        ["alice.smith@gmail.com", "alicesmith@gmail.com", "A.l.i.c.e.smith@googlemail.com"],
        ["alicesmith1@gmail.com"],
        ["alice.smith+shop@gmail.com", "alicesmith+shop@gmail.com"],
        ["alice.smith@gmail.de"],
    ],
    "mail of a domain with other letters": [["info@müller.de", "INFO@xn--mller-kva.de"], ["info@muller.de"]],
    "iban": [
        _grouped("DE89370400440532013000", 4),
        _grouped("DE89370400440532013001", 4),
        _grouped("AT89370400440532013000", 4),
        _grouped("DE893704004405320130000", 4),
    ],
    "card": [_grouped("4111111111111111", 4), _grouped("4111111111111112", 4), _grouped("411111111111111", 4, 6, 5)],
    "plate": [_plate("B", "AB", "1234"), _plate("BA", "B", "1234"), _plate("B", "AB", "1235"), ["B-AB 12345"], ["B-AB 1234E"]],
    "order": [
        ["INV-2024-001", "inv 2024-001", "INV/2024/001", "inv2024-001"],
        ["INV-2024-002"],
        ["INV-202-4001"],
        ["INV-2024-001-B"],
        ["XINV-2024-001"],
    ],
    "room": [["room 1-23", "Room 1‑23", "ROOM 1/23"], ["room 12-3"], ["room 123"], ["room 1-234"]],
    "hexadecimal": [
        ["00:1A:2B:3C:4D:5E", "00-1a-2b-3c-4d-5e", "001a.2b3c.4d5e", "001A2B3C4D5E", "0x001a2b3c4d5e"],
        ["00:1A:2B:3C:4D:5F"],
        ["00:1A:2B:3C:4D:5E:00"],
    ],
    "uuid": [
        ["550e8400-e29b-41d4-a716-446655440000", "550E8400E29B41D4A716446655440000", "{550e8400-e29b-41d4-a716-446655440000}"],
        ["550e8400-e29b-41d4-a716-446655440001"],
    ],
    "address of the network": [
        ["2001:db8::1", "2001:0DB8:0:0:0:0:0:1", "2001:db8:0000::0001"],
        ["2001:db8::2"],
        ["192.168.1.10"],
        ["192.168.11.0"],
        ["192.168.110"],
    ],
    "version": [["1.2.10"], ["1.21.0"], ["v1.2.10-rc1"], ["v1.2.10rc1"], ["12.1.0"], ["2024.11.26"], ["20241126"]],
    "name with marks": [
        ["Jürgen Müller", "Juergen Mueller", "Ju\u0308rgen Mu\u0308ller"],
        ["Jürgen Möller"],
        ["Jürgen Müllers"],
    ],
    "name without them": [["José García", "Jose Garcia"], ["Josefa García"], ["José Garcia-Lopez"]],
    "name in two scripts": [["Алексей Иванов", "Aleksey Ivanov"], ["Алексей Иванова"], ["Андрей Иванов"]],
    "name in Chinese": [["王伟", "Wang Wei"], ["王芳"], ["Wang Wen"]],
    "name with a hyphen": [["Jean-Luc Picard", "Jean Luc Picard", "Jean‑Luc Picard"], ["Jeanluc Picard"], ["Jean Luca Picard"]],
    "name with an apostrophe": [["Sean O'Brien", "Sean O’Brien", "Sean OBrien"], ["Sean Brien"]],
    "word": [["bär"], ["bar"], ["Maßen"], ["therapist"], ["the rapist"], ["½ 1000"], ["1 2 1000"]],
}  # fmt: skip
IN = ("{}", "Please note: {}.", "({}) and more", "it was {}, they say", "yesterday {}\nthen nothing")


def _finds(asked: str, text: str) -> bool:
    spelling = Spelling(asked)
    found = spelling.says(text)
    if found:
        rough = pattern([spelling])
        folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).lower())
        in_words = spelling.words and any(word in spelling.words for word in phrase(text))
        assert in_words or (rough and regex.fullmatch(rough, folded, regex.V1)), "the database must find it too"
        places = spelling.places(text)
        assert places
        assert all(Spelling(asked).says(" ".join(row)) or row for row in spelling.rows(text))
    return found


@pytest.mark.parametrize("family", FAMILIES)
def test_each_spelling_finds_the_others_and_nothing_else(family: str) -> None:
    groups = FAMILIES[family]
    for at, group in enumerate(groups):
        for one in group:
            for sentence in IN:
                missed = [other for other in group if not _finds(one, sentence.format(other))]
                assert not missed, (one, sentence)
            others = [other for k, each in enumerate(groups) if k != at for other in each]
            for sentence in IN[1:]:
                taken = [other for other in others if _finds(one, sentence.format(other))]
                assert not taken, (one, sentence)


def test_how_it_is_looked_for_is_told_in_words() -> None:
    for asked, kinds in (
        ("Mallory", "name"),
        ("王伟", "name"),
        ("+49 170 1234567", "id tel"),
        ("a@b.io", "mail"),
        ("no", ""),
    ):
        assert Spelling(asked).kinds() == ["words", *kinds.split()]


def test_what_only_goes_one_way() -> None:
    """Without a country it may be any country's; of ü may be made u and ue, which are not one another."""
    home, german, austrian = "0170 1234567", "+49 170 1234567", "+43 170 1234567"
    for abroad in (german, austrian):
        assert _finds(home, abroad)
        assert _finds(abroad, home)
        assert not Spelling(home, national_only=True).says(abroad)
    assert Spelling(home).international_numbers(f"{german} or {austrian}") == {"tel:+491701234567", "tel:+431701234567"}
    assert not Spelling(german).international_numbers(austrian)
    for asked, text, found in (
        ("+1 415 555 2671", "(415) 555-2671", True),
        ("+1 415 555 2671", "1-415-555-2671", True),
        ("+7 912 345-67-89", "8 (912) 345 67 89", True),
        ("+36 30 123 4567", "06 30 123 4567", True),
        ("BAB1234", "B-AB 1234", True),
        ("BAB1234", "BA-B 1234", True),
        ("B-AB 1234", "bab1234", True),
        ("Müller", "Mueller", True),
        ("Müller", "Muller", True),
        ("Muller", "Mueller", False),
        ("0xDEADBEEF", "deadbeef", True),
        ("Wang Wei", "我见王伟了", True),
        ("王伟", "王维", False),
        ("Ann Lee", "Annlee", False),
        ("José García", "talked to jose garcia today", True),
        ("Bär", "in the bar", False),
        ("Maß Bier", "mass bier", True),
        ("Maß Bär", "mass bar", False),
        ("12345678", "١٢٣٤٥٦٧٨", True),
        ("0170 1234567", "from 0170 1234567 0171 7654321 to", True),
        ("17.05.2024", "17-05-2024", False),
    ):
        assert _finds(asked, text) == found, (asked, text)


@given(st.text(max_size=60), st.text(max_size=20))
def test_whatever_is_written_can_be_read(text: str, asked: str) -> None:
    found = read_query(asked)
    kinds = ("mail", "ip", "hex", "tel", "id/5", "name/4", *(found.kinds if found else ()))
    composed = unicodedata.normalize("NFC", text)
    for one in find_forms(text, kinds):
        assert 0 <= one.start < one.stop <= len(composed)
    if found and phrase(asked):
        assert _finds(asked, f"x, {asked}, y") or not Spelling(asked).places(asked)


@pytest.mark.parametrize(
    ("said", "text", "expected"),
    [
        ("+49 170 1234567", "My number is +49 170 1234567 (same number, written 0170/1234567).", ["0170/1234567"]),
        ("0170 1234567", "Call 0170 1234567. Same number, written +49 170 1234567", ["+49 170 1234567"]),
        ("C01X00T47", "Passport C01X00T47, also recorded as 01X00T479.", ["01X00T479"]),
        ("01X00T479", "Passport C01X00T47, also recorded as 01X00T479.", ["C01X00T47"]),
        ("Katya", "Remember Katya, also known as Ekaterina Ivanova, from Kyiv", ["Ekaterina Ivanova"]),
        ("Ekaterina Ivanova", "Remember Katya, also known as Ekaterina Ivanova, from Kyiv", ["Katya"]),
        ("Александр Петров", "Met Alexander Petrov (Александр Петров) in Berlin", ["Alexander Petrov"]),
        ("Alexander Petrov", "Alexander Petrov (Александр Петров) in Berlin", ["Александр Петров"]),
        ("Tanaka Taro", "Tanaka Taro, in Kanji 田中太郎, is a friend", ["田中太郎"]),
        ("Юлия", "Yulia is the English spelling of Юлия.", ["Yulia"]),
        ("Jon Smyth", "Jon Smyth and John Smith are the same person.", ["John Smith"]),
        ("John Smith", "Jon Smyth and John Smith are the same person.", ["Jon Smyth"]),
        ("Alice", 'Alice a.k.a. "wonder girl" sings', ["wonder girl"]),
        ("Katya", "Katya, aka kat99, posts a lot", ["kat99"]),
        ("B-AB 1234", "Kennzeichen B-AB 1234 ist dieselbe Nummer wie X 99 ZZ.", ["X 99 ZZ"]),
        ("Müller", "Frau Müller, auch geschrieben Miller, kommt", ["Miller"]),
        ("alice@acme.io", "alice@acme.io and alice.smith@acme.io are the same address", ["alice.smith@acme.io"]),
        ("Li Wei", "Li Wei's name in Chinese is 李伟.", ["李伟"]),
        ("Kat", "Kat, whose real name is Ekaterina Ivanova, sings", ["Ekaterina Ivanova"]),
        ("M-XY 99", "The plate B-AB 1234 is the same car as M-XY 99.", ["B-AB 1234"]),
        ("Anna Schmidt", "Anna Schmidt changed her name to Anna Berg in May", ["Anna Berg"]),
        ("030 9018 2255", "030 9018 2255 / 030 9018 2256 (same number)", ["030 9018 2256"]),
        ("C01X00T47", "C01X00T47, 01X00T479: the same passport", ["01X00T479"]),
        ("Jon Smyth", "Jon Smyth is another spelling of John Smith", ["John Smith"]),
        ("Katya", "Alexandra, Катя or Katya, sings", ["Катя"]),
        ("मीना", "मीना, also known as मुन्नी देवी, sings", ["मुन्नी देवी"]),
        ("मुन्नी", "मीना = मुन्नी", ["मीना"]),
        ("Alice", "Alice, same here, Bob", []),
        ("Anna Schmidt", "Anna Schmidt, née Müller, sings", []),
        ("Katya", "Katya's last name is Ivanova", []),
        ("Katya", "Katya's dog's name is Rex", []),
        ("Katya", "Katya is registered as Member 12", []),
        ("alice@acme.io", "alice@acme.io and bob@acme.io are on the list", []),
        ("Wang Wei", "Wang Wei (北京) came", []),
        ("Jon Smyth", "Jon Smyth and John Smith are not the same person.", []),
        ("Jon Smyth", "Jon Smyth is not the same person as John Smith.", []),
        ("Jon Smyth", "Jon Smyth has the same car as John Smith.", []),
        ("Alice", "Alice called Bob", []),
        ("Alice", "Alice likes Bob and Carol. They are the same.", []),
        ("Alice", "Alice, written by Bob", []),
        ("Alice", "Alice, same number as 0170 1234567", []),
    ],
)
def test_sentences_that_say_that_two_are_one(said: str, text: str, expected: list[str]) -> None:
    at = text.index(said)
    assert list(find_equivalents(text, at, at + len(said))) == expected


def test_names_that_sound_alike_are_a_hint() -> None:
    for name, text, expected in (
        ("Jon Smith", "Met John Smyth and Joan Schmidt", ["John Smyth"]),
        ("Catherine", "Mrs. Katherine Bell sings; Kathrin too", ["Katherine", "Kathrin"]),
        ("Stéphane", "Stephane and Stefan", ["Stephane", "Stefan"]),
        ("Jon Smith", "jon smyth, and Jon Smith", []),
        ("Jon", "no name", []),
        ("+49 170 5550199", "John", []),
    ):
        assert list(sound_alikes_in(text, name)) == expected, (name, text)
