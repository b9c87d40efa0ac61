"""Requests in other words: which statement of which memory is meant (docs/reference/forgetting.md, In other words)."""

from __future__ import annotations

from collections import Counter
from itertools import islice

import pytest
from tests.meant_cases import cases, judged

from jochi.forgetting.candidates import Candidate, Memory, rank_candidates, unambiguous
from jochi.forgetting.statements import parse_statements, remove_statement, same_slot
from jochi.policy import load_policy

FORGETTING = load_policy().policy.forgetting


def _found(about: str, *texts: str, new: str | None = None, near: dict[str, float] | None = None) -> list[Candidate]:
    memories = [Memory(f"s/{n}", "MemoryEntry", text) for n, text in enumerate(texts)]
    return rank_candidates(
        about, memories, new=new, cosine_of=None if near is None else lambda text: near.get(text, 0.0)
    )


def test_of_the_set_nothing_is_acted_on_wrong() -> None:
    """A sample; `python -m tests.meant_cases` is the whole."""
    told = Counter((case.right is not None, judged(case)) for case in islice(cases(), 0, None, 97))
    assert told.keys() == {(True, "right"), (True, "asked"), (False, "asked")}, told
    assert told[True, "right"] > told[True, "asked"], told


def test_scores_margins_and_what_differs() -> None:
    one = _found("Ann's car", "Bob has a car", "Ann has a red car")
    assert (one[0].key, one[0].score, one[0].differs) == ("s/1", 1.0, ())
    assert one[1].differs == ("doesn't say ann", "is about bob")
    assert [each.margin for each in one] == [one[0].score - one[1].score, one[1].score - one[0].score]
    assert unambiguous(one, FORGETTING) == one[:1]
    assert unambiguous([], FORGETTING) == []
    assert unambiguous(_found("Ann's car", "Ann's car is red", "Ann sold the car"), FORGETTING) == [], "two of them"
    # What says the same counts as one, and both are meant.
    both = _found("where Ann lives", "Ann lives in Lyon.", "Ann's home is Lyon.", "Ann likes Rome.")
    assert [each.key for each in unambiguous(both, FORGETTING)] == ["s/0", "s/1"]
    # A number without a country is of either.
    numbers = _found("01632 960417", "Ivo's number is +44 1632 960417.", "The caller from +49 1632 960417 is rude.")
    assert {each.differs for each in numbers} == {("may be a number of another country",)}
    # Meaning orders, and makes nothing sure.
    near = _found("Ann's timepiece", "Ann likes tea", "Ann has a watch", near={"Ann has a watch": 0.9})
    assert near[0].key == "s/1"
    assert unambiguous(near, FORGETTING) == []
    # Both sides of each threshold.
    for change, there in ((0.0, True), (1e-9, False)):
        policy = FORGETTING.model_copy(update={"sure": one[0].score, "margin": one[0].margin + change})
        assert (unambiguous(one, policy) != []) is there
        lower = FORGETTING.model_copy(update={"sure": one[0].score + change})
        assert (unambiguous(one, lower) != []) is there


@pytest.mark.parametrize(
    ("about", "new", "text", "differs"),
    [
        ("where Ann lives", "Ann lives in Oslo.", "Ann works at Acme.", "says something else"),
        ("where she lives", "Ann lives in Oslo.", "Bob lives in Lyon.", "is about bob, not ann"),
        ("Ann lives in Lyon", "Ann lives in Oslo.", "Ann doesn't live in Lyon.", "says that it isn't so"),
        ("Ann lives in Lyon", "Ann lives in Oslo.", "Ann wants to live in Lyon.", "is stated otherwise"),
        ("where Ann lives", "Ann lives in Oslo.", "Ann lived in Lyon until 2017.", "is stated otherwise"),
        ("where Ann lives", "Ann lives in Oslo.", "Ann's mother lives in Lyon.", "is about the mother of ann"),
        ("where Ann works", "Ann works at Acme.", "Ann works out at Fit.", "is stated otherwise"),
        ("Kite's deadline", "Kite's deadline is Monday.", "The deadline of Kite 2 is Friday.", "may be another name"),
        ("Ann doesn't drink tea", "Ann drinks tea.", "Ann doesn't drink tea after four.", "denies less: after"),
        ("wo Anna Lenz wohnt", "Anna Lenz wohnt in Ulm.", "Anna Lenz wohnte bis 2017 in Bonn.", "is stated otherwise"),
        ("wo Anna Lenz wohnt", "Anna Lenz wohnt in Ulm.", "Die Mutter von Anna Lenz wohnt in Bonn.", "is about mutter"),
        ("wo Anna Lenz wohnt", "Anna Lenz wohnt in Ulm.", "Anna Lenz' Mutter wohnt in Bonn.", "is about Mutter"),
        ("Ann lives in Lyon", "Ann lives in Oslo.", "Ann lives in Rome.", "doesn't say lyon"),
        ("Ann likes green tea", "Ann likes mate.", "Ann likes green coffee.", "doesn't say tea"),
        ("what Ann likes", "Ann likes mate.", "Ann hates tea.", "says that it isn't so"),
        (
            "what Ann drives",
            "Ann drives a Fiat.",
            "Ann drives a Volvo and studies at Yale.",
            "can be read in several ways",
        ),
        ("where Ann lives", "Ann lives in Oslo.", "Ann: Lyon, two cats", "doesn't say lives"),
        (
            "wo Anna wohnt",
            "Anna wohnt in Oslo.",
            "Anna wohnt in Bonn und singt im Chor.",
            "can be read in several ways",
        ),
        ("wo Anna wohnt", "Anna wohnt in Oslo.", "Anna arbeitet in Lyon.", "doesn't say wohnt"),
        ("wo Anna wohnt", "Anna wohnt in Oslo.", "Anna wohnt nicht in Lyon.", "says that it isn't so"),
    ],
)
def test_near_misses_are_asked_about(about: str, new: str, text: str, differs: str) -> None:
    found = _found(about, text, new=new)
    assert any(each.startswith(differs) for each in found[0].differs), found[0].differs
    assert unambiguous(found, FORGETTING) == []
    assert found[0].score <= 0.5 ** len(found[0].differs)


@pytest.mark.parametrize(
    ("about", "new", "text", "statement", "rest"),
    [
        ("Ann's home", "Ann lives in Oslo.", "Ann works at Acme and lives in Lyon.", "lives in Lyon", "Ann works at Acme."),
        ("wo Anna wohnt", "Anna wohnt in Oslo.", "Anna wohnt in Bonn und mag Tee.", "Anna wohnt in Bonn", "Anna mag Tee."),
        ("Ann's boss", "Ann's boss is Olga.", "Ann reports to Piet. She likes tea.", "Ann reports to Piet", "She likes tea."),
        ("Ann's home", "Ann lives in Oslo.", "Ann lives in Bonn with Eva, a nurse.", "lives in Bonn with Eva, a nurse",
         "Eva is a nurse."),
        ("José García's phone +49 170 5550199", "x", "Jose Garcia's mobile is 0049-170-555 01 99.", None, ""),
    ],
)  # fmt: skip
def test_one_statement_of_several_is_told(about: str, new: str, text: str, statement: str | None, rest: str) -> None:
    found = _found(about, text, "Bob lives in Rome.", new=None if new == "x" else new)
    assert (found[0].key, found[0].statement, found[0].differs) == ("s/0", statement, ())
    assert found[0].parsed is not None
    assert remove_statement(text, found[0].parsed) == rest


def test_what_is_left_says_all_else_and_a_statement_is_itself_in_other_words() -> None:
    text = "Ann and Bob live in Lyon, and Cy lives in Lyon."
    said = parse_statements(text)
    assert [remove_statement(text, one) for one in said if one.subject == {"bob"}] == [
        "Ann lives in Lyon, and Cy lives in Lyon."
    ]
    one, two, other, kind = (
        parse_statements(each)[0]
        for each in ("Ann lives in Lyon.", "Ann's home is Lyon", "Bob's home is Lyon", "Ann's employer is Lyon")
    )
    assert same_slot(one, two)
    assert not same_slot(one, other)
    assert not same_slot(one, kind)
