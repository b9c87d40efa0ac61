"""What the guard can't read it flags: other languages, other scripts, nothing at all, too much."""

from __future__ import annotations

import pytest

from jochi_workers.guard import judge
from jochi_workers.guard.judge import MOST_UNKNOWN
from jochi_workers.guard.reading import MOST_CHARACTERS

UNREAD = {
    "Chinese": "我喜欢喝咖啡",
    "Japanese": "私はコーヒーが好きです",
    "Russian": "Анна живёт в Риме",
    "Arabic": "آنا تعيش في روما",
    "Greek": "Η Άννα ζει στη Ρώμη",
    "Romanian": "Ana nu are mere, dar este din București.",
    "Swedish": "Anna bor hos sin bror och har inte en cykel.",
    "Polish": "Anna nie jest z Rzymu i ma psa.",
    "Turkish": "Anna çok iyi bir doktor ve bu şehirde.",
    "English and German": "Anna kauft ein neues Auto because the old one is broken.",
    "English and Chinese": "Anna likes 咖啡 very much.",
    "no word at all": "… !!!",
    "blank": " \n\t",
    "empty": "",
}


@pytest.mark.parametrize("text", UNREAD.values(), ids=UNREAD.keys())
def test_what_is_not_read_is_flagged(text: str) -> None:
    assert judge(text, text + "!", cosine=1.0).verdict == "flag"
    assert judge(text, text, cosine=1.0).verdict == "flag"


def test_two_languages_are_two_texts() -> None:
    assert judge("The dog is on the road.", "Der Hund ist auf der Straße.", cosine=1.0).reasons == ("language",)


def test_one_word_merges_with_itself_only() -> None:
    assert judge("Berlin", "berlin", cosine=None).verdict == "merge"
    assert judge("Berlin", "Bonn", cosine=1.0).verdict != "merge"


@pytest.mark.parametrize(
    ("share", "verdict"), [(0.0, "merge"), (MOST_UNKNOWN, "merge"), (MOST_UNKNOWN + 0.001, "flag"), (1.0, "flag")]
)
def test_a_text_that_the_model_does_not_know_is_flagged(share: float, verdict: str) -> None:
    assert judge("Anna has 5 dogs.", "Anna has five dogs.", cosine=1.0, unknown_share=share).verdict == verdict


@pytest.mark.parametrize(
    ("right", "share", "said"),
    [
        ("Anna has five dogs.", 0.0, ("merge", ("same meaning",))),
        ("Anna has five dogs.", None, ("flag", ("unread",))),
        ("anna has 5 dogs", None, ("merge", ("same words",))),
        ("Anna has 6 dogs.", None, ("veto", ("number",))),
        ("Anna lives in Rome.", None, ("flag", ("number", "wording"))),
    ],
)
def test_where_nobody_knows_the_share_only_the_same_words_merge(
    right: str, share: float | None, said: tuple[str, tuple[str, ...]]
) -> None:
    found = judge("Anna has 5 dogs.", right, cosine=1.0, unknown_share=share)
    assert (found.verdict, found.reasons) == said
    assert judge("Anna has 5 dogs.", "Anna has five dogs.", cosine=None, unknown_share=share).reasons == ("cosine",)


def test_an_unknown_share_that_is_no_number_is_flagged() -> None:
    assert judge("Anna has a dog.", "Anna has a dog.", cosine=1.0, unknown_share=float("nan")).verdict == "flag"


def test_a_text_as_long_as_allowed_is_read_and_a_longer_one_is_flagged() -> None:
    text = ("Anna has a dog. " * MOST_CHARACTERS)[: MOST_CHARACTERS - 1]
    assert judge(text, text + "!", cosine=1.0).verdict == "merge"
    assert judge(text + "!", text + "!!", cosine=1.0).reasons == ("length",)
