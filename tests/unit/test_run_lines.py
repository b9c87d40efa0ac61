"""Lines of runs: their form, and that they say nothing of what anybody said."""

from __future__ import annotations

import json
import logging
from datetime import datetime, timedelta, timezone

import pytest

from jochi.operate.run_lines import LineFormatter, RunLine

STARTED = datetime(2026, 3, 1, 13, 0, 0, 250_000, tzinfo=timezone(timedelta(hours=1)))
SECRET = "5 Elm St"

RUN = {
    "id": "curate_due/12",
    "job": "curate_due",
    "token": 12,
    "status": "partial",
    "started_at": STARTED,
    "finished_at": STARTED + timedelta(milliseconds=1_250),
    "selected": 7,
    "changed": 3,
    "batches": 2,
    "failed_batches": 1,
    "mode": "IDLE",
    "rule_task_done": 3,
    "keep": 4,
    "pruned": 3,
    "rail_pinned": 0,
    "longest_batch_ms": 900,
    "error": f"Failed to invoke procedure: {SECRET}",
    "quarantined": [f"ada/{SECRET}"],
    "by": SECRET,
    "target": SECRET,
    "scope": SECRET,
    "stopped_scopes": [SECRET],
    "said": [SECRET],
    SECRET: 1,
    "tokens_before": [1, 2, 3, 4],
}


def test_a_line_has_names_and_numbers_and_nothing_that_anybody_said() -> None:
    line = RunLine.of(RUN, RUN["finished_at"])  # type: ignore[arg-type]
    assert line.as_text() == (
        "at=2026-03-01T12:00:01.500Z run=curate_due/12 job=curate_due outcome=partial milliseconds=1250 selected=7 changed=3 "
        "batches=2 failed_batches=1 quarantined=1 mode=IDLE keep=4 pruned=3 rule_task_done=3"
    )
    read = json.loads(line.as_json())
    assert (read["at"], read["outcome"], read["counts"]) == (
        "2026-03-01T12:00:01.500Z",
        "partial",
        {"keep": 4, "pruned": 3, "rule_task_done": 3},
    )
    assert SECRET not in line.as_text() + line.as_json()


@pytest.mark.parametrize(
    ("id", "written"),
    [("edit/2026-03-01T12:00:00Z", "edit/2026-03-01T12:00:00Z"), ('a b"c\n', '"a b\\"c\\n"'), ("", '""')],
)
def test_what_is_no_plain_word_is_quoted_on_one_line(id: str, written: str) -> None:
    line = RunLine.of(RUN | {"id": id}, STARTED)
    assert f" run={written} job=" in line.as_text()
    assert "\n" not in line.as_text() + line.as_json()
    assert json.loads(line.as_json())["run"] == id


@pytest.mark.parametrize("as_json", [True, False])
def test_records_of_a_worker_are_such_lines(as_json: bool) -> None:
    record = logging.LogRecord("jochi.worker", logging.INFO, "", 0, "batch", None, None)
    record.created = STARTED.timestamp()
    record.fields = {"derivation": "prepare", "done": 2}
    line = LineFormatter(as_json=as_json).format(record)
    wanted = {"at": "2026-03-01T12:00:00.250Z", "event": "batch", "derivation": "prepare", "done": 2}
    assert (json.loads(line) if as_json else dict(pair.split("=") for pair in line.split())) == (
        wanted if as_json else {name: str(value) for name, value in wanted.items()}
    )
