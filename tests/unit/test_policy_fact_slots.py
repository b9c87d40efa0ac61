"""The policy's `[slots]`: what it refuses, and policies from before it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jochi.errors import UsageError
from jochi.policy import LoadedPolicy, load_policy, stored_policy
from jochi.slot_names import attribute_mark


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


def test_a_policy_from_before_gets_them_with_their_jobs() -> None:
    shipped = load_policy()
    old = json.loads(shipped.canonical)
    del old["slots"], old["jobs"]["settle_slots"], old["jobs"]["requeue_slots"]
    brought_up = stored_policy(json.dumps(old))
    assert brought_up.policy.slots == shipped.policy.slots
    assert brought_up.policy.jobs == shipped.policy.jobs
    assert brought_up.verdict_sha256 == shipped.verdict_sha256
    del old["kinds"]["Fact"]
    assert stored_policy(json.dumps(old)).policy.slot_labels() == []
