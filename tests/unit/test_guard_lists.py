"""The guard's word lists: each says where it is from, none contradicts itself."""

from __future__ import annotations

from importlib.resources import files

import pytest

import jochi_workers.guard
from jochi_workers.guard import lists
from jochi_workers.guard.lists import LANGUAGES, Language

FILES = sorted(
    (folder.name, file.name.removesuffix(".txt"))
    for folder in (files(jochi_workers.guard) / "words").iterdir()
    for file in folder.iterdir()
)


@pytest.mark.parametrize(("folder", "name"), FILES, ids=["/".join(one) for one in FILES])
def test_every_list_says_where_it_is_from_and_can_be_read(folder: str, name: str) -> None:
    text = (files(jochi_workers.guard) / "words" / folder / f"{name}.txt").read_text(encoding="utf-8")
    head = text.splitlines()[: next(at for at, line in enumerate(text.splitlines()) if not line.startswith("#"))]
    assert any("Source: " in line for line in head)
    assert lists.lines(folder, name)


@pytest.mark.parametrize("language", LANGUAGES)
def test_closed_classes_are_whole(language: Language) -> None:
    months = lists.numbers(language, "months")
    weekdays = lists.numbers(language, "weekdays")
    assert set(months.values()) == set(range(1, 13))
    assert set(weekdays.values()) == set(range(1, 8))
    assert set(range(13)) <= set(lists.numbers(language, "numerals").values())


@pytest.mark.parametrize("language", LANGUAGES)
def test_synonyms_are_no_opposites(language: Language) -> None:
    synonyms, opposites = lists.pairs(language, "synonyms"), lists.opposites(language)
    for word, key in synonyms.items():
        shared = {place for place, _ in opposites.get(word, ())} & {place for place, _ in opposites.get(key, ())}
        colours = {code for _, code in opposites.get(word, ())} == {"colour"}
        assert word == key or not shared or colours, (word, key)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_unit_is_written_in_one_way_for_one_thing_or_says_which(language: Language) -> None:
    exact, _, most = lists.units(language)
    several = {name: keys for name, keys in exact.items() if len(keys) > 3}
    assert not several
    assert most < 8


def test_a_line_without_a_key_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    class File:
        def __truediv__(self, name: str) -> File:
            return self

        def read_text(self, encoding: str) -> str:
            return "# Source: none\nno key here\n"

    monkeypatch.setattr(lists, "files", lambda package: File())
    with pytest.raises(ValueError, match=r"x/y\.txt, line 2: no key"):
        lists.lines("x", "y")
