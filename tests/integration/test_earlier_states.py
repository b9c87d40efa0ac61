"""A database that an earlier version left: looked at, it says what comes first; installed, it is as if it had been of today."""

from __future__ import annotations

import json

import pytest

from jochi import Jochi
from jochi.database.database import Database
from jochi.errors import Refused
from jochi.jobs.results import Switch
from jochi.operate.check import Level
from jochi.operate.doctor import examine
from jochi.operate.status import overview
from jochi.policy import LoadedPolicy
from jochi.schema.migrations import listing
from jochi.version import __version__

pytestmark = pytest.mark.server

EARLIER = """
MATCH (p:JochiPolicy) WHERE p.current SET p.text = $text
WITH p MATCH (pump:JochiPump) SET pump.version = '0.0.1'
WITH DISTINCT p MATCH (last:__Neo4jMigration {version: '0003'})
CREATE (last)-[:MIGRATED_TO]->(:__Neo4jMigration {version: '0004', source: 'V0004__content_and_work.cypher',
  checksum: '3584292617', type: 'CYPHER', repeatable: false, package: 'jochi', packageVersion: '0.1.0'})
"""


def make_earlier(database: Database, text: str) -> None:
    """Turns what is installed into what a version before 0.2.0 left; ``text``: of its policy."""
    database.run(EARLIER, {"text": text})
    database.run(
        "CREATE (:Curated:Belief {key: 'default/a', scope: 'default', id: 'a', work_failures: 2}) "
        "CREATE (:JochiCompression {day: date()}) "
        "CREATE (:CurationAudit {id: 'old/1', run: 'old', action: 'prune', key: 'default/b'}) "
        "CREATE (:CurationAudit {id: 'old/2', run: 'old', action: 'restore', key: 'default/b', line: ['old/1']})"
    )
    database.run("CREATE INDEX curated_compress_due IF NOT EXISTS FOR (m:Curated) ON (m.compress_due)")


@pytest.mark.exhaustive
def test_it_is_looked_at_and_upgraded(jochi: Jochi, test_policy: LoadedPolicy) -> None:
    database = jochi.database
    text = json.loads(test_policy.canonical)
    text["policy"]["extends"] = "default"
    del text["forgetting"]["margin"], text["context"], text["kinds"]["StoreItem"]
    text["jobs"]["requeue_hashes"] = {**text["jobs"]["requeue"], "procedure": "work/requeue_hashes"}
    make_earlier(database, json.dumps(text))

    client = Jochi(database.driver, database.name)
    first = f"this database was installed by jochi 0.0.1, and this is jochi {__version__}"
    for call in (
        client.plan,
        client.jobs,
        client.runs,
        lambda: client.explain("default/a"),
        lambda: client.undo("a/1"),
    ):
        with pytest.raises(Refused, match=first) as refused:
            call()
        assert "jochi install" in (refused.value.fix or "")
    client.pause(Switch("all"))
    assert client.resume(Switch("all"))
    seen = overview(client)
    assert seen.installed
    assert [first in note for note in seen.notes] == [True]
    found = examine(client, probe=False)
    assert (found["installed"].level, found["policy"].level) == (Level.WARN, Level.WARN)
    assert "jobs.requeue_hashes: gone since jochi 0.2.0; write now: " in found["policy"].found
    assert "`jochi install`" in found["migrations"].found

    done = client.install(arm=False)
    assert {"forgetting.margin", "context", "kinds.StoreItem"} <= set(done.settings_added)
    assert [line.partition(":")[0] for line in done.settings_dropped] == ["jobs.requeue_hashes"]
    policy = Jochi(database.driver, database.name).policy
    assert (policy.sha256, policy.added, policy.dropped) == (test_policy.sha256, (), ())
    assert listing(database).outcome.value == "VALID"
    assert not database.run("SHOW INDEXES YIELD name WHERE name = 'curated_compress_due' RETURN name", write=False)
    [record] = database.run(
        "MATCH (a)-[:TAKES_BACK]->(b) RETURN a.form AS form, b.form AS was, a.root AS root, a.line AS line", write=False
    )
    assert record == {"form": "restore", "was": "prune", "root": "old/1", "line": None}
    left = "MATCH (n:Curated|JochiCompression) RETURN n.work_failures AS failures, labels(n) AS labels"
    assert database.run(left, write=False) == [{"failures": None, "labels": ["Curated", "Belief"]}]
    assert client.plan().groups == []
    again = client.install(arm=False)
    assert (again.migrations_applied, again.settings_dropped) == ([], ())


@pytest.mark.slow
def test_it_is_uninstalled_without_an_upgrade(jochi: Jochi, test_policy: LoadedPolicy) -> None:
    database = jochi.database
    make_earlier(database, test_policy.canonical)
    database.run(
        "CREATE (:Tombstone {tombstone: true, merged_into: 'default/a', key: 'default/b', scope: 'default', id: 'b', "
        "tombstone_labels: ['Curated', 'Belief'], deleted_at: datetime(), work_failures: 2})"
    )
    done = Jochi(database.driver, database.name).uninstall()
    assert (done.restored, done.not_unmerged) == (1, ("default/b",))
    left = database.run(
        "MATCH (n) RETURN labels(n) AS labels, n.id AS id, n.work_failures AS failures ORDER BY id", write=False
    )
    assert left == [{"labels": ["Belief"], "id": id, "failures": None} for id in ("a", "b")]
    ours = "SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP' AND NOT name STARTS WITH 'tests_' RETURN name"
    assert database.run(ours, write=False) == []
