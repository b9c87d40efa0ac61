"""The pairs that a merge is judged by: how many, that each class has both sides, that labels and figures are right."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.merge_pairs import (
    CLASSES_OF_DIFFERENCE,
    CLASSES_OF_SAMENESS,
    READ_LANGUAGES,
    Pair,
    collect,
    english,
    facts,
    german,
    observations,
    pairs,
    report,
    seen,
    trivial,
    unseen,
    values,
)
from tests.merge_pairs.bound import beta, lower_bound
from tests.merge_pairs.judges import CosineAlone, Judge, Ruling, SameHash, Vectors
from tests.merge_pairs.measure import of_class, of_languages, precision, precision_of_class, recall, rule, wrong
from tests.merge_pairs.pair import digest, make
from tests.merge_pairs.statement import KINDS, Statement

from jochi.text.content import content_hash, normalise
from jochi_workers.embeddings.protocol import TextVector

pytestmark = pytest.mark.exhaustive  # a set that is wrong fails what is judged by it: test_guard_on_pairs

PACKAGE = Path(facts.__file__).parent
LANGUAGES = ("en", "de", "zh", "ja")


def of(kind: str, language: str, chosen: Sequence[Pair] | None = None) -> list[Pair]:
    return [pair for pair in chosen or pairs() if pair.kind == kind and pair.language == language]


def words(text: str) -> list[str]:
    return re.findall(r"[^\s.,:;]+(?:[.,:][^\s.,:;]+)*", text)


def difference(pair: Pair) -> tuple[list[str], list[str]]:
    """The words that only the left, only the right has."""
    left, right = Counter(words(pair.left)), Counter(words(pair.right))
    return sorted((left - right).elements()), sorted((right - left).elements())


def test_enough_of_both_without_locomo() -> None:
    read = [pair for pair in pairs() if pair.language in READ_LANGUAGES]
    assert sum(pair.label == "different" for pair in read) >= 6_000
    assert sum(pair.label == "same" for pair in read) >= 3_600
    foreign = [pair for pair in pairs() if pair.language not in READ_LANGUAGES]
    assert len(foreign) >= 300
    assert {(pair.language, pair.label) for pair in foreign} == {
        (language, label) for language in ("zh", "ja") for label in ("same", "different")
    }
    assert not any(pair.may_merge for pair in foreign)
    assert all(pair.may_merge is (pair.label == "same") for pair in read)


@pytest.mark.parametrize("language", READ_LANGUAGES)
@pytest.mark.parametrize("kind", [*CLASSES_OF_DIFFERENCE, *CLASSES_OF_SAMENESS])
def test_every_class_has_a_third_of_its_pairs_and_several_facts_unseen(kind: str, language: str) -> None:
    shown, hidden = of(kind, language, seen()), of(kind, language, unseen())
    assert len(shown) + len(hidden) >= 150
    assert 0.3 < len(hidden) / (len(shown) + len(hidden)) < 0.37
    assert len({pair.source for pair in shown}) >= 4
    assert len({pair.source for pair in hidden}) >= 2


def test_seen_and_unseen_are_the_whole_and_share_no_fact_and_no_text() -> None:
    assert Counter([*seen(), *unseen()]) == Counter(pairs())
    assert not {pair.source for pair in seen()} & {pair.source for pair in unseen()}
    texts = [{normalise(text) for pair in part for text in (pair.left, pair.right)} for part in (seen(), unseen())]
    assert not texts[0] & texts[1]


def test_a_third_of_the_words_of_open_lists_is_unseen() -> None:
    names = {name.strip() for name in f"{english.FEMALE}, {english.MALE}".split(",")}
    met = {
        name
        for pair in seen()
        if pair.language == "en"
        for text in (pair.left, pair.right)
        for name in names & set(re.findall(r"\w+", text))
    }
    assert 0.2 < 1 - len(met) / len(names) < 0.5


def test_no_two_pairs_have_the_same_texts_and_no_pair_two_texts_alike() -> None:
    labels: dict[frozenset[str], set[str]] = defaultdict(set)
    for pair in pairs():
        assert pair.left != pair.right
        labels[frozenset((pair.left, pair.right))].add(pair.label)
    assert len(labels) == len(pairs())
    assert all(len(found) == 1 for found in labels.values())
    assert len({pair.id for pair in pairs()}) == len(pairs())


def test_what_must_not_merge_is_two_texts_for_the_product_too() -> None:
    different = [pair for pair in pairs() if pair.label == "different"]
    assert [pair for pair in different if content_hash(pair.left) == content_hash(pair.right)] == []


@pytest.mark.parametrize(
    ("kind", "least"),
    [("case", 0.98), ("punctuation", 1), ("white space", 1), ("unicode", 1)],
    ids=lambda value: str(value),
)
def test_what_is_written_otherwise_is_one_text_for_the_product(kind: str, least: float) -> None:
    """But for a name whose case was changed: `ClickHouse` at the beginning of a sentence that doesn't begin any more."""
    alike = [normalise(pair.left) == normalise(pair.right) for pair in pairs() if pair.kind == kind]
    assert sum(alike) >= least * len(alike) > 0


def test_the_set_is_the_same_in_every_process() -> None:
    code = "from tests.merge_pairs import pairs, pair; print(pair.digest(pairs()))"
    root = PACKAGE.parents[1]
    path = os.pathsep.join([str(root), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=root,
        env={**os.environ, "PYTHONHASHSEED": "4711", "PYTHONPATH": path},
    )
    assert done.stdout.strip() == digest(pairs())


@pytest.mark.parametrize("language", LANGUAGES)
def test_all_wordings_of_a_fact_have_the_same_places_and_change_in_the_same_way(language: str) -> None:
    found = facts.facts(language)
    assert len({fact.name for fact in found}) == len(found)
    for fact in found:
        assert len(fact.wordings) >= 2, fact.name
        for wording in fact.wordings:
            alone = facts.Fact(fact.name, language, (wording,))
            assert set(alone.places) == set(fact.places), wording
            assert (alone.negatable, alone.reversible) == (fact.negatable, fact.reversible), wording
        assert set(fact.swap or ()) <= set(fact.places)
        assert {facts.kind_of(place) for place in fact.places} <= set(KINDS[language])


def test_every_memory_is_written_as_a_person_would() -> None:
    for pair in pairs():
        if pair.kind in ("white space", "punctuation"):
            continue
        for text in (pair.left, pair.right):
            assert not re.search(r"  | [.,;:]|\.\.$|[{}<>|\[\]]|“ “|\(\)", text), text
            assert text == text.strip(), text
            if pair.language == "en" and pair.kind != "case":
                assert not re.search(r"\b[Aa] (?:[aeio]\w|8|11\b|18\b)|\b[Aa]n [^aeiou8\W]", text), text


def test_a_word_list_with_an_empty_or_doubled_word_is_refused() -> None:
    for words_ in ("red, blue, ", "red, blue, red", "gray|, red"):
        with pytest.raises(ValueError, match="empty or doubled"):
            values.listed("colour", words_)


def plain(kind: str, language: str) -> list[Pair]:
    """Different pairs whose two sides are worded alike."""
    return [pair for pair in of(kind, language) if not pair.reworded]


@pytest.mark.parametrize(
    ("kind", "english_words", "german_words"),
    [
        ("weekday", {d + s for d in english.WEEKDAYS for s in ("", "s", "'s")}, {*german.WEEKDAYS, "Sonnabend"}),
        ("month", {m + s for m in english.MONTHS for s in ("", "'s")}, {*german.MONTHS}),
        (
            "colour",
            {*english.COLOURS, "gray", "grey"},
            {
                *("rot", "blau", "grün", "gelb", "schwarz", "weiß", "braun", "grau"),
                *("lila", "rosa", "türkis"),
            },
        ),
    ],
)
def test_closed_lists_change_one_word_of_theirs(kind: str, english_words: set[str], german_words: set[str]) -> None:
    for language, known in (("en", english_words), ("de", german_words)):
        for pair in plain(kind, language):
            (left,), (right,) = difference(pair)
            if kind == "colour":
                left, right = (
                    re.sub(r"(e|en|es)$", "", word.lower()) if language == "de" else word for word in (left, right)
                )
                left, right = (
                    left.lower() if left not in known else left,
                    right.lower() if right not in known else right,
                )
            assert left in known, pair
            assert right in known, pair


@pytest.mark.parametrize("language", READ_LANGUAGES)
def test_roles_change_no_word_but_their_order(language: str) -> None:
    for pair in plain("role", language):
        left, right = (sorted(re.findall(r"\w+", text)) for text in (pair.left, pair.right))
        assert left == right, pair


@pytest.mark.parametrize("language", READ_LANGUAGES)
@pytest.mark.parametrize("kind", ["unit", "currency", "antonym", "name", "place", "negation"])
def test_what_is_no_number_changes_no_number(kind: str, language: str) -> None:
    for pair in plain(kind, language):
        assert re.findall(r"\d[\d.,:]*", pair.left.rstrip(".")) == re.findall(r"\d[\d.,:]*", pair.right.rstrip(".")), (
            pair
        )


@pytest.mark.parametrize("language", READ_LANGUAGES)
@pytest.mark.parametrize("kind", ["number", "date", "time", "version", "identifier"])
def test_what_is_written_in_digits_changes_few_words(kind: str, language: str) -> None:
    for pair in plain(kind, language):
        left, right = difference(pair)
        # "March 5, 2025" may differ in its month; a number below 13 may be spelt out; a phone number has four parts.
        assert max(len(left), len(right)) <= 2, pair
        assert any(map(str.isdigit, pair.left + pair.right)) or kind in ("number", "date", "identifier"), pair


def statement(language: str, name: str, **keys: Any) -> Statement:
    fact = next(fact for fact in facts.facts(language) if fact.name == name)
    return Statement(fact, keys)


def test_a_fact_in_its_wordings_and_ways_to_write_them() -> None:
    usual: dict[str, float] = defaultdict(float)
    said = statement("en", "sales-trend", place="Lima", percent=4.5, month="May")
    assert said.text(0, usual) == "Sales in Lima rose by 4.5% in May."
    assert (
        said.text(2, {**usual, "place": 0.0, "percent": 0.7, "month": 0.0}) == "May sales in Lima were up 4.5 percent."
    )
    deal = statement("en", "paid-back", person="Ruth", person2="Omar", money=(1_200, "USD"))
    assert deal.text(0, usual) == "Ruth paid Omar $1,200 for the train tickets."
    assert deal.swapped().text(3, usual) == "Ruth was paid $1,200 by Omar for the train tickets."
    wants = statement("de", "raucht", person="Uwe")
    assert [wants.text(n, usual) for n in range(3)] == ["Uwe raucht.", "Uwe ist Raucher.", "Uwe ist Raucher."]


def test_ways_to_write_a_value_mean_the_same() -> None:
    kinds = english.KINDS
    assert kinds["time"].forms((15, 0)) == ("3 pm", "15:00", "3 p.m.", "3pm")
    assert kinds["time"].forms((11, 30)) == ("11:30 am", "11:30", "11:30 a.m.", "11:30am")
    assert kinds["money"].forms((40, "EUR")) == ("€40", "EUR 40", "40 euros")
    assert kinds["count"].forms(5) == ("5", "five")
    assert kinds["number"].forms(1_200) == ("1,200", "1200")
    assert kinds["signed"].forms(-7) == ("-7", "−7", "minus 7")
    assert german.KINDS["number"].forms(1_200) == ("1.200", "1200")
    assert german.KINDS["decimal"].forms(2.5) == ("2,5",)
    assert german.KINDS["time"].forms((15, 30)) == ("15:30 Uhr", "15.30 Uhr")


@pytest.mark.parametrize("language", READ_LANGUAGES)
def test_a_change_never_gives_another_form_of_the_same_value(language: str) -> None:
    dice = Random(f"changes {language}")
    for name, kind in KINDS[language].items():
        for _ in range(40):
            key = kind.draw(dice, True)
            for change in kind.changes.values():
                other = change(key, dice, True)
                assert not set(kind.forms(key)) & set(kind.forms(other)), (name, key, other)


def test_trivial_variants() -> None:
    dice = Random(1)
    made = {
        kind: {trivial.variant(kind, 'Ann\'s "office" is in Zürich.', "en", dice) for _ in range(200)}
        for kind in trivial.KINDS
    }
    assert 'ann\'s "office" is in zürich.' in made["case"]
    assert {'Ann\'s "office" is in Zürich', "Ann's 'office' is in Zürich."} <= made["punctuation"]
    assert 'Ann\'s "office" is in Zürich.\n' in made["white space"]
    assert {"Ann’s “office” is in Zürich.", 'Ann\'s "office" is in Zu\u0308rich.'} <= made["unicode"]
    assert 'FYI: Ann\'s "office" is in Zürich.' in made["filler"]
    assert trivial.variant("case", "Copy /srv/A", "en", dice, any_case=False) is None


@pytest.mark.parametrize(
    ("right", "of", "bound"),
    [(600, 600, 0.05 ** (1 / 600)), (1, 1, 0.05), (8, 10, 0.4930987), (0, 10, 0.0), (0, 0, 0.0)],
)
def test_the_lower_bound_of_clopper_and_pearson(right: int, of: int, bound: float) -> None:
    assert lower_bound(right, of) == pytest.approx(bound, abs=1e-6)


@pytest.mark.parametrize(("right", "of"), [(3, 7), (50, 80), (1_190, 1_200), (4_000, 9_000)])
def test_at_the_bound_so_many_successes_have_the_probability_that_is_left(right: int, of: int) -> None:
    at = lower_bound(right, of)
    logs = (
        math.lgamma(of + 1)
        - math.lgamma(k + 1)
        - math.lgamma(of - k + 1)
        + k * math.log(at)
        + (of - k) * math.log1p(-at)
        for k in range(right, of + 1)
    )
    assert math.fsum(map(math.exp, logs)) == pytest.approx(0.05, rel=1e-6)
    assert beta(right, of - right + 1, at) == pytest.approx(0.05, rel=1e-6)
    with pytest.raises(ValueError, match="of"):
        lower_bound(of + 1, of)


class Says:
    """Merges what it is told to."""

    name = "says"

    def __init__(self, *merged: str) -> None:
        self.merged = merged

    def judge(self, left: str, right: str) -> Ruling:
        return Ruling("merge" if left in self.merged else "flag", "told so")


def test_precision_and_recall_of_a_judge() -> None:
    known = [
        make("paraphrase", "en", ("a", "A!"), "same", "1"),
        make("paraphrase", "de", ("b", "B!"), "same", "2"),
        make("filler", "en", ("c", "C!"), "same", "3"),
        make("number", "en", ("5", "6"), "different", "4"),
        make("number", "en", ("7", "8"), "different", "5"),
        make("name", "de", ("d", "e"), "different", "6"),
        make("paraphrase", "zh", ("是", "对"), "same", "7"),
        make("number", "ja", ("一", "二"), "different", "8"),
    ]
    judge: Judge = Says("a", "b", "5", "是")
    ruled = rule(judge, known)
    share = precision(ruled)
    assert (share.part, share.whole) == (2, 4), "a merge of Chinese is wrong even if both say the same"
    assert (recall(ruled).part, recall(ruled).whole) == (2, 3)
    assert (wrong(ruled).part, wrong(ruled).whole) == (2, 5)
    assert precision(of_languages(ruled, "de")).value == 1
    assert (precision_of_class(ruled, "number").part, precision_of_class(ruled, "number").whole) == (2, 3)
    assert precision_of_class(ruled, "name").value == 1
    assert wrong(of_class(ruled, "number")).whole == 2
    assert precision(of_class(ruled, "name")).value is None
    (row,) = report.overall({"says": ruled}).rows
    assert row[:4] == ["says", "2", "1", f"66.7 % ({lower_bound(2, 3):.1%})".replace("%)", ")")]
    english, german, *_ = report.by_language("x", ruled, ["filler"]).rows
    assert english == [
        "English",
        "2",
        "1",
        f"50.0 % ({lower_bound(1, 2):.1%})".replace("%)", ")"),
        "50.0 %",
        "1 of 2",
        "0 of 1",
    ]
    assert (german[1:3], german[-1]) == (["1", "0"], "–")
    counted = {tuple(row[:2]): row[2:] for row in report.counts(known).rows}
    assert sum(int(cell.split()[0]) for cell in counted["different", "all of them"] if cell != "–") == 4


class Compass:
    """Two directions for what there is; half of what isn't ASCII is unknown."""

    model, dimensions = "compass", 2

    def embed(self, texts: Sequence[str]) -> list[TextVector]:
        angles = {"north": 0.0, "northish": 0.3, "east": math.pi / 2}
        return [
            TextVector([math.cos(a), math.sin(a)], 0.0 if text.isascii() else 0.5)
            for text in texts
            for a in [angles.get(text, 1.0)]
        ]

    def close(self) -> None:
        pass


def test_the_judges_that_are_measured() -> None:
    vectors = Vectors(["north", "northish", "east", "南", "north"], Compass(), page=2)
    assert vectors.cosine("north", "northish") == pytest.approx(math.cos(0.3))
    assert CosineAlone(0.95, vectors).judge("north", "northish") == Ruling("merge", "cosine 0.955")
    assert CosineAlone(0.96, vectors).judge("north", "northish").verdict == "veto"
    assert CosineAlone(0.7, vectors).judge("north", "east").verdict == "veto"
    assert vectors.unknown_share("南") == 0.5
    assert SameHash().judge("Is  it?", "is it").verdict == "merge"
    assert SameHash().judge("5 km", "6 km").verdict == "veto"


def test_a_row_a_merge_threshold() -> None:
    """What the guard is asked about at each, and what came of it; Chinese isn't counted."""
    known = [
        make("paraphrase", "en", ("north", "northish"), "same", "1"),
        make("filler", "de", ("northish", "east"), "same", "2"),
        make("number", "en", ("north", "east"), "different", "3"),
        make("paraphrase", "zh", ("南", "north"), "same", "4"),
    ]
    vectors = Vectors([text for pair in known for text in (pair.left, pair.right)], Compass())
    ruled = {least: rule(CosineAlone(least, vectors), known) for least in (0.0, 0.95, 0.96)}
    first, second, third = report.thresholds(ruled, vectors).rows
    assert first[:4] == ["0.00", "3 of 3", "2", "1"]
    assert second[:4] == ["0.95", "1 of 3", "1", "0"]
    assert second[5:] == ["50.0 %", "100.0 %", "0.0 %", "100.0 %"]
    assert third == ["0.96", "0 of 3", "0", "0", "–", "0.0 %", "0.0 %", "0.0 %", "0.0 %"]


def test_figures_go_between_the_marks_of_a_page(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- it -->\nold\n<!-- end it -->\nb\n", encoding="utf-8")
    report.write(page, {"it": [report.Grid("few", ("x", "y"), [["1", "2"]])]})
    assert (
        page.read_text(encoding="utf-8")
        == "a\n<!-- it -->\nFew:\n\n| x | y |\n| --- | --- |\n| 1 | 2 |\n<!-- end it -->\nb\n"
    )
    with pytest.raises(ValueError, match="no place"):
        report.write(page, {"other": []})


SPEAKERS = ("Emma", "Peter")
OBSERVED = [
    "Emma bought three red bags in Vienna last Friday.",
    "Emma thanked Peter for the tomatoes.",
    "Emma enjoys kayaking in May.",
    'Emma liked the film "Two Doors" and paid $5 for it.',
    "Emma runs 5 miles at 6 pm.",
    "Emma may march in June, says April.",
    "Emma and Peter told each other stories.",
    "Emma won the second race of the year.",
    "Emma moved out on July 4, in the year 2021.",
    "Emma does not currently own a boat.",
]


def locomo(folder: Path) -> Path:
    talks = {
        "sample_id": "pair-1",
        "qa": [],
        "conversation": {
            "speaker_a": "Emma",
            "speaker_b": "Peter",
            "session_1_date_time": "9:05 pm on 2 June, 2024",
            "session_1": [{"speaker": "Emma", "dia_id": "D1:1", "text": "Hello."}],
        },
        "observation": {
            "session_1_observation": {
                "Emma": [[text, "D1:1"] for text in OBSERVED],
                "Peter": [["Peter likes soup.", "D1:1"]],
            }
        },
    }
    file = folder / "talks.json"
    file.write_text(json.dumps([talks]), encoding="utf-8")
    return file


def test_observations_are_read_and_changed_at_run_time(tmp_path: Path) -> None:
    file = locomo(tmp_path)  # of made-up observations
    made = list(observations.observed(file))
    assert made == list(observations.observed(file))
    read = {*OBSERVED, "Peter likes soup."}
    assert all(len({pair.left, pair.right} & read) == 1 for pair in made)
    assert {pair.source for pair in made} <= {observations.drawn_from(text) for text in read}
    assert len({pair.source for pair in made}) >= len(read) - 1, "of one nothing can be made"
    assert {pair.label for pair in made} == {"different", "same"}
    assert set(made) <= set(collect.pairs(file))
    collect.pairs.cache_clear()


def changes(text: str, seed: int = 0) -> dict[str, str]:
    return dict(observations.differences(text, SPEAKERS, Random(seed)))


def test_one_difference_where_the_words_around_allow_it() -> None:
    first = changes(OBSERVED[0])
    assert set(first) - {"name"} == {"number", "colour", "weekday", "place", "antonym"}
    assert first["number"] != OBSERVED[0]
    assert re.fullmatch(r"Emma bought \w+ red bags in Vienna last Friday\.", first["number"])
    assert re.fullmatch(r"Emma bought three \w+ bags in Vienna last Friday\.", first["colour"])
    assert re.fullmatch(r"Emma bought three red bags in Vienna last \w+day\.", first["weekday"])
    assert re.fullmatch(r"Emma bought three red bags in \w+ last Friday\.", first["place"])
    assert first["antonym"] == "Emma sold three red bags in Vienna last Friday."
    assert changes(OBSERVED[1])["role"] == "Peter thanked Emma for the tomatoes."
    third = changes(OBSERVED[2])
    assert third["negation"] == "Emma does not enjoy kayaking in May."
    assert re.fullmatch(r"Emma enjoys kayaking in (?!May)\w+\.", third["month"])
    assert re.fullmatch(r"Emma enjoys (?!kayaking)\w+ing in May\.", third["value"])
    fourth = changes(OBSERVED[3])
    assert re.fullmatch(r'Emma liked the film "(?!Two Doors)[^"]+" and paid \$5 for it\.', fourth["quoted"])
    assert re.search(r"[€£]5", fourth["currency"])
    fifth = changes(OBSERVED[4])
    assert fifth["unit"] == "Emma runs 5 kilometers at 6 pm."
    assert re.fullmatch(r"Emma runs 5 miles at (?!6)\d+ pm\.", fifth["time"])
    assert changes(OBSERVED[7])["antonym"] == "Emma lost the second race of the year."
    assert re.fullmatch(r"Emma moved out on July (?!4)\d+, in the year 2021\.", changes(OBSERVED[8])["date"])
    names = {changed["name"] for seed in range(60) if "name" in (changed := changes(OBSERVED[4], seed))}
    assert names
    assert all(re.match(rf"(?:{'|'.join(english.FEMALE.split(', '))}) runs", text) for text in names)


def test_no_difference_where_the_words_around_forbid_it() -> None:
    assert set(changes(OBSERVED[5])) <= {"name", "month"}
    assert all("may march" in text and "April" in text for text in changes(OBSERVED[5]).values())
    assert "role" not in changes(OBSERVED[6]), "they told each other"
    assert "role" not in changes("Emma thanked Peter, as both did.")
    assert "role" not in changes("Emma thanked Peter for his tomatoes.")
    assert "role" not in changes("Emma visited Peter's sister.")
    assert "negation" not in changes("Emma enjoys tea and hates soup.")
    assert "negation" not in changes(OBSERVED[9])
    assert "colour" not in changes("Emma enjoys green tea and blue notes.")
    assert "number" not in changes("Emma is there 24/7.")
    assert "number" not in changes("Emma read 1984, one of the best.")
    assert "month" not in changes("Emma met May on a March for peace.")
    assert "place" not in changes("Emma stayed in Paris Hilton's flat.")
    assert "antonym" not in changes("Emma loves cats and thinks they bring joy.")
    assert "antonym" not in changes("Emma was lost in thought.")


def test_an_observation_in_other_forms() -> None:
    found = dict(observations.duplicates(OBSERVED[9], Random(2)))
    assert found["paraphrase"] == "Emma doesn't currently own a boat."
    assert len(found) == 1 + observations.VARIANTS


def test_the_real_file_adds_to_every_class_that_it_can_and_stays_out_of_the_repository() -> None:
    path = Path(os.environ.get("JOCHI_LOCOMO", Path(__file__).parents[3] / "shared/data/locomo/locomo10.json"))
    if not path.is_file():
        pytest.skip(f"no LoCoMo file at {path}: set JOCHI_LOCOMO to its path")
    made = list(observations.observed(path))
    kinds = Counter(pair.kind for pair in made if pair.label == "different")
    assert set(kinds) >= set(observations.RULES) - {"date", "currency", "time"}
    assert sum(kinds.values()) > 1_000
    assert sum(pair.label == "same" for pair in made) > 1_000
    ours = "\n".join(
        file.read_text(encoding="utf-8") for file in [*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.txt"), Path(__file__)]
    )
    assert not [text for pair in made for text in (pair.left, pair.right) if text in ours]
