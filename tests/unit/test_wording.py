"""What a request means in languages that no parser reads, and what it doesn't (docs/reference/forgetting.md, In other words)."""

from __future__ import annotations

import pytest

from jochi.forgetting.candidates import Candidate, Memory, rank_candidates, unambiguous
from jochi.forgetting.statements import in_place_of, remove_statement
from jochi.forgetting.wording import denies
from jochi.policy import load_policy

_SURE = load_policy().policy.forgetting


def _meant(about: str, *texts: str, new: str | None = None) -> list[Candidate]:
    memories = [Memory(f"s/{n}", "MemoryEntry", text) for n, text in enumerate(texts)]
    return unambiguous(rank_candidates(about, memories, new=new), _SURE)


@pytest.mark.parametrize(
    ("about", "text", "near"),
    [
        # Denied or not, another name, another thing, somebody's somebody.
        ("что Олег Рябов не ест рыбу", "Олег Рябов рыбы не ест.", ("Олег Рябов ест рыбу.", "Олег Рябин рыбы не ест.",
         "Олег Рябов не ест мясо.", "Брат Олега Рябова рыбы не ест.")),
        ("ότι ο Νίκος Δούκας δεν οδηγεί", "Ο Νίκος Δούκας δεν οδηγεί.", ("Ο Νίκος Δούκας οδηγεί.",
         "Ο Νίκος Δουκάκης δεν οδηγεί.", "Η αδελφή του Νίκου Δούκα δεν οδηγεί.")),
        ("أن سعيد النجار لا يملك سيارة", "ليس لدى سعيد النجار سيارة.", ("لدى سعيد النجار سيارة.",
         "ليس لدى سعيد البحار سيارة.", "ليس لدى سعيد النجار دراجة.", "ليس لدى أخت سعيد النجار سيارة.")),
        ("שאין לדוד כרמל רכב", "לדוד כרמל אין רכב.", ("לדוד כרמל יש רכב.", "לדוד כספי אין רכב.", "לאחותו של דוד כרמל אין רכב.")),
        # A denial of less, and a word that goes on.
        ("安娜不吃肉", "安娜不吃肉。", ("安娜不吃肉松。", "安娜只吃肉。")),
        ("アンナが肉を食べないこと", "アンナは肉を食べない。", ("アンナは肉まんを食べない。",)),
        ("ότι η Άννα Λύκου δεν τρώει κρέας", "Η Άννα Λύκου δεν τρώει κρέας.", ("Η Άννα Λύκου δεν τρώει ωμό κρέας.",)),
        ("王小不会游泳这件事", "王小不会游泳。", ("王小会游泳。", "王小明不会游泳。", "王小的弟弟不会游泳。")),
        ("高橋さんが泳げないこと", "高橋さんは泳げない。", ("高橋さんは泳げる。", "大高橋さんは泳げない。",
         "高橋さんの弟は泳げない。")),
    ],
)  # fmt: skip
def test_who_asks_for_what_is_so_means_nothing_else(about: str, text: str, near: tuple[str, ...]) -> None:
    assert [one.key for one in _meant(about, *near, text)] == [f"s/{len(near)}"]
    assert not _meant(about, *near)
    for each in near:
        assert not _meant(about, each), each


@pytest.mark.parametrize(
    ("about", "text", "rest"),
    [
        ("что Олег играет на скрипке", "Олег живёт в Омске, играет на скрипке и ловит рыбу.", "Олег живёт в Омске и ловит рыбу."),
        ("que Inés toca el violín", "Inés vive en Lugo, toca el violín y cría gatos.", "Inés vive en Lugo y cría gatos."),
        ("שדנה מנגנת בכינור", "דנה גרה בלוד, מנגנת בכינור ועובדת בבנק.", "דנה גרה בלוד ועובדת בבנק."),
        # What is left would lack its subject; a list; nobody knows what belongs to whom.
        ("что Олег живёт в Омске", "Олег живёт в Омске, играет на скрипке и ловит рыбу.", None),
        ("что Олег любит чай", "Олег любит чай и кофе.", None),
        ("что Олег живёт в Омске", "Олег живёт в Омске, дом 12, квартира 4.", None),
    ],
)  # fmt: skip
def test_a_clause_is_taken_out_where_the_rest_says_the_rest(about: str, text: str, rest: str | None) -> None:
    found = _meant(about, text)
    left = remove_statement(text, found[0].parsed) if found and found[0].parsed and found[0].statement else None
    assert left == rest


def test_what_changes_is_told_by_the_request_and_the_new_statement_together() -> None:
    old, new = "闻小白的户口所在地", "闻小白的户口已经迁到湖州。"
    text = "闻小白的户口在绍兴，妹妹在宁波。"
    [found] = _meant(old, text, "闻小白的奶奶住在绍兴。", "闻小月的户口在绍兴。", new=new)
    assert (found.key, found.statement) == ("s/0", "闻小白的户口在绍兴")
    assert found.parsed is not None
    # The clause that has the subject gives way to the new one, which has it too.
    assert in_place_of(text, found.parsed, new) == f"{new} 妹妹在宁波。"
    assert not _meant(old, "闻小白的奶奶住在绍兴。", "闻小白住在绍兴。", new=new)
    assert not _meant(old, text)
    assert not _meant(old, text, new="闻小月的户口已经迁到湖州。")


@pytest.mark.parametrize(
    "text",
    ["Ivo n'a pas d'auto", "Ivo no tiene coche", "Ivo hat kein Auto", "у Иво нет машины", "Иво няма кола",
     "ο Ίβο δεν έχει αμάξι", "לאיבו אין רכב", "ليس لدى إيفو سيارة", "伊沃没有车", "イボは車を持っていない", "이보는 차가 없다"],
)  # fmt: skip
def test_denials_are_read(text: str) -> None:
    assert denies(text)
