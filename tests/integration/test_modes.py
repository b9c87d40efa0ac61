"""The engine's pace follows what applications do, its batches how long they take (docs/reference/jobs-and-runs.md)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import say_go
from tests.faults.support import job_of, pump_of, set_job
from typer.testing import CliRunner

from jochi import Jochi, clock
from jochi.cli.app import app
from jochi.errors import UsageError
from jochi.graph.driver_values import to_python
from jochi.jobs.results import ModeName
from jochi.operate.status import overview
from jochi.policy import LoadedPolicy, load_policy
from jochi.write.importing import import_files
from jochi_models import Note

pytestmark = pytest.mark.server

SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)

# Within five minutes: IDLE below 10 accesses and writes and until 20 of them, MINIMAL from 100 and until 60.
POLICY = """
[policy]
name = "modes"
extends = "default"

[modes]
idle_below = 2.0
idle_until = 4.0
minimal_from = 20.0
minimal_until = 12.0
"""


@pytest.fixture(scope="module")
def modes(tmp_path_factory: pytest.TempPathFactory) -> LoadedPolicy:
    file = tmp_path_factory.mktemp("policies") / "modes.toml"
    file.write_text(POLICY)
    return load_policy(file)


@pytest.fixture
def client(install_once: Callable[[LoadedPolicy], Jochi], modes: LoadedPolicy) -> Jochi:
    return install_once(modes)


def choose(client: Jochi, at: datetime) -> str:
    """The job's choice at ``at``."""
    (run,) = client.run("choose_mode", now=at, drain=True)  # one look, and nothing is left to do
    assert run.status == "ok"
    mode: str = pump_of(client)["mode"]
    assert run.changed in (0, 1)
    return mode


def quiet(client: Jochi, at: datetime) -> None:
    """Nothing was accessed or written in the window before ``at``."""
    client.database.run("MATCH (n:JochiAccess|JochiScopeChange|JochiJobRun) DETACH DELETE n")
    client.database.run("MATCH (p:JochiPump) SET p.mode_since = $since", {"since": at - timedelta(days=1)})


def accesses(client: Jochi, n: int, at: datetime) -> None:
    client.touch([f"default/nobody{i}" for i in range(n)], now=at)


def test_each_bound_is_another_one_upwards_than_downwards(client: Jochi) -> None:
    now = clock.now()
    for before, n, after in (
        ("BACKGROUND", 9, "IDLE"),
        ("BACKGROUND", 10, "BACKGROUND"),
        ("BACKGROUND", 99, "BACKGROUND"),
        ("BACKGROUND", 100, "MINIMAL"),
        ("IDLE", 19, "IDLE"),
        ("IDLE", 20, "BACKGROUND"),
        ("IDLE", 100, "MINIMAL"),
        ("MINIMAL", 61, "MINIMAL"),
        ("MINIMAL", 60, "BACKGROUND"),
        ("MINIMAL", 9, "IDLE"),
    ):
        client.database.run("MATCH (p:JochiPump {role: 'pump'}) SET p.mode = $before", {"before": before})
        quiet(client, now)
        accesses(client, n, now - MINUTE)
        assert choose(client, now) == after, (before, n)
        assert pump_of(client)["mode_rate"] == pytest.approx(n / 5)


def test_only_the_window_counts(client: Jochi) -> None:
    now = clock.now()
    quiet(client, now)
    accesses(client, 60, now - 5 * MINUTE)
    accesses(client, 60, now - 5 * MINUTE + SECOND)
    accesses(client, 60, now + SECOND)
    choose(client, now)
    assert pump_of(client)["mode_rate"] == pytest.approx(12)


def test_a_mode_lasts_a_while(client: Jochi) -> None:
    now = clock.now()
    quiet(client, now)
    accesses(client, 200, now)
    assert choose(client, now) == "MINIMAL"
    client.database.run("MATCH (a:JochiAccess) DELETE a")
    assert choose(client, now + 5 * MINUTE - SECOND) == "MINIMAL"
    assert choose(client, now + 5 * MINUTE) == "IDLE"
    assert pump_of(client)["mode_since"] == now + 5 * MINUTE
    # After the clock went back what it is now doesn't last until then.
    accesses(client, 200, now)
    assert choose(client, now) == "MINIMAL"


def test_folded_accesses_and_worked_writes_count_on_and_the_engines_own_work_doesnt(client: Jochi) -> None:
    now = clock.now()
    quiet(client, now)
    client.remember([{"kind": "Note", "content": f"note {i}", "scope": f"s{i % 3}"} for i in range(40)], now=now)
    keys = [row["key"] for row in client.database.run("MATCH (m:Curated) RETURN m.key AS key", write=False)]
    client.touch(keys, now=now)
    choose(client, now)
    assert pump_of(client)["mode_rate"] == pytest.approx(80 / 5)
    for job in ("fold_accesses", "enforce_budgets"):
        client.run(job, now=now)
    assert not client.database.run("MATCH (c:JochiAccess|JochiScopeChange) RETURN c", write=False)
    after = clock.now()
    choose(client, after)
    assert pump_of(client)["mode_rate"] == pytest.approx(80 / 5)
    # What the engine tells its own budgets is nobody's activity.
    client.database.run("UNWIND range(1, 500) AS i CREATE (:JochiScopeChange {scope: 's', at: $now})", {"now": after})
    choose(client, after)
    assert pump_of(client)["mode_rate"] == pytest.approx(80 / 5)
    choose(client, after + 5 * MINUTE)
    assert pump_of(client)["mode_rate"] == 0


@pytest.mark.usefixtures("connected")
def test_what_models_and_imports_write_counts(client: Jochi, tmp_path: Path) -> None:
    now = clock.now()
    quiet(client, now)
    note = Note(content="written through a model").save()
    note.content = "and once more"
    note.save()
    file = tmp_path / "memories.jsonl"
    file.write_text('{"kind": "Note", "id": "a", "content": "one"}\n{"kind": "Note", "id": "b", "content": "two"}\n')
    imported = import_files(client.database, [file], now=clock.now())
    assert imported.written == 2
    choose(client, clock.now())
    assert pump_of(client)["mode_rate"] == pytest.approx((2 + 2) / 5)


def test_adaptive_jobs_follow_the_mode_and_others_dont(client: Jochi) -> None:
    now = clock.now()
    quiet(client, now)
    set_job(client, "curate_due", next_start=now + 5 * MINUTE, last_finished_at=now)
    set_job(client, "purge_tombstones", next_start=now + MINUTE, last_finished_at=now)
    assert choose(client, now) == "IDLE"
    assert job_of(client, "curate_due")["next_start"] == now + 2.5 * MINUTE
    assert job_of(client, "purge_tombstones")["next_start"] == now + MINUTE  # that is sooner already
    paces = {job.name: job.pace for job in client.jobs() if job.adaptive}
    assert paces["curate_due"] == 2.5 * MINUTE
    assert paces["hygiene"] == timedelta(hours=3)
    assert "fold_accesses" not in paces
    assert job_of(client, "fold_accesses").get("pace") is None

    accesses(client, 1_000, now + 6 * MINUTE)
    assert choose(client, now + 6 * MINUTE) == "MINIMAL"
    slower = job_of(client, "curate_due")
    assert slower["next_start"] == now + 2.5 * MINUTE  # it has run by then, and keeps its new pace from there
    assert slower["pace_factor"] == 3.0


@pytest.mark.parametrize(("mode", "minutes"), [("IDLE", 2.5), ("BACKGROUND", 5), ("MINIMAL", 15)])
def test_the_next_start_of_a_run_is_that_of_its_mode(client: Jochi, mode: ModeName, minutes: float) -> None:
    client.pin_mode(mode)
    say_go(client)
    set_job(client, "curate_due", next_start=clock.now())
    before = job_of(client, "curate_due")["next_start"]
    (run,) = client.run("curate_due")
    assert job_of(client, "curate_due")["next_start"] == before + minutes * MINUTE
    (node,) = client.history("curate_due")
    assert node["id"] == run.id
    assert node["mode"] == mode
    # Of one that is late the next comes so long after it, not before it.
    set_job(client, "curate_due", next_start=clock.now() - 1.1 * minutes * MINUTE)
    client.run("curate_due")
    assert job_of(client, "curate_due")["next_start"] > clock.now()


@pytest.mark.parametrize(("mode", "factor"), [("IDLE", 0.5), ("BACKGROUND", 1), ("MINIMAL", 3)])
def test_the_classes_of_the_due_queue_follow_the_mode(client: Jochi, mode: ModeName, factor: float) -> None:
    client.pin_mode(mode)
    say_go(client)
    now = clock.now().replace(minute=1, second=0, microsecond=0)
    due = now + timedelta(hours=1, minutes=1)
    client.database.run(
        "CREATE (m:Curated:Notification {key: 'default/n', scope: 'default', id: 'n', read: false, created_at: $created, "
        "expires_at: $due, next_due: $now, tier: 'WARM'})",
        {"created": now - timedelta(days=3), "due": due, "now": now},
    )
    client.run("curate_due", now=now)
    (row,) = client.database.run(
        "MATCH (m:Curated|Tombstone {key: 'default/n'}) RETURN m.next_due AS at, labels(m) AS labels", write=False
    )
    assert "Curated" in row["labels"]
    width = 300 * factor  # a Notification is looked at every five minutes
    at = to_python(row["at"]).timestamp()
    assert at == -(-due.timestamp() // width) * width


def test_a_backed_off_job_keeps_its_pause(client: Jochi) -> None:
    now = clock.now()
    quiet(client, now)
    set_job(client, "curate_due", next_start=now + 30 * MINUTE, last_finished_at=now, failures=3)
    assert choose(client, now) == "IDLE"
    assert job_of(client, "curate_due")["next_start"] == now + 30 * MINUTE


def test_a_pinned_mode_stays_until_it_is_let_go(client: Jochi) -> None:
    now = clock.now()
    quiet(client, now)
    assert client.pin_mode("MINIMAL").pinned_by
    assert choose(client, now + timedelta(days=1)) == "MINIMAL"
    assert job_of(client, "curate_due")["pace_factor"] == 3.0
    assert client.pin_mode(None).mode == "MINIMAL"
    assert choose(client, now + timedelta(days=1)) == "IDLE"
    with pytest.raises(UsageError, match="no mode 'FAST'"):
        client.pin_mode("FAST")  # type: ignore[arg-type]
    assert pump_of(client)["mode"] == "IDLE"


def test_an_install_keeps_the_mode_and_what_a_person_pinned(client: Jochi) -> None:
    client.pin_mode("MINIMAL")
    client.install(arm=False)
    assert client.mode().mode == "MINIMAL"
    assert client.mode().pinned_by
    choose(client, clock.now())
    assert job_of(client, "curate_due")["pace_factor"] == 3.0


def test_status_says_the_mode(client: Jochi, server: Any, tmp_path: Path) -> None:
    assert overview(client).mode is not None
    assert overview(client).mode.mode == "BACKGROUND"
    password = tmp_path / "password"
    password.write_text(server.password)
    options = ["--uri", server.uri, "--user", server.user, "--password-file", str(password)]

    def said(*command: str) -> str:
        result = CliRunner().invoke(app, [*options, *command])
        assert result.exit_code == 0, result.output
        return result.output

    assert said("jobs", "mode").startswith("mode: BACKGROUND: nothing has looked yet")
    assert "mode: IDLE" in said("jobs", "mode", "idle")
    assert "pinned by" in said("status", "--all", "--no-tiers")
    assert "150 s (300 s)" in said("jobs", "ls")
    assert "pinned" not in said("jobs", "mode", "auto")
    assert CliRunner().invoke(app, [*options, "jobs", "mode", "fast"]).exit_code == 2


def batch(client: Jochi, limit: int, took_ms: int, selected: int | None = None) -> int | None:
    """The size of the batch after one of ``limit`` that took so long; None: that of the policy."""
    run = {
        "id": "curate_due/1",
        "job": "curate_due",
        "started_at": clock.now(),
        "batches": 0,
        "selected": 0,
        "changed": 0,
    }
    client.database.run("MERGE (r:JochiJobRun {id: $run.id}) ON CREATE SET r = $run", {"run": run})
    said = {
        "job": "curate_due",
        "run": "curate_due/1",
        "limit": limit,
        "selected": limit if selected is None else selected,
    }
    client.engine.call(
        "scheduler/account",
        {**said, "clock": clock.now(), "changed": 0, "stop": False, "more": False, "tally": [], "took_ms": took_ms},
    )
    size: int | None = job_of(client, "curate_due").get("batch_now")
    return size


def test_slow_batches_shrink_and_quick_ones_grow(client: Jochi) -> None:
    assert batch(client, 1000, 1000) is None
    assert batch(client, 1000, 1001) == 500
    assert batch(client, 500, 5000) == 250
    assert batch(client, 250, 1000) == 250 + 125
    assert batch(client, 875, 10) is None
    assert batch(client, 874, 10) == 999
    (run,) = client.history("curate_due")
    assert (run["slow_batches"], run["longest_batch_ms"]) == (2, 5000)


def test_a_slow_batch_never_shrinks_below_the_floor_and_failures_do(client: Jochi) -> None:
    assert batch(client, 100, 5000) == 50
    assert batch(client, 60, 5000) == 50
    assert batch(client, 50, 5000) == 50
    set_job(client, "curate_due", batch_now=3)
    assert batch(client, 3, 5000) == 3
    assert batch(client, 3, 10) == 128
