"""Whatever is taken back without `now` is taken back at the server's time: this machine's clock may be years off."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from jochi import Jochi, clock
from jochi.graph.driver_values import to_python

pytestmark = pytest.mark.server

LONG_AGO = datetime(2020, 1, 1, tzinfo=timezone.utc)

MEMORY = "scope: 'default', id: 'a', key: 'default/a', content: 'x'"
DEAD = (
    f"CREATE (:Tombstone {{{MEMORY}, tombstone: true, tombstone_labels: ['Curated', 'Belief'], deleted_at: $at, "
    "merged_into: %s})"
)
RECORD = "CREATE (a:CurationAudit {id: 'r/a', run: 'r', key: 'default/a', scope: 'default', at: $at, "
MERGED = (
    DEAD % "'default/b'" + " CREATE (:Curated:Belief {key: 'default/b', scope: 'default', id: 'b'}) "
    f"{RECORD} action: 'merge', into: 'default/b'}}) "
    "CREATE (a)-[:KEEPS {role: 'survivor before'}]->(:CurationSnapshot), (a)-[:KEEPS {role: 'survivor after'}]->(:CurationSnapshot)"
)
COMPRESSED = (
    f"CREATE (:Curated:Belief {{{MEMORY}}}) {RECORD} action: 'compress', content_name: 'content'}}) CREATE "
    "(a)-[:KEEPS {role: 'before'}]->(:CurationSnapshot {content: 'y'}), "
    "(a)-[:KEEPS {role: 'after'}]->(:CurationSnapshot {content: 'x'})"
)


@pytest.mark.parametrize(
    ("job", "there", "call"),
    [
        ("restore", DEAD % "null", lambda client: client.restore(["default/a"])),
        ("undo", "CREATE (:JochiJobRun {id: 'r', at: $at})", lambda client: client.undo("r")),
        ("unmerge", MERGED, lambda client: client.unmerge(["default/a"])),
        ("decompress", COMPRESSED, lambda client: client.decompress(["default/a"])),
    ],
)
def test_a_wrong_clock_on_this_machine_does_no_harm(
    jochi: Jochi, monkeypatch: pytest.MonkeyPatch, job: str, there: str, call: Callable[[Jochi], Any]
) -> None:
    now = clock.now()
    jochi.database.run(there, {"at": now - timedelta(days=1)})
    monkeypatch.setattr(clock, "now", lambda: LONG_AGO)
    call(jochi)
    [run] = jochi.database.run("MATCH (r:JochiJobRun {job: $job}) RETURN r.now AS now", {"job": job}, write=False)
    assert abs(to_python(run["now"]) - now) < timedelta(hours=1)
