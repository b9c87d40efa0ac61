"""What commands say of what isn't there, without a server: clients are stood in for."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

import jochi.operate.restart
from jochi.cli.app import app
from jochi.client import Jochi
from jochi.compile.registry import ProcedureStatus, Status
from jochi.compile.rendering import Procedure, render_one
from jochi.database.engine import Engine
from jochi.database.installed import InstalledProcedure
from jochi.database.server_facts import ServerFacts
from jochi.errors import JochiError, PartlyDone, Refused, UsageError
from jochi.forgetting import Candidate, ForgettingPlan, Reading, Request, Target
from jochi.install.install import InstallResult
from jochi.jobs.runner import DueJob
from jochi.jobs.runner import Run as JobRun
from jochi.jobs.runs import RunSummary
from jochi.policy import load_policy
from jochi.text.content import content_hash
from jochi.undo.results import DecompressResult, RestoreResult, UnmergeResult
from jochi.write.importing.writing import check_ready

NOW = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)
FACTS = ServerFacts("5.26.30", "community", "5.26.19", frozenset(), "CYPHER_5", 5.0, False, True)


@dataclass(frozen=True)
class Told:
    """What a command wrote, and the error that it ended with."""

    stdout: str
    stderr: str
    error: JochiError | None


Run = Callable[..., Told]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    def invoke(module: str, client: object, *words: str, said: str = "") -> Told:
        @contextmanager
        def stand_in(_context: object) -> Iterator[object]:
            yield client

        for place in (module, "connection"):
            monkeypatch.setattr(f"jochi.cli.{place}.jochi", stand_in, raising=False)
        ended = CliRunner().invoke(app, list(words), input=said)
        error = ended.exception
        assert error is None or isinstance(error, JochiError), error
        return Told(ended.stdout, ended.stderr, error)

    return invoke


def test_status_reads_every_property_that_the_check_after_a_restart_needs() -> None:
    source = Path(jochi.operate.restart.__file__).read_text(encoding="utf-8")
    needed = set(re.findall(r'pump(?:\.get\(|\[)"(\w+)"', source))
    assert {"pinned", "pin_refused_at"} <= needed
    text = render_one("report/status", load_policy().policy, FACTS).sections["body"]
    assert {name for name in needed if f".{name}" not in text} == set()


@pytest.mark.parametrize(
    ("job", "target", "said"),
    [("undo", "curate_due/1", "undo of curate_due/1"), ("plan", "plan-1", "application of the plan plan-1")],
)
def test_a_run_says_what_it_was_of(run: Run, job: str, target: str, said: str) -> None:
    row = {"id": f"{job}/1", "job": job, "status": "ok", "started_at": NOW, "procedure": "x", "target": target}
    row |= {"selected": 1, "changed": 0, "failed_batches": 0}
    one = RunSummary.from_row({"run": row, "done": []})
    client = SimpleNamespace(runs=lambda *_, **__: [one])
    assert said in run("runs", client, "runs", "show", one.id).stdout.splitlines()
    assert ("undid" in run("runs", client, "runs", "ls").stdout) == (job == "undo")


@pytest.mark.parametrize(
    ("job", "tally", "said"),
    [
        ("curate_due", {"keep": 3, "unknown": 2, "pruned": 1}, "kept 3, pruned 1, where a rule can't tell 2"),
        ("fold_accesses", {"unknown": 2, "records": 5}, "records 5, of unknown keys 2"),
    ],
)
def test_a_run_counts_in_whole_words(run: Run, job: str, tally: dict[str, int], said: str) -> None:
    one = JobRun(f"{job}/1", job, "ok", 1, 5, 1, tally=tally)
    assert said in run("jobs", SimpleNamespace(run=lambda *_, **__: [one]), "jobs", "run", job).stdout


DUE = [
    DueJob("hygiene", "ok", JobRun("hygiene/1", "hygiene", "ok", 2, 1_200, 3, tally={"pruned": 1})),
    DueJob("curate_due", "waits", why="curate_due prunes, and nobody has said go", fix="`jochi apply`"),
    DueJob("fold_accesses", "breaker", JobRun("fold_accesses/1", "fold_accesses", "breaker", 1, 5, 0)),
]
BAD = JobRun("prune_runs/1", "prune_runs", "failed", 0, 0, 0, error="there is\nno procedure")


def _due(*found: DueJob) -> object:
    def run_due(on_job: Callable[[DueJob], object] | None) -> list[DueJob]:
        for one in found if on_job else ():
            on_job(one)  # type: ignore[misc]
        return list(found)

    return SimpleNamespace(run_due=run_due)


def test_each_job_that_was_due_is_a_line_and_only_a_failure_is_an_exit_code(run: Run) -> None:
    told = run("jobs", _due(*DUE), "jobs", "run", "--due")
    assert told.error is None
    assert told.stdout.splitlines() == [
        "hygiene: ok; batches 2, looked at 1,200, changed 3; pruned 1",
        "curate_due: waits; curate_due prunes, and nobody has said go; `jochi apply`",
        "fold_accesses: breaker; batches 1, looked at 5, changed 0",
    ]
    told = run("jobs", _due(DueJob("prune_runs", "failed", BAD, BAD.error), *DUE), "jobs", "run", "--due")
    assert told.stdout.startswith("prune_runs: failed; batches 0, looked at 0, changed 0; there is no procedure\n")
    assert isinstance(told.error, PartlyDone)
    assert told.error.what == "not everything went well: prune_runs"
    assert run("jobs", _due(), "jobs", "run", "--due").stdout == "nothing is due\n"


def test_jobs_that_were_due_as_json(run: Run) -> None:
    told = run("jobs", _due(DueJob("prune_runs", "failed", why="gone"), *DUE), "jobs", "run", "--due", "--json")
    assert isinstance(told.error, PartlyDone)
    assert [(one["job"], one["outcome"], one["why"]) for one in json.loads(told.stdout)][:2] == [
        ("prune_runs", "failed", "gone"),
        ("hygiene", "ok", None),
    ]
    assert json.loads(told.stdout)[1]["run"]["changed"] == 3


@pytest.mark.parametrize("words", [(), ("curate_due", "--due"), ("--due", "--drain")])
def test_one_job_or_those_that_are_due(run: Run, words: tuple[str, ...]) -> None:
    assert isinstance(run("jobs", _due(*DUE), "jobs", "run", *words).error, UsageError)


def test_what_install_returns_has_a_short_repr() -> None:
    text = "MATCH (n) RETURN n\n" * 1_000
    wanted = Procedure("a/b", "call", {"body": text}, "0" * 64)
    installed = InstalledProcedure("a/b", {"body": text}, None, None)
    row = ProcedureStatus("a/b", Status.MODIFIED, wanted, installed)
    result = InstallResult(FACTS, ["1"], [row] * 100, False, True)
    assert len(repr(row)) < 500
    assert len(repr(result)) < 1_000
    assert result.procedures[0].wanted is wanted


class Store:
    """Answers what `check_ready` asks."""

    name = "neo4j"

    def __init__(self, *, ready: bool, pump: dict[str, Any] | None) -> None:
        self._row = {"ready": ready, "pump": pump, "policy_text": None, "policy_compiled": None, "procedures": []}

    def run(self, *_: object, **__: object) -> list[dict[str, Any]]:
        return [self._row]


def test_import_into_a_database_without_jochi_is_refused_as_all_else_is() -> None:
    check_ready(Store(ready=True, pump=None))  # type: ignore[arg-type]
    bare = Store(ready=False, pump=None)
    with pytest.raises(Refused) as other:
        Engine(bare).text("jobs/list")  # type: ignore[arg-type]
    with pytest.raises(Refused) as told:
        check_ready(bare)  # type: ignore[arg-type]
    assert (told.value.fix, told.value.exit_code) == (other.value.fix, 5)
    with pytest.raises(UsageError, match="constraint on the keys"):
        check_ready(Store(ready=False, pump={"version": "1"}))  # type: ignore[arg-type]


def forgetting(*targets: Target, **counts: int) -> SimpleNamespace:
    request = Request(scope="carol")
    candidates = tuple(Candidate(f"carol/{each}", "Belief", each, 0.5, 0.0) for each in "ab")
    done = SimpleNamespace(
        counts={"sealed": 1},
        held={},
        left=(),
        asked=(),
        elsewhere=0,
        receipt=SimpleNamespace(number=1, hash="h", body={"counts": {"sealed": 1, **counts}}),
    )
    return SimpleNamespace(
        policy=load_policy(),
        read_request=lambda *_, **__: Reading(request, None, candidates, reason="it may be a or b"),
        plan_forgetting=lambda _: ForgettingPlan(request, targets, (), False),
        forget=lambda *_, **__: done,
    )


def test_a_description_without_an_answer_asks_for_ids_not_for_yes(run: Run) -> None:
    words = ("forget", "--about", "where she lives", "--scope", "carol")
    for said in ("", "1\n"):  # nobody at either question
        told = run("forget", forgetting(), *words, said=said)
        assert isinstance(told.error, Refused)
        assert "--id" in str(told.error.fix)
        assert "--yes" not in str(told.error.fix)
        assert "carol/a (Belief): a" in told.stderr
    told = run("forget", forgetting(), "forget", "--id", "carol/a")
    assert "--yes" in str(told.error and told.error.fix)


def test_a_scope_with_nothing_in_it_is_told(run: Run) -> None:
    told = run("forget", forgetting(), "forget", "--scope", "carol", "--yes")
    assert isinstance(told.error, PartlyDone)
    assert "nothing is in the scope carol" in told.error.what
    assert "jochi forget --lift --scope carol" in str(told.error.fix)
    asked = run("forget", forgetting(), "forget", "--scope", "carol", said="n\n")
    assert "no memory is in the scope carol" in asked.stderr
    assert run("forget", forgetting(records_deleted=2), "forget", "--scope", "carol", "--yes").error is None
    there = Target("carol/a", "Belief", "scope", "forget")
    assert run("forget", forgetting(there, memories=1), "forget", "--scope", "carol", "--yes").error is None


@pytest.mark.parametrize(
    "given", ["9f2c", "v2:9f2c", "v2:" + "G" * 64, "v1:" + "0" * 64, "v3:" + "0" * 64, "", "alice@acme.io"]
)
def test_what_is_no_hash_of_ours_is_wrong_usage(given: str) -> None:
    with pytest.raises(UsageError, match="is no hash"):
        Request(hash=given)


def test_hashes_of_ours_are_taken() -> None:
    assert Request(hash=content_hash("tea")).form == "hash"


def test_uninstall_says_that_seals_and_receipts_go(run: Run) -> None:
    client = SimpleNamespace(export_receipts=lambda: SimpleNamespace(seals=[1, 2], receipts=[1]))
    told = run("install", client, "uninstall")
    assert isinstance(told.error, Refused)
    assert "2 seals and 1 receipt of forgetting go, too" in " ".join(told.stderr.split())


def test_an_unknown_job_has_no_history(monkeypatch: pytest.MonkeyPatch) -> None:
    client = Jochi.__new__(Jochi)
    monkeypatch.setattr(client, "engine", None, raising=False)
    monkeypatch.setattr("jochi.client.jobs.run_rows", lambda *_, **__: [])
    monkeypatch.setattr(client, "jobs", lambda: [SimpleNamespace(name="b"), SimpleNamespace(name="a")], raising=False)
    with pytest.raises(UsageError, match="there is no job 'nosuchjob'") as told:
        client.history("nosuchjob")
    assert told.value.fix == "there are: a, b"
    assert (client.history("a"), client.history()) == ([], [])


@pytest.mark.parametrize(
    ("verb", "unknown", "other"),
    [
        ("restore", RestoreResult("s/a", "not_found"), RestoreResult("s/a", "taken")),
        ("unmerge", UnmergeResult("s/a", None, "not_merged"), UnmergeResult("s/a", "s/b", "taken")),
        ("decompress", DecompressResult("s/a", "not_found"), DecompressResult("s/a", "changed")),
    ],
)
def test_an_unknown_key_has_a_hint(run: Run, verb: str, unknown: object, other: object) -> None:
    told = run("undo", SimpleNamespace(**{verb: lambda *_, **__: [unknown]}), verb, "s/a")
    assert isinstance(told.error, PartlyDone)
    assert "jochi explain s/a" in str(told.error.fix)
    told = run("undo", SimpleNamespace(**{verb: lambda *_, **__: [other]}), verb, "s/a")
    assert isinstance(told.error, PartlyDone)
    assert told.error.fix is None
