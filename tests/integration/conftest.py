"""The engine after somebody said go, the time it is, and neomodel's two worlds on the tests' server."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from datetime import datetime
from typing import TypeAlias

import neo4j
import pytest
from neomodel import adb, db
from tests.conftest import TestServer, say_go

from jochi import Jochi, clock

Run: TypeAlias = Callable[[Callable[[], Awaitable[None]]], None]


@pytest.fixture
def applied(jochi: Jochi) -> Jochi:
    """Destructive jobs run."""
    say_go(jochi)
    return jochi


@pytest.fixture
def now() -> datetime:
    """Restore and undo take the time that it is, so their tests live in it."""
    return clock.now()


@pytest.fixture(scope="module")
def connected(server: TestServer) -> Iterator[None]:
    """neomodel's `db` on the tests' server."""
    with server.driver() as driver:
        db.set_connection(driver=driver)
        yield
        db.close_connection()


@pytest.fixture
def run(server: TestServer) -> Run:
    """Runs a coroutine with neomodel's `adb` on the tests' server."""

    async def inside(work: Callable[[], Awaitable[None]]) -> None:
        driver = neo4j.AsyncGraphDatabase.driver(server.uri, auth=(server.user, server.password))
        await adb.set_connection(driver=driver)
        try:
            await work()
        finally:
            await adb.close_connection()
            await driver.close()

    return lambda work: asyncio.run(inside(work))
