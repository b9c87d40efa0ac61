"""After an upgrade to another version of the content hash every hash is made anew, and nothing else is."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from jochi import Jochi
from jochi.content import content_hash, hash_v1
from jochi.operate.check import Level
from jochi.operate.doctor import examine
from jochi.tokens import ESTIMATE_COUNTER
from jochi_workers.handler import Result
from jochi_workers.prepare import Prepare
from jochi_workers.queue import Queue

NOON = datetime(2026, 6, 1, 12, tzinfo=timezone.utc)
DAY = timedelta(days=1)
SECOND = timedelta(seconds=1)
EXACT_WAIT = datetime(9999, 1, 1, tzinfo=timezone.utc)
JOB = "requeue_hashes"


class Counter:
    """Counts words, and says that this is exact."""

    name = "tiktoken:test"

    def count(self, text: str) -> int:
        return len(text.split())


@pytest.fixture(autouse=True)
def before(jochi: Jochi) -> None:
    """As if no walk had been for any version yet."""
    jochi.database.run("MATCH (j:JochiJob {name: $job}) REMOVE j.walks_for, j.cursor, j.walked_at", {"job": JOB})


def write(jochi: Jochi, id: str, content: Any, *, kind: str = "Belief", old: bool = True, **more: Any) -> str:
    """A memory as it lies there after the work of a version that had v1: nothing is left to do, and it owns its content."""
    hash = (hash_v1 if old else content_hash)(content) if isinstance(content, str) else None
    row = {
        "key": f"s/{id}",
        "scope": "s",
        "id": id,
        "content": content,
        "content_hash": hash,
        "content_key": f"s/{kind}/{hash}" if hash and kind == "Belief" and "duplicate_of" not in more else None,
        "token_count": 77,
        "token_counter": "given",
        "created_at": NOON - DAY,
        **more,
    }
    jochi.database.run(f"CREATE (m:Curated:{kind}) SET m = $row", {"row": row})
    return f"s/{id}"


def embedded(jochi: Jochi, content: str) -> dict[str, Any]:
    policy = jochi.policy.policy.embedding
    return {
        "embedding": [0.5] * policy.dimensions,
        "embedding_model": policy.model,
        "embedding_hash": hash_v1(content),
    }


def memory(jochi: Jochi, key: str) -> dict[str, Any]:
    rows = jochi.database.run("MATCH (m {key: $key}) RETURN properties(m) AS p", {"key": key}, write=False)
    return dict(rows[0]["p"])


def requeue(jochi: Jochi, now: datetime = NOON) -> int:
    return sum(run.changed for run in jochi.run(JOB, now=now, drain=True))


def work(jochi: Jochi, now: datetime = NOON, *, limit: int = 100) -> list[str]:
    """One batch of a worker; the keys that it did."""
    queue = Queue(jochi.engine, "prepare", clock=lambda: now)
    handler = Prepare(Counter())
    batch = queue.lease(limit, exact=handler.exact)
    assert queue.finish(batch, handler.handle(batch.rows).done).outdated == 0
    return [row["key"] for row in batch.rows]


def test_every_hash_is_made_anew_and_nothing_else(jochi: Jochi) -> None:
    plain = write(jochi, "plain", "Ann likes tea.", **embedded(jochi, "Ann likes tea."))
    server = write(jochi, "server", "It runs on web-03.", **embedded(jochi, "It runs on web-03."))
    other = write(jochi, "other", "It runs on web_03.", duplicate_of=server, **embedded(jochi, "It runs on web_03."))
    owner = write(jochi, "owner", "It is done.")
    copy = write(jochi, "a-copy", "it is DONE", duplicate_of=owner, created_at=NOON - 2 * DAY)
    event = write(jochi, "event", "It is done.", kind="Notification")
    unread = write(
        jochi,
        "unread",
        "很多",
        embedding_model="all-MiniLM-L6-v2-int8",
        embedding_hash=hash_v1("很多"),
        embedding_unknown=0.9,
    )
    new = write(jochi, "new", "Of this version.", old=False)
    bare = write(jochi, "bare", None)
    before = {key: memory(jochi, key) for key in (plain, server, other, owner, copy, event, unread, new, bare)}
    assert before[server]["content_hash"] == before[other]["content_hash"], "one content by v1"

    assert requeue(jochi) == 7
    assert sorted(work(jochi)) == sorted([plain, server, other, owner, copy, event, unread])
    after = {key: memory(jochi, key) for key in before}
    for key in (plain, server, other, owner, copy, event, unread):
        assert after[key]["content_hash"] == content_hash(after[key]["content"])
        assert (after[key]["token_count"], after[key]["token_counter"]) == (77, "given"), "what an app counted stays"
        assert not after[key].keys() & {"prepare_due", "prepare_lease", "embed_due", "work_failures"}
    for key in (plain, server, other, unread):
        assert after[key].get("embedding") == before[key].get("embedding")
        assert after[key]["embedding_hash"] == after[key]["content_hash"], "the vector is of this text still"
    for key in (plain, server, other, owner):
        assert after[key]["content_key"] == f"s/Belief/{after[key]['content_hash']}"
        assert "duplicate_of" not in after[key]
    assert after[server]["content_key"] != after[other]["content_key"], "two contents, each with an owner"
    assert after[copy]["duplicate_of"] == owner, "who had the content has it still, though the other one is older"
    assert "content_key" not in after[copy]
    assert not after[event].keys() & {"content_key", "duplicate_of"}
    assert (after[new], after[bare]) == (before[new], before[bare])

    jochi.database.run("MATCH (j:JochiJob {name: 'requeue_embeddings'}) SET j.embedded_as = 'before'")
    jochi.run("requeue_embeddings", drain=True)
    assert not [key for key in (plain, server, other, unread) if "embed_due" in memory(jochi, key)]


def test_owners_are_leased_before_their_duplicates(jochi: Jochi) -> None:
    for i in range(4):
        owner = write(jochi, f"z{i}", f"It is done {i}.")
        write(jochi, f"a{i}", f"it is done {i}", duplicate_of=owner, created_at=NOON - 2 * DAY)
    jochi.database.run("MATCH (j:JochiJob {name: $job}) SET j.batch_size = 3", {"job": JOB})
    try:
        assert requeue(jochi) == 8
    finally:
        jochi.install(arm=False)
    order = [key for _ in range(8) for key in work(jochi, limit=1)]
    assert sorted(order[:4]) == [f"s/z{i}" for i in range(4)]
    for i in range(4):
        assert memory(jochi, f"s/a{i}")["duplicate_of"] == f"s/z{i}"
        assert "content_key" in memory(jochi, f"s/z{i}")


def test_an_owner_that_the_walk_has_not_reached_is_queued_with_its_duplicate(jochi: Jochi) -> None:
    owner = write(jochi, "z", "It is done.")
    copy = write(jochi, "a", "it is done", duplicate_of=owner, created_at=NOON - 2 * DAY)
    jochi.database.run("MATCH (j:JochiJob {name: $job}) SET j.batch_size = 1, j.max_batches = 1", {"job": JOB})
    try:
        (run,) = jochi.run(JOB, now=NOON)
    finally:
        jochi.install(arm=False)
    assert (run.selected, run.changed) == (1, 2)
    assert work(jochi, limit=1) == [owner]
    assert work(jochi, limit=1) == [copy]
    assert memory(jochi, copy)["duplicate_of"] == owner


def test_it_walks_at_once_for_each_version_and_then_once_a_day(jochi: Jochi) -> None:
    key = write(jochi, "m", "web-03")
    assert requeue(jochi) == 1
    job = jochi.database.run("MATCH (j:JochiJob {name: $job}) RETURN properties(j) AS p", {"job": JOB})[0]["p"]
    assert (job["walks_for"], job.get("cursor"), job["walked_at"].to_native()) == ("v2:", None, NOON)
    again = "MATCH (m:Curated) REMOVE m.prepare_due"  # as an app of the older version writes it
    for now, changed in ((NOON, 0), (NOON + DAY - SECOND, 0), (NOON + DAY, 1), (NOON + DAY, 0)):
        jochi.database.run(again)
        (run, *_) = jochi.run(JOB, now=now)
        assert (run.selected, run.changed) == (changed, changed)
    jochi.database.run(again)
    jochi.database.run("MATCH (j:JochiJob {name: $job}) SET j.walks_for = 'v1:', j.cursor = 's/z'", {"job": JOB})
    assert requeue(jochi, NOON + DAY) == 1, "another version begins at the first key"
    assert work(jochi, NOON + DAY) == [key]


@pytest.mark.parametrize(
    ("more", "due"),
    [
        ({}, NOON - SECOND),
        ({"prepare_due": NOON - DAY}, NOON - DAY),
        ({"prepare_due": NOON + SECOND, "prepare_lease": "another worker's"}, NOON + SECOND),
        ({"prepare_due": EXACT_WAIT, "token_counter": ESTIMATE_COUNTER}, NOON - SECOND),
        ({"content_hash": 5}, NOON - SECOND),
        ({"content_hash": ["v2:"]}, NOON - SECOND),
        ({"content_hash": "v3:x"}, NOON - SECOND),
        ({"content_hash": None}, None),
        ({"content_hash": "v2:x"}, None),
        ({"duplicate_of": "s/nobody"}, NOON),
        ({"duplicate_of": 5}, NOON),
    ],
    ids=[
        "old",
        "waits",
        "leased",
        "awaits tokens",
        "integer",
        "list",
        "newer",
        "none",
        "this",
        "duplicate",
        "strange duplicate",
    ],
)
def test_what_is_queued(jochi: Jochi, more: dict[str, Any], due: datetime | None) -> None:
    key = write(jochi, "m", "web-03", **more)
    requeue(jochi)
    found = memory(jochi, key).get("prepare_due")
    assert (found.to_native() if found else None) == due


def test_a_tombstone_is_left_alone_until_it_comes_back(jochi: Jochi) -> None:
    key = write(jochi, "m", "web-03", tombstone_labels=["Curated", "Belief"])
    jochi.database.run(
        "MATCH (m:Curated) REMOVE m:Curated:Belief SET m:Tombstone, m.tombstone = true, m.deleted_at = $now",
        {"now": NOON},
    )
    assert requeue(jochi) == 0
    assert [back.outcome for back in jochi.restore([key])] == ["restored"]
    later = datetime.now(timezone.utc) + DAY
    assert work(jochi, later) == [key]
    assert memory(jochi, key)["content_key"] == f"s/Belief/{content_hash('web-03')}"


def test_what_is_of_this_version_comes_back_as_it_was(jochi: Jochi) -> None:
    key = write(jochi, "m", "web-03", old=False, tombstone_labels=["Curated", "Belief"])
    jochi.database.run(
        "MATCH (m:Curated) REMOVE m:Curated:Belief SET m:Tombstone, m.tombstone = true, m.deleted_at = $now",
        {"now": NOON},
    )
    jochi.restore([key])
    assert "prepare_due" not in memory(jochi, key)


def test_a_text_that_has_changed_is_counted_again_and_its_vector_is_not_taken_for_the_new_one(jochi: Jochi) -> None:
    key = write(jochi, "m", "Ann likes tea.", **embedded(jochi, "Ann likes tea."))
    jochi.database.run("MATCH (m:Curated {key: $key}) SET m.content = 'Ann likes green tea.'", {"key": key})
    assert requeue(jochi) == 1
    work(jochi)
    found = memory(jochi, key)
    assert (found["token_count"], found["token_counter"]) == (4, "tiktoken:test")
    assert found["embedding_hash"] == hash_v1("Ann likes tea.")
    jochi.database.run("MATCH (j:JochiJob {name: 'requeue_embeddings'}) SET j.embedded_as = 'before'")
    jochi.run("requeue_embeddings", drain=True)
    assert "embed_due" in memory(jochi, key)


@pytest.mark.parametrize("same", [True, False])
def test_a_vector_made_before_the_new_hash_is_no_stranger(jochi: Jochi, same: bool) -> None:
    """Embedded after the upgrade and not hashed anew yet: nothing to do again, unless this version says another text."""
    vector = embedded(jochi, "web-03") | {"embedding_hash": content_hash("web-03")}
    key = write(jochi, "m", "web-03", old=same, **vector)
    if not same:
        jochi.database.run("MATCH (m:Curated {key: $key}) SET m.content_hash = 'v2:other'", {"key": key})
    jochi.database.run("MATCH (j:JochiJob {name: 'requeue_embeddings'}) SET j.embedded_as = 'before'")
    jochi.run("requeue_embeddings", drain=True)
    assert ("embed_due" in memory(jochi, key)) is not same


def test_a_worker_of_another_version_stores_no_hash(jochi: Jochi) -> None:
    one = write(jochi, "one", "web-03", prepare_due=NOON - SECOND)
    two = write(jochi, "two", "web-04", prepare_due=NOON - SECOND)
    old = Queue(jochi.engine, "prepare", clock=lambda: NOON)
    batch = old.lease()
    results = [Result(one, {"content_hash": hash_v1("web-03")}), Result(two, {"content_hash": content_hash("web-04")})]
    finished = old.finish(batch, results)
    assert (finished.done, finished.outdated) == (1, 1)
    assert memory(jochi, two)["content_hash"] == content_hash("web-04")
    found = memory(jochi, one)
    retry = jochi.policy.policy.work.retry_max
    assert (found["content_hash"], found["prepare_due"].to_native()) == (hash_v1("web-03"), NOON + retry)
    assert "prepare_lease" not in found
    assert not jochi.database.run("MATCH (m:Curated) WHERE m.key IS NULL RETURN m", write=False)
    assert work(jochi, NOON + retry - SECOND) == []
    assert work(jochi, NOON + retry) == [one]
    assert memory(jochi, one)["content_hash"] == content_hash("web-03")


@pytest.mark.parametrize("version", ["v1", "v3"])
def test_a_client_of_another_version_is_not_refused(jochi: Jochi, version: str) -> None:
    given = {"kind": "Belief", "scope": "s", "id": "m", "content": "web-03", "content_hash": f"{version}:{'0' * 64}"}
    vector = embedded(jochi, "web-03")
    del vector["embedding_hash"]
    (written,) = jochi.remember([given | vector], now=NOON).results
    assert written.outcome == "written"
    found = memory(jochi, "s/m")
    assert not found.keys() & {"content_hash", "content_key", "embedding_hash"}, "as if it had been left out"
    assert found["prepare_due"].to_native() == NOON
    work(jochi)
    found = memory(jochi, "s/m")
    assert found["content_hash"] == found["embedding_hash"] == content_hash("web-03")
    assert found["content_key"] == f"s/Belief/{content_hash('web-03')}"
    (again,) = jochi.remember([given | {"id": "n"}], now=NOON).results
    assert again.outcome == "written", "who can't say what it is can't be told that it is known"
    (refused,) = jochi.remember([given | {"id": "n", "content_hash": f"{version}:0"}], now=NOON).results
    assert refused.reason == "bad_content_hash"


def test_what_is_said_again_meanwhile_is_stored_and_found_by_the_worker(jochi: Jochi) -> None:
    old = write(jochi, "old", "Ann likes tea.")
    (said,) = jochi.remember(
        [{"kind": "Belief", "scope": "s", "id": "said", "content": "Ann likes tea!"}], now=NOON
    ).results
    assert said.outcome == "written"
    requeue(jochi)
    work(jochi)
    assert memory(jochi, old)["duplicate_of"] == "s/said", "who has the new hash first owns the content"
    assert "content_key" not in memory(jochi, old)
    (again,) = jochi.remember([{"kind": "Belief", "scope": "s", "content": "ann likes tea"}], now=NOON).results
    assert (again.outcome, again.owner) == ("reinforced", "s/said")


def test_the_doctor_says_how_many_are_left(jochi: Jochi) -> None:
    write(jochi, "new", "web-04", old=False)
    assert examine(jochi, probe=False)["content hashes"].level is Level.OK
    write(jochi, "m", "web-03")
    found = examine(jochi, probe=False)["content hashes"]
    assert found.level is Level.WARN
    assert "1 whose content hash is of an older version (such as s/m)" in found.found
    assert "jochi worker" in found.fix
    requeue(jochi)
    work(jochi)
    assert examine(jochi, probe=False)["content hashes"].level is Level.OK
