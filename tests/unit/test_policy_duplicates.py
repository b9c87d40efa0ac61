"""`[duplicates]` of the policy: what it may say, and what of it asks for a go."""

from __future__ import annotations

from pathlib import Path

import pytest

from jochi.errors import UsageError
from jochi.policy import LoadedPolicy, load_policy

HEAD = '[policy]\nname = "mine"\nextends = "default"\n[duplicates]\n'


def told(folder: Path, text: str) -> LoadedPolicy:
    path = folder / "policy.toml"
    path.write_text(HEAD + text + "\n", encoding="utf-8")
    return load_policy(path)


def test_the_shipped_thresholds() -> None:
    shipped = load_policy().policy.duplicates
    assert (shipped.flag, shipped.merge, shipped.most) == (0.85, 0.95, 10)
    assert set(shipped.kinds) >= {"Reflection", "Belief", "MemoryEntry"}
    assert not {"Task", "Notification", "SessionContext", "Person", "Source"} & set(shipped.kinds)
    assert all(of == {"flag": 0.85, "merge": 0.95} for of in shipped.thresholds().values())


def test_a_kind_has_thresholds_of_its_own(tmp_path: Path) -> None:
    kinds = '[{ kind = "Fact", merge = 0.98 }, { kind = "Ours", flag = 0.5 }, { kind = "None" }]'
    text = f'kinds = ["Fact", "Belief", "Ours"]\nby_kind = {kinds}'
    assert told(tmp_path, text).policy.duplicates.thresholds() == {
        "Fact": {"flag": 0.85, "merge": 0.98},
        "Belief": {"flag": 0.85, "merge": 0.95},
        "Ours": {"flag": 0.5, "merge": 0.95},
    }
    assert told(tmp_path, "flag = 0.95").policy.duplicates.thresholds()["Fact"] == {"flag": 0.95, "merge": 0.95}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("flag = 0.96", "below flag"),
        ("merge = 0.84", "below flag"),
        ('by_kind = [{ kind = "Fact", merge = 0.8 }]', "Fact: merge"),
        ('by_kind = [{ kind = "Fact" }, { kind = "Fact" }]', "twice"),
        ('kinds = ["Fact", "Fact"]', "twice"),
        ('kinds = ["a b"]', "kinds"),
        ("flag = 0", "flag"),
        ("merge = 1.01", "merge"),
        ("merge = nan", "merge"),
        ("most = 1", "most"),
        ("flags = 0", "flags"),
        ('again = "0s"', "again"),
        ("nothing = 1", "there is no such key"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        told(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("merging = false", True),
        ("merge = 0.94", True),
        ("most = 11", True),
        ('kinds = ["Belief"]', True),
        ('by_kind = [{ kind = "Fact", merge = 0.98 }]', True),
        ("flag = 0.8", False),
        ("neighbours = 10", False),
    ],
)
def test_what_lets_other_memories_merge_asks_for_a_go(tmp_path: Path, text: str, asks: bool) -> None:
    assert (told(tmp_path, text).verdict_sha256 != told(tmp_path, "").verdict_sha256) is asks
