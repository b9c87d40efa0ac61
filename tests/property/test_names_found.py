"""Whatever two names are alike by their spelling, each is found by the other's terms (docs/reference/extraction.md, Who is who)."""

from __future__ import annotations

import unicodedata
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein
from tests.tally import examples

from jochi_workers.derive.extract.names import match_names, search_terms

WORDS = [
    *("anna", "jones", "katherine", "bundesverfassungsgericht", "wolkenkuckucksheim", "kuznetsova", "o'neill", "c++"),
    *("müller", "анна", "кузнецова", "new", "york", "learning", "安娜", "straße", "josé", "verantwortungslosigkeiten"),
]
KINDS = st.sampled_from(["Person", "Concept", "Entity"])
LONG = [word for word in WORDS if len(word) > 11]
names = st.one_of(st.sampled_from(LONG), st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join))


@st.composite
def edited(draw: st.DrawFn) -> tuple[str, str]:
    """A name, and it again with up to three letters changed, taken out or put in, or without its spaces or some of its words."""
    name = draw(names)
    other = name
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(other)))
        letter = draw(st.sampled_from(["", "a", "x", "е", " "]))
        other = other[:at] + letter + other[at + draw(st.integers(0, 1)) :]
    if draw(st.booleans()):
        other = draw(st.sampled_from([other.replace(" ", ""), " ".join(other.split()[1:]), other.title()]))
    return name, other


def matches(term: str, other: str) -> bool:
    """What Lucene makes of a term of a query as derive/resolve/inputs writes it."""
    within = 2 if "_" in (term[0], term[-1]) or len(term) > 7 else 1 if len(term) > 4 else 0
    return int(Levenshtein.distance(term, other)) <= within


@given(pair=edited(), kind=KINDS)
@settings(max_examples=examples(150, 1_000))
def test_each_is_found_by_the_other(pair: tuple[str, str], kind: Any) -> None:
    one, other = pair
    found = match_names(one, other, kind, None)
    ours, theirs = (search_terms(name, kind, "s") for name in pair)
    if found is None:
        return
    assert ours
    assert theirs
    (mark, *left), (same_mark, *right) = ours.split(), theirs.split()
    assert mark == same_mark
    for query, terms in ((left, right), (right, left)):
        assert any(matches(term, each) for term in query if term != "_2" for each in terms if each != "_2"), found


@given(name=st.text(max_size=300), scope=st.text(max_size=20), kind=KINDS)
def test_terms_are_words_of_one_scope_and_kind(name: str, scope: str, kind: Any) -> None:
    terms = search_terms(name, kind, scope)
    if terms is None:
        return
    assert all(unicodedata.category(each)[0] in "LMN" or each in "_+# " for each in terms)
    elsewhere = search_terms(name, kind, scope + "x")
    of_others = search_terms(name, "Concept" if kind != "Concept" else "Entity", scope)
    assert len({found.split()[0] for found in (terms, elsewhere, of_others) if found}) == 3
