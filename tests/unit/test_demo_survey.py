"""What a demonstration holds back, and when that expires."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from jochi.demo.run import POLICY, STEPS, step_of
from jochi.demo.source import Source, generated_source
from jochi.demo.survey import EVERY, HELD_BACK, LIVE_FOR, Parts, Survey, can_expire, expiries, look, on_schedule
from jochi.errors import UsageError
from jochi.policy import load_policy
from jochi.write.importing import MemoryRecord, Relationship

NOW = datetime(2026, 5, 1, 12, tzinfo=timezone.utc)
DEMO = load_policy(POLICY).policy


def memory(id: str, age: timedelta, *to: str, kind: str = "MemoryEntry", scope: str = "s", **more: Any) -> MemoryRecord:
    links = tuple(Relationship("PART_OF", scope, other) for other in to)
    return MemoryRecord(kind, id, scope, {"created_at": NOW - age, **more}, links)


def source(*records: MemoryRecord) -> Source:
    return Source("some file", generated=False, records=lambda on_bad: iter(records))


def survey(*records: MemoryRecord) -> Survey:
    return look(source(*records), now=NOW, policy=DEMO)


def test_the_demo_policy_keeps_every_rule_and_rail_of_the_default() -> None:
    default = load_policy().policy
    assert (default.rails, default.limits) == (DEMO.rails, DEMO.limits)
    assert {name: kind.rules for name, kind in default.kinds.items()} == {n: k.rules for n, k in DEMO.kinds.items()}
    assert default.any_kind == DEMO.any_kind
    assert DEMO.jobs["curate_due"].every == EVERY


def test_only_memories_past_the_grace_period_are_held_back() -> None:
    found = survey(memory("young", timedelta(hours=23)), memory("old", timedelta(hours=24)))
    assert list(found.held_back) == ["s/old"]
    assert (found.memories, found.span()) == (2, (NOW - timedelta(hours=24), NOW - timedelta(hours=23)))
    assert sum(found.created.values()) == 1, "the replay gets what is not held back"


@pytest.mark.parametrize("name", ["pinned", "keep_forever", "ttl_policy", "locked_by", "agents", "expires_at"])
def test_what_a_rail_reads_is_not_held_back(name: str) -> None:
    assert can_expire(memory("a", timedelta(days=2)), DEMO)
    assert not can_expire(memory("a", timedelta(days=2), **{name: "x"}), DEMO)


@pytest.mark.parametrize("kind", ["Task", "SessionContext", "Belief", "Reflection", "Agent"])
def test_kinds_with_a_rail_of_their_own_are_not_held_back(kind: str) -> None:
    assert not can_expire(memory("a", timedelta(days=2), kind=kind), DEMO)


def test_every_scope_gives_its_newest_in_equal_parts() -> None:
    many = [memory(f"m{n}", timedelta(days=2, minutes=n), scope="a") for n in range(HELD_BACK)]
    few = [memory(f"m{n}", timedelta(days=900, minutes=n), scope="b") for n in range(HELD_BACK)]
    held = list(survey(*many, *few).held_back)
    assert [key[0] for key in held] == ["b"] * (HELD_BACK // 2) + ["a"] * (HELD_BACK // 2)
    assert held[-1] == "a/m0"


def test_entries_go_before_other_kinds() -> None:
    entry, note = memory("entry", timedelta(days=9)), memory("note", timedelta(days=2), kind="Note")
    assert list(survey(entry, note).held_back) == ["s/entry"]
    assert list(survey(note).held_back) == ["s/note"]


def test_a_file_without_memories_says_what_was_wrong() -> None:
    def records(on_bad: Any) -> Iterator[MemoryRecord]:
        on_bad("f:1: is no JSON object")
        return iter(())

    with pytest.raises(UsageError, match=r"no memories in it; the first of 1 bad lines: f:1: is no JSON object"):
        look(Source("f", generated=False, records=records), now=NOW, policy=DEMO)
    with pytest.raises(UsageError, match="no memories in it"):
        survey()


def test_data_of_which_nothing_can_expire_is_refused() -> None:
    with pytest.raises(UsageError, match="no memory in it could expire"):
        survey(memory("young", timedelta(hours=1)), memory("task", timedelta(days=2), kind="Task"))


@pytest.mark.parametrize("count", [1, 7, 10, 11, 89, 90, 91, 180, 1000])
def test_expiries_are_spread_over_the_live_part(count: int) -> None:
    moments = expiries(count, NOW)
    assert len(moments) == count
    assert moments[0] == NOW
    assert moments == sorted(moments)
    assert moments[-1] < NOW + LIVE_FOR
    near = moments[: min(count, 3 * max(1, count // 90))]
    assert max(near) <= NOW + 3 * EVERY, "three runs have something to do within half a minute"


@pytest.mark.parametrize("count", [90, 91, 180, 1000])
def test_no_ten_seconds_pass_without_an_expiry_when_there_are_enough(count: int) -> None:
    assert set(expiries(count, NOW)) == {NOW + EVERY * n for n in range(90)}


def test_parts_hold_back_and_move_the_relationships_that_lead_there() -> None:
    belief = memory("belief", timedelta(days=2), "turn", "other", kind="Belief")
    turn, other = memory("turn", timedelta(days=2), "other"), memory("other", timedelta(days=3))
    parts = Parts([belief, turn, other], ["s/turn"])
    early = list(parts.early())
    assert [record.id for record in early] == ["belief", "other"]
    assert [link.to_id for link in early[0].relationships] == ["other"]
    late = list(parts.late(NOW))
    assert [record.id for record in late] == ["turn", "belief"]
    assert late[0].properties["expires_at"] == NOW
    assert [link.to_id for link in late[0].relationships] == ["other"]
    assert [link.to_id for link in late[1].relationships] == ["turn"]
    assert "expires_at" not in late[1].properties


def test_the_generated_month_is_the_same_all_day_and_old_enough() -> None:
    def made(now: datetime) -> list[MemoryRecord]:
        return list(generated_source(3, now=now, days=3, size=60).records(lambda _bad: None))

    assert made(NOW) == made(NOW + timedelta(hours=11))
    assert all(record.properties["created_at"] < NOW - timedelta(days=2) for record in made(NOW))
    found = look(generated_source(3, now=NOW), now=NOW, policy=DEMO)
    assert len(found.held_back) == HELD_BACK


@pytest.mark.parametrize(
    ("span", "hours"),
    [(timedelta(0), 6), (timedelta(days=100), 6), (timedelta(days=101), 7), (timedelta(days=720), 44)],
)
def test_long_histories_take_longer_steps(span: timedelta, hours: int) -> None:
    assert step_of(span) == timedelta(hours=hours)
    assert span / step_of(span) <= STEPS


def test_the_live_part_begins_on_the_schedule() -> None:
    assert on_schedule(NOW) == NOW
    assert on_schedule(NOW + timedelta(seconds=19, microseconds=5)) == NOW + timedelta(seconds=10)


def test_a_file_of_generated_memories_is_seen_to_be_one() -> None:
    old = timedelta(days=2)
    assert survey(memory("a", old), memory("b", old, generated=False)).generated == 0
    assert survey(memory("a", old), memory("b", old, generated=True)).generated == 1
