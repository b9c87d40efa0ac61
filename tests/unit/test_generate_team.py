"""The generated team: the same for the same arguments, all kinds, every reference inside, importable."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections import Counter
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from jochi import generate
from jochi.errors import UsageError
from jochi.generate.texts import AGENTS
from jochi.write.importing import MemoryRecord, records

END = datetime(2026, 3, 2, 15, 30, tzinfo=timezone.utc)


@pytest.fixture(scope="module")
def month() -> list[MemoryRecord]:
    return list(generate.team(end=END))


def digest(made: list[MemoryRecord]) -> str:
    plain = [dataclasses.asdict(record) for record in made]
    return hashlib.sha256(json.dumps(plain, default=str, sort_keys=True).encode()).hexdigest()


@pytest.mark.exhaustive
def test_the_same_arguments_make_the_same_memories(month: list[MemoryRecord]) -> None:
    assert digest(list(generate.team(7, end=END))) == digest(month)
    assert digest(list(generate.team(8, end=END))) != digest(month)


def test_about_six_thousand_of_all_ten_kinds(month: list[MemoryRecord]) -> None:
    assert 5_400 < len(month) < 6_600
    counts = Counter(record.kind for record in month)
    team = "Belief Reflection Analysis Synthesis Recommendation Task Notification SessionContext MemoryEntry CompressedContext"
    assert set(counts) == set(team.split()), "what seed 000 has a team write"
    assert min(counts.values()) > 30
    assert {record.properties["author"] for record in month} == set(AGENTS)


@pytest.mark.parametrize(("days", "agents", "size"), [(30, 6, 1_000), (3, 2, 400), (120, 6, 12_000)])
def test_size_is_kept_to_whatever_the_days(days: int, agents: int, size: int) -> None:
    made = list(generate.team(end=END, days=days, agents=agents, size=size))
    assert size * 0.7 < len(made) - 30 < size * 1.35
    assert len({record.properties["author"] for record in made}) == agents


def test_all_is_marked_and_lies_in_the_month(month: list[MemoryRecord]) -> None:
    start = END - timedelta(days=30)
    for record in month:
        assert record.properties["generated"] is True
        assert start <= record.properties["created_at"] < END
        for name, value in record.properties.items():
            if isinstance(value, datetime) and name != "expires_at":
                assert record.properties["created_at"] <= value <= END, (record, name)
    assert [r.properties["created_at"] for r in month] == sorted(r.properties["created_at"] for r in month)


def test_relationships_lead_back_in_time_to_memories_of_the_team(month: list[MemoryRecord]) -> None:
    by_key = {record.key: record for record in month}
    assert len(by_key) == len(month)
    types = Counter()
    for record in month:
        for link in record.relationships:
            types[link.type] += 1
            assert by_key[link.to_key].properties["created_at"] <= record.properties["created_at"]
    assert set(types) == {"PART_OF", "EVIDENCE", "LEARNED_FROM"}


def test_a_working_day_has_a_rhythm(month: list[MemoryRecord]) -> None:
    hours = Counter(record.properties["created_at"].hour for record in month)
    days = Counter(record.properties["created_at"].weekday() for record in month)
    assert hours[9] > 5 * hours[3]
    assert days[2] > 1.5 * days[6]


def test_every_state_that_a_rule_reads_is_there(month: list[MemoryRecord]) -> None:
    seen = {
        (r.kind, name, value) for r in month for name, value in r.properties.items() if isinstance(value, str | bool)
    }
    for wanted in [
        ("Notification", "read", False),
        ("Notification", "read", True),
        ("Notification", "priority", "critical"),
        ("Notification", "pinned", True),
        ("SessionContext", "active", True),
        ("SessionContext", "active", False),
        *(("Task", "status", status) for status in ("pending", "in_progress", "blocked", "completed", "failed")),
        ("Belief", "state", "active"),
        ("Belief", "state", "archived"),
        ("Reflection", "consolidated", True),
        ("Reflection", "consolidated", False),
        *(("Analysis", "severity", severity) for severity in ("info", "low", "medium", "high", "critical")),
        *(("CompressedContext", "compression_level", level) for level in ("full", "summary", "keywords")),
    ]:
        assert wanted in seen
    names = {name for record in month for name in record.properties}
    assert {"expires_at", "locked_by", "locked_at", "agents", "last_accessed_at", "access_count_7d"} <= names
    assert any(len(record.properties.get("agents", ())) >= 4 for record in month)


def test_a_written_file_reads_back_as_it_was(month: list[MemoryRecord], tmp_path: Path) -> None:
    path = tmp_path / "team.jsonl"
    assert generate.write_jsonl(path, month) == len(month)
    back = [dataclasses.replace(record, place=None) for record in records(path, now=END)]
    assert back == month


def test_wrong_arguments_are_usage_errors() -> None:
    for wrong in ({"end": END.replace(tzinfo=None)}, {"end": END, "agents": 7}, {"end": END, "days": 0}):
        with pytest.raises(UsageError):
            list(generate.team(**wrong))
