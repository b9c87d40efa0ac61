"""Whatever a text holds, each part of its reading stands where it says; and a text is read the same each time."""

from __future__ import annotations

from datetime import datetime, timezone

from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.tally import examples

from jochi_workers.language import Reading, forget_readings, read

NOW = datetime(2026, 1, 31, tzinfo=timezone.utc)
_PARTS = (
    *(
        "Ann ",
        "Bob",
        " Mia Novak",
        " the dog",
        " likes",
        " was built by ",
        " and ",
        ", ",
        ". ",
        "! ",
        "\n",
        "? ",
        " who ",
        " not ",
    ),
    *(
        "yesterday ",
        " 3 May 2024 ",
        " last Friday",
        " 29 Feb 2023 ",
        " in 9999 years",
        " 31 December 9999",
        " 03/04/2025 ",
    ),
    *(
        "ann@example.org ",
        "+49 30 901820 ",
        "DE89 3704 0044 0532 0130 00",
        " 10.0.0.1 ",
        "https://a.org/x",
        " INC-20 ",
        "$5",
    ),
    *(
        "\u200b",
        "\u202e",
        "\ufeff",
        "\u00ad",
        "é",
        "e\u0301",
        "😀",
        "👩‍👩‍👧",
        "\ud800",
        "\x00",
        "\u2028",
        "\r\n",
        "ß",
        "İ",
        "ﬁ",
        "中文。",
    ),
    *(" she ", " he ", "'s", "“", "”", "(", ")", "-", "…", " das Haus ist nicht ", " gestern ", " la casa es muy "),
)
TEXT = st.text(max_size=60) | st.lists(st.sampled_from(_PARTS), max_size=25).map("".join)


def parts(reading: Reading) -> list[tuple[str, int, int]]:
    found = [
        (one.text, one.start, one.end)
        for group in (reading.sentences, reading.entities, reading.phrases, reading.moments, reading.personal)
        for one in group
    ]
    for reference in reading.references:
        found += [
            (reference.text, reference.start, reference.end),
            (reference.to.text, reference.to.start, reference.to.end),
        ]
    for said in reading.statements:
        spans = [said.subject, said.object, *said.adjuncts, *said.clauses]
        found += [(span.text, span.start, span.end) for span in spans if span is not None]
    return found


@given(TEXT)
@example("Ann \ud800 met Bob\u200b.\r\nShe likes him.")
@example("x" * 300 + " likes Bob")
@settings(max_examples=examples(100, 300))
def test_each_part_stands_where_it_says(text: str) -> None:
    reading = read(text, now=NOW)
    for written, start, end in parts(reading):
        assert 0 <= start < end <= len(text)
        assert text[start:end] == written
    for said in reading.statements:
        assert 0 <= said.start < said.end <= len(text)
        assert said.clauses == tuple(sorted(said.clauses, key=lambda span: span.start))
        assert all(one.end <= other.start for one, other in zip(said.clauses, said.clauses[1:], strict=False))
    assert reading.text == text
    for moment in reading.moments:
        assert moment.since is None or moment.until is None or moment.since <= moment.until


@given(TEXT)
@settings(max_examples=60)
def test_sentences_hold_all_that_is_not_a_speaker_and_never_overlap(text: str) -> None:
    ends = [0]
    for one in read(text).sentences:
        assert one.start >= ends[-1]
        assert one.text == one.text.strip() != ""
        ends.append(one.end)


@given(TEXT)
@settings(max_examples=60)
def test_a_text_is_read_the_same_each_time(text: str) -> None:
    first = read(text, now=NOW)
    forget_readings()
    assert read(text, now=NOW) == first
