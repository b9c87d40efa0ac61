"""LoCoMo as input, on a small file of the same shape with text of its own."""

from __future__ import annotations

import json
import os
from collections import Counter
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from jochi.errors import UsageError
from jochi.write.importing import BadLine, MemoryRecord, records
from jochi.write.importing.locomo import session_date, turn_ids

NOW = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)
FIRST = datetime(2024, 6, 2, 21, 5, tzinfo=timezone.utc)


def sample() -> dict[str, Any]:
    return {
        "sample_id": "pair-1",
        "qa": [],
        "conversation": {
            "speaker_a": "Ines",
            "speaker_b": "Tarik",
            "session_1_date_time": "9:05 pm on 2 June, 2024",
            "session_1": [
                {"speaker": "Ines", "dia_id": "D1:1", "text": "The boat has a new sail."},
                {"speaker": "Tarik", "dia_id": "D1:2", "text": "Show me!", "blip_caption": "a red sail"},
            ],
            "session_2_date_time": "12:00 am on 10 June, 2024",
            "session_2": [{"speaker": "Tarik", "dia_id": "D2:1", "text": "", "blip_caption": "a harbour"}],
            "session_3_date_time": "8:00 am on 11 June, 2024",
        },
        "observation": {
            "session_1_observation": {
                "Ines": [["Ines owns a boat.", "D1:1"], ["Ines sails.", ["D1:1; D1:2", "D9:9"]]],
                "Tarik": [["Tarik is curious.", None]],
            }
        },
    }


def read(tmp_path: Path, data: object) -> tuple[dict[str, MemoryRecord], list[BadLine], Counter[str]]:
    path = tmp_path / "talks.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    bad: list[BadLine] = []
    notes: Counter[str] = Counter()
    found = {r.key: r for r in records(path, now=NOW, on_bad=bad.append, on_note=lambda note: notes.update((note,)))}
    return found, bad, notes


def links(record: MemoryRecord) -> list[tuple[str, str]]:
    return [(link.type, link.to_key) for link in record.relationships]


def test_sessions_turns_and_observations_are_mapped(tmp_path: Path) -> None:
    found, bad, notes = read(tmp_path, [sample()])
    assert bad == []
    assert Counter(record.kind for record in found.values()) == {
        "SessionContext": 2,
        "CompressedContext": 2,
        "MemoryEntry": 3,
        "Belief": 3,
    }
    session = found["pair-1/session_1"]
    assert session.properties["active"] is False
    assert session.properties["last_active_at"] == session.properties["created_at"] == FIRST
    full = found["pair-1/session_1.full"]
    assert full.properties["compression_level"] == "full"
    assert full.properties["content"] == "Ines: The boat has a new sail.\nTarik: Show me! [shared image: a red sail]"
    assert links(full) == [("PART_OF", "pair-1/session_1")]
    turn = found["pair-1/D1:2"]
    assert turn.properties["created_at"] == FIRST + timedelta(seconds=1)
    assert turn.properties["speaker"] == "Tarik"
    assert links(turn) == [("PART_OF", "pair-1/session_1")]
    assert found["pair-1/D2:1"].properties["content"] == "[shared image: a harbour]"
    belief = found["pair-1/obs_1_2"]
    assert {name: belief.properties[name] for name in ("state", "confidence", "subject", "created_at")} == {
        "state": "active",
        "confidence": 0.8,
        "subject": "Ines",
        "created_at": FIRST,
    }
    assert links(belief) == [("EVIDENCE", "pair-1/D1:1"), ("EVIDENCE", "pair-1/D1:2")]
    assert links(found["pair-1/obs_1_3"]) == []
    assert notes == {
        "evidence to turns that the sample doesn't have": 1,
        "observations whose evidence names no turn": 1,
    }


def test_a_bad_session_is_reported_and_the_others_go_in(tmp_path: Path) -> None:
    data = sample()
    data["conversation"]["session_1_date_time"] = "2 June 2024"
    data["conversation"]["session_2"].append({"speaker": "Ines"})
    found, bad, _ = read(tmp_path, [data])
    assert set(found) == {"pair-1/session_2", "pair-1/session_2.full", "pair-1/D2:1"}
    told = "\n".join(item.reason for item in bad)
    assert "sample 'pair-1' session_1: its date '2 June 2024'" in told
    assert "session_2 turn 2: dia_id is missing" in told
    assert "session_1_observation: its session is missing" in told
    assert {item.line for item in bad} == {None}


def test_a_sample_twice_and_a_scope_with_a_slash_are_reported(tmp_path: Path) -> None:
    slash = sample() | {"sample_id": "a/b"}
    found, bad, _ = read(tmp_path, [sample(), sample(), slash])
    assert len(found) == 10
    assert "used before" in bad[0].reason
    assert all("must not hold '/'" in item.reason for item in bad[1:])


@pytest.mark.parametrize("data", [[{"conversation": {}}], [{"sample_id": "x"}], [1]])
def test_an_array_of_something_else_is_a_usage_error(tmp_path: Path, data: object) -> None:
    with pytest.raises(UsageError, match="isn't LoCoMo"):
        read(tmp_path, data)


@pytest.mark.parametrize(
    ("evidence", "ids"),
    [
        ("D1:3", ["D1:3"]),
        ("D1:3; D1:4, D1:3", ["D1:3", "D1:4"]),
        (["D1:3", "D2:1 D2:2"], ["D1:3", "D2:1", "D2:2"]),
        ("D", []),
        (None, []),
        (7, []),
    ],
)
def test_evidence_is_read_leniently(evidence: object, ids: list[str]) -> None:
    assert turn_ids(evidence) == ids


def test_session_dates_are_utc() -> None:
    assert session_date("1:56 pm on 8 May, 2023") == datetime(2023, 5, 8, 13, 56, tzinfo=timezone.utc)
    assert session_date("12:09 am on 13 September, 2023").hour == 0
    for wrong in ("yesterday", None, "13:56 pm on 8 May, 2023"):
        with pytest.raises(ValueError, match="its date"):
            session_date(wrong)


def test_the_real_file(tmp_path: Path) -> None:
    path = Path(os.environ.get("JOCHI_LOCOMO", Path(__file__).parents[3] / "shared/data/locomo/locomo10.json"))
    if not path.is_file():
        pytest.skip(f"no LoCoMo file at {path}: set JOCHI_LOCOMO to its path")
    bad: list[BadLine] = []
    found = list(records(path, now=NOW, on_bad=bad.append))
    assert bad == []
    assert Counter(record.kind for record in found) == {
        "SessionContext": 272,
        "CompressedContext": 272,
        "MemoryEntry": 5_882,
        "Belief": 2_541,
    }
    keys = {record.key for record in found}
    assert len(keys) == len(found)
    assert all(link.to_key in keys for record in found for link in record.relationships)
    assert all(record.relationships for record in found if record.kind == "Belief")
