"""The policy's `[slots]`: what it refuses, and what it means."""

from __future__ import annotations

from pathlib import Path

import pytest

from jochi.errors import UsageError
from jochi.policy import LoadedPolicy, load_policy
from jochi.text.slot_names import attribute_mark


def with_slots(folder: Path, slots: str, more: str = "") -> LoadedPolicy:
    file = folder / "policy.toml"
    file.write_text(f'[policy]\nname = "p"\nextends = "default"\n[slots]\n{slots}\n{more}')
    return load_policy(file)


@pytest.mark.parametrize(
    ("slots", "told"),
    [
        ('many = [" \\t"]', "blank"),
        ('many = ["Hobby", " hobby"]', "twice: hobby"),
        ('kinds = ["Fact", "Task"]', "status of Task"),
        ('kinds = ["no label"]', "kinds"),
        ("longest = 3", "no such key"),
    ],
)
def test_what_is_refused(tmp_path: Path, slots: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        with_slots(tmp_path, slots)


def test_attributes_are_named_in_any_spelling(tmp_path: Path) -> None:
    policy = with_slots(tmp_path, 'many = ["  Home  Phone "]').policy
    assert policy.many_marks() == [attribute_mark("home phone")]
    assert policy.slot_labels() == ["Fact"]
    assert with_slots(tmp_path, 'kinds = ["Fact", "Nowhere"]').policy.slot_labels() == ["Fact"]
