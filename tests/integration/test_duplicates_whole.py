"""Near duplicates from end to end: who looks for theirs, what brute force says, what uninstall leaves."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import pytest
from tests.conftest import PolicyWith
from tests.duplicate_pairs import LATER, NOON, Pairs, at_cosine

from jochi import Jochi
from jochi.policy import LoadedPolicy
from jochi.write import importing
from jochi_workers.guard import Ruling
from jochi_workers.handler import Result
from jochi_workers.judge import JudgeHandler
from jochi_workers.prepare import PrepareHandler
from jochi_workers.queue import Queue

FLAG = 0.85


def due(pairs: Pairs) -> set[str]:
    """Who looks for duplicates next."""
    rows = pairs.client.database.run("MATCH (m) WHERE m.similar_due IS NOT NULL RETURN m.key AS key", write=False)
    return {row["key"] for row in rows}


def prepare(pairs: Pairs) -> None:
    queue = Queue(pairs.client.engine, "prepare", clock=lambda: NOON)
    handler = PrepareHandler()
    batch = queue.lease(exact=handler.exact)
    queue.finish(batch, handler.handle(batch.rows).done)


def embed(pairs: Pairs, cosine: float) -> None:
    queue = Queue(pairs.client.engine, "embed", clock=lambda: NOON)
    batch = queue.lease()
    vector, model = at_cosine(cosine, pairs.dimensions), pairs.client.policy.policy.embedding.model
    values = {"embedding": vector, "embedding_model": model, "embedding_unknown": 0.0}
    queue.finish(batch, [Result(row["key"], {**values, "embedding_hash": row["content_hash"]}) for row in batch.rows])


def test_from_remember_to_a_ruling(pairs: Pairs) -> None:
    client = pairs.client
    client.remember({"kind": "Belief", "id": "a", "scope": "s", "content": "Ann lives in Rome"}, now=NOON)
    client.remember({"kind": "Person", "id": "p", "scope": "s", "content": "Ann"}, now=NOON)
    prepare(pairs)
    assert due(pairs) == {"s/a"}
    embed(pairs, 1.0)
    assert pairs.find().selected == 1
    assert not due(pairs)
    client.remember({"kind": "Belief", "id": "b", "scope": "s", "content": "Rome is where Ann lives"}, now=NOON)
    prepare(pairs)
    pairs.find()
    assert (due(pairs), pairs.flags()) == (set(), {}), "it has no vector yet"
    embed(pairs, 0.98)
    assert due(pairs) == {"s/b"}, "only the new one looks"
    pairs.find()
    pairs.judge(Ruling("merge"))
    assert pairs.flag("s/a", "s/b")["merge_due"] == NOON
    prepare(pairs)
    assert not due(pairs), "counted again, and no content is new"


def test_who_comes_with_hash_and_vector_is_due_at_once(pairs: Pairs) -> None:
    from jochi.text.content import content_hash

    vector, model = at_cosine(1.0, pairs.dimensions), pairs.client.policy.policy.embedding.model
    given = {"content": "One", "content_hash": content_hash("One"), "embedding": vector, "embedding_model": model}
    pairs.client.remember(
        [{"kind": kind, "scope": "s", "id": kind, **given} for kind in ("Belief", "Person")], now=NOON
    )
    assert due(pairs) == {"s/Belief"}


def test_an_import_looks(pairs: Pairs, tmp_path: Path) -> None:
    file = tmp_path / "m.jsonl"
    rows = [{"kind": "Belief", "id": id, "scope": "s", "content": "One"} for id in "ab"]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    importing.import_files(pairs.client.database, [file], now=NOON)
    assert due(pairs) == {"s/a", "s/b"}
    pairs.find()
    assert pairs.flag("s/a", "s/b")["verdict"] == "merge"


def test_a_saved_model_looks(pairs: Pairs, connected: None) -> None:
    from jochi_models import Belief

    belief = Belief(uid="a", scope="s", content="One").save()
    prepare(pairs)
    pairs.find()
    belief.refresh()
    belief.content = "Two"
    belief.save()
    assert due(pairs) == {"s/a"}


def test_what_comes_back_looks(pairs: Pairs) -> None:
    client = pairs.client
    a, b = pairs.add("a", content="One"), pairs.add("b", content="One")
    pairs.find()
    client.database.run(
        "MATCH (m {key: $key}) REMOVE m:Curated:Belief SET m:Tombstone, m.tombstone = true, m.deleted_at = $now, "
        "m.tombstone_labels = ['Belief', 'Curated']",
        {"key": b, "now": NOON},
    )
    pairs.change(a)
    pairs.find()
    assert not pairs.flags()
    assert client.restore([b])[0].outcome == "restored"
    assert due(pairs) == {b}
    from jochi import clock

    pairs.find(clock.now() + timedelta(seconds=1))
    assert set(pairs.flags()) == {(a, b)}


def scattered(dice: np.random.Generator, n: int, dimensions: int) -> np.ndarray[Any, Any]:
    """Directions in little heaps, so that many cosines lie near the thresholds."""
    heaps = dice.normal(size=(max(1, n // 6), dimensions))
    found = heaps[dice.integers(0, len(heaps), n)] + dice.normal(size=(n, dimensions)) * dice.uniform(0.05, 0.6, (n, 1))
    return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sizes", "least"), [((5, 60, 190), 1.0), ((700, 40, 350), 0.99)], ids=["one by one", "by index"]
)
def test_brute_force_finds_no_more(pairs: Pairs, sizes: tuple[int, ...], least: float) -> None:
    dice = np.random.default_rng(5)
    wanted: set[tuple[str, str]] = set()
    model = pairs.client.policy.policy.embedding.model
    shared = scattered(
        dice, max(sizes), pairs.dimensions
    )  # the same in every scope: neighbours are often somebody else's
    for number, size in enumerate(sizes):
        rows = [
            {
                "key": f"s{number}/{i:04}",
                "scope": f"s{number}",
                "id": f"{i:04}",
                "content": f"Text {i}",
                "content_hash": f"v1:{i}",
                "similar_due": NOON,
                "embedding": shared[i].tolist(),
                "embedding_model": model,
            }
            for i in range(size)
        ]
        pairs.client.database.run("UNWIND $rows AS row CREATE (m:Curated:Belief) SET m = row", {"rows": rows})
        near = shared[:size] @ shared[:size].T
        wanted |= {
            (rows[i]["key"], rows[j]["key"]) for i in range(size) for j in range(i + 1, size) if near[i, j] >= FLAG
        }  # type: ignore[misc]
    pairs.client.database.autocommit("CALL db.awaitIndexes(60)")
    run = pairs.find()
    found = set(pairs.flags())
    assert not run.tally.get("crowded")
    assert found <= wanted
    assert len(wanted) > 100
    assert len(found & wanted) >= least * len(wanted)


def test_neighbours_of_others_do_not_hide_ones_own(pairs: Pairs) -> None:
    """A scope that is asked of the index, among more equal memories of others than the first look sees."""
    close = [("others", at_cosine(0.999, pairs.dimensions, 2))] * 300
    others = [("mine", at_cosine(0.0, pairs.dimensions, 3 + i)) for i in range(300)]
    rows = [{"scope": scope, "id": f"{i:04}", "vector": vector} for i, (scope, vector) in enumerate(close + others)]
    pairs.client.database.run(
        "UNWIND $rows AS row CREATE (:Curated:Belief {key: row.scope + '/' + row.id, scope: row.scope, content: row.id, "
        "content_hash: row.scope + row.id, embedding: row.vector, embedding_model: $model})",
        {"rows": rows, "model": pairs.client.policy.policy.embedding.model},
    )
    far = pairs.add("far", 0.9, scope="mine", due=None)
    asks = pairs.add("asks", 1.0, scope="mine")
    pairs.client.database.autocommit("CALL db.awaitIndexes(60)")
    pairs.find()
    assert set(pairs.flags()) == {(asks, far)}


@pytest.mark.slow
def test_a_changed_policy_has_all_look_again(
    install_once: Callable[[LoadedPolicy], Jochi], policy_with: PolicyWith
) -> None:
    client = install_once(policy_with("[duplicates]\nflag = 0.9"))
    pairs = Pairs(client)
    pairs.add("a", 1.0), pairs.add("b", 0.88), pairs.add("c", 1.0, kind="Person", due=None)
    pairs.find()
    client.run("requeue_duplicates", now=NOON, drain=True)
    assert due(pairs) == {"s/a", "s/b"}, "once, for all that were there before"
    pairs.find()
    assert not pairs.flags()
    assert sum(run.selected for run in client.run("requeue_duplicates", now=LATER, drain=True)) == 0
    lower = Jochi(client.database.driver, policy=policy_with("[duplicates]\nflag = 0.8"))
    lower.install(arm=False)
    lower.run("requeue_duplicates", now=LATER, drain=True)
    Pairs(lower).find(LATER)
    assert set(pairs.flags()) == {("s/a", "s/b")}
    none = Jochi(client.database.driver, policy=policy_with("[duplicates]\nkinds = []"))
    none.install(arm=False)
    none.run("requeue_duplicates", now=LATER, drain=True)
    Pairs(none).find(LATER)
    assert (due(pairs), pairs.flags()) == (set(), {})


@pytest.mark.exhaustive
def test_without_embeddings_the_same_texts_are_found(
    install_once: Callable[[LoadedPolicy], Jochi], policy_with: PolicyWith
) -> None:
    pairs = Pairs(install_once(policy_with("[embedding]\nenabled = false\n[duplicates]\nexact_up_to = 0")))
    a, b = pairs.add("a", 1.0, "One"), pairs.add("b", 1.0, "One")
    pairs.find()
    assert set(pairs.flags()) == {(a, b)}


@pytest.mark.slow
def test_disenrol_and_uninstall_leave_no_flag(pairs: Pairs) -> None:
    a, b = pairs.add("a", 1.0, enrolled_run="r", enrolled_at=NOON), pairs.add("b", 0.97)
    c, d = pairs.add("c", content="One"), pairs.add("d", content="One")
    pairs.find()
    database = pairs.client.database
    database.run("MATCH (x {key: $a}), (y {key: $b}) CREATE (x)-[:SIMILAR_TO {mine: 1}]->(y)", {"a": b, "b": a})
    pairs.client.disenrol("Belief")
    ours = "MATCH ()-[r:SIMILAR_TO]->() WHERE r.found_at IS NOT NULL RETURN startNode(r).key AS a, endNode(r).key AS b"
    assert [(row["a"], row["b"]) for row in database.run(ours)] == [(c, d)]
    database.run("CREATE (:JochiMerged {seal: 'x', into: 'y'})")
    pairs.client.uninstall()
    try:
        assert not database.run(ours)
        assert database.run("MATCH ()-[r:SIMILAR_TO]->() RETURN r.mine AS mine") == [{"mine": 1}]
        left = database.run("MATCH (n) WHERE n:JochiMerged OR n.similar_due IS NOT NULL RETURN n")
        assert not left
    finally:
        pairs.client.install(arm=False)


def test_what_changes_between_the_look_and_the_lock_stays_due(pairs: Pairs) -> None:
    a = pairs.add("a", 1.0)
    pairs.add("b", 0.97)
    with pairs.client.database.driver.session() as session, session.begin_transaction() as agent:
        new = "MATCH (m {key: $key}) SET m.content = 'New', m.content_hash = 'v1:new', m.similar_due = $now"
        agent.run(new, {"key": a, "now": NOON + timedelta(seconds=1)}).consume()
        with ThreadPoolExecutor(1) as pool:
            run = pool.submit(pairs.find)
            waiting = "SHOW TRANSACTIONS YIELD status WHERE status STARTS WITH 'Blocked' RETURN count(*) AS n"
            until = monotonic() + 60
            while not pairs.client.database.run(waiting, write=False)[0]["n"]:
                assert monotonic() < until
            agent.commit()
            assert run.result().selected >= 2
    flags = pairs.flags()
    assert all(flag["start_hash"] == "v1:new" for flag in flags.values())
    assert due(pairs) == {a}
    pairs.find(LATER)
    assert (due(pairs), set(pairs.flags())) == (set(), set()), "its vector is of another text"


def test_the_judge_never_stops_the_rest() -> None:
    def ruling(left: str, right: str, **_: Any) -> Ruling:
        if left == "bad":
            raise ValueError("secret text")
        return Ruling("flag", ("no guard",))

    row = {"key": "1", "right": "b", "score": None, "unknown": 0.0, "approved_left": None, "approved_right": None}
    rows = [{**row, "key": key, "left": left} for key, left in (("1", "a"), ("2", "bad"), ("3", "c"))]
    outcome = JudgeHandler(ruling).handle(rows)
    assert [done.key for done in outcome.done] == ["1", "3"]
    assert outcome.failed == {"2": "ValueError"}
    assert JudgeHandler(ruling, stopping=lambda: True).handle(rows).returned == ["1", "2", "3"]
