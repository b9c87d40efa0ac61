"""The asynchronous client on a server: many at once on few connections, a loop that is never blocked, tasks that are cancelled."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.conftest import TestServer

from jochi import AsyncJochi, Jochi, clock
from jochi.heartbeat import NewTask

PAGE = Path(__file__).parents[2] / "docs/how-to/use-from-async-code.md"


def note(id: str) -> dict[str, Any]:
    return {"kind": "Note", "scope": "s", "id": id, "content": f"note number {id} says so"}


def ids(jochi: Jochi) -> list[str]:
    return [row["id"] for row in jochi.database.run("MATCH (n:Note) RETURN n.id AS id ORDER BY id")]


def test_many_tasks_share_few_connections(jochi: Jochi, server: TestServer) -> None:
    """And answers are those of their questions. The server counts the connections: the driver keeps those that it opened."""
    jochi.remember([note(str(each)) for each in range(8)])

    async def ask() -> list[str]:
        with server.driver(user_agent="many tasks") as driver:
            async with AsyncJochi(driver, threads=4) as asked:
                found = await asyncio.gather(*(asked.score([f"s/{each % 8}"]) for each in range(200)))
                rows = jochi.database.run(
                    "CALL dbms.listConnections() YIELD userAgent WITH userAgent WHERE userAgent = 'many tasks' "
                    "RETURN count(*) AS connections"
                )
                assert 1 <= rows[0]["connections"] <= 4
                return [one.key for (one,) in found]

    assert asyncio.run(ask()) == [f"s/{each % 8}" for each in range(200)]


class Held:
    """Memories, the second of which comes when it is let go; ``reached``: it was asked for."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.reached = asyncio.Event()
        self.let_go = threading.Event()

    def __iter__(self) -> Iterator[dict[str, Any]]:
        yield note("a")
        yield note("b")
        self.loop.call_soon_threadsafe(self.reached.set)
        assert self.let_go.wait(60), "the loop is blocked: it never came to let this go"
        yield note("c")


async def turns(n: int = 20) -> None:
    for _ in range(n):
        await asyncio.sleep(0)


def test_a_cancelled_task_ends_after_its_transaction_and_writes_nothing_behind_its_caller_s_back(jochi: Jochi) -> None:
    async def cancel() -> None:
        async with AsyncJochi(jochi.database.driver, threads=1) as client:
            held = Held()
            writing = asyncio.create_task(client.remember(held, batch_size=1))
            await held.reached.wait()  # which a blocked loop would never see
            waiting = asyncio.create_task(client.remember(note("x")))
            await turns()
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            writing.cancel()
            await turns()
            writing.cancel()  # once more changes nothing
            await turns()
            assert not writing.done(), "something of it still runs"
            held.let_go.set()
            with pytest.raises(asyncio.CancelledError):
                await writing
            done = ids(jochi)
            assert done in (["a"], ["a", "b"])  # the second may have been under way, the third not
            again = await client.remember([note(id) for id in "abc"])
            assert (again.written, ids(jochi)) == (3 - len(done), ["a", "b", "c"])

    asyncio.run(cancel())


def test_the_policy_items_and_tasks_of_agents_are_asked_the_same_way(jochi: Jochi) -> None:
    async def ask() -> None:
        async with AsyncJochi(jochi.database.driver) as client:
            assert (await client.policy).sha256 == jochi.policy.sha256
            items = await client.items("s")
            await items.put(("a",), "b", {"c": 1})
            item = await items.get(("a",), "b")
            assert item is not None
            assert item.value == {"c": 1}
            tasks = [NewTask(id=id, definition="Look.", schedule="every 1h") for id in ("t1", "t2")]
            await client.heartbeat.add_all(tasks, now=clock.now())
            assert [task.id async for task in client.heartbeat.ls()] == ["t1", "t2"]

    asyncio.run(ask())


def test_the_example_of_the_page_runs(jochi: Jochi, server: TestServer) -> None:
    source = re.search(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert source
    names: dict[str, Any] = {"URI": server.uri, "AUTH": (server.user, server.password)}
    exec(source[1], names)
    with TestClient(names["app"]) as app:
        assert app.post("/memories", json={"content": "Ann plays the cello on Mondays."}).json() == {"written": 1}
        assert app.get("/memories", params={"q": "cello"}).json() == ["Ann plays the cello on Mondays."]
