"""Keywords, tags and storylines of short sources, without a model (seed 002, Phase 1, Storylines; docs/reference/ingesting.md). The
whole way in the graph: tests/integration/test_short_sources.py."""

from __future__ import annotations

from typing import Any

import pytest
from tests.short_sources.measure import Result, figures, groups, naive

from jochi.text.tokens import Estimate
from jochi_workers.derive import derivation
from jochi_workers.derive.extract.key_terms import key_terms

PROCESS, STORYLINES = derivation("process"), derivation("storylines")


def result(group: dict[str, Any]) -> Result:
    made = Result()
    for source in group["source"]:
        text = source["text"].strip()
        row = {"inputs": [{"content": text}], "source_type": source["type"], "context_type": None, "most_tokens": 200}
        output = PROCESS.offline(row, Estimate())
        assert PROCESS.faults(row, output, Estimate()) == ()
        made.keywords.append(output.keywords)
        made.tags.append(output.tags)
    return made


@pytest.mark.parametrize("unseen", [False, True])
def test_keywords_and_tags_are_those_of_a_person(unseen: bool) -> None:
    """Nine of ten keywords and most of those that must be there, more than the names alone; tags that say what is so."""
    all_groups = groups(unseen=unseen)
    ours, theirs = figures(all_groups, [*map(result, all_groups)]), figures(all_groups, [*map(naive, all_groups)])

    def share(sums: Any, name: str) -> float:
        return float(sums[name] / sums[f"{name} of"])

    assert share(ours, "keywords right") >= max(0.9, share(theirs, "keywords right"))
    assert share(ours, "keywords found") >= max(0.9, share(theirs, "keywords found"))
    assert share(ours, "tags right") >= 0.8


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Haha, yeah! Thanks, I think we should call them. Wow.", ()),
        ("Ann: Hi Bob, you would love it.\nBob: I've been there. I'll go again.", ()),
        ("I met Ann Lee. She runs Globex in St. Gallen. Visited Tom on Monday.", ("Ann Lee", "Globex", "St. Gallen", "Tom")),
        ("Guten Morgen Frau Klein, der Vertrag liegt im Büro.", ("Frau Klein", "Vertrag", "Büro")),
        ("La réunion avec le client Delacroix est reportée. Le contrat sera signé à Lyon.",
         ("Delacroix", "Lyon", "réunion", "client", "contrat")),
        ("Встреча с Иваном Петровым перенесена на пятницу.", ("Иваном Петровым", "Встреча")),
        ("Subject: Re: renewal\nGlobex asked for a discount.", ("Globex", "renewal", "discount")),
        ("", ()),
    ],
)  # fmt: skip
def test_keywords_are_names_and_nouns(text: str, terms: tuple[str, ...]) -> None:
    assert set(key_terms(text)) == set(terms)


def test_a_storyline_says_what_happened_in_the_order_of_time() -> None:
    """Of each source what says most, of the first and the last before all others, with its day and who says it."""
    inputs = [
        {"key": "s/1", "day": "2026-03-02", "content": "[2026-03-02 09:12] Ann: Hi Ben, how are you?\n"
         "[2026-03-02 09:13] Ann: Globex wants a quote for three sites."},
        {"key": "s/2", "day": "2026-03-04", "content": "[2026-03-04 14:00] Ben: Sounds good to me."},
        {"key": "s/3", "day": "2026-03-11", "content": "Globex signed the contract for two years. It was a sunny day."},
    ]  # fmt: skip
    first = "2026-03-02, Ann: Globex wants a quote for three sites."
    last = "2026-03-11: Globex signed the contract for two years."
    between, more = "2026-03-04, Ben: Sounds good to me.", "2026-03-11: It was a sunny day."
    counter = Estimate()
    for lines in ([first, last], [first, between, last], [first, between, last, more]):
        row = {"name": "Globex", "inputs": inputs, "most_tokens": counter.count("\n".join(lines))}
        text = STORYLINES.offline(row, counter)
        assert text.split("\n") == lines
        assert STORYLINES.faults(row, text, counter) == ()
