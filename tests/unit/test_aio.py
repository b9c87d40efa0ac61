"""The asynchronous client has every verb of the other one, and nothing else."""

from __future__ import annotations

import asyncio
import inspect

import neo4j
import pytest

from jochi import AsyncJochi, Jochi
from jochi.client.aio import AsyncHeartbeat, AsyncItems
from jochi.errors import UsageError
from jochi.heartbeat import Heartbeat
from jochi.store import Items


def public(cls: type) -> set[str]:
    fields = set(getattr(cls, "__dataclass_fields__", ()))
    return {name for name in dir(cls) if not name.startswith("_")} - fields


@pytest.mark.parametrize(
    ("asynchronous", "plain", "more"),
    [(AsyncJochi, Jochi, {"close"}), (AsyncHeartbeat, Heartbeat, set()), (AsyncItems, Items, set())],
)
def test_each_verb_is_there_with_its_arguments_and_its_docstring(
    asynchronous: type, plain: type, more: set[str]
) -> None:
    wanted = {name for name in public(plain) if not name.endswith("_async")}
    assert public(asynchronous) == wanted | more
    for name in sorted(wanted - {"policy", "heartbeat"}):
        verb, original = getattr(asynchronous, name), getattr(plain, name)
        assert inspect.signature(verb) == inspect.signature(original), name
        assert inspect.getdoc(verb) == inspect.getdoc(original), name
        assert verb.__name__ == original.__name__, name
        assert inspect.iscoroutinefunction(verb) or inspect.isasyncgenfunction(verb), name


async def later(_n: int) -> None:
    pass


class Later:
    async def __call__(self, _n: int) -> None:
        pass


def test_what_a_thread_can_t_await_is_refused() -> None:
    async def tries() -> None:
        with neo4j.GraphDatabase.driver("bolt://127.0.0.1:1") as driver:
            async with AsyncJochi(driver, threads=1) as jochi:
                for asynchronous in (later, Later()):
                    with pytest.raises(UsageError, match="can't be asynchronous"):
                        await jochi.undo("run", on_page=asynchronous)  # type: ignore[arg-type]
                with pytest.raises(UsageError, match="collect it first"):
                    await jochi.remember(each async for each in Source())  # type: ignore[arg-type]
            with pytest.raises(UsageError, match="closed"):
                await jochi.status()
            with pytest.raises(UsageError, match="threads"):
                AsyncJochi(driver, threads=0)
        async with neo4j.AsyncGraphDatabase.driver("bolt://127.0.0.1:1") as other:
            with pytest.raises(UsageError, match="AsyncDriver"):
                AsyncJochi(other)  # type: ignore[arg-type]

    asyncio.run(tries())


class Source:
    def __aiter__(self) -> Source:
        return self

    async def __anext__(self) -> str:
        raise StopAsyncIteration
