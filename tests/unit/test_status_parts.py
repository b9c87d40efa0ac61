"""What `status` says of waiting and pausing, without a server."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

from jochi.jobs.results import JobState
from jochi.operate.waiting import switches, waiting

NOW = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)


def job(name: str, **changed: Any) -> JobState:
    """A job, but for ``changed`` in good health."""
    values: dict[str, Any] = dict.fromkeys(JobState.__dataclass_fields__) | {
        "name": name,
        "every": timedelta(minutes=1),
        "destructive": False,
        "enabled": True,
        "failures": 0,
    }
    return JobState(**{**values, **changed})


JOBS = [job("prune", destructive=True), job("tidy")]


def test_nothing_waits_when_somebody_said_go() -> None:
    assert waiting({"applied_at": NOW, "guard": None}, JOBS) == []


def test_both_can_be_waited_for() -> None:
    found = waiting({"applied_at": None, "guard": "the clock went back", "guard_at": NOW}, JOBS)
    assert [(entry.verb, entry.jobs) for entry in found] == [("apply", ["prune"]), ("approve", ["prune"])]
    assert (found[1].why, found[1].since) == ("the clock went back", NOW)


def test_switches_name_the_way_back() -> None:
    pauses = [{"what": "scope", "name": "a b", "since": NOW, "by": "ann"}, {"what": "kind", "name": "Task"}]
    jobs = [job("tidy", paused_at=NOW, paused_by="bob"), job("prune")]
    found = switches({"enabled": False, "paused_at": NOW, "paused_by": "eve"}, jobs, pauses)
    assert [entry.resume for entry in found] == [
        "jochi resume --all",
        "jochi resume --kind Task",
        "jochi resume --scope 'a b'",
        "jochi jobs resume tidy",
    ]
    assert [entry.by for entry in found] == ["eve", None, "ann", "bob"]
    assert switches({"enabled": True}, [job("tidy")], []) == []
