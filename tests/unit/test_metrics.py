"""Metrics from a reading to text, and how they are served (docs/reference/metrics.md)."""

from __future__ import annotations

import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

import neo4j
import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.openmetrics.exposition import generate_latest as openmetrics_text
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parsed_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parsed_text
from prometheus_client.registry import Collector

from jochi import Jochi
from jochi.database.server_facts import ServerFacts
from jochi.errors import ConnectionFailed, UsageError
from jochi.operate import metrics
from jochi.operate.metrics import (
    LONGEST_LABEL,
    MANY,
    METRICS,
    MOST_KINDS,
    Metrics,
    Rare,
    Reading,
    families,
    why_not_ready,
)
from jochi.operate.metrics_server import Server, address
from jochi.operate.work import Backlog
from jochi.policy import load_policy
from jochi.version import __version__
from jochi_workers.context_files import Files
from jochi_workers.metrics import METRICS as OF_WORKERS
from jochi_workers.metrics import WorkerMetrics
from jochi_workers.worker import Progress

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=timezone.utc)
FACTS = ServerFacts("5.26.30", "community", None, frozenset(), "CYPHER_5", 5.0, False, True)
RARE = Rare(FACTS, 0, False)

_NAMES = """
jochi_up jochi_build_info jochi_scrape_duration_seconds jochi_memories jochi_memory_tokens
jochi_memories_counted_timestamp_seconds jochi_curated_memories jochi_scope_memories jochi_scope_tokens
jochi_memories_due jochi_memories_due_oldest_timestamp_seconds jochi_tombstones jochi_tombstones_due jochi_records
jochi_snapshots jochi_runs_total jochi_run_duration_seconds jochi_memories_changed_total jochi_actions_total
jochi_memories_pruned_total jochi_memories_held_total jochi_job_enabled jochi_job_failures
jochi_job_last_start_timestamp_seconds jochi_job_last_change_timestamp_seconds jochi_job_next_start_timestamp_seconds
jochi_job_waits_since_timestamp_seconds jochi_last_tick_timestamp_seconds jochi_last_change_timestamp_seconds
jochi_pump_every_seconds jochi_repeat_job_armed jochi_paused jochi_waiting_for_go jochi_guard_closed
jochi_breakers_tripped jochi_restart_line_missing jochi_budgets_over jochi_quarantined_memories jochi_work_waiting
jochi_work_oldest_timestamp_seconds jochi_work_put_aside jochi_derivation_items_total jochi_model_tokens_total
jochi_model_cost_total jochi_worker_last_seen_timestamp_seconds jochi_workers jochi_forgettings_open
jochi_indexes_offline jochi_inbox_items
"""
NAMES = _NAMES.split()
"""Alerts, panels and other people's rules name these: none may go or be renamed without a word in the CHANGELOG."""

OF_A_WORKER = {"jochi_worker_items_total", "jochi_worker_batch_seconds", "jochi_worker_model_tokens_total"} | {
    "jochi_worker_disk_errors_total"
}

HOSTILE = 'a "quote"\nand a line, \\ and {a="b"} 1.0 # EOF'

PRUNES = (("ttl.note", HOSTILE), ("ttl.note", "Task"))


def total(**counts: int) -> dict[str, Any]:
    return {"names": [*counts], "counts": [*counts.values()], "changed_at": NOW, "cost": 0.5}


def row(**changed: Any) -> dict[str, Any]:
    """What `report/metrics` returns of an engine that has done a little of everything."""
    runs = {
        "run|ok": 3,
        "run|failed": 1,
        "took|0.05": 2,
        "took|5": 1,
        "took|+Inf": 1,
        "took_ms": 400_250,
        "changed|memories": 9,
    }
    done = {"action|prune|Note": 4, "action|merge|": 1, f"pruned|ttl.note|{HOSTILE}": 4, "rail|pinned": 2}
    job = {"name": "curate_due", "enabled": True, "failures": 2, "started_at": NOW, "next_start": NOW}
    found = {
        "pump": {
            **dict.fromkeys(("guard", "applied_at", "server_started_at", "pin_refused_at"), None),
            **{"every_s": 2, "armed": True, "last_tick": NOW, "policy": "default@1", "version": __version__},
        },
        "jobs": [{**job, "waits_since": NOW, "total": total(**runs, **done)}],
        "totals": [{"job": "undo", "total": total(**{"changed|memories": 2, "run|ok": 1, "action|prune|Note": 1})}],
        "derivations": [{"name": "embed", "total": total(**{"item|done": 7, "tokens|in": 100, "tokens|out": 5})}],
        "bounds": [0.05, 1, 5],
        "stored": {"curated": 12, "tombstones": 3, "records": 4, "snapshots": 1},
        "due": {"n": 2, "oldest": NOW},
        **{"tombstones_due": 1, "quarantined": 1, "tripped": 1, "forgettings": 1},
        "pauses": [{"what": "scope", "n": 1}, {"what": "job", "n": 2}, {"what": "all", "n": 0}],
        "budgets_over": [{"tier": "HOT", "n": 1}],
        "counted": {
            "at": NOW,
            "names": ["HOT|Note", f"none|{HOSTILE}"],
            "counts": [10, 2],
            "tokens": [100, 20],
            "scopes": [HOSTILE, "x" * 1_000, "default"],
            "scope_counts": [8, 3, 1],
            "scope_tokens": [80, 30, 10],
        },
        "workers": [
            {"id": "host/1", "seen_at": NOW, "every_s": 60},
            {"id": "host/2", "seen_at": NOW - timedelta(days=2), "every_s": 60},
        ],
    }
    return {**found, **changed}


def backlog(waiting: int) -> Backlog:
    return Backlog(waiting=waiting, later=0, unsure=0, put_aside=1, oldest=NOW, an_hour=0.0, spent=None, money=None)


def reading(by_scope: int = 0, **changed: Any) -> Reading:
    return Reading(
        NOW,
        RARE,
        row(**changed),
        {"embed": backlog(4)},
        {"pump": True, "watch": False},
        {"go": 1},
        by_scope,
        (),
        PRUNES,
    )


class Of(Collector):
    """A collector of one reading."""

    def __init__(self, found: Reading | None) -> None:
        self._found = found

    def collect(self) -> Iterator[Any]:
        yield from families(self._found, 0.25)


def text(found: Reading | None, *, openmetrics: bool = True) -> str:
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Of(found))
    written: bytes = openmetrics_text(registry) if openmetrics else generate_latest(registry)
    return written.decode()


def samples(written: str) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """Values by name and labels, as a reader of OpenMetrics takes them."""
    found: dict[tuple[str, frozenset[tuple[str, str]]], float] = {}
    for family in parsed_openmetrics(written):
        for sample in family.samples:
            name = (sample.name, frozenset(sample.labels.items()))
            assert name not in found, name
            found[name] = sample.value
    return found


def value(written: str, name: str, labels: Mapping[str, str] = {}) -> float | None:
    return samples(written).get((name, frozenset(labels.items())))


def test_every_name_is_there_and_every_metric_has_samples() -> None:
    assert sorted(metric.name for metric in METRICS) == sorted(NAMES)
    assert {metric.name for metric in OF_WORKERS} == OF_A_WORKER
    found = samples(text(reading(by_scope=3)))
    there = {name.removesuffix("_bucket").removesuffix("_sum").removesuffix("_count") for name, _ in found}
    assert there == set(NAMES)
    assert {
        sample.name for family in parsed_text(text(reading(by_scope=3), openmetrics=False)) for sample in family.samples
    } == {name for name, _ in found}


def test_values_are_what_was_read() -> None:
    written = text(reading())
    for name, labels, expected in [
        ("jochi_up", {}, 1),
        ("jochi_scrape_duration_seconds", {}, 0.25),
        (
            "jochi_build_info",
            {"version": __version__, "policy": "default@1", "server": "5.26.30", "edition": "community", "apoc": ""},
            1,
        ),
        ("jochi_memories", {"kind": "Note", "tier": "HOT"}, 10),
        ("jochi_memory_tokens", {"kind": HOSTILE, "tier": "none"}, 20),
        ("jochi_runs_total", {"job_name": "curate_due", "outcome": "ok"}, 3),
        # From the start, so that the first is seen to come.
        ("jochi_runs_total", {"job_name": "curate_due", "outcome": "crashed"}, 0),
        ("jochi_memories_changed_total", {"job_name": "undo"}, 2),
        ("jochi_actions_total", {"action": "prune", "kind": "Note"}, 5),
        ("jochi_actions_total", {"action": "merge", "kind": ""}, 1),
        ("jochi_memories_pruned_total", {"rule": "ttl.note", "kind": HOSTILE}, 4),
        ("jochi_memories_pruned_total", {"rule": "ttl.note", "kind": "Task"}, 0),
        ("jochi_memories_held_total", {"rail": "pinned"}, 2),
        ("jochi_run_duration_seconds_bucket", {"job_name": "curate_due", "le": "0.05"}, 2),
        ("jochi_run_duration_seconds_bucket", {"job_name": "curate_due", "le": "1.0"}, 2),
        ("jochi_run_duration_seconds_bucket", {"job_name": "curate_due", "le": "5.0"}, 3),
        ("jochi_run_duration_seconds_bucket", {"job_name": "curate_due", "le": "+Inf"}, 4),
        ("jochi_run_duration_seconds_count", {"job_name": "curate_due"}, 4),
        ("jochi_run_duration_seconds_sum", {"job_name": "curate_due"}, 400.25),
        ("jochi_repeat_job_armed", {"name": "watch"}, 0),
        ("jochi_paused", {"what": "job"}, 2),
        ("jochi_paused", {"what": "kind"}, 0),
        ("jochi_waiting_for_go", {}, 1),
        ("jochi_guard_closed", {}, 0),
        ("jochi_budgets_over", {"tier": "COLD"}, 0),
        ("jochi_derivation_items_total", {"derivation": "embed", "outcome": "done"}, 7),
        ("jochi_model_tokens_total", {"derivation": "embed", "direction": "out"}, 5),
        ("jochi_model_cost_total", {"derivation": "embed"}, 0.5),
        ("jochi_workers", {}, 1),
        ("jochi_worker_last_seen_timestamp_seconds", {"worker": "host/2"}, (NOW - timedelta(days=2)).timestamp()),
    ]:
        assert value(written, name, labels) == expected, (name, labels)


def test_scopes_are_shown_where_asked_for_and_labels_are_bounded() -> None:
    assert "jochi_scope_memories{" not in text(reading())
    many = [f"kind {i}" + "\n" * (i % 2) for i in range(200)]
    counted = row()["counted"] | {
        "names": [f"HOT|{kind}" for kind in many],
        "counts": [*range(200)],
        "tokens": [1] * 200,
        "scopes": [f"scope {i}" for i in range(10_000)],
        **dict.fromkeys(("scope_counts", "scope_tokens"), [1] * 10_000),
    }
    found = samples(text(reading(by_scope=3, counted=counted)))
    by_name: dict[str, set[str]] = {}
    for name, labels in found:
        for label, text_of in labels:
            by_name.setdefault(f"{name} {label}", set()).add(text_of)
            assert len(text_of) <= LONGEST_LABEL
    assert by_name["jochi_scope_memories scope"] == {"scope 0", "scope 1", "scope 2"}
    assert len(by_name["jochi_memories kind"]) == MOST_KINDS + 1
    kinds: Counter[str] = Counter()
    for (name, _), number in found.items():
        kinds[name] += int(number)
    assert kinds["jochi_memories"] == sum(range(200))
    assert value(text(reading(by_scope=9)), "jochi_scope_memories", {"scope": "x" * (LONGEST_LABEL - 1) + "…"}) == 3


def test_a_kind_keeps_its_label_whatever_the_others_count() -> None:
    kinds = [f"kind {i:03}" for i in range(200)]

    def counted(counts: Mapping[str, int]) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
        actions = total(**{f"action|prune|{kind}": n for kind, n in counts.items()})
        found = replace(reading(totals=[{"job": "undo", "total": actions}], jobs=[]), kinds=(kinds[150], "Unseen"))
        return samples(text(found))

    before = counted({kind: 200 - i for i, kind in enumerate(kinds)})
    after = counted({kind: 200 + i for i, kind in enumerate(kinds)})
    own = {name for name in before if name[0] == "jochi_actions_total"}
    assert own == {name for name in after if name[0] == "jochi_actions_total"}
    assert len(own) == MOST_KINDS + 1
    assert {name for name in own if before[name] > after[name]} == set(), "a counter doesn't go back"
    assert any(dict(labels)["kind"] == kinds[150] for _, labels in own), "the policy's come first"


def test_no_answer_is_down_and_nothing_else() -> None:
    assert samples(text(None)) == {("jochi_up", frozenset()): 0, ("jochi_scrape_duration_seconds", frozenset()): 0.25}
    bare = samples(text(Reading(NOW, RARE)))  # the database is there, and no engine
    assert {name for name, _ in bare} == {
        *(
            "jochi_up",
            "jochi_build_info",
            "jochi_scrape_duration_seconds",
            "jochi_indexes_offline",
            "jochi_restart_line_missing",
        ),
    }


class Answers(Metrics):
    """Reads what it is given, and counts."""

    def __init__(self, client: Jochi, found: Reading | None, clock: list[float]) -> None:
        super().__init__(client, keep=5.0, monotonic=lambda: clock[0])
        self.reads, self.counts, self.next = 0, 0, found

    def _read(self) -> Reading:
        self.reads += 1
        if self.next is None:
            raise ConnectionFailed("no answer\nfrom the server")
        return self.next

    def _count(self, facts: ServerFacts) -> Mapping[str, int]:
        self.counts += 1
        return {"go": self.counts}


@pytest.fixture
def client() -> Iterator[Jochi]:
    with neo4j.GraphDatabase.driver("bolt://127.0.0.1:1", auth=("a", "b")) as driver:
        yield Jochi(driver, "neo4j", policy=load_policy())


@pytest.mark.parametrize(
    ("pump", "why"),
    [
        ({}, None),
        ({"last_tick": NOW - timedelta(hours=1)}, "the pump has not ticked"),
        ({"last_tick": None}, "the pump has not ticked"),
        ({"last_tick": NOW - timedelta(hours=1), "armed": False}, None),
        ({"version": "0.0.9"}, "jochi 0.0.9 is installed"),
    ],
)
def test_ready_is_who_reads_an_engine_that_works(client: Jochi, pump: Mapping[str, Any], why: str | None) -> None:
    found = why_not_ready(Answers(client, reading(pump=row()["pump"] | pump), [0.0]))
    assert found is None if why is None else (found or "").startswith(why)


def test_a_server_answers_whatever_the_database_does_and_asks_it_once(client: Jochi) -> None:
    clock = [0.0]
    collector = Answers(client, reading(), clock)
    registry = CollectorRegistry(auto_describe=False)
    registry.register(collector)

    def get(path: str, accept: str = "*/*") -> tuple[int, str, str]:
        request = urllib.request.Request(f"http://{server.host}:{server.port}{path}", headers={"Accept": accept})
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status, answer.headers["Content-Type"], answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.headers["Content-Type"], error.read().decode()

    with Server(registry, lambda: None if collector.look() else collector.fault, "127.0.0.1", 0) as server:
        status, kind, plain = get("/metrics")
        assert (status, kind) == (200, "text/plain; version=0.0.4; charset=utf-8")
        status, kind, written = get("/metrics", "application/openmetrics-text; version=1.0.0")
        assert kind.startswith("application/openmetrics-text; version=1.0.0")
        assert value(written, "jochi_up") == 1
        assert "jochi_up 1.0" in plain
        assert collector.reads == 1
        assert get("/readyz")[0] == get("/healthz")[0] == 200
        collector.next = None
        assert value(get("/metrics", "application/openmetrics-text")[2], "jochi_up") == 1
        clock[0] = 5.0
        status, _, written = get("/metrics", "application/openmetrics-text")
        assert (status, value(written, "jochi_up"), collector.reads) == (200, 0, 2)
        assert get("/readyz") == (503, "text/plain; charset=utf-8", "no answer from the server\n")
        assert get("/healthz")[0] == 200
        assert get("/else")[0] == 404


def test_what_waits_for_a_person_is_counted_once_a_minute_and_not_to_be_ready(client: Jochi) -> None:
    clock = [0.0]
    collector = Answers(client, reading(), clock)
    seen = []
    for moment in (0.0, 5.0, 59.0, 60.0):
        clock[0] = moment
        why_not_ready(collector)
        before = collector.counts
        waits = {family.name: family for family in collector.collect()}["jochi_inbox_items"]
        seen.append((before, collector.counts, waits.samples[0].value))
    assert seen == [(0, 1, 1), (1, 1, 1), (1, 1, 1), (1, 2, 2)]


def test_a_driver_that_cannot_be_used_is_down(client: Jochi) -> None:
    client.database.driver.close()
    collector = Metrics(client)
    assert [family.samples[0].value for family in collector.collect() if family.name == "jochi_up"] == [0]
    assert collector.fault == "DriverError"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("9747", ("127.0.0.1", 9747)),
        (":9747", ("127.0.0.1", 9747)),
        ("0.0.0.0:1", ("0.0.0.0", 1)),
        ("[::1]:80", ("::1", 80)),
        ("metrics.example:80", ("metrics.example", 80)),
        *((wrong, None) for wrong in ("", "x", "host:", "host:x", "1:99999", "::1:80")),
    ],
)
def test_an_address(given: str, expected: tuple[str, int] | None) -> None:
    if expected is None:
        with pytest.raises(UsageError, match="is no address to serve at"):
            address(given)
    else:
        assert address(given) == expected


def test_a_worker_counts_its_batches_tokens_and_files_that_can_not_be_written() -> None:
    files = Files("context", [])
    files.errors = 2
    progress = {"embed": Progress(done=5, failed=1, quarantined=1, tokens_in=10), "context": Progress(done=3)}
    counted = WorkerMetrics(progress, [files])
    counted.took("embed", 0.2)
    progress["embed"].done = 6
    written = openmetrics_text(counted.registry).decode()
    for name, labels, expected in [
        ("jochi_worker_items_total", {"derivation": "embed", "outcome": "done"}, 6),
        ("jochi_worker_items_total", {"derivation": "embed", "outcome": "put_aside"}, 1),
        ("jochi_worker_items_total", {"derivation": "context", "outcome": "done"}, None),
        ("jochi_worker_batch_seconds_bucket", {"derivation": "embed", "le": "0.25"}, 1),
        ("jochi_worker_batch_seconds_count", {"derivation": "embed"}, 1),
        ("jochi_worker_model_tokens_total", {"derivation": "embed", "direction": "in"}, 10),
        ("jochi_worker_disk_errors_total", {"what": "context"}, 2),
    ]:
        assert value(written, name, labels) == expected, (name, labels)


def test_a_long_backlog_is_counted_once_a_minute(client: Jochi, monkeypatch: pytest.MonkeyPatch) -> None:
    clock, counted = [0.0], []

    def count(*_: object, **__: object) -> dict[str, Backlog]:
        counted.append(clock[0])
        waits = MANY - 1 if clock[0] < 10 else MANY
        return {"embed": backlog(waits)}

    monkeypatch.setattr(metrics, "work_left", count)
    collector = Metrics(client, monotonic=lambda: clock[0])
    for at in (0.0, 5.0, 10.0, 69.9, 70.0):
        clock[0] = at
        collector._backlogs(NOW)
    assert counted == [0.0, 5.0, 10.0, 70.0]
