"""Laws of the normal form, over any text that Hypothesis can think of."""

from __future__ import annotations

import unicodedata

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from tests.tally import examples

from jochi.text.content import content_hash, normalise
from jochi.text.names import names

ANY = st.text(st.characters(codec="utf-8"), max_size=40)
PARTS = st.lists(
    st.sampled_from(
        [*"aßÉ ñ-−.+#$€%<>=/:,'3١½ ́ͅ‍‌्क한", "e\u0301", "1.5", " -3", "C++", "👍", "\u200b", "\ufe0f", "İ", "ΐ"]
    ),
    max_size=12,
).map("".join)
NAMED = st.lists(
    st.sampled_from(
        [
            *"_@~\\&/.:=-\u2011 aBZ1яЯ是〇ŉ²",
            *("--", "...", "..", "v1.2", "!=", "<=", " -3", "5 %", "\u0338", "\u0345", "ﬁ"),
        ]
    ),
    max_size=12,
).map("".join)
TEXT = ANY | PARTS | NAMED


def has_names(text: str) -> bool:
    return bool(list(names(unicodedata.normalize("NFC", text))))


@given(TEXT)
@example("ᾳ\u0301")
@example("a\u0345\u0301")
@settings(max_examples=examples(200, 500))
def test_a_normal_form_is_its_own(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once
    assert once == once.strip()
    assert "  " not in once
    assert unicodedata.is_normalized("NFC", once)


@given(TEXT)
@settings(max_examples=examples(200, 500))
def test_composition_makes_no_difference(text: str) -> None:
    assert content_hash(unicodedata.normalize("NFD", text)) == content_hash(unicodedata.normalize("NFC", text))


@given(TEXT, st.sampled_from(["", " ", "\n", "\t ", "\u00a0", "\u3000"]), st.sampled_from(["", " ", "\r\n", "\u2028"]))
def test_blanks_around_make_no_difference(text: str, before: str, after: str) -> None:
    assert content_hash(before + text + after) == content_hash(text)


@given(TEXT, st.sampled_from([".", "!", "?", "...", "…", ";", "。", "！", ' "', ")"]))
def test_punctuation_at_the_end_makes_no_difference_to_words(text: str, mark: str) -> None:
    if normalise(text):
        assert content_hash(text + mark) == content_hash(text)


@given(st.text(st.characters(codec="utf-8", max_codepoint=0x24F), max_size=40))
def test_case_makes_no_difference_to_words(text: str) -> None:
    assume(not any(map(has_names, (text, text.upper(), text.lower().upper()))))
    if text.upper().casefold() == text.casefold():  # not so for the dotless i
        assert content_hash(text.upper()) == content_hash(text.lower().upper()) == content_hash(text)


@given(TEXT)
def test_a_text_with_a_letter_or_digit_is_never_nothing(text: str) -> None:
    if any(unicodedata.category(character)[0] in "LN" for character in text):
        assert normalise(text)
    assert len(content_hash(text)) == 3 + 64


WORD = st.text("abyzABYZ", min_size=1, max_size=3)
NUMBER = st.text("0129", min_size=1, max_size=2)
NAMES = st.one_of(
    st.tuples(WORD, st.sampled_from("-_."), NUMBER).map("".join),
    st.lists(WORD, min_size=1, max_size=3).map(lambda parts: "".join(f"/{part}" for part in parts)),
    st.tuples(WORD, st.sampled_from("-_."), WORD, st.just("@"), WORD, st.just(".org")).map("".join),
    st.tuples(st.sampled_from("vV"), NUMBER, st.just("."), NUMBER, st.sampled_from("-_."), st.just("rc"), NUMBER).map(
        "".join
    ),
    st.tuples(st.just("--"), WORD, st.sampled_from(["", "-", "_", "="]), WORD).map("".join),
    st.tuples(WORD, st.just("_"), WORD).map("".join),
    st.tuples(st.text("ab", min_size=1, max_size=2), st.text("AB", min_size=1, max_size=2), WORD).map("".join),
)


@given(
    NAMES, NAMES, st.sampled_from([" ", " (", ' "', ", ", " 在"]), st.sampled_from(["", ".", ")", '"', ", then", "是"])
)
@example("web-03", "web_03", " ", "")
@example("/srv/Report", "/srv/report", " ", "")
@settings(max_examples=examples(200, 500))
def test_two_names_are_two_contents_and_one_is_one(one: str, other: str, before: str, after: str) -> None:
    assume(before != " 在" or one[0] not in "/-")
    said = content_hash(f"It is{before}{one}{after}")
    assert said == content_hash(f"IT IS{before}{one}{after.upper()}")
    assert (said == content_hash(f"It is{before}{other}{after}")) is (one == other)


@given(
    st.text(
        st.characters(codec="utf-8", exclude_categories=["Lu", "Ll", "Lt", "Nd"], exclude_characters="_"), max_size=30
    )
)
def test_where_no_letter_has_case_there_are_no_names(text: str) -> None:
    """Han, kana, Hangul, Arabic, Hebrew, Thai, Devanagari … are words alone."""
    assume("\u0345" not in unicodedata.normalize("NFD", text))  # a mark that becomes a letter
    assert not list(names(unicodedata.normalize("NFC", text)))
