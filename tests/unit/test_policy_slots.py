"""Fixed slots of jobs, as a policy writes them (DESIGN §5)."""

from __future__ import annotations

from pathlib import Path

import pytest

from jochi.errors import UsageError
from jochi.policy import load_policy
from jochi.policy.load import stored_policy
from jochi.policy.schedule import FixedSlot, parse_fixed_slot

EVERY_DAY = (1, 2, 3, 4, 5, 6, 7)
HEAD = '[policy]\nname = "mine"\nextends = "default"\ntime_zone = "Europe/Berlin"\n'


@pytest.mark.parametrize(
    ("text", "slot"),
    [
        ("daily at 03:00", FixedSlot(EVERY_DAY, 3, 0)),
        ("03:00", FixedSlot(EVERY_DAY, 3, 0)),
        ("Sunday 02:00", FixedSlot((7,), 2, 0)),
        ("Sun at 2:05", FixedSlot((7,), 2, 5)),
        ("thu, mon at 23:59", FixedSlot((1, 4), 23, 59)),
        (" Saturday,SUN at 00:00 ", FixedSlot((6, 7), 0, 0)),
    ],
)
def test_a_slot_is_read_as_it_is_meant(text: str, slot: FixedSlot) -> None:
    assert parse_fixed_slot(text) == slot
    assert parse_fixed_slot(str(slot)) == slot


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("24:00", "no 24:00"),
        ("03:60", "no 03:60"),
        ("Funday 03:00", "'Funday' is no day"),
        ("S 03:00", "'S' is no day"),
        ("Mon, 03:00", "'' is no day"),
        ("daily", "a slot is written like"),
        ("at", "a slot is written like"),
        (3, "a slot is written like"),
    ],
)
def test_what_is_no_slot_is_said(value: object, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        parse_fixed_slot(value)


def written(folder: Path, text: str) -> Path:
    path = folder / "policy.toml"
    path.write_text(HEAD + text, encoding="utf-8")
    return path


def test_a_slot_takes_the_place_of_the_shipped_interval(tmp_path: Path) -> None:
    loaded = load_policy(written(tmp_path, '[jobs.purge_tombstones]\nat = "Sunday at 02:00"\n'))
    job = loaded.policy.jobs["purge_tombstones"]
    assert (job.every, job.at) == (None, FixedSlot((7,), 2, 0))
    assert stored_policy(loaded.canonical).policy == loaded.policy


def test_both_or_neither_is_refused_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"policy\.toml:5: jobs\.prune_runs: a job has either every"):
        load_policy(written(tmp_path, '[jobs.prune_runs]\nevery = "1h"\nat = "03:00"\n'))
    with pytest.raises(UsageError, match=r"policy\.toml:6: jobs\.prune_runs\.at: .*no day of the week"):
        load_policy(written(tmp_path, '[jobs.prune_runs]\nat = "Funday 03:00"\n'))
