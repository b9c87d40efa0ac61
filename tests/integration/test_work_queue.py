"""Work for workers: turns, leases, results, duplicates, failures, what is put aside (DESIGN §9, §13)."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from tests.oracle import graph
from tests.work import hits, work_of

from jochi import Jochi
from jochi.text.content import content_hash
from jochi.text.tokens import ESTIMATE_COUNTER, Estimate
from jochi_workers.handler import Result
from jochi_workers.prepare import PrepareHandler
from jochi_workers.queue import Batch, Queue, retry

NOON = datetime(2026, 6, 1, 12, tzinfo=timezone.utc)
LEASE = timedelta(minutes=2)
SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)


class Counter:
    """Counts words, and says that this is exact."""

    name = "tiktoken:test"

    def count(self, text: str) -> int:
        return len(text.split())


class Clock:
    def __init__(self) -> None:
        self.at = NOON

    def __call__(self) -> datetime:
        return self.at


@pytest.fixture
def clock() -> Clock:
    return Clock()


def queue(jochi: Jochi, clock: Clock, name: str = "prepare") -> Queue:
    return Queue(jochi.engine, name, clock=clock)


def remember(jochi: Jochi, id: str, content: Any, *, kind: str = "MemoryEntry", scope: str = "s", **more: Any) -> str:
    """A memory as remember or import leaves it: an estimate, and due."""
    given = {"prepare_due": NOON, "token_count": 9, "token_counter": ESTIMATE_COUNTER, "created_at": NOON} | more
    row = {"key": f"{scope}/{id}", "scope": scope, "id": id, "content": content, **given}
    jochi.database.run(f"CREATE (m:Curated:{kind}) SET m = $row", {"row": row})
    return f"{scope}/{id}"


def memory(jochi: Jochi, key: str) -> dict[str, Any]:
    return dict(graph.state(jochi.database)[key].properties)


def change(jochi: Jochi, key: str, content: str) -> None:
    """As plain Cypher does it, with intake or a person making it due."""
    text = "MATCH (m:Curated {key: $key}) SET m.content = $content, m.prepare_due = $now"
    jochi.database.run(text, {"key": key, "content": content, "now": NOON})


def work(queue: Queue, counter: Any = None, *, limit: int = 100) -> Any:
    handler = PrepareHandler(counter or Counter())
    batch = queue.lease(limit, exact=handler.exact)
    return queue.finish(batch, handler.handle(batch.rows).done)


def keys(batch: Batch) -> list[str]:
    return sorted(row["key"] for row in batch.rows)


def test_fills_in_hash_and_tokens(jochi: Jochi, clock: Clock) -> None:
    key = remember(jochi, "m", "Three Little words.")
    assert work(queue(jochi, clock)).done == 1
    found = memory(jochi, key)
    hash = content_hash("three little words")
    assert found["content_hash"] == hash
    assert found["content_key"] == f"s/MemoryEntry/{hash}"
    assert (found["token_count"], found["token_counter"]) == (3, "tiktoken:test")
    assert not found.keys() & {"prepare_due", "duplicate_of"}
    assert not work_of(jochi.database, key)
    assert not queue(jochi, clock).lease().rows


@pytest.mark.parametrize("early", [True, False])
def test_a_lease_holds_until_its_end_and_no_longer(jochi: Jochi, clock: Clock, early: bool) -> None:
    key = remember(jochi, "m", "text")
    mine = queue(jochi, clock)
    batch = mine.lease()
    assert keys(batch) == [key]
    clock.at = NOON + LEASE - (SECOND if early else timedelta(0))
    other = queue(jochi, clock).lease()
    assert keys(other) == ([] if early else [key])
    late = mine.finish(batch, [Result(key, {"content_hash": content_hash("text")})])
    assert (late.done, late.outdated) == ((1, 0) if early else (0, 1))
    if not early:
        assert "content_hash" not in memory(jochi, key), "the lease had passed to another worker"
        assert queue(jochi, clock).finish(other, [Result(key, {"content_hash": content_hash("text")})]).done == 1


@pytest.mark.parametrize("due_in", [timedelta(0), SECOND])
def test_what_is_not_due_waits(jochi: Jochi, clock: Clock, due_in: timedelta) -> None:
    remember(jochi, "m", "text", prepare_due=NOON + due_in)
    assert len(queue(jochi, clock).lease().rows) == (0 if due_in else 1)


def test_content_changed_meanwhile_is_read_again(jochi: Jochi, clock: Clock) -> None:
    key = remember(jochi, "m", "old text")
    mine = queue(jochi, clock)
    batch = mine.lease()
    jochi.database.run("MATCH (m:Curated {key: $key}) SET m.content = 'new text here'", {"key": key})
    finished = mine.finish(batch, PrepareHandler(Counter()).handle(batch.rows).done)
    assert (finished.done, finished.outdated) == (0, 1)
    assert "content_hash" not in memory(jochi, key)
    assert work(mine).done == 1, "it went back into the queue at once"
    assert memory(jochi, key)["content_hash"] == content_hash("new text here")


def test_a_changed_kind_is_read_again(jochi: Jochi, clock: Clock) -> None:
    key = remember(jochi, "m", "text")
    mine = queue(jochi, clock)
    batch = mine.lease()
    jochi.database.run("MATCH (m:Curated {key: $key}) REMOVE m:MemoryEntry SET m:Task", {"key": key})
    assert mine.finish(batch, PrepareHandler(Counter()).handle(batch.rows).done).outdated == 1


def test_duplicates_are_found_and_the_oldest_has_the_content(jochi: Jochi, clock: Clock) -> None:
    young = remember(jochi, "a", "The same!")
    old = remember(jochi, "b", "the SAME", created_at=NOON - LEASE)
    elsewhere = remember(jochi, "c", "the same", scope="other")
    other_kind = remember(jochi, "d", "the same", kind="Note")
    event = remember(jochi, "e", "the same", kind="Notification")
    again = remember(jochi, "f", "the same", kind="Notification")
    finished = work(queue(jochi, clock))
    assert finished.duplicates == {young: old}
    assert memory(jochi, young)["duplicate_of"] == old
    assert "content_key" not in memory(jochi, young)
    for owner in (old, elsewhere, other_kind):
        assert "content_key" in memory(jochi, owner)
    for free in (event, again):
        assert not memory(jochi, free).keys() & {"content_key", "duplicate_of"}
        assert memory(jochi, free)["content_hash"] == content_hash("the same")
    later = remember(jochi, "g", "the  same", created_at=NOON - 2 * LEASE)
    assert work(queue(jochi, clock)).duplicates == {later: old}, "who has it keeps it"
    bare = jochi.database.run("MATCH (m:Curated) WHERE m.key IS NULL RETURN count(*) AS n", write=False)
    assert bare[0]["n"] == 0


def test_of_two_remembered_without_a_hash_the_older_is_known_once_a_worker_has_looked(
    jochi: Jochi, clock: Clock
) -> None:
    """docs/reference/content-hash.md: the later stays beside it, marked, and what is remembered next reinforces the older."""

    def told(id: str, now: datetime, **more: Any) -> dict[str, Any]:
        row = {"kind": "Belief", "scope": "s", "id": id, "content": "The same!", **more}
        result: dict[str, Any] = jochi.engine.call("memory/remember", {"now": now, "agent": None, "memories": [row]})[
            "results"
        ][0]
        return result

    assert told("older", NOON - SECOND)["outcome"] == told("later", NOON)["outcome"] == "written"
    work(queue(jochi, clock))
    assert memory(jochi, "s/later")["duplicate_of"] == "s/older"
    assert memory(jochi, "s/older")["content_key"].endswith(content_hash("the same"))
    third = told("third", NOON, content_hash=content_hash("the same"))
    assert (third["outcome"], third["owner"]) == ("reinforced", "s/older")
    assert jochi.database.run("MATCH (m:Curated) RETURN count(m) AS n", write=False)[0]["n"] == 2


def test_a_stale_hash_is_corrected_and_its_content_given_up(jochi: Jochi, clock: Clock) -> None:
    owner = remember(jochi, "a", "first", created_at=NOON - LEASE)
    twin = remember(jochi, "b", "first")
    work(queue(jochi, clock))
    assert memory(jochi, twin)["duplicate_of"] == owner
    change(jochi, owner, "second thing")
    third = remember(jochi, "c", "FIRST")
    work(queue(jochi, clock))
    assert memory(jochi, owner)["content_key"].endswith(content_hash("second thing"))
    assert memory(jochi, owner)["token_count"] == 2
    assert "content_key" in memory(jochi, third), "the content was free"
    work(queue(jochi, clock))
    assert memory(jochi, twin)["duplicate_of"] == third, "whoever waited for the old owner was looked at again"


def test_two_that_swap_their_contents(jochi: Jochi, clock: Clock) -> None:
    a, b = remember(jochi, "a", "one"), remember(jochi, "b", "two")
    work(queue(jochi, clock))
    change(jochi, a, "two")
    change(jochi, b, "one")
    assert not work(queue(jochi, clock)).duplicates
    assert memory(jochi, a)["content_key"].endswith(content_hash("two"))
    assert memory(jochi, b)["content_key"].endswith(content_hash("one"))


def test_an_estimate_waits_for_a_worker_that_counts(jochi: Jochi, clock: Clock) -> None:
    key = remember(jochi, "m", "two words")
    without = queue(jochi, clock)
    assert work(without, Estimate()).done == 1
    found = memory(jochi, key)
    assert "content_hash" in found
    assert found["token_counter"] == ESTIMATE_COUNTER
    assert not without.lease(exact=False).rows, "nothing for a worker that can't count"
    assert without.backlog().unsure == 1
    assert work(without, Counter()).done == 1
    assert (memory(jochi, key)["token_count"], memory(jochi, key)["token_counter"]) == (2, "tiktoken:test")
    assert (without.backlog().waiting, without.backlog().later, without.backlog().unsure) == (0, 0, 0)


def test_what_an_app_counted_itself_stays_until_the_content_changes(jochi: Jochi, clock: Clock) -> None:
    key = remember(jochi, "m", "two words", token_count=77, token_counter="given")
    work(queue(jochi, clock))
    assert (memory(jochi, key)["token_count"], memory(jochi, key)["token_counter"]) == (77, "given")
    change(jochi, key, "now three words")
    work(queue(jochi, clock))
    assert memory(jochi, key)["token_count"] == 3


def test_tombstones_are_never_leased_and_nothing_stays_without_content(jochi: Jochi, clock: Clock) -> None:
    remember(jochi, "dead", "text")
    jochi.database.run("MATCH (m:Curated) REMOVE m:Curated:MemoryEntry SET m:Tombstone, m.tombstone = true")
    half = remember(jochi, "half", "text", tombstone=True)
    empty = [half, remember(jochi, "none", None), remember(jochi, "empty", ""), remember(jochi, "number", 7)]
    batch = queue(jochi, clock).lease()
    assert not batch.rows
    assert batch.dropped == len(empty)
    assert not any("prepare_due" in memory(jochi, key) for key in empty)


def test_a_memory_pruned_while_leased_stays_as_it_is(jochi: Jochi, clock: Clock) -> None:
    key = remember(jochi, "m", "text")
    mine = queue(jochi, clock)
    batch = mine.lease()
    jochi.database.run("MATCH (m:Curated) REMOVE m:Curated:MemoryEntry SET m:Tombstone, m.tombstone = true")
    assert mine.finish(batch, [Result(key, {"content_hash": "v2:x"})]).outdated == 1
    assert "content_hash" not in memory(jochi, key)


def test_restored_after_its_content_went_to_another(jochi: Jochi, clock: Clock) -> None:
    key = remember(jochi, "m", "text", tombstone_labels=["Curated", "MemoryEntry"])
    work(queue(jochi, clock))
    jochi.database.run(
        "MATCH (m:Curated) REMOVE m:Curated:MemoryEntry SET m:Tombstone, m.tombstone = true, m.deleted_at = $now",
        {"now": NOON},
    )
    heir = remember(jochi, "heir", "text")
    work(queue(jochi, clock))
    assert "content_key" in memory(jochi, heir)
    (back,) = jochi.restore([key])
    assert (back.outcome, back.duplicate_of) == ("restored", heir)
    assert memory(jochi, key)["duplicate_of"] == heir
    assert "content_key" not in memory(jochi, key)
    # Pruned and restored again when its owner is gone: a worker finds out that it has the content to itself now.
    for swap in (
        "MATCH (m:Curated {key: $heir}) DETACH DELETE m",
        "MATCH (m:Curated {key: $key}) REMOVE m:Curated:MemoryEntry "
        "SET m:Tombstone, m.tombstone = true, m.deleted_at = $now, m.tombstone_labels = ['Curated', 'MemoryEntry']",
    ):
        jochi.database.run(swap, {"heir": heir, "key": key, "now": NOON})
    assert [entry.duplicate_of for entry in jochi.restore([key])] == [None]
    clock.at = datetime.now(timezone.utc) + LEASE
    assert work(queue(jochi, clock)).done == 1
    assert memory(jochi, key)["content_key"].startswith("s/MemoryEntry/v2:")


def test_what_is_pruned_while_it_waits_is_marked_again_when_it_comes_back(jochi: Jochi, clock: Clock) -> None:
    key = remember(jochi, "m", "text", embed_due=NOON, tombstone_labels=["Curated", "MemoryEntry"])
    queues = [queue(jochi, clock, name) for name in ("prepare", "embed")]
    assert [one.want(10) for one in queues] == [1, 1]
    jochi.database.run(
        "MATCH (m:Curated) REMOVE m:Curated:MemoryEntry SET m:Tombstone, m.tombstone = true, m.deleted_at = $now",
        {"now": NOON},
    )
    assert [one.lease().dropped for one in queues] == [1, 1]
    assert [back.outcome for back in jochi.restore([key])] == ["restored"]
    assert memory(jochi, key).keys() >= {"prepare_due", "embed_due"}


def test_a_batch_is_bounded_by_its_text_too(jochi: Jochi, clock: Clock) -> None:
    for i in range(4):
        remember(jochi, f"m{i}", "x" * 100, prepare_due=NOON - i * SECOND)
    mine = queue(jochi, clock)
    assert len(mine.lease(most_characters=200).rows) == 2
    assert len(mine.lease(most_characters=199).rows) == 1
    assert len(mine.lease(most_characters=1).rows) == 1, "one that is too long comes alone"


def test_oldest_first(jochi: Jochi, clock: Clock) -> None:
    for i in range(5):
        remember(jochi, f"m{i}", f"text {i}", prepare_due=NOON - i * SECOND)
    assert keys(queue(jochi, clock).lease(2)) == ["s/m3", "s/m4"]


def test_given_back_at_once(jochi: Jochi, clock: Clock) -> None:
    for i in range(3):
        remember(jochi, f"m{i}", f"text {i}")
    mine = queue(jochi, clock)
    batch = mine.lease()
    assert mine.release(batch, ["s/m1"]) == 1
    assert keys(queue(jochi, clock).lease()) == ["s/m1"]
    assert mine.release(batch) == 2, "what another worker holds by now isn't ours to give back"


def test_failures_wait_longer_and_longer_and_end_in_quarantine(jochi: Jochi, clock: Clock) -> None:
    key = remember(jochi, "m", "text")
    mine = queue(jochi, clock)
    rule = jochi.policy.policy.work
    for failure in range(1, rule.give_up_after):
        batch = mine.lease()
        assert keys(batch) == [key], failure
        assert mine.fail(batch, {key: "no way"}).quarantined == ()
        pause = min(rule.retry_min * 2 ** (failure - 1), rule.retry_max)
        found = work_of(jochi.database, key)
        assert (found["tries"], found["error"]) == (failure, "no way")
        assert found["due"].to_native() == clock.at + pause
        clock.at += pause - timedelta(milliseconds=1)
        assert not mine.lease().rows, "too early"
        clock.at += timedelta(milliseconds=1)
    assert mine.backlog().waiting == 1, "one failure below the threshold it is still tried"
    assert mine.backlog().put_aside == 0
    assert mine.fail(mine.lease(), {key: "no way"}).quarantined == (key,)
    found = work_of(jochi.database, key)
    assert found["tries"] == rule.give_up_after
    assert found["put_aside_at"].to_native() == clock.at
    assert not found.keys() & {"due", "lease", "ready"}
    clock.at += timedelta(days=365)
    assert not mine.lease(exact=True).rows
    assert mine.backlog().put_aside == 1


def put_aside(jochi: Jochi, clock: Clock, key: str, derivation: str = "prepare") -> Queue:
    """The queue of a work that was given up on."""
    mine = queue(jochi, clock, derivation)
    mine.want(10)
    jochi.database.run("MATCH (w:JochiWork {id: $id}) SET w.tries = 7", {"id": f"{derivation}/{key}"})
    assert mine.fail(mine.lease(), {key: "no way"}).quarantined == (key,)
    return mine


@pytest.mark.parametrize("by", ["content", "person"])
def test_out_of_quarantine(jochi: Jochi, clock: Clock, by: str) -> None:
    key = remember(jochi, "m", "text")
    mine = put_aside(jochi, clock, key)
    if by == "person":
        assert retry(jochi.engine, clock.at, derivation="embed") == 0
        assert retry(jochi.engine, clock.at) == 1
        assert retry(jochi.engine, clock.at) == 0
    else:
        change(jochi, key, "other")
    batch = mine.lease()
    assert "tries" not in work_of(jochi.database, key), "it starts afresh"
    assert mine.finish(batch, PrepareHandler(Counter()).handle(batch.rows).done).done == 1
    assert not work_of(jochi.database, key)


def test_another_content_is_tried_again_by_all(jochi: Jochi, clock: Clock) -> None:
    key = remember(jochi, "m", "text", embed_due=NOON)
    put_aside(jochi, clock, key, "embed")
    work(queue(jochi, clock))
    assert not work_of(jochi.database, key, "embed"), "its hash is new: nobody knows what the failure was about"
    change(jochi, key, "text ")
    jochi.database.run("MATCH (m:Curated) SET m.embed_due = $now", {"now": NOON})
    put_aside(jochi, clock, key, "embed")
    work(queue(jochi, clock))
    assert work_of(jochi.database, key, "embed"), "of the same content it stays put aside"


def test_a_failure_of_an_outdated_reading_does_not_count(jochi: Jochi, clock: Clock) -> None:
    key = remember(jochi, "m", "text")
    mine = queue(jochi, clock)
    batch = mine.lease()
    change(jochi, key, "other")
    mine.want(10)
    assert mine.fail(batch, {key: "no way"}).outdated == 1
    assert not work_of(jochi.database, key).keys() & {"tries", "error"}
    assert keys(mine.lease()) == [key]


def test_what_is_wanted_again_while_it_is_leased_is_done_once_more(jochi: Jochi, clock: Clock) -> None:
    key = remember(jochi, "m", "text")
    mine = queue(jochi, clock)
    batch = mine.lease()
    change(jochi, key, "text")
    mine.want(10)
    assert not mine.lease().rows, "one at a time"
    assert mine.finish(batch, PrepareHandler(Counter()).handle(batch.rows).done).done == 1
    assert work(mine).done == 1
    assert not mine.lease().rows


def test_the_pace_is_that_of_the_last_hour(jochi: Jochi, clock: Clock) -> None:
    mine = queue(jochi, clock)
    for n, minutes in ((3, 0), (4, 30), (2, 45)):
        for i in range(n):
            remember(jochi, f"{minutes}/{i}", f"text {minutes} {i}")
        clock.at = NOON + minutes * MINUTE
        assert work(mine).done == n
    paces = []
    for minutes in (45, 60, 75, 119, 120):
        clock.at = NOON + minutes * MINUTE
        paces.append(mine.backlog().an_hour)
    # NOON is full hour: of the nine that were done in it as much as an hour before still reaches into.
    assert paces == pytest.approx([9, 9, 6.75, 0.15, 0])
    remember(jochi, "last", "one more")
    clock.at = NOON + 75 * MINUTE
    work(mine)
    assert mine.backlog().an_hour == pytest.approx(7.75)


def test_what_kills_its_workers_is_put_aside(jochi: Jochi, clock: Clock) -> None:
    key = remember(jochi, "m", "text")
    mine = queue(jochi, clock)
    for lost in range(jochi.policy.policy.work.give_up_after):
        assert work_of(jochi.database, key).get("tries", 0) == max(lost - 1, 0)
        assert keys(mine.lease()) == [key]
        clock.at += LEASE
    assert not mine.lease().rows
    assert (work_of(jochi.database, key)["error"], mine.backlog().put_aside) == ("its worker was lost", 1)


def test_scopes_take_turns(jochi: Jochi, clock: Clock) -> None:
    """Who wants much doesn't keep others waiting, and who comes first in its scope comes first."""
    for i in range(20):
        remember(jochi, f"b{i:02}", f"text {i}", scope="big", prepare_due=NOON - (30 - i) * SECOND)
    mine = queue(jochi, clock)
    assert keys(mine.lease(3)) == ["big/b00", "big/b01", "big/b02"]
    for i in range(3):
        remember(jochi, f"s{i}", f"text {i}", scope="small", prepare_due=NOON - i * SECOND)
    mine.want(10)
    assert keys(mine.lease(4)) == ["big/b03", "big/b04", "small/s1", "small/s2"]
    assert keys(mine.lease(3)) == ["big/b05", "big/b06", "small/s0"]
    assert keys(mine.lease(3)) == ["big/b07", "big/b08", "big/b09"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["work/lease", "work/want", "work/settle", "work/retry"])
def test_the_cost_goes_with_the_batch_and_not_with_the_backlog(jochi: Jochi, name: str) -> None:
    """Some are ready, some leased, some wait after a failure, some were put aside."""
    fill = (
        "UNWIND range($first, $last) AS i CREATE (w:JochiWork {id: 'prepare/s/' + i, derivation: 'prepare', key: 's/' + i, "
        "scope: 's' + (i % 20), wanted_at: $now}) SET w.ready = CASE WHEN i % 4 < 2 THEN i END, "
        "w.lease = CASE WHEN i % 4 = 2 THEN 'other' END, w.due = CASE i % 4 WHEN 2 THEN $now + duration('PT1M') END, "
        "w.put_aside_at = CASE i % 4 WHEN 3 THEN $now END"
    )
    items = [
        {"id": f"prepare/s/n{i}", "key": f"s/n{i}", "scope": f"s{i % 20}", "other": None, "ahead": None}
        for i in range(50)
    ]
    settled = [
        {"id": f"prepare/s/{i}", "what": "done", "until": None, "error": None, "final": None} for i in range(2, 202, 4)
    ]
    given: dict[str, Any] = {"now": NOON, "derivation": "prepare", "limit": 50, "token": "other", "able": True}
    given |= {"items": items, "settled": settled, "spent": [], "key": None}
    text = jochi.engine.text(name)
    cost = []
    for first, last in ((1, 1_000), (1_001, 10_000)):
        jochi.database.run(fill, {"first": first, "last": last, "now": NOON})
        jochi.database.run("CALL db.awaitIndexes(60)", write=False)
        cost.append(hits(jochi.database, text, jochi.engine.given(text, given)))
    assert 50 < cost[1] < 1.2 * cost[0]


@pytest.mark.parametrize("name", ["gone", "forgotten"])
def test_no_work_outlives_its_memory(jochi: Jochi, clock: Clock, name: str) -> None:
    key = remember(jochi, "m", "text", embed_due=NOON)
    for derivation in ("prepare", "embed"):
        queue(jochi, clock, derivation).want(10)
    if name == "forgotten":
        jochi.engine.call("memory/forget", {"now": NOON, "rows": [{"key": key, "revision": None}], "remake": True})
    else:
        jochi.database.run("MATCH (m:Curated) DETACH DELETE m")
        assert [queue(jochi, clock, one).lease().dropped for one in ("prepare", "embed")] == [1, 1]
    assert not work_of(jochi.database, key)
    assert not work_of(jochi.database, key, "embed")


@pytest.mark.slow
def test_ten_workers_share_the_work_and_no_memory_twice(jochi: Jochi, clock: Clock) -> None:
    for i in range(300):
        remember(jochi, f"m{i:03}", f"text {i % 100}")
    seen: list[str] = []
    lock = threading.Lock()
    start = threading.Barrier(10)

    def worker(_number: int) -> None:
        mine = queue(jochi, clock)
        start.wait()
        while (batch := mine.lease(7, exact=True)).rows:
            with lock:
                seen.extend(keys(batch))
            finished = mine.finish(batch, PrepareHandler(Counter()).handle(batch.rows).done)
            assert finished.outdated == 0

    with ThreadPoolExecutor(10) as pool:
        list(pool.map(worker, range(10)))
    assert sorted(seen) == [f"s/m{i:03}" for i in range(300)]
    rows = jochi.database.run(
        "MATCH (m:Curated) RETURN count(m.content_key) AS owners, count(DISTINCT m.content_key) AS contents, "
        "count(m.duplicate_of) AS duplicates, count(m.prepare_due) AS left, "
        "count { MATCH (d:Curated) WHERE NOT EXISTS { MATCH (o:Curated {key: d.duplicate_of, content_hash: d.content_hash}) "
        "WHERE o.content_key IS NOT NULL } AND d.duplicate_of IS NOT NULL } AS lost",
        write=False,
    )
    assert dict(rows[0]) == {"owners": 100, "contents": 100, "duplicates": 200, "left": 0, "lost": 0}


# -- embeddings --------------------------------------------------------------------------------------------------------


def vector(jochi: Jochi, **more: Any) -> dict[str, Any]:
    policy = jochi.policy.policy.embedding
    given = {"embedding": [0.5] * policy.dimensions, "embedding_model": policy.model, "embedding_hash": "v2:h"}
    return given | more


def test_embeddings_are_stored(jochi: Jochi, clock: Clock) -> None:
    key = remember(jochi, "m", "text", embed_due=NOON)
    mine = queue(jochi, clock, "embed")
    batch = mine.lease()
    assert keys(batch) == [key]
    assert mine.finish(batch, [Result(key, vector(jochi))]).done == 1
    found = memory(jochi, key)
    assert found.items() >= vector(jochi).items()
    assert "prepare_due" in found
    assert not found.keys() & {"embed_due", "embedding_unknown"}


@pytest.mark.parametrize("wrong", [{"embedding": [0.5] * 3}, {"embedding_model": "another"}])
def test_a_vector_of_another_model_or_length_is_refused(jochi: Jochi, clock: Clock, wrong: dict[str, Any]) -> None:
    key = remember(jochi, "m", "text", embed_due=NOON)
    mine = queue(jochi, clock, "embed")
    finished = mine.finish(mine.lease(), [Result(key, vector(jochi, **wrong))])
    assert (finished.done, finished.refused) == (0, (key,))
    assert "embedding" not in memory(jochi, key)


def test_unreadable_text_is_marked(jochi: Jochi, clock: Clock) -> None:
    key = remember(jochi, "m", "text", embed_due=NOON, embedding=[0.1])
    mine = queue(jochi, clock, "embed")
    assert mine.finish(mine.lease(), [Result(key, vector(jochi, embedding=None, embedding_unknown=0.9))]).done == 1
    found = memory(jochi, key)
    assert found["embedding_unknown"] == 0.9
    assert "embedding" not in found


def test_kinds_without_embedding_leave_the_queue(jochi: Jochi, clock: Clock) -> None:
    remember(jochi, "m", "text", kind="Notification", embed_due=NOON)
    batch = queue(jochi, clock, "embed").lease()
    assert (batch.rows, batch.dropped) == ((), 1)


def test_a_changed_model_queues_what_does_not_fit(jochi: Jochi) -> None:
    model, length = jochi.policy.policy.embedding.model, jochi.policy.policy.embedding.dimensions
    fit = {"embedding": [0.5] * length, "embedding_model": model, "embedding_hash": "v2:a", "content_hash": "v2:a"}
    asks = fit | {"kind": "Fact", "answers": "When?"}
    cases = {
        "fits": (fit, False),
        "none": ({}, True),
        "model": (fit | {"embedding_model": "old"}, True),
        "length": (fit | {"embedding": [0.5]}, True),
        "hash": (fit | {"embedding_hash": "v2:b"}, True),
        "question": (asks | {"embedding_hash": "v2:a+v2:q"}, False),
        "question, embedded without it": (asks, True),
        "embedded with a question that is gone": (fit | {"embedding_hash": "v2:a+v2:q"}, True),
        "question, other content": (asks | {"embedding_hash": "v2:b+v2:q"}, True),
        "unreadable": ({"embedding_model": model, "embedding_unknown": 0.9}, False),
        "as much as may be": ({"embedding_model": model, "embedding_unknown": 0.3}, True),
        "read": (fit | {"embedding_unknown": 0.0}, False),
        "read, length": (fit | {"embedding": [0.5], "embedding_unknown": 0.0}, True),
    }
    for id, (more, _) in cases.items():
        remember(jochi, id, "text", **more)
    remember(jochi, "event", "text", kind="Notification", embed_due=NOON)
    remember(jochi, "void", None)
    jochi.database.run("MATCH (j:JochiJob {name: 'requeue_embeddings'}) SET j.embedded_as = 'before'")
    jochi.run("requeue_embeddings", drain=True)
    queued = {id: "embed_due" in memory(jochi, f"s/{id}") for id in [*cases, "event", "void"]}
    assert queued == {id: wanted for id, (_, wanted) in cases.items()} | {"event": False, "void": False}
    jochi.run("requeue_embeddings", drain=True)  # the end of the walk is noticed by the next run
    remember(jochi, "later", "text")
    (run,) = jochi.run("requeue_embeddings")
    assert (run.selected, run.changed) == (0, 0), "it walks once for each change"
    assert "embed_due" not in memory(jochi, "s/later")
