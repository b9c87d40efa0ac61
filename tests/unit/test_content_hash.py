"""What is the same content and what is not, on texts of many scripts (DESIGN §9)."""

from __future__ import annotations

import random
import re
import unicodedata

import pytest

from jochi.text.content import content_hash, normalise
from jochi.text.names import names

DIFFERENT = [
    ("1.5", "15"),
    ("1.5", "1 5"),
    ("1,5", "15"),
    ("1,000", "1"),
    ("-3", "3"),
    ("−3", "3"),
    ("it fell to -3", "it fell to 3"),
    ("-$5", "$5"),
    ("$5", "€5"),
    ("$5", "5"),
    ("5%", "5"),
    ("5 %", "5"),
    ("5%", "5‰"),
    ("C++", "C"),
    ("C#", "C"),
    ("C++", "C#"),
    ("3-4", "-3 4"),
    ("3/4", "3-4"),
    ("10:30", "1030"),
    (".5", "5"),
    ("1.2.3", "1.23"),
    ("e-mail", "email"),
    ("we're", "were"),
    ("< 5 ms", "> 5 ms"),
    ("<= 5", "< 5"),
    ("x²", "x"),
    ("schön", "schon"),
    ("คน", "คบ"),
    ("नि", "नी"),
    ("كتب", "كتاب"),
    ("👍", "👎"),
    ("👍", ""),
    ("...", "?!"),
    ("❤", "yes"),
    ("a \ue000", "a"),  # private use, and not assigned: may be letters of a script that Python doesn't know
    ("a \u0378", "a"),
]

SAME = [
    ("Hello, World!", "hello world"),
    ("  a\tb\r\nc ", "a b c"),
    ("don’t", "don't"),
    ("STRASSE", "Straße"),
    ("ΣΟΦΌΣ", "σοφός"),
    ("é", "e\u0301"),
    ("α\u0345\u0301", "α\u0301\u0345"),  # canonically equivalent, but folded one by one they aren't
    ("−3", "-3"),
    ("–3 °C", "-3°c"),
    ("5 %", "5%"),
    ("<= 5", "≤5"),
    ("It is 1.5.", "it is 1.5"),
    ("(C++)", "c++"),
    ("re\u00adsume", "resume"),
    ("\ufefftext", "text"),
    ("❤️ you", "you"),
    ("👍", " 👍 "),
    ("pages 3-4", "pages 3–4"),
    ("한국어", unicodedata.normalize("NFD", "한국어")),
]


NAMED_APART = [
    ("web-03", "web_03"),
    ("web-03", "web.03"),
    ("web-03", "web 03"),
    ("web-03", "Web-03"),
    ("dark.search", "dark_search"),
    ("dark.search", "dark search"),
    ("a.b@x.org", "a_b@x.org"),
    ("a.b@x.org", "a-b@x.org"),
    ("ann@x.org", "ann.x.org"),
    ("/srv/Report", "/srv/report"),
    ("/srv", "srv"),
    ("~/x", "/x"),
    ("~/x", "x"),
    ("./a", "../a"),
    (".env", "env"),
    ("@ann", "Ann"),
    ("C:\\Users\\Ann", "C:/Users/Ann"),
    ("\\\\host\\a", "host\\a"),
    ("v1.2-rc1", "v1.2_rc1"),
    ("v1.2-rc1", "v1.2.rc1"),
    ("v1.2", "v12"),
    ("--dry-run", "dry run"),
    ("-v", "-V"),
    ("-v", "--v"),
    ("FOO_BAR", "FOO-BAR"),
    ("FOO_BAR", "foo_bar"),
    ("_id", "id"),
    ("__init__", "init"),
    ("class_", "class"),
    ("userId", "userid"),
    ("userId", "UserId"),
    ("dQw4w9WgXcQ", "dQw4w9WgXcq"),
    ("3xK9aB", "3xk9aB"),
    ("a=b", "a b"),
    ("std::vector", "std:vector"),
    ("https://x.org/a?b=C&d=1", "https://x.org/a?b=c&d=1"),
    ("main..dev", "main/dev"),
    ("main..dev", "main dev"),
    ("dark.Search", "dark.search"),
    ("мой_Файл", "мой_файл"),
    ("origin/main", "origin-main"),
    ("HEAD~1", "HEAD-1"),
    ("/srv/Отчёт", "/srv/отчёт"),
    ("СП-1", "СП 1"),
    ("报告_终", "报告-终"),
    ("在web-03上", "在web_03上"),
    ("1_000", "1 000"),
    ("≥ 1.2.0-rc1", "1.2.0-rc1"),
    ("< 1.2.0-rc1", "≥ 1.2.0-rc1"),
    ("$5/month", "€5/month"),
]
"""Names that a mark or a capital tells apart."""

PLAIN = {
    "well-known": "well known",
    "E-Mail-Adresse": "e mail adresse",
    "20-year-old": "20 year old",
    "5-km-Lauf": "5 km lauf",
    "10am-6pm": "10am 6pm",
    "10:30-11:30am": "10:30 11:30am",
    "2026-11-23": "2026 11 23",
    "23.11.2026": "23.11.2026",
    "3/4-inch": "3/4 inch",
    "1.5kg": "1.5kg",
    "7:15PM": "7:15pm",
    "192.168.0.1:8080": "192.168.0.1:8080",
    "e.g.": "e g",
    "z.B.": "z b",
    "U.S.A.": "u s a",
    "Covid19": "covid19",
    "5Pm": "5pm",
    "H2O": "h2o",
    "0xFF": "0xff",
    "PostgreSQL": "postgresql",
    "_really_": "really",
    "well...maybe": "well maybe",
    "...and": "and",
    "works--mostly": "works mostly",
    "5€-Gutschein": "5€ gutschein",
    "#Tag": "#tag",
    "x²/s": "x² s",
    "-5KM": "-5km",
    ".5KG": ".5kg",
    "и/или": "и или",
    "т.е.": "т е",
    "Слово.Слово": "слово слово",
    "-то /или @аня": "то или аня",
    "是/否": "是 否",
    "3-4": "3 4",
    "- v": "v",
}
"""Words and numbers, not names: their normal form is that of v1."""

NAMES = {
    "(web-03)": "web-03",
    "'web-03',": "web-03",
    "**web-03**": "web-03",
    "`/srv/Report`.": "/srv/Report",
    "/srv/Report/": "/srv/Report",
    "web‑03": "web-03",
    "ü.e\u0301@x.org": "ü.é@x.org",
    "we\u00adb-03": "web-03",
    "GPT-3": "GPT-3",
    "node.js": "node.js",
    "In /srv/A, b": "in /srv/A b",
    "and/or": "and/or",
    "CI/CD": "ci/cd",
    "R&D": "r&d",
    "Lehrer:innen": "lehrer:innen",
    "60KM/h": "60km/h",
    "$5/Month": "$5/month",
    "1,000/Day": "1,000/day",
    "V2.7": "v2.7",
    "在Web-03上": "在Web-03上",
    "_web-03_": "web-03",
    "ŉ/a": "ŉ/a",
    "≥ 1.2.0-RC1": "≥1.2.0-RC1",
    "-3a-B4": "-3a-B4",
    "web-03 %": "web-03%",
    "web-03-$5": "web-03 $5",
    "a_b-$5": "a_b $5",
    "web-03,5": "web-03,5",
    "a_b\uff0e5": "a_b 5",
    "-_Web_": "web",
}
"""Names and words with a mark between them, and their normal form."""


@pytest.mark.parametrize(("one", "other"), NAMED_APART)
def test_names_are_compared_as_they_are_written(one: str, other: str) -> None:
    assert content_hash(f"it is on {one}.") != content_hash(f"it is on {other}.")


@pytest.mark.parametrize("text", sorted(PLAIN))
def test_words_and_numbers_are_no_names(text: str) -> None:
    assert normalise(text) == PLAIN[text]
    assert not list(names(text))


@pytest.mark.parametrize("text", sorted(NAMES))
def test_names_in_a_normal_form(text: str) -> None:
    assert normalise(text) == NAMES[text]
    assert normalise(NAMES[text]) == NAMES[text]


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_what_differs_in_meaning_differs(one: str, other: str) -> None:
    assert content_hash(one) != content_hash(other)


@pytest.mark.parametrize(("one", "other"), SAME)
def test_what_only_looks_different_is_the_same(one: str, other: str) -> None:
    assert content_hash(one) == content_hash(other)


def test_the_hash_is_pinned() -> None:
    """A change of the rules needs a new version: hashes lie in databases."""
    assert normalise("Café №5: −3.5 °C, C++ & “e-mail” 5 %!") == "café 5 -3.5 c c++ e mail 5%"
    expected = "v2:b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9"  # of b'hello world'
    assert content_hash("Hello, World!") == expected


def test_nothing_is_ever_the_empty_key() -> None:
    empty = "v2:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    texts = ["", " ", "👍", "!?", "\u0301", "\u200b", "\x00", "\ud800", "—", "\ufe0f", "\u200d", "♥♥"]
    hashes = [content_hash(text) for text in texts]
    assert empty not in hashes
    assert all(re.fullmatch(r"v2:[0-9a-f]{64}", found) for found in hashes)
    shown = {"👍", "!?", "\x00", "—", "♥♥", "\ud800"}
    assert len({content_hash(text) for text in shown}) == len(shown)


def test_the_mark_of_a_whole_text_is_no_text() -> None:
    """A text that spells the mark out doesn't meet the text that was marked."""
    assert content_hash("\x00👍") != content_hash("👍")
    assert content_hash("👍") != content_hash("\x00 👍")


def test_every_kind_of_character_keeps_its_normal_form() -> None:
    # All of the alphabets and signs; of the long runs of one kind (ideographs, syllables, unassigned) each hundredth.
    dense = [
        *range(0x3400),
        *range(0xA000, 0xAC00),
        *range(0xF900, 0x11000),
        *range(0x1F000, 0x1FB00),
        0xE0041,
        0xE0101,
    ]
    for code in [*dense, *range(0x3400, 0x110000, 101)]:
        character = chr(code)
        once = normalise(f"{character}a{character}1{character}2 {character}\u0301 -{character}3")
        assert normalise(once) == once, f"U+{code:04X}"


BLOCKS = {
    "Latin": [(0x41, 0x5A), (0x61, 0x7A), (0xC0, 0x24F)],
    "Greek": [(0x391, 0x3A9), (0x3B1, 0x3C9), (0x1F00, 0x1F15)],
    "Cyrillic": [(0x400, 0x45F)],
    "Armenian": [(0x531, 0x556), (0x561, 0x586)],
    "Georgian": [(0x10D0, 0x10F0), (0x1C90, 0x1CB0)],
    "Hebrew": [(0x5D0, 0x5EA)],
    "Arabic": [(0x621, 0x63A), (0x641, 0x64A)],
    "Devanagari": [(0x905, 0x939), (0x93E, 0x94C)],
    "Bengali": [(0x985, 0x98C), (0x995, 0x9A8)],
    "Tamil": [(0xB85, 0xB8A), (0xBAE, 0xBB9), (0xBBE, 0xBC2)],
    "Thai": [(0xE01, 0xE30), (0xE40, 0xE44), (0xE48, 0xE4B)],
    "Ethiopic": [(0x1200, 0x1246)],
    "Khmer": [(0x1780, 0x17A2)],
    "Hangul": [(0xAC00, 0xD7A3)],
    "Hiragana": [(0x3042, 0x3093)],
    "Katakana": [(0x30A2, 0x30F3)],
    "CJK": [(0x4E00, 0x9FA5)],
    "CJK beyond": [(0x20000, 0x200FF)],
    "Cherokee": [(0x13A0, 0x13F4)],
    "digits": [(0x30, 0x39)],
    "Arabic digits": [(0x660, 0x669)],
    "Devanagari digits": [(0x966, 0x96F)],
}
NOISE = [*" .,;:!?…—“”()[]{}*_~|\t\n、。！？؟।·", "👍", "🎉", "❤️", "👩‍💻", "  ", " — "]


def _words(dice: random.Random) -> list[str]:
    script = dice.choice(list(BLOCKS))
    return [
        "".join(chr(dice.randint(*dice.choice(BLOCKS[script]))) for _ in range(dice.randint(1, 8)))
        for _ in range(dice.randint(1, 6))
    ]


def _said(dice: random.Random, words: list[str]) -> str:
    """The words with anything between them that parts words, in either case and composition."""
    text = ""
    for word in words:
        # A blank on each side: a point between two digits would belong to a number.
        text += (" " + dice.choice(NOISE) + " ") * dice.randint(0, 2) + " " + word
    text += dice.choice(["", ".", "!", " 👍", "…"])
    other_case = dice.choice([str.upper, str.lower, str.title])(text)
    if _folded(other_case) == _folded(text):  # not so for a letter without its like in the other case
        text = other_case
    return unicodedata.normalize(dice.choice(["NFC", "NFD"]), text)


def _folded(text: str) -> str:
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", text).casefold())


def _oracle(words: list[str]) -> tuple[str, ...]:
    """What makes two word sequences the same, by Unicode's definition 145 (canonical caseless match), word by word.

    A mark at the beginning of a word has no letter to stand on, and is nothing.
    """
    folded = []
    for word in words:
        decomposed = _folded(word)
        while decomposed and unicodedata.category(decomposed[0]).startswith("M"):
            decomposed = decomposed[1:]
        if decomposed:
            folded.append(decomposed)
    return tuple(folded)


SIGNED = ["1.5", "15", "-3", "3", "$5", "€5", "5", "C++", "C", "C#", "5%", ".5"]
"""Each means something else, and only by its signs (DESIGN §9)."""


def test_ten_thousand_strings_of_many_scripts() -> None:
    dice = random.Random(20261122)
    judged = 0
    by_hash: dict[str, tuple[str, ...]] = {}
    hash_of: dict[tuple[str, ...], str] = {}
    for number in range(10_000):
        # Every fifth says again what another one said, in its own way.
        words = list(dice.choice(list(hash_of))) if number % 5 == 4 and number > 100 else _words(dice)
        signed = [dice.choice(SIGNED)] if number % 3 == 0 else []
        meant = _oracle(words + signed)
        if not meant:
            continue
        judged += 1
        text = " ".join([_said(dice, words), *signed])
        assert normalise(text), f"nothing left of {text!r}"
        found = content_hash(text)
        assert by_hash.setdefault(found, meant) == meant, f"{text!r} meets another text"
        assert hash_of.setdefault(meant, found) == found, f"{text!r} isn't recognised"
    assert judged > 9_900
    assert len(hash_of) > 6_000
    assert {word for meant in hash_of for word in meant} >= {word.lower() for word in SIGNED}
