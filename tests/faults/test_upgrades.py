"""Databases that earlier states of Jochi left (`tests/upgrades`): one command upgrades each, and nothing is lost (DESIGN §17)."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import TestServer, disarm
from tests.faults.support import job_of
from tests.faults.test_install_faults import expect_nothing_left
from tests.golden.installed import expect_installed
from tests.upgrades import frozen
from typer.testing import CliRunner

from jochi import Jochi
from jochi.cli.app import app
from jochi.database.database import Database
from jochi.errors import JochiError
from jochi.forgetting import read_export
from jochi.graph.catalogue import EARLIER

pytestmark = pytest.mark.server

OF_THE_ENGINE = {"JochiProcedure", "JochiPolicy", "JochiPump", "JochiJob", "JochiDerivation", "JochiCompression"}
"""Labels of what an install makes anew; all else stays as it is to the last property."""
CHANGED = {"form", *EARLIER}
SECRET = "The code of the safe is 4711"


@pytest.fixture(params=frozen.names())
def earlier(request: pytest.FixtureRequest, database: Database, monkeypatch: pytest.MonkeyPatch) -> Database:
    """A database as an earlier state left it; seals are known by their key."""
    monkeypatch.setenv("JOCHI_FORGET_KEY_FILE", str(frozen.KEY_FILE))
    frozen.load(database, request.param)
    return database


@pytest.fixture
def jochi_says(empty_server: TestServer, monkeypatch: pytest.MonkeyPatch) -> Any:
    """What a command prints; fails where it ends in anything but a result or one of our errors."""
    monkeypatch.setenv("JOCHI_URI", empty_server.uri)
    monkeypatch.setenv("JOCHI_USER", empty_server.user)
    monkeypatch.setenv("JOCHI_PASSWORD", empty_server.password)
    monkeypatch.delenv("JOCHI_PASSWORD_FILE", raising=False)

    def says(*words: str) -> str:
        done = CliRunner().invoke(app, [*words])
        assert done.exception is None or isinstance(done.exception, SystemExit | JochiError), (words, done.exception)
        return done.output + str(done.exception if isinstance(done.exception, JochiError) else "")

    return says


def stays(database: Database) -> Counter[str]:
    """Every node and relationship, each with its values and types, but the engine's own and the chain of migrations.

    Records of before 0.1.0 lack `form`, which the upgrade adds; it takes off what workers of before 0.2.0 had to do.
    """
    rows = list(frozen.rows_of(database))
    nodes = [row for row in rows if row[0] == "n"]
    kept = {i for i, row in enumerate(nodes) if not {*row[1]} & OF_THE_ENGINE and "__Neo4jMigration" not in row[1]}
    texts = [
        json.dumps(
            [
                sorted(labels),
                {name: value for name, value in values.items() if name not in CHANGED},
                [one for one in typed if one[0] not in CHANGED],
            ]
        )
        for _, labels, values, typed in nodes
    ]

    def text_of(value: Any) -> Any:
        return texts[value["node"]] if isinstance(value, dict) and "node" in value else value

    edges = (
        json.dumps([texts[start], type, {name: text_of(value) for name, value in values.items()}, typed, texts[end]])
        for _, start, end, type, values, typed in (row for row in rows if row[0] == "r")
        if {start, end} <= kept
    )
    return Counter([*(texts[i] for i in kept), *edges])


class Killed(BaseException):
    pass


def expect_install_to_go_on(client: Jochi) -> None:
    """Killed between migrations and store, and before the arming."""
    for at in ("checking every statement", "arming"):

        def kill(message: str, at: str = at) -> None:
            if message.startswith(at):
                raise Killed

        with pytest.raises(Killed):
            client.install(on_progress=kill)


def run_of(database: Database, job: str) -> str:
    text = "MATCH (r:JochiJobRun {job: $job}) WHERE r.changed > 0 RETURN r.id AS id"
    [row] = database.run(text, {"job": job}, write=False)
    return str(row["id"])


def keys_of(database: Database, label: str) -> set[str]:
    return {row["key"] for row in database.run(f"MATCH (m:{label}) RETURN m.key AS key", write=False)}


def test_an_earlier_state_is_upgraded_and_nothing_is_lost(earlier: Database, jochi_says: Any) -> None:
    before, tombstones = stays(earlier), keys_of(earlier, "Tombstone")
    prunes, merges = run_of(earlier, "curate_due"), run_of(earlier, "merge_duplicates")
    paused = job_of(Jochi(earlier.driver), "sweep_orphans")["paused_at"]
    assert len(tombstones) > 20
    everything = Counter(map(json.dumps, frozen.rows_of(earlier)))

    # Before: each command answers, and what can't sends to `jochi install`. Nothing is written.
    commands = [
        ["status"],
        ["doctor"],
        ["plan"],
        ["explain", "default/garden"],
        ["runs", "ls"],
        ["undo", prunes, "--dry-run"],
    ]
    for words in commands:
        assert "jochi install" in jochi_says(*words), words
    assert "0.2.0" in jochi_says("install", "--dry-run")
    planned = json.loads(jochi_says("install", "--dry-run", "--json"))
    assert planned["changes"]
    assert Counter(map(json.dumps, frozen.rows_of(earlier))) == everything

    client = Jochi(earlier.driver)
    expect_install_to_go_on(client)
    done = json.loads(jochi_says("install", "--no-arm", "--json"))
    assert done["procedures_removed"] == []  # the call that was killed had stored them already
    expect_installed(earlier)
    client = Jochi(earlier.driver)
    assert not client.preview_install().changes
    assert client.policy.policy.policy.name == "frozen"
    assert stays(earlier) == before
    assert job_of(client, "sweep_orphans")["paused_at"] == paused

    again = client.install(arm=False)
    assert (again.migrations_applied, again.indexes, again.procedures_removed, again.verdict_changed) == (
        [],
        [],
        [],
        False,
    )
    assert stays(earlier) == before

    for words in commands:
        assert "installed by jochi 0.1.0" not in jochi_says(*words), words
    expect_forgetting_to_hold(client)
    expect_plan_to_be_shown(client)

    assert client.undo(merges).left == 0
    assert client.undo(prunes).left == 0
    assert keys_of(earlier, "Tombstone") == set()
    assert tombstones <= keys_of(earlier, "Curated")

    assert set(client.install().armed) == {client.engine.pump, client.engine.watch}
    disarm(earlier)
    client.uninstall()
    expect_nothing_left(earlier)


def test_an_earlier_state_is_uninstalled_without_an_upgrade(earlier: Database, jochi_says: Any, tmp_path: Path) -> None:
    everything = keys_of(earlier, "Curated") | keys_of(earlier, "Tombstone")
    ids = {key.partition("/")[2] for key in everything if not key.startswith("acme/")}
    assert "1 seal and 1 receipt of forgetting go" in jochi_says("uninstall", "--yes")
    kept = tmp_path / "receipts.json"
    assert "tombstones brought back" in jochi_says("uninstall", "--yes", "--receipts", str(kept))
    assert len(read_export(kept).receipts) == 1
    expect_nothing_left(earlier)
    assert {row["id"] for row in earlier.run("MATCH (n) WHERE n.id IS NOT NULL RETURN n.id AS id", write=False)} == ids
    ways = earlier.run("MATCH ({id: 'same2'})-[r:ABOUT]->({id: 'garden'}) RETURN r.n AS n", write=False)
    assert ways == [{"n": 1}], "what the merge had moved is back"


def expect_forgetting_to_hold(client: Jochi) -> None:
    """Its receipt is whole, and what it sealed isn't learned again."""
    chain = client.receipts()
    assert (len(chain.receipts), chain.broken_at) == (1, None)
    [refused] = client.remember([{"kind": "MemoryEntry", "id": "again", "content": SECRET}]).results
    assert (refused.outcome, refused.reason) == ("refused", "forgotten")


def expect_plan_to_be_shown(client: Jochi) -> None:
    """The plan that was saved is there with its memories, which are judged anew where it is applied."""
    plan = next(plan for plan in client.plans() if plan.memories)
    assert client.show_plan(plan.id).id == plan.id
