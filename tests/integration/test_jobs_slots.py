"""Jobs with a fixed slot start at that time of day in the policy's zone, also over a change of the clocks (DESIGN §5)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time, timedelta, timezone
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jochi import Jochi
from jochi.compile.rendering import render_statement
from jochi.database.database import in_one_map
from jochi.graph.driver_values import to_python
from jochi.policy import LoadedPolicy, load_policy
from jochi.policy.schedule import FixedSlot

pytestmark = pytest.mark.server

UTC = timezone.utc
BERLIN = "Europe/Berlin"
EVERY_DAY = (1, 2, 3, 4, 5, 6, 7)
InstallOnce = Callable[[LoadedPolicy], Jochi]


def next_start(slot: FixedSlot, zone: str, clock: datetime) -> datetime:
    """The oracle: the first such time after ``clock``; one that summer time leaves out comes as much later."""
    day = clock.astimezone(ZoneInfo(zone)).date() - timedelta(days=1)
    while True:
        if day.isoweekday() in slot.days:
            local = datetime.combine(day, time(slot.hour, slot.minute), ZoneInfo(zone))
            start = local.astimezone(UTC)
            if start > clock:
                return start
        day += timedelta(days=1)


@pytest.fixture
def slotted(install_once: InstallOnce, tmp_path: Path) -> Jochi:
    path = tmp_path / "policy.toml"
    path.write_text(
        f'[policy]\nname = "slots"\nextends = "default"\ntime_zone = "{BERLIN}"\n'
        '[jobs.prune_runs]\nat = "daily at 03:00"\n[jobs.curate_due]\nevery = "1h"\n',
        encoding="utf-8",
    )
    return install_once(load_policy(path))


def job(client: Jochi, name: str = "prune_runs") -> dict[str, Any]:
    node = client.database.run("MATCH (j:JochiJob {name: $name}) RETURN properties(j) AS j", {"name": name})[0]["j"]
    return {key: to_python(value) for key, value in node.items()}


def start_set_at(client: Jochi, slot: FixedSlot, zone: str, clock: datetime) -> datetime:
    client.database.run(
        "MATCH (j:JochiJob {name: 'prune_runs'}) SET j.slot_start = null, j.slot_days = $days, j.slot_hour = $hour, "
        "j.slot_minute = $minute, j.slot_zone = $zone",
        {"days": list(slot.days), "hour": slot.hour, "minute": slot.minute, "zone": zone},
    )
    text = render_statement("_jobs/start_slots", client.policy.policy)
    assert client.database.run(text, in_one_map({"clock": clock})) == [{"jobs": 1}]
    start = job(client)["next_start"]
    assert isinstance(start, datetime)
    return start


@pytest.mark.parametrize(
    ("slot", "clock", "start"),
    [
        (
            FixedSlot(EVERY_DAY, 3, 0),
            datetime(2026, 1, 10, 1, 59, 59, tzinfo=UTC),
            datetime(2026, 1, 10, 2, tzinfo=UTC),
        ),
        (FixedSlot(EVERY_DAY, 3, 0), datetime(2026, 1, 10, 2, tzinfo=UTC), datetime(2026, 1, 11, 2, tzinfo=UTC)),
        (FixedSlot(EVERY_DAY, 3, 0), datetime(2026, 7, 10, 2, tzinfo=UTC), datetime(2026, 7, 11, 1, tzinfo=UTC)),
        # 29 March 2026: 02:30 doesn't exist; 25 October: it comes twice and counts once.
        (FixedSlot(EVERY_DAY, 2, 30), datetime(2026, 3, 28, 12, tzinfo=UTC), datetime(2026, 3, 29, 1, 30, tzinfo=UTC)),
        (
            FixedSlot(EVERY_DAY, 2, 30),
            datetime(2026, 3, 29, 1, 30, tzinfo=UTC),
            datetime(2026, 3, 30, 0, 30, tzinfo=UTC),
        ),
        (
            FixedSlot(EVERY_DAY, 2, 30),
            datetime(2026, 10, 24, 12, tzinfo=UTC),
            datetime(2026, 10, 25, 0, 30, tzinfo=UTC),
        ),
        (
            FixedSlot(EVERY_DAY, 2, 30),
            datetime(2026, 10, 25, 0, 30, tzinfo=UTC),
            datetime(2026, 10, 26, 1, 30, tzinfo=UTC),
        ),
        (FixedSlot((7,), 2, 0), datetime(2026, 11, 22, 1, tzinfo=UTC), datetime(2026, 11, 29, 1, tzinfo=UTC)),
    ],
)
def test_the_next_start_of_a_slot(slotted: Jochi, slot: FixedSlot, clock: datetime, start: datetime) -> None:
    assert next_start(slot, BERLIN, clock) == start  # the oracle agrees with what is written here
    assert start_set_at(slotted, slot, BERLIN, clock) == start


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    days=st.sets(st.integers(1, 7), min_size=1),
    hour=st.integers(0, 23),
    minute=st.integers(0, 59),
    zone=st.sampled_from(["UTC", BERLIN, "America/New_York", "Asia/Kathmandu", "Pacific/Apia", "Australia/Lord_Howe"]),
    clock=st.datetimes(datetime(2020, 1, 1), datetime(2035, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001
)
@pytest.mark.exhaustive
def test_any_slot_in_any_zone(
    slotted: Jochi, days: set[int], hour: int, minute: int, zone: str, clock: datetime
) -> None:
    slot = FixedSlot(tuple(sorted(days)), hour, minute)
    assert start_set_at(slotted, slot, zone, clock) == next_start(slot, zone, clock)


def test_a_fresh_slot_waits_for_its_time_and_a_run_brings_the_next_day(slotted: Jochi) -> None:
    slotted.database.run("MATCH (j:JochiJob {name: 'prune_runs'}) DELETE j")
    slotted.install(arm=False)
    before = job(slotted)
    now = datetime.now(UTC)
    slot = FixedSlot(EVERY_DAY, 3, 0)
    assert before["next_start"] == next_start(slot, BERLIN, now)
    assert (before.get("every_s"), before["slot_zone"]) == (None, BERLIN)
    shown = {state.name: state for state in slotted.jobs()}
    assert (shown["prune_runs"].every, shown["prune_runs"].slot) == (None, f"daily at 03:00 {BERLIN}")
    assert (shown["curate_due"].every, shown["curate_due"].slot) == (timedelta(hours=1), None)
    # Run before its time from outside: the slot stays.
    slotted.run("prune_runs")
    assert job(slotted)["next_start"] == before["next_start"]
    # Missed, because the server was down: it is due at once, then its slot comes round again.
    missed = now - timedelta(days=3)
    slotted.database.run("MATCH (j:JochiJob {name: 'prune_runs'}) SET j.next_start = $missed", {"missed": missed})
    slotted.run("prune_runs")
    assert job(slotted)["next_start"] == next_start(slot, BERLIN, now)


def test_an_install_moves_only_a_changed_slot(slotted: Jochi, tmp_path: Path) -> None:
    tomorrow = date.today() + timedelta(days=5)  # noqa: DTZ011
    moved = datetime.combine(tomorrow, time(1, 2), UTC)
    slotted.database.run("MATCH (j:JochiJob {name: 'prune_runs'}) SET j.next_start = $moved", {"moved": moved})
    slotted.install(arm=False)
    assert job(slotted)["next_start"] == moved
    other = tmp_path / "other.toml"
    text = (tmp_path / "policy.toml").read_text(encoding="utf-8").replace("daily at 03:00", "Mon at 04:00")
    other.write_text(text, encoding="utf-8")
    client = Jochi(slotted.database.driver, policy=load_policy(other))
    client.install(arm=False)
    assert job(client)["next_start"] == next_start(FixedSlot((1,), 4, 0), BERLIN, datetime.now(UTC))
    other.write_text(text.replace('at = "Mon at 04:00"', 'every = "2h"'), encoding="utf-8")
    client = Jochi(slotted.database.driver, policy=load_policy(other))
    client.install(arm=False)
    assert job(client).get("slot_days") is None
    assert job(client)["next_start"] <= datetime.now(UTC) + timedelta(hours=2)
    slotted.install(arm=False)  # what the fixture keeps for the next test


def test_a_clock_that_went_back_brings_the_slot_forward(slotted: Jochi) -> None:
    clock = datetime(2026, 5, 1, 12, tzinfo=UTC)
    slotted.database.run(
        "MATCH (p:JochiPump) SET p.last_tick = $later WITH count(*) AS n MATCH (j:JochiJob) SET j.next_start = $start",
        {"later": clock + timedelta(days=30), "start": clock + timedelta(days=30)},
    )
    slotted.engine.call("scheduler/tick", {"clock": clock, "pump": slotted.engine.pump})
    assert job(slotted)["next_start"] == next_start(FixedSlot(EVERY_DAY, 3, 0), BERLIN, clock)
    assert job(slotted, "curate_due")["next_start"] == clock
