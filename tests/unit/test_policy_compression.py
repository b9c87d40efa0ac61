"""`[compression]`: what fits together, and what asks for a go."""

from __future__ import annotations

from pathlib import Path

import pytest

from jochi.errors import UsageError
from jochi.policy import load_policy


def said(tmp_path: Path, table: str) -> Path:
    file = tmp_path / "policy.toml"
    file.write_text(f"[policy]\nname = 'p'\nextends = 'default'\n[compression]\n{table}\n", encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ("price_in = 3.0", "go together"),
        ("day_money = 3.0", "needs price_in"),
        ("share = 1.0", "less than 1"),
        ("share = 0.0", "greater than 0"),
        ("above = 0", "greater than or equal to 1"),
        ("per_cycle = 0", "greater than or equal to 1"),
        ("price_in = -1.0\nprice_out = 1.0", "greater than or equal to 0"),
        ("kinds = ['Note', 'Note']", "twice"),
        ("key = 'sk-1'", "no such key"),
    ],
)
def test_what_is_refused(tmp_path: Path, table: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        load_policy(said(tmp_path, table))


def test_money(tmp_path: Path) -> None:
    policy = load_policy(said(tmp_path, "price_in = 3.0\nprice_out = 15.0\nday_money = 1.5")).policy.compression
    assert (policy.price_in, policy.price_out, policy.day_money, policy.cycle_money) == (3.0, 15.0, 1.5, None)


def test_what_it_may_cost_asks_for_no_new_go(tmp_path: Path) -> None:
    dearer = load_policy(said(tmp_path, "per_day = 7\nday_tokens = 5"))
    shorter = load_policy(said(tmp_path, "share = 0.4"))
    shipped = load_policy()
    assert dearer.policy.verdict_parts() == shipped.policy.verdict_parts() != shorter.policy.verdict_parts()


def test_where_it_is_off_nothing_of_it_decides(tmp_path: Path) -> None:
    off = [load_policy(said(tmp_path, f"compressing = false\nshare = {share}")).verdict_sha256 for share in (0.4, 0.5)]
    assert off[0] == off[1] != load_policy().verdict_sha256
