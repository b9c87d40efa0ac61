"""What a type checker must see in the asynchronous client. Never run: `tests/unit/test_models_typing.py` has mypy read it."""

from datetime import datetime, timezone

import neo4j
from typing_extensions import assert_type

from jochi import AsyncJochi, Jochi, Memory
from jochi.client.aio import AsyncItems
from jochi.heartbeat.heartbeat import Claim, Task
from jochi.policy import LoadedPolicy
from jochi.store.items import Item
from jochi.use.recall import RecallResult
from jochi.use.slots import SlotResult
from jochi.write.remembering import RememberResult
from jochi.write.replacement import ReplaceResult


async def asynchronous(driver: neo4j.Driver, plain: Jochi) -> None:
    """Arguments and results are those of `Jochi`."""
    async with AsyncJochi(driver, threads=4) as jochi:
        assert_type(jochi, AsyncJochi)
        assert_type(await jochi.recall("x", scope="s", k=3), RecallResult)
        assert_type(plain.recall("x"), RecallResult)
        assert_type(await jochi.remember([Memory(kind="Note", content="x")], agent="a"), RememberResult)
        assert_type(await jochi.supersede(["s/a"]), list[SlotResult])
        assert_type(await jochi.supersede("lives in Lyon", "Ann lives in Oslo."), ReplaceResult)
        assert_type(await jochi.drop_context("s"), bool)
        assert_type(await jochi.policy, LoadedPolicy)
        items = await jochi.items("s")
        assert_type(items, AsyncItems)
        assert_type(await items.get(("a",), "b"), Item | None)
        assert_type(await jochi.heartbeat.due("agent"), list[Claim])
        async for task in jochi.heartbeat.ls():
            assert_type(task, Task)

        await jochi.recall(5)  # type: ignore[arg-type]
        await jochi.recall("x", how_many=3)  # type: ignore[call-arg]
        await jochi.undo(datetime(2026, 1, 1, tzinfo=timezone.utc), force="yes")  # type: ignore[arg-type]
        len(jochi.recall("x"))  # type: ignore[arg-type]
        await jochi.no_such_verb()  # type: ignore[attr-defined]
