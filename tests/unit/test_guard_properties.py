"""What holds for the guard whatever the texts are."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jochi_workers.guard import Ruling, judge
from jochi_workers.guard.reading import MOST_CHARACTERS

WORDS = st.sampled_from(
    [
        *(
            "Anna",
            "Ben",
            "the",
            "a",
            "paid",
            "not",
            "was",
            "by",
            "of",
            "to",
            "and",
            ",",
            ".",
            "on",
            "Monday",
            "5",
            "five",
            "$5",
        ),
        *(
            "USD",
            "kg",
            "-3",
            "3:15",
            "pm",
            "web-03",
            "web_03",
            "v1.2",
            '"quoted text"',
            "?",
            "May",
            "may",
            "'",
            "-",
            "–",
            "/",
        ),
        *(
            "der",
            "die",
            "nicht",
            "kein",
            "wurde",
            "von",
            "hat",
            "gegeben",
            "am",
            "Montag",
            "1.500",
            "Euro",
            "und",
            "neue",
        ),
        *("Hund", "Hunde", "(", ")", "咖啡", "''", "'s"),
    ]
)
SENTENCES = st.lists(WORDS, max_size=14).map(" ".join)
ANY = st.one_of(st.text(max_size=80), SENTENCES, st.text(alphabet=st.characters(codec=None), max_size=40))


@settings(deadline=None)  # the first call loads the dictionaries
@given(ANY, ANY)
def test_both_ways_round_are_one_ruling_and_nothing_is_raised(left: str, right: str) -> None:
    said = judge(left, right, cosine=0.97)
    assert isinstance(said, Ruling)
    assert said == judge(right, left, cosine=0.97) == judge(left, right, cosine=0.97)
    assert said.reasons
    assert list(said.reasons) == sorted(set(said.reasons))


@settings(deadline=None)  # the first call loads the dictionaries
@given(ANY)
def test_a_text_is_never_apart_from_itself(text: str) -> None:
    assert judge(text, text, cosine=None).verdict in ("merge", "flag")


@settings(deadline=None)  # the first call loads the dictionaries
@given(SENTENCES, SENTENCES)
def test_no_cosine_merges_less(left: str, right: str) -> None:
    if judge(left, right, cosine=None).verdict == "merge":
        assert judge(left, right, cosine=1.0).verdict == "merge"


@pytest.mark.parametrize(
    "text", ["\ud800", "a \udfff b", "\x00", "\u202e\u200d", "'" * 50, '"' * 51, "-" * 60, "\u0301" * 40]
)
def test_odd_texts_are_judged(text: str) -> None:
    assert judge(text, text + " the dog", cosine=1.0).verdict in ("flag", "veto")


LONG = {
    "one word": "dog ",
    "its plural too": "dog dogs ",
    "adjectives": "schöne ",
    "moments": "am Montag ",
    "no blank": "a_b.c-",
    "numbers": "1,234.5",
    "number words": "hundred ",
    "quotes": "'a ",
    "commas": "a, ",
    "prepositions": "of the ",
    "names": "Anna Ben ",
    "hyphens": "a-",
    "auxiliaries": "is was has ",
}


@pytest.mark.slow
@pytest.mark.parametrize("part", LONG.values(), ids=LONG.keys())
def test_the_longest_texts_take_a_bounded_time(part: str) -> None:
    text = ("The " + part * MOST_CHARACTERS)[: MOST_CHARACTERS - 8]
    began = time.process_time()
    judge(text, text.replace("dogs", "dog") + " Carl", cosine=1.0)
    judge(text + " a", "Die " + text, cosine=1.0)
    assert time.process_time() - began < 8
