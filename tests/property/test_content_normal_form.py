"""Laws of the normal form, over any text that Hypothesis can think of."""

from __future__ import annotations

import unicodedata

from hypothesis import example, given, settings
from hypothesis import strategies as st

from jochi.content import content_hash, normalise

ANY = st.text(st.characters(codec="utf-8"), max_size=40)
PARTS = st.lists(
    st.sampled_from(
        [*"aßÉ ñ-−.+#$€%<>=/:,'3١½ ́ͅ‍‌्क한", "e\u0301", "1.5", " -3", "C++", "👍", "\u200b", "\ufe0f", "İ", "ΐ"]
    ),
    max_size=12,
).map("".join)
TEXT = ANY | PARTS


@given(TEXT)
@example("ᾳ\u0301")
@example("a\u0345\u0301")
@settings(max_examples=500)
def test_a_normal_form_is_its_own(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once
    assert once == once.strip()
    assert "  " not in once
    assert unicodedata.is_normalized("NFC", once)


@given(TEXT)
@settings(max_examples=500)
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
def test_case_makes_no_difference(text: str) -> None:
    if text.upper().casefold() == text.casefold():  # not so for the dotless i
        assert content_hash(text.upper()) == content_hash(text.lower().upper()) == content_hash(text)


@given(TEXT)
def test_a_text_with_a_letter_or_digit_is_never_nothing(text: str) -> None:
    if any(unicodedata.category(character)[0] in "LN" for character in text):
        assert normalise(text)
    assert len(content_hash(text)) == 3 + 64
