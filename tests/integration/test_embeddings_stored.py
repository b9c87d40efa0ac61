"""Embeddings in the database: what is stored, what is not, what is made anew, and how workers share the work."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from pathlib import Path
from threading import Event, Lock
from typing import Any

import pytest
from tests.work import work_of

from jochi import Jochi
from jochi.policy import load_policy
from jochi.text.content import content_hash
from jochi_workers.embeddings.handler import EmbedHandler, with_provider
from jochi_workers.embeddings.protocol import ProviderDown, TextsRefused, TextVector
from jochi_workers.queue import Queue
from jochi_workers.worker import Worker

pytestmark = pytest.mark.server

NOON = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)
LEASE = timedelta(minutes=2)  # default.toml, [work]
DIMENSIONS = 384


def vector(first: float) -> list[float]:
    """A vector of length 1 that can be told from others by its first number."""
    return [first, math.sqrt(1 - first * first), *[0.0] * (DIMENSIONS - 2)]


class Fake:
    """A provider whose answer a test decides. ``during`` is called with the texts before the answer."""

    def __init__(
        self,
        answer: Callable[[str], TextVector] = lambda text: TextVector(vector(0.5)),
        *,
        model: str = "all-MiniLM-L6-v2-int8",
        during: Callable[[Sequence[str]], None] = lambda texts: None,
    ) -> None:
        self.model, self.dimensions = model, DIMENSIONS
        self.texts: list[str] = []
        self._answer, self._during, self._lock = answer, during, Lock()

    def embed(self, texts: Sequence[str]) -> list[TextVector]:
        with self._lock:
            self.texts += texts
        self._during(texts)
        return [self._answer(text) for text in texts]

    def close(self) -> None:
        pass


def beliefs(jochi: Jochi, *contents: str | None, moment: datetime = NOON) -> list[str]:
    """One belief a content, waiting for an embedding since ``moment``; returns their keys."""
    rows = [{"key": f"default/b{n}", "id": f"b{n}", "content": content} for n, content in enumerate(contents)]
    jochi.database.run(
        "UNWIND $rows AS row CREATE (m:Curated:Belief {scope: 'default', created_at: $moment, tier: 'HOT', embed_due: $moment}) "
        "SET m += row",
        {"rows": rows, "moment": moment},
    )
    return [row["key"] for row in rows if row["key"]]


def stored(jochi: Jochi, key: str = "default/b0") -> dict[str, Any]:
    return dict(
        jochi.database.run("MATCH (m:Curated {key: $key}) RETURN properties(m) AS m", {"key": key}, write=False)[0]["m"]
    )


def embed(jochi: Jochi, provider: Fake) -> EmbedHandler:
    return EmbedHandler(provider, jochi.policy.policy.embedding)


def work_once(jochi: Jochi, provider: Fake, now: datetime = NOON) -> None:
    """One lease, with a clock of the test's choice, and what becomes of it."""
    queue = Queue(jochi.engine, "embed", clock=lambda: now)
    batch = queue.lease()
    outcome = embed(jochi, provider).handle(batch.rows)
    queue.finish(batch, outcome.done)
    queue.fail(batch, outcome.failed)
    queue.release(batch, outcome.returned)


def test_minilm_s_vectors_are_stored_and_what_it_cannot_read_is_marked(jochi: Jochi) -> None:
    keys = beliefs(jochi, "She likes tea.", "She is fond of tea.", "The rocket exploded.", "ความทรงจำ", "  ", None)
    handler = with_provider("minilm", None, jochi.policy.policy.embedding, stopping=lambda: False)
    worker = Worker(jochi.engine, [handler])
    worker.run(once=True)
    tea, fond, rocket, thai, blank, empty = (stored(jochi, key) for key in keys)
    for one, text in ((tea, "She likes tea."), (thai, "ความทรงจำ")):
        assert one["embedding_model"] == "all-MiniLM-L6-v2-int8"
        assert one["embedding_hash"] == content_hash(text)
    assert len(tea["embedding"]) == DIMENSIONS
    near, far = (sum(a * b for a, b in zip(tea["embedding"], x["embedding"], strict=True)) for x in (fond, rocket))
    assert near > 0.8 > 0.3 > far
    assert (tea["embedding_unknown"], fond["embedding_unknown"]) == (0.0, 0.0)
    assert "embedding" not in thai, "the vectors of what a model can't read are all alike"
    assert thai["embedding_unknown"] == blank["embedding_unknown"] == 1.0
    assert not {"embedding", "embedding_model"} & empty.keys(), "there is nothing to embed"
    assert not any("embed_due" in one for one in (tea, thai, blank, empty))
    assert (worker.progress["embed"].done, worker.progress["embed"].failed) == (5, 0)


def test_a_text_that_can_be_read_again_has_another_share(jochi: Jochi) -> None:
    beliefs(jochi, "ความทรงจำ")
    work_once(jochi, Fake(lambda text: TextVector(vector(0.5), 1.0)))
    assert stored(jochi)["embedding_unknown"] == 1.0
    jochi.database.run("MATCH (m:Belief) SET m.content = 'memory', m.embed_due = $now", {"now": NOON})
    work_once(jochi, Fake(lambda text: TextVector(vector(0.25), 0.0)))
    assert (stored(jochi)["embedding_unknown"], stored(jochi)["embedding"][0]) == (0.0, 0.25)
    jochi.database.run("MATCH (m:Belief) SET m.content = 'memories', m.embed_due = $now", {"now": NOON})
    work_once(jochi, Fake(lambda text: TextVector(vector(0.5))))
    assert "embedding_unknown" not in stored(jochi), "this provider doesn't tell"


def test_new_content_gets_a_new_vector_and_loses_the_old_one(jochi: Jochi) -> None:
    beliefs(jochi, "old")
    work_once(jochi, Fake(lambda text: TextVector(vector(0.5))))
    jochi.database.run("MATCH (m:Belief) SET m.content = 'new', m.embed_due = $now", {"now": NOON})
    work_once(jochi, Fake(lambda text: TextVector(vector(0.25))))
    assert (stored(jochi)["embedding"][0], stored(jochi)["embedding_hash"]) == (0.25, content_hash("new"))


def test_content_that_changes_while_it_is_embedded_is_embedded_again(jochi: Jochi) -> None:
    def rewrite(_texts: Sequence[str]) -> None:
        jochi.database.run("MATCH (m:Belief) SET m.content = 'new'")

    beliefs(jochi, "old")
    work_once(jochi, Fake(during=rewrite))
    between = stored(jochi)
    assert "embedding" not in between
    left = work_of(jochi.database, "default/b0", "embed")
    assert left["ready"] >= 0
    assert not left.keys() & {"tries", "lease"}
    work_once(jochi, Fake(lambda text: TextVector(vector(0.25))))
    assert (stored(jochi)["embedding"][0], stored(jochi)["embedding_hash"]) == (0.25, content_hash("new"))


def test_the_question_that_a_fact_answers_is_embedded_with_it(jochi: Jochi) -> None:
    """What is embedded with another question than the fact has by then is not stored; other kinds have none."""
    rows = [
        ("Fact", "On Mondays.", "When does the key rotate?"),
        ("Fact", "Alone.", None),
        ("Belief", "Not read.", "A question?"),
    ]
    jochi.database.run(
        "UNWIND $rows AS row CREATE (m:Curated {key: 'default/' + row[1], id: row[1], scope: 'default', created_at: $now, "
        "tier: 'HOT', embed_due: $now, content: row[1], answers: row[2], content_hash: row[3]}) SET m:$(row[0])",
        {"rows": [[*row, content_hash(row[1])] for row in rows], "now": NOON},
    )  # fmt: skip
    key = "default/On Mondays."

    def asks(question: str | None) -> None:
        jochi.database.run("MATCH (m {key: $key}) SET m.answers = $new", {"key": key, "new": question})

    fake = Fake(during=lambda _texts: asks("Which day?"))
    work_once(jochi, fake)
    assert set(fake.texts) == {"When does the key rotate? On Mondays.", "Alone.", "Not read."}
    assert "embedding" not in stored(jochi, key), "it changed meanwhile"
    work_once(jochi, fake)
    assert fake.texts[-1] == "Which day? On Mondays."
    hashes = (content_hash("On Mondays."), content_hash("Which day?"))
    assert stored(jochi, key)["embedding_hash"] == "+".join(hashes)
    assert stored(jochi, key)["content_hash"] == hashes[0]
    assert stored(jochi, "default/Alone.")["embedding_hash"] == content_hash("Alone.")


@pytest.mark.parametrize("late", [LEASE - timedelta(seconds=1), LEASE])
def test_a_slow_worker_never_overwrites_a_newer_vector(jochi: Jochi, late: timedelta) -> None:
    beliefs(jochi, "text")
    slow = Queue(jochi.engine, "embed", clock=lambda: NOON)
    batch = slow.lease()
    outcome = embed(jochi, Fake(lambda text: TextVector(vector(0.5)))).handle(batch.rows)
    work_once(jochi, Fake(lambda text: TextVector(vector(0.25))), NOON + late)
    taken_over = late >= LEASE
    finished = slow.finish(batch, outcome.done)
    assert (finished.done, finished.outdated) == ((0, 1) if taken_over else (1, 0))
    assert stored(jochi)["embedding"][0] == (0.25 if taken_over else 0.5)


@pytest.fixture
def other(jochi: Jochi, tmp_path: Path) -> Iterator[Callable[[], Jochi]]:
    """Upgrades the database to a policy with another model when it is called; puts the tests' policy back at the end."""
    path = tmp_path / "policy.toml"
    path.write_text('[policy]\nname = "other"\nextends = "default"\n[embedding]\nmodel = "other"\n', encoding="utf-8")
    upgraded = Jochi(jochi.database.driver, policy=load_policy(path))

    def upgrade() -> Jochi:
        upgraded.install(arm=False)
        return upgraded

    yield upgrade
    jochi.install(arm=False)


@pytest.mark.slow
def test_another_model_in_the_policy_embeds_everything_anew(jochi: Jochi, other: Callable[[], Jochi]) -> None:
    keys = beliefs(jochi, "one", "two")
    work_once(jochi, Fake())
    assert sum(run.changed for run in jochi.run("requeue_embeddings", drain=True)) == 0
    upgraded = other()
    assert sum(run.changed for run in upgraded.run("requeue_embeddings", drain=True)) == 2
    assert stored(jochi)["embedding_model"] == "all-MiniLM-L6-v2-int8", "until the new one is there"
    queued_at = stored(jochi)["embed_due"].to_native()
    work_once(upgraded, Fake(lambda text: TextVector(vector(0.25)), model="other"), queued_at)
    for one in (stored(jochi, key) for key in keys):
        assert (one["embedding_model"], one["embedding"][0]) == ("other", 0.25)
    assert sum(run.changed for run in upgraded.run("requeue_embeddings", drain=True)) == 0


@pytest.mark.exhaustive
def test_a_worker_that_read_the_old_policy_stores_no_vector_of_the_old_model(
    jochi: Jochi, other: Callable[[], Jochi]
) -> None:
    beliefs(jochi, "one")
    slow = Queue(jochi.engine, "embed", clock=lambda: NOON)
    batch = slow.lease()
    outcome = embed(jochi, Fake()).handle(batch.rows)
    upgraded = other()
    jochi.engine.refresh()  # as an idle worker does now and then, or at its next start
    finished = slow.finish(batch, outcome.done)
    assert (finished.done, list(finished.refused)) == (0, ["default/b0"])
    assert "embedding" not in stored(upgraded)


def test_a_bad_vector_is_never_stored_and_fails_that_memory_alone(jochi: Jochi) -> None:
    bad = {
        "383 numbers instead of 384": [0.5] * 383,
        "no finite number": [math.nan] * 384,
        "zero": [0.0] * 384,
    }
    *failed, good = beliefs(jochi, *bad, "good")
    work_once(jochi, Fake(lambda text: TextVector(bad.get(text, vector(0.5)))))
    for key, says in zip(failed, bad, strict=True):
        assert "embedding" not in stored(jochi, key)
        left = work_of(jochi.database, key, "embed")
        assert says in left["error"]
        assert left["tries"] == 1
        assert left["due"].to_native() == NOON + timedelta(seconds=30), "[work] retry_min"
    assert stored(jochi, good)["embedding"][0] == 0.5


def test_a_text_that_always_fails_is_put_aside_and_its_words_are_not_in_the_reason(jochi: Jochi) -> None:
    def answer(text: str) -> TextVector:
        if text == "private poison":
            raise TextsRefused("the endpoint answers 400 (too_long)")
        return TextVector(vector(0.5))

    beliefs(jochi, "private poison", "good")
    now = NOON
    for _ in range(8):  # [work] give_up_after
        assert "put_aside_at" not in work_of(jochi.database, "default/b0", "embed")
        work_once(jochi, Fake(answer), now)
        now += timedelta(hours=6)
    aside = work_of(jochi.database, "default/b0", "embed")
    assert "put_aside_at" in aside
    assert "due" not in aside
    assert aside["error"] == "the endpoint answers 400 (too_long)"
    assert stored(jochi, "default/b1")["embedding"][0] == 0.5


def test_a_provider_that_is_down_counts_against_no_memory(jochi: Jochi) -> None:
    def down(text: str) -> TextVector:
        raise ProviderDown("no answer", retry_after=timedelta(minutes=5))

    keys = beliefs(jochi, "one", "two")
    worker = Worker(jochi.engine, [embed(jochi, Fake(down))])
    with pytest.raises(ProviderDown):
        worker.run(once=True)
    for key in keys:
        assert "embedding" not in stored(jochi, key)
        left = work_of(jochi.database, key, "embed")
        assert left["ready"] >= 0
        assert not left.keys() & {"tries", "lease"}
    Worker(jochi.engine, [embed(jochi, Fake())]).run(once=True)
    assert all("embedding" in stored(jochi, key) for key in keys)


def test_workers_share_the_work_and_nothing_is_embedded_twice(jochi: Jochi) -> None:
    keys = beliefs(jochi, *(f"text {n}" for n in range(200)))
    both_hold = Event()
    first = Fake(during=lambda texts: both_hold.wait(30) and None)
    second = Fake(during=lambda texts: both_hold.set())
    with ThreadPoolExecutor(2) as pool:
        for done in [
            pool.submit(Worker(Jochi(jochi.database.driver).engine, [embed(jochi, fake)], batch=10).run, once=True)
            for fake in (first, second)
        ]:
            done.result(120)
    assert first.texts
    assert second.texts
    assert sorted(first.texts + second.texts) == sorted(f"text {n}" for n in range(200))
    (left,) = jochi.database.run(
        "UNWIND $keys AS key MATCH (m:Curated {key: key}) WHERE m.embedding IS NULL OR m.embed_due IS NOT NULL "
        "RETURN count(*) AS n",
        {"keys": keys},
        write=False,
    )
    assert left["n"] == 0
