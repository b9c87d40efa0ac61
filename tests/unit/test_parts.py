"""The parts that a person may choose of a text: together they are the text, and what is left of it has lost nothing else."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jochi.forgetting.parts import MOST, part_named, parts_of
from jochi.forgetting.words import phrase

TEXTS = (
    ("Mona rows and paints, and her boat leaks.", ("Mona rows", "paints", "her boat leaks")),
    ("Mona's number is 3,150; Till's is 10:45.", ("Mona's number is 3,150", "Till's is 10:45")),
    ("Mona rows. Till sings.", ("Mona rows", "Till sings")),
    ("Mona rudert und Till singt.", ("Mona rudert", "Till singt")),
    ("Мона гребёт, а Тиль поёт.", ("Мона гребёт", "Тиль поёт")),
    ("莫娜划船，提尔唱歌。", ("莫娜划船", "提尔唱歌")),
    ("모나는 노를 젓고 틸은 노래한다.", ("모나는 노를 젓고", "틸은 노래한다")),
    ("โมนาพายเรือ ทิลร้องเพลง", ("โมนาพายเรือ", "ทิลร้องเพลง")),
    ("منى تجدف، وتيل يغني.", ("منى تجدف", "وتيل يغني")),
    ("Mona rows.", ()),
    ("", ()),
    (", ".join(f"Mona has boat {n}" for n in range(MOST + 1)), ()),
)


@pytest.mark.parametrize(("text", "parts"), TEXTS)
def test_parts(text: str, parts: tuple[str, ...]) -> None:
    assert tuple(one.text for one in parts_of(text)) == parts


def test_what_is_left_reads_on() -> None:
    left = [one.rest for one in parts_of("Mona rows, paints and sings. Till sleeps.")]
    assert left == [
        "Paints and sings. Till sleeps.",
        "Mona rows and sings. Till sleeps.",
        "Mona rows, paints. Till sleeps.",
        "Mona rows, paints and sings.",
    ]


def test_a_part_that_is_said_twice_is_none() -> None:
    assert part_named("Mona rows, Till sings, Mona rows.", "mona rows") is None
    assert part_named("Mona rows, Till sings.", "mona ROWS") is not None
    assert part_named("Mona rows, Till sings.", "Mona") is None


_WORD = st.sampled_from(
    ["Mona", "rows", "and", "3,150", "und", "boat", "поёт", "а", "船", "唱歌", "노래", "เรือ", "و", "paints"]
)
_MARK = st.sampled_from([" ", ", ", ". ", "; ", " – ", "，", "。", ": ", "\n", "،"])


@given(st.lists(st.tuples(_WORD, _MARK), max_size=30))
def test_nothing_else_is_lost(pieces: list[tuple[str, str]]) -> None:
    text = "".join(word + mark for word, mark in pieces)
    for one in parts_of(text):
        lost = Counter(phrase(text)) - Counter(phrase(one.rest)) - Counter(phrase(one.text))
        assert sum(lost.values()) <= 4  # a link of two words at most, in a script that has a word a sign
        assert not Counter(phrase(one.rest)) - Counter(phrase(text))
