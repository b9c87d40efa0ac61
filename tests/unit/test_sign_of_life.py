"""What a worker says of itself, and in which order (docs/reference/metrics.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from threading import Event, Timer
from typing import Any

import neo4j
import pytest
from neo4j.exceptions import DriverError

from jochi.database.database import Database
from jochi.database.statements import statement
from jochi_workers.sign_of_life import SignOfLife


class Slow(Database):
    """Keeps what is said. The second word can't be sent, the third hangs until ``free``."""

    def __init__(self, driver: neo4j.Driver) -> None:
        super().__init__(driver, "neo4j")
        self.said: list[str] = []
        self.hangs, self.free = Event(), Event()
        self._words = 0

    def run(
        self, text: str, parameters: Mapping[str, Any] | None = None, *, write: bool = True
    ) -> list[dict[str, Any]]:
        if text == statement("server/clock"):
            return [{"clock": datetime(2026, 6, 15, tzinfo=timezone.utc)}]
        self._words += 1
        if self._words == 2:
            raise DriverError("it is closed")
        given = parameters or {}
        word = "ends" if given["ends"] else "begins" if given["begins"] else "lives"
        if word == "lives":
            self.hangs.set()
            assert self.free.wait(30)
        self.said.append(word)
        return []


@pytest.fixture
def slow() -> Iterator[Slow]:
    with neo4j.GraphDatabase.driver("bolt://127.0.0.1:1", auth=("a", "b")) as driver:
        yield Slow(driver)


def test_the_last_word_is_that_it_ends_whatever_is_under_way(slow: Slow) -> None:
    life = SignOfLife(slow, ["prepare"], every=0)
    with life:
        assert slow.hangs.wait(10), "one word that could not be sent isn't the last"
        Timer(0.2, slow.free.set).start()
    life._thread.join(30)
    assert (slow.said[0], slow.said[-1], slow.said.count("ends")) == ("begins", "ends", 1)
