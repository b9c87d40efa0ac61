"""A dump that is loaded into another server: what the database does there by itself, and how forgetting outlives it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from tests.conftest import say_go
from tests.faults.support import keys, remember, within
from tests.store_copies import dump, load

from jochi import Jochi
from jochi.forgetting import VARIABLE, Request, read_export, write_export
from jochi.localserver import LocalServer

pytestmark = pytest.mark.server


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[tuple[LocalServer, LocalServer]]:
    both = LocalServer("first", home=tmp_path), LocalServer("second", home=tmp_path)
    yield both
    for local in both:
        local.kill()
        local.reset()


def test_a_restored_backup_does_nothing_destructive_and_forgets_again_by_one_command(
    servers: tuple[LocalServer, LocalServer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "forget.key"))
    first, second = servers
    with first.start().driver() as driver:
        client = Jochi(driver)
        client.install(arm=False)
        say_go(client)
        rows = [{"kind": "MemoryEntry", "id": id, "content": f"Mail of {id}@acme.io"} for id in ("ann", "bob", "cy")]
        assert client.remember(rows).written == 3
        client.forget(Request(phrase="cy@acme.io"))
        remember(client.database, 3)
        client.database.run(
            "CREATE (:Tombstone {key: 'default/old', id: 'old', scope: 'default', tombstone: true, "
            "tombstone_labels: ['Curated', 'Notification'], created_at: $at, deleted_at: $at}) "
            "WITH 1 AS one MATCH (p:JochiPump) SET p.armed = true, p.last_tick = datetime.realtime()",
            {"at": datetime.now(timezone.utc) - timedelta(days=60)},
        )
    first.stop()
    dump(first, tmp_path)
    file = tmp_path / "receipts.json"
    with first.start().driver() as driver:
        client = Jochi(driver)
        # What any start of this store would do, by the line in apoc.conf.
        within(120, lambda: not live(client), "the server itself prunes what is due")
        client.forget(Request(phrase="bob@acme.io"))
        write_export(file, client.export_receipts())
    first.stop()

    second.start()
    second.stop()
    load(second, tmp_path)
    with second.start().driver() as driver:
        copy = Jochi(driver)
        within(120, lambda: (copy.status().pump or {}).get("guard"), "the guard of the copy closes")
        within(120, lambda: [run for run in copy.history() if run["status"] == "ok"], "other jobs go on")
        assert (copy.status().pump or {})["guard"] == "this store is a copy from another server"
        assert (len(live(copy)), dead(copy)) == (3, ["default/old"])
        assert (memories(copy), len(copy.receipts().receipts)) == (["default/ann", "default/bob"], 1)

        export = read_export(file)
        requests = copy.requests_of_export(export)
        assert copy.import_receipts(export).receipts == 1
        for request in requests:
            copy.forget(request)
        assert (memories(copy), copy.requests_of_export(export)) == (["default/ann"], [])
        assert copy.receipts().broken_at is None
        assert (len(live(copy)), dead(copy)) == (3, ["default/old"])
        copy.approve()
        within(120, lambda: not live(copy), "after a person's go it prunes")


def live(client: Jochi) -> list[str]:
    return sorted(keys(client.database, "Notification"))


def dead(client: Jochi) -> list[str]:
    return sorted(keys(client.database, "Tombstone"))


def memories(client: Jochi) -> list[str]:
    return sorted(keys(client.database, "MemoryEntry"))
