"""Each check of the doctor on both sides of its threshold, without a server."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from jochi.compile.registry import ProcedureStatus, Status
from jochi.database.server_facts import ServerFacts, seconds_of
from jochi.jobs.arming import JobFault
from jochi.jobs.rearm import rearm_line
from jochi.jobs.results import JobState
from jochi.jobs.stops import Stop
from jochi.localserver.paths import apoc_conf_at
from jochi.operate import checks_engine as engine
from jochi.operate import checks_server as server
from jochi.operate.check import Level, some
from jochi.operate.checks_indexes import check_app_constraints
from jochi.operate.checks_memories import Unseen, check_dated, check_sources, check_visible
from jochi.operate.pump import check_pump
from jochi.operate.restart import check_restart
from jochi.schema.constraints import Constraint
from jochi.schema.migrations import Outcome, Validation
from jochi.use.sources import Unfinished

OK, WARN, FAIL, UNKNOWN = Level.OK, Level.WARN, Level.FAIL, Level.UNKNOWN
NOW = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)
MINUTE = timedelta(minutes=1)

FACTS = ServerFacts(
    version="5.26.30",
    edition="community",
    apoc="5.26.19",
    callable=frozenset(server.NEEDED_FROM_OUTSIDE),
    default_language="CYPHER_5",
    lock_timeout=5.0,
    read_only=False,
    writer=True,
)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("5s", 5),
        ("0s", 0),
        ("500ms", 0.5),
        ("1m30s", 90),
        ("1h", 3600),
        ("1d2h", 93600),
        ("", None),
        (None, None),
        ("soon", None),
    ],
)
def test_settings_are_read_as_the_server_writes_them(text: str | None, seconds: float | None) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.parametrize(
    ("version", "level"),
    [
        ("5.25.1", FAIL),
        ("5.26.0", OK),
        ("5.26.30", OK),
        ("2025.06.0", FAIL),
        ("2025.06.1", OK),
        ("2026.08.0", FAIL),
        ("2026.08.1", OK),
        ("2026.10.2", OK),
    ],
)
def test_version(version: str, level: Level) -> None:
    check = server.check_version(replace(FACTS, version=version))
    assert check.level is level
    assert (check.fix is None) == (level is OK)


def test_database() -> None:
    assert server.check_database(FACTS, "neo4j").level is OK
    assert server.check_database(replace(FACTS, read_only=True), "neo4j").level is FAIL
    assert server.check_database(replace(FACTS, writer=False), "neo4j").level is FAIL


def test_rights() -> None:
    assert server.check_rights(None, "community", None).level is OK
    assert server.check_rights("no", "community", None).level is FAIL
    assert server.check_rights(None, "enterprise", ["PUBLIC", "publisher"]).level is WARN
    assert server.check_rights(None, "enterprise", ["PUBLIC", "architect"]).level is OK
    assert server.check_rights(None, "enterprise", None).level is OK


@pytest.mark.parametrize(
    ("apoc", "armed", "level"),
    [("5.26.19", True, OK), ("5.25.9", True, FAIL), ("2026.26.0", True, FAIL), (None, True, FAIL), (None, False, WARN)],
)
def test_apoc(apoc: str | None, armed: bool, level: Level) -> None:
    check = server.check_apoc(replace(FACTS, apoc=apoc), armed=armed)
    assert check.level is level
    assert level is OK or "5.26.x" in (check.fix or "")
    there = server.check_apoc(replace(FACTS, version="2026.09.0", apoc=apoc), armed=armed)
    assert "APOC Core 2026.09.x" in (there.fix or "")


def test_every_procedure_must_be_callable() -> None:
    assert server.check_callable(FACTS).level is OK
    for name in server.NEEDED_FROM_OUTSIDE:
        check = server.check_callable(replace(FACTS, callable=FACTS.callable - {name}))
        assert (check.level, name in check.found) == (FAIL, True)
    assert server.check_callable(replace(FACTS, callable=frozenset(), apoc=None)).level is UNKNOWN


@pytest.mark.parametrize(("at_once", "level"), [(None, UNKNOWN), (0, FAIL), (1, FAIL), (2, WARN), (3, OK), (4, OK)])
def test_threads(at_once: int | None, level: Level) -> None:
    check = server.check_threads(at_once, "not tried")
    assert check.level is level
    assert level is OK or "apoc.jobs.scheduled.num_threads" in (check.fix or "")
    assert server.check_threads(None, "there is no APOC", "see the check apoc").fix == "see the check apoc"


@pytest.mark.parametrize(("seconds", "level"), [(None, UNKNOWN), (0, FAIL), (0.5, OK), (60, OK), (60.5, WARN)])
def test_lock_timeout(seconds: float | None, level: Level) -> None:
    assert server.check_lock_timeout(seconds).level is level


@pytest.mark.parametrize(("seconds", "level"), [(None, UNKNOWN), (0, OK), (1, WARN), (10, WARN), (10.5, OK)])
def test_transaction_timeout(seconds: float | None, level: Level) -> None:
    budgets = {"short": timedelta(seconds=2), "long": timedelta(seconds=10)}
    check = server.check_transaction_timeout(seconds, budgets)
    assert check.level is level
    assert ("short" in check.found) == (seconds == 1)


def test_language() -> None:
    assert server.check_language("CYPHER_5", "", []).level is OK
    assert server.check_language("CYPHER_25", "CYPHER 5\n", []).level is OK
    assert server.check_language("CYPHER_25", "CYPHER 5\n", ["curate/plan"]).level is FAIL
    assert server.check_language("CYPHER_5", "", ["curate/plan"]).level is OK
    assert server.check_language("CYPHER_25", "", []).level is WARN


@pytest.mark.parametrize(("skew", "level"), [(0, OK), (5, OK), (5.1, WARN), (-5, OK), (-5.1, WARN)])
def test_clock(skew: float, level: Level) -> None:
    check = server.check_clock(timedelta(seconds=skew), timedelta(0))
    assert check.level is level
    assert level is OK or ("ahead of" in check.found) == (skew > 0)


def test_what_asking_took_is_no_skew() -> None:
    assert server.check_clock(timedelta(seconds=6), timedelta(seconds=1)).level is OK


PUMP: dict[str, Any] = {
    "armed": True,
    "enabled": True,
    "last_tick": NOW - MINUTE,
    "installed_at": NOW - 10 * MINUTE,
    "version": "1",
    "policy": "default@1",
    "applied_at": NOW,
    "applied_by": "ann",
    "guard": None,
}
NO_FAULTS: list[JobFault] = []


@pytest.mark.parametrize(
    ("changed", "faults", "level", "says"),
    [
        ({}, NO_FAULTS, OK, "60 s ago"),
        ({"last_tick": NOW - 2 * MINUTE}, NO_FAULTS, OK, "120 s ago"),
        ({"last_tick": NOW - 2 * MINUTE - timedelta(seconds=1)}, NO_FAULTS, FAIL, "no progress"),
        ({"last_tick": None}, NO_FAULTS, FAIL, "never ticked"),
        ({}, [JobFault("watch", "is gone", False)], FAIL, "watch is gone; the last tick was 60 s ago"),
        (
            {},
            [JobFault("pump", "is gone", False), JobFault("watch", "is late", True)],
            FAIL,
            "pump is gone, watch is late",
        ),
        ({}, None, FAIL, "can't be read"),
        ({"armed": False}, None, WARN, "not armed"),
        ({"enabled": False, "paused_by": "ann"}, NO_FAULTS, WARN, "paused by ann"),
        ({"installing_until": NOW + MINUTE}, NO_FAULTS, WARN, "held by an install"),
        ({"installing_until": NOW - MINUTE}, NO_FAULTS, OK, "armed"),
    ],
)
def test_pump(changed: dict[str, Any], faults: list[JobFault] | None, level: Level, says: str) -> None:
    check = check_pump({**PUMP, **changed}, faults, NOW, 2 * MINUTE)
    assert check.level is level
    assert says in check.found
    assert (check.fix is None) == (level is OK)


@pytest.mark.parametrize(
    ("gone", "listed", "alone"),
    [(("pump", "watch"), False, True), (("pump", "watch"), True, False), (("pump",), False, False)],
)
def test_where_both_repeat_jobs_are_gone_somebody_has_to_arm_them(
    gone: tuple[str, ...], listed: bool, alone: bool
) -> None:
    """Of one, and of what is on the list, the other one takes care."""
    check = check_pump(PUMP, [JobFault(name, "is gone", listed) for name in gone], NOW, 2 * MINUTE)
    assert (check.fix or "").startswith("run `jochi jobs arm`")
    assert ("read-only for a while" in (check.fix or "")) is alone


@pytest.mark.parametrize(
    ("mark", "started", "level"),
    [
        (NOW, NOW, OK),
        (NOW - MINUTE, NOW, WARN),
        (None, NOW, WARN),
        (None, NOW - 20 * MINUTE, UNKNOWN),
        (NOW - 30 * MINUTE, NOW - 20 * MINUTE, UNKNOWN),
        (NOW, None, UNKNOWN),
    ],
)
def test_restart(mark: datetime | None, started: datetime | None, level: Level) -> None:
    check = check_restart({**PUMP, "server_started_at": mark}, started, "graph")
    assert check.level is level
    assert level is OK or f"apoc.initializer.graph.01={rearm_line()}" in (check.fix or "")


def test_restart_before_an_install() -> None:
    assert check_restart(None, NOW, "graph").level is UNKNOWN


def test_a_line_that_is_there_is_not_advised() -> None:
    conf = f"# ours\napoc.initializer.graph.01={rearm_line()}\n"
    for pump in (None, PUMP):
        assert check_restart(pump, NOW - 20 * MINUTE, "graph", conf).level is OK
        assert check_restart(pump, NOW - 20 * MINUTE, "another", conf).level is UNKNOWN
    assert check_restart({**PUMP, "pinned": True}, NOW - 20 * MINUTE, "graph", conf).level is UNKNOWN
    assert check_restart(PUMP, NOW, "graph", conf).level is WARN, "it is there and did nothing"


def test_the_file_of_a_local_server_is_known_by_its_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JOCHI_HOME", str(tmp_path))
    conf = tmp_path / "servers/x/conf/apoc.conf"
    conf.parent.mkdir(parents=True)
    conf.write_text("apoc.a=b\n")
    (tmp_path / "servers/broken").mkdir()
    (tmp_path / "servers/broken/server.json").write_text("[")
    (tmp_path / "servers/x/server.json").write_text('{"port": 7001}')
    assert apoc_conf_at("127.0.0.1", 7001) == "apoc.a=b\n"
    assert (apoc_conf_at("127.0.0.1", 7002), apoc_conf_at("db.example", 7001)) == ("", "")


def test_installed() -> None:
    assert engine.check_installed(None, "1").level is WARN
    assert engine.check_installed(PUMP, "1").level is OK
    assert engine.check_installed(PUMP, "2").level is WARN


@pytest.mark.parametrize("outcome", list(Outcome))
def test_migrations(outcome: Outcome) -> None:
    check = engine.check_migrations(Validation(database="neo4j", outcome=outcome))
    assert check.level is (OK if outcome is Outcome.VALID else FAIL)
    assert ("migrations apply" in (check.fix or "")) == (outcome is Outcome.INCOMPLETE_DATABASE)


def test_migrations_with_a_warning() -> None:
    found = Validation(database="neo4j", outcome=Outcome.VALID, warnings=("a file was left out",))
    assert engine.check_migrations(found).level is WARN


@pytest.mark.parametrize(
    ("states", "level"),
    [
        ({"one": "ONLINE", "two": "ONLINE", "theirs": "FAILED"}, OK),
        ({"one": "ONLINE"}, FAIL),
        ({"one": "ONLINE", "two": "FAILED"}, FAIL),
        ({"one": "ONLINE", "two": "POPULATING"}, WARN),
    ],
)
def test_indexes(states: dict[str, str], level: Level) -> None:
    check = engine.check_indexes({"one": "CREATE one", "two": "CREATE two"}, states)
    assert check.level is level
    if level is FAIL:
        assert "CREATE two;" in (check.fix or "")
        assert "CREATE one" not in (check.fix or "")


@pytest.mark.parametrize(
    ("status", "level"),
    [
        (Status.INSTALLED, OK),
        (Status.MODIFIED, FAIL),
        (Status.MISSING, FAIL),
        (Status.OUTDATED, WARN),
        (Status.PRUNE, WARN),
    ],
)
def test_procedures(status: Status, level: Level) -> None:
    rows = [ProcedureStatus("a/b", Status.INSTALLED, None, None), ProcedureStatus("c/d", status, None, None)]
    check = engine.check_procedures(rows)
    assert check.level is level
    assert level is OK or "c/d" in check.found


def test_pump_texts() -> None:
    wanted = [{"name": "pump", "body": "RETURN 1", "every_s": 2, "texts": {"tick": "RETURN 2"}}]
    right = {"body": "RETURN 1", "every_s": 2, "tick": "RETURN 2", "last_tick": NOW}
    assert engine.check_pump_texts(wanted, {"pump": right}).level is OK
    assert engine.check_pump_texts(wanted, {}).level is FAIL
    older = engine.check_pump_texts(wanted, {"pump": right}, "CYPHER 5\n")
    assert (older.level, "check language" in older.found) == (UNKNOWN, True), "one cause is one failure"
    newer = {**wanted[0], "body": "CYPHER 5\nRETURN 1"}
    assert engine.check_pump_texts([newer], {"pump": {**right, "body": newer["body"]}}, "CYPHER 5\n").level is OK
    for part, other in (("body", "RETURN 3"), ("every_s", 60), ("tick", None)):
        check = engine.check_pump_texts(wanted, {"pump": {**right, part: other}})
        assert (check.level, f"pump.{part}" in check.found) == (FAIL, True)


def test_jobs() -> None:
    wanted = [{"name": "a", "every_s": 5, "parameters": {"p_share": 0.5}}]
    right = {"name": "a", "every_s": 5, "p_share": 0.5, "token": 7}
    assert engine.check_jobs(wanted, [right]).level is OK
    for stored, says in (
        ([], "a is missing"),
        ([right, {"name": "b"}], "b is not in the policy"),
        ([{**right, "every_s": 6}], "a.every_s is 6, the policy says 5"),
        ([{**right, "p_share": 1.0}], "a.p_share is 1.0"),
        ([{**right, "p_extra": 1}], "a.p_extra is 1, the policy says None"),
    ):
        check = engine.check_jobs(wanted, stored)
        assert (check.level, says in check.found) == (FAIL, True), check


def test_gate() -> None:
    assert engine.check_gate(PUMP).level is OK
    waiting = engine.check_gate({**PUMP, "applied_at": None})
    assert (waiting.level, "jochi apply" in (waiting.fix or "")) == (WARN, True)
    guarded = engine.check_gate({**PUMP, "applied_at": None, "guard": "the clock went back"})
    assert (guarded.level, guarded.found.endswith("the clock went back")) == (FAIL, True)
    assert "jochi approve" in (guarded.fix or "")


def job(name: str = "a", **changed: Any) -> JobState:
    """A job that is well, but for ``changed``."""
    values: dict[str, Any] = dict.fromkeys(JobState.__dataclass_fields__) | {
        "name": name,
        "every": MINUTE,
        "destructive": True,
        "enabled": True,
        "failures": 0,
        "crashes": 0,
    }
    return JobState(**{**values, **changed})


def test_a_job_that_the_breaker_stopped() -> None:
    assert engine.check_breaker([job("well")]).level is OK
    stop = Stop("s", "Note", "run", 100, 100, 7, 24)
    check = engine.check_breaker([job("well"), job("held", stopped_run="held/4", stops=(stop,))])
    assert check.level is FAIL
    assert check.found == (
        "held stands still since held/4: Note in scope s: 100 went in this run, the limit is 100; 7 more of its last batch wait"
    )
    assert "`jochi approve held/4`" in (check.fix or "")


@pytest.mark.parametrize(("failures", "level"), [(0, OK), (1, WARN), (2, WARN), (3, FAIL)])
def test_failing_jobs(failures: int, level: Level) -> None:
    check = engine.check_failing([job("well"), job("ill", failures=failures, last_error="a lock")])
    assert check.level is level
    assert level is OK or "ill: " in check.found
    assert ("a lock" in check.found) == (level is not OK)


def unseen(**counts: int) -> Unseen:
    """Counts of faults among 10 memories."""
    return Unseen(10, 10, counts, {name: ["default/m1"] for name in counts})


@pytest.mark.parametrize("fault", ["no_key", "no_next_due", "wrong_next_due"])
def test_memories_that_are_not_seen(fault: str) -> None:
    check = check_visible(unseen(**{fault: 3}))
    assert (check.level, "3 " in check.found, "default/m1" in check.found) == (FAIL, True, True)
    assert ("jochi jobs run hygiene" in (check.fix or "")) == (fault != "no_key")
    assert check_dated(unseen(**{fault: 3})).level is OK


@pytest.mark.parametrize("fault", ["no_created_at", "wrong_created_at"])
def test_memories_without_a_date(fault: str) -> None:
    assert check_dated(unseen(**{fault: 1})).level is WARN
    assert check_visible(unseen(**{fault: 1})).level is OK


def test_a_bounded_look_says_so() -> None:
    assert "looked at 5 of 10" in check_visible(Unseen(10, 5, {}, {})).found
    assert check_dated(Unseen(10, 10, {"no_created_at": 0}, {})).level is OK


def test_long_lists_are_cut() -> None:
    assert some(["a", "b"], 2) == "a, b"
    assert some(["a", "b", "c"], 2) == "a, b and 1 more"


def test_sources_that_stand_still() -> None:
    failed = Unfinished("failed", "process", "made up name", 3, NOW, ("alice/a",))
    stuck = replace(failed, state="stuck", phase="extract", why="no worker has taken it", n=1)
    assert check_sources([]).level is OK
    both = check_sources([failed, stuck])
    assert both.level is WARN
    assert "3 failed in process: made up name (such as alice/a)" in both.found
    assert "1 stuck in extract: no worker has taken it" in both.found
    assert ("`jochi sources retry`" in str(both.fix), "`jochi worker`" in str(both.fix)) == (True, True)
    assert "retry" not in str(check_sources([stuck]).fix)
    assert "`jochi derive retry prepare`" in str(check_sources([replace(failed, phase="prepare")]).fix)


COMES_BACK = "can't come back before the other one goes"
HELD = "is held (constraint)"


@pytest.mark.parametrize(
    ("type", "label", "names", "subject", "says", "holds"),
    [
        ("UNIQUENESS", "MemoryEntry", "ref", "unique ref on MemoryEntry", COMES_BACK, False),
        (
            "NODE_PROPERTY_UNIQUENESS",
            "MemoryEntry",
            "a b",
            "unique a, b on MemoryEntry",
            "whose a and b is taken",
            False,
        ),
        ("NODE_KEY", "MemoryEntry", "source tags", "unique source, tags on MemoryEntry", HELD, True),
        ("RELATIONSHIP_UNIQUENESS", "CITES", "ref", "unique ref on CITES", HELD, True),
        ("RELATIONSHIP_KEY", "CITES", "ref", "unique ref on CITES", HELD, True),
        ("NODE_PROPERTY_EXISTENCE", "MemoryEntry", "tags", "required tags on MemoryEntry", "can't be written", False),
        ("RELATIONSHIP_PROPERTY_TYPE", "CITES", "ref", "typed ref on CITES", "can't be written", False),
        ("UNIQUENESS", "Invoice", "tags", None, "none on memories", True),
    ],
)
def test_constraints_of_apps_are_told_with_what_they_mean(
    type: str, label: str, names: str, subject: str | None, says: str, holds: bool
) -> None:
    found = Constraint("app_one", type, label, tuple(names.split()))
    check = check_app_constraints([found], {"MemoryEntry"})
    assert (check.level, check.fix, found.may_hold_merges) == (OK, None, holds)
    assert says in check.found
    assert subject is None or check.found.startswith(f"app_one: {subject}: ")
