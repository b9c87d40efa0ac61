"""The asynchronous models do what the synchronous ones do: they share every line but the one that runs a statement."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from io import StringIO
from typing import Any

import neo4j
import pytest
from neomodel import adb
from tests.integration.conftest import Run

from jochi import Jochi, clock
from jochi.errors import ConnectionFailed
from jochi.jobs.runner import run_job
from jochi_models import ContentKnown, Gone, KeyTaken, LostUpdate, NotOffered, Pruned, SummarizedTo, aio

pytestmark = pytest.mark.server

DAY = timedelta(days=1)


def stored(client: Jochi, key: str) -> dict[str, Any]:
    [row] = client.database.run(
        "MATCH (m {key: $key}) WHERE NOT m:CurationAudit RETURN properties(m) AS properties, labels(m) AS labels",
        {"key": key},
    )
    return {**row["properties"], "labels": set(row["labels"])}


def test_create_change_and_lose(jochi: Jochi, run: Run) -> None:
    async def work() -> None:
        belief = await aio.Belief(uid="b", content="one", confidence=0.8).save()
        assert (belief.key, belief.tier, belief.revision) == ("default/b", "HOT", 1)
        with pytest.raises(KeyTaken):
            await aio.Belief(uid="b", content="two").save()
        with pytest.raises(ContentKnown):
            await aio.Belief(uid="c", content="ONE").save()
        other = await aio.Belief.nodes.get(key="default/b")
        other.pinned = True
        await other.save()
        belief.state = "validated"
        with pytest.raises(LostUpdate, match="pinned"):
            await belief.save()
        await belief.refresh()
        belief.state = "validated"
        assert (await belief.save()).revision == 3
        assert [found.uid for found in await aio.Curated.nodes.all()] == ["b"]

    run(work)
    row = stored(jochi, "default/b")
    assert (row["labels"], row["state"], row["pinned"], row["tier"]) == (
        {"Belief", "Curated"},
        "validated",
        True,
        "HOT",
    )


def test_ten_at_once_and_one_wins(jochi: Jochi, run: Run) -> None:
    async def work() -> None:
        await aio.Task(uid="t").save()
        loaded = [await aio.Task.nodes.get(key="default/t") for _ in range(10)]
        for number, task in enumerate(loaded):
            task.assigned_to = str(number)
        outcomes = await asyncio.gather(*(task.save() for task in loaded), return_exceptions=True)
        assert sum(isinstance(outcome, LostUpdate) for outcome in outcomes) == 9
        assert sum(isinstance(outcome, aio.Task) for outcome in outcomes) == 1

    run(work)
    assert stored(jochi, "default/t")["revision"] == 2


def test_a_pruned_memory_stays_pruned(jochi: Jochi, run: Run) -> None:
    jochi.apply()

    async def work() -> None:
        stale = await aio.Notification(uid="n", read=True, created_at=clock.now() - 40 * DAY).save()
        belief = await aio.Belief(uid="b", content="x").save()
        run_job(jochi.engine, "curate_due", now=clock.now(), drain=True)
        stale.pinned = True
        with pytest.raises(Pruned):
            await stale.save()
        with pytest.raises(Pruned):
            await belief.evidence.connect(stale)
        assert await aio.Notification.nodes.get_or_none(key="default/n") is None
        tombstones = await aio.Tombstone.nodes.all()
        assert [found.key for found in tombstones] == ["default/n"]

    run(work)
    assert stored(jochi, "default/n")["labels"] == {"Tombstone"}


def test_transactions_and_relationships(jochi: Jochi, run: Run) -> None:
    async def fail(full: Any) -> None:
        async with adb.transaction:
            short = await aio.CompressedContext(uid="short").save()
            await full.summarized_to.connect(short, {"compression_ratio": 0.5})
            raise ZeroDivisionError

    async def work() -> None:
        full = await aio.CompressedContext(uid="full").save()
        with pytest.raises(ZeroDivisionError):
            await fail(full)
        assert len(await aio.CompressedContext.nodes.all()) == 1
        short = await aio.CompressedContext(uid="short").save()
        await full.summarized_to.connect(short, {"compression_ratio": 0.1})
        held = await full.summarized_to.relationship(short)
        assert isinstance(held, SummarizedTo)
        assert held.compression_ratio == 0.1
        assert await short.summary_of.all() == [full]

    run(work)


def test_what_isnt_offered(jochi: Jochi, run: Run) -> None:
    async def work() -> None:
        belief = await aio.Belief(uid="b", content="x").save()
        for call in (
            lambda: aio.Belief.nodes.bulk_create({"uid": "x"}),
            lambda: aio.Belief.nodes.bulk_create_or_update({"uid": "x"}),
            lambda: aio.Belief.nodes.bulk_get_or_create({"uid": "x"}),
            lambda: aio.Belief.nodes.bulk_save([belief]),
            belief.delete,
        ):
            with pytest.raises(NotOffered):
                await call()
        await belief.expire()
        assert belief.expires_at is not None
        jochi.database.run("MATCH (b:Belief) DETACH DELETE b")
        with pytest.raises(Gone):
            await belief.refresh()

    run(work)


def test_neomodels_schema_installer_finds_nothing_to_do(jochi: Jochi, run: Run) -> None:
    def schema() -> list[Any]:
        return [
            jochi.database.run(f"SHOW {what} YIELD name, type RETURN name, type ORDER BY name", write=False)
            for what in ("CONSTRAINTS", "INDEXES")
        ]

    told = StringIO()

    async def work() -> None:
        await adb.install_all_labels(stdout=told)

    was = schema()
    run(work)
    assert schema() == was
    lines = told.getvalue().splitlines()
    assert [line for line in lines if line.startswith(" + Creating") and "class jochi_models." in line] == []
    assert "Found jochi_models.aio.Belief" in lines


def test_nobody_answers(run: Run) -> None:
    async def work() -> None:
        nobody = neo4j.AsyncGraphDatabase.driver("bolt://127.0.0.1:1", auth=("neo4j", "x"), connection_timeout=1)
        before, adb.driver = adb.driver, nobody
        try:
            with pytest.raises(ConnectionFailed, match="no answer"):
                await aio.Belief(content="x").save()
        finally:
            adb.driver = before
            await nobody.close()

    run(work)
