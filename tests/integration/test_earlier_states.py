"""A database that an earlier version left: looked at, it says what comes first; installed, it is as if it had been of today."""

from __future__ import annotations

import json

import pytest

from jochi import Jochi
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


def test_it_is_looked_at_and_upgraded(jochi: Jochi, test_policy: LoadedPolicy) -> None:
    database = jochi.database
    text = json.loads(test_policy.canonical)
    text["policy"]["extends"] = "default"
    del text["forgetting"]["margin"], text["context"], text["kinds"]["StoreItem"]
    text["jobs"]["requeue_hashes"] = {**text["jobs"]["requeue"], "procedure": "work/requeue_hashes"}
    database.run(EARLIER, {"text": json.dumps(text)})
    database.run(
        "CREATE (:Curated:Belief {key: 'default/a', scope: 'default', id: 'a', work_failures: 2}) "
        "CREATE (:JochiCompression {day: date()}) "
        "CREATE (:CurationAudit {id: 'old/1', run: 'old', action: 'prune', key: 'default/b'}) "
        "CREATE (:CurationAudit {id: 'old/2', run: 'old', action: 'restore', key: 'default/b', line: ['old/1']})"
    )
    database.run("CREATE INDEX curated_compress_due IF NOT EXISTS FOR (m:Curated) ON (m.compress_due)")

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
