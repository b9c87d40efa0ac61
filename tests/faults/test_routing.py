"""What a driver that routes (`neo4j://`) sends: what only a leader knows is asked of it, and reads see what the client wrote.

Community has no cluster: the wire is watched, and a leader that has moved is a refusal put into it.
"""

from __future__ import annotations

import contextlib
import re
import socket
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import neo4j
import pytest
from tests.faults.cable import Cable

from jochi import Jochi
from jochi.database.database import Database
from jochi.database.statements import statement
from jochi.errors import ConnectionFailed, NotWritable
from jochi.operate.doctor import examine
from jochi.operate.inbox import inbox
from jochi.operate.metrics import Metrics
from jochi.operate.status import overview

pytestmark = pytest.mark.server

BEGIN, READ_MODE, RESET = b"\xb1\x11", b"\x84mode\x81r", b"\xb0\x0f"
IGNORED = b"\x00\x02\xb0\x7e\x00\x00"
NOT_A_LEADER = "Neo.ClientError.Cluster.NotALeader"
AWAY = "Neo.TransientError.General.DatabaseUnavailable"


class Wire(Cable):
    """A cable that keeps what clients send, and can refuse a statement in the server's place."""

    def __init__(self, host: str, port: int) -> None:
        self.sent = bytearray()
        self.refusals: list[str] = []
        """Codes that the next statements with `refuse_me` in them are answered with."""
        super().__init__(host, port)

    def _copy(self, source: socket.socket, target: socket.socket) -> None:  # type: ignore[override]
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if source not in self._near:
                    target.sendall(data)
                    continue
                self.sent += data
                if b"refuse_me" in data and self.refusals:
                    # RUN fails, and PULL beside it is ignored; the client resets the connection then.
                    source.sendall(failure(self.refusals.pop(0)) + IGNORED)
                else:
                    target.sendall(data)

    def begun(self, text: str) -> list[bytes]:
        """How each transaction was begun that ran ``text``: its mode and its bookmarks, as sent."""
        ends = [found.start() for found in re.finditer(re.escape(text.encode()), self.sent)]
        return [bytes(self.sent[self.sent.rindex(BEGIN, 0, end) : end]) for end in ends]


def failure(code: str) -> bytes:
    """The message FAILURE of Bolt, in one chunk, as servers of all versions write it."""
    values = {
        "code": code,
        "neo4j_code": code,
        "message": "put in by a test",
        "gql_status": "50N42",
        "description": "none",
    }
    packed = b"".join(_packed(name) + _packed(value) for name, value in values.items())
    body = b"\xb1\x7f" + bytes([0xA0 + len(values)]) + packed
    return len(body).to_bytes(2, "big") + body + b"\x00\x00"


def _packed(text: str) -> bytes:
    return b"\xd0" + bytes([len(text)]) + text.encode()


@pytest.fixture
def wire(server: Any) -> Iterator[Wire]:
    address = urlsplit(server.uri)
    made = Wire(address.hostname or "localhost", address.port or 7687)
    yield made
    made.cut()


@pytest.fixture
def connected(wire: Wire, server: Any) -> Iterator[Callable[[str], neo4j.Driver]]:
    """Drivers of a scheme whose every connection goes through the wire."""
    with contextlib.ExitStack() as drivers:

        def driver(scheme: str) -> neo4j.Driver:
            return drivers.enter_context(
                neo4j.GraphDatabase.driver(
                    f"{scheme}://127.0.0.1:{wire.port}",
                    auth=(server.user, server.password),
                    resolver=lambda _address: [("127.0.0.1", wire.port)],
                    notifications_min_severity="OFF",
                    max_transaction_retry_time=2,
                )
            )

        yield driver


def test_what_only_the_leader_knows_is_asked_of_it(
    wire: Wire, connected: Callable[[str], neo4j.Driver], arm: Callable[[], None]
) -> None:
    arm()
    client = Jochi(connected("neo4j"))
    assert client.database.routed
    overview(client, tiers=False)
    examine(client)
    inbox(client)
    assert len(list(Metrics(client).collect())) > 2
    client.armed()
    for name in (
        "install/repeat_jobs",
        "install/armed_jobs",
        "server/clock",
        "server/started_at",
        "server/probe_look",
    ):
        begun = wire.begun(statement(name))
        assert begun, name
        assert not [each for each in begun if READ_MODE in each], name
    assert READ_MODE in wire.begun(statement("report/stored_engine"))[-1], "any member answers what all know"


def test_a_read_sees_what_its_client_wrote_whichever_member_answers(
    wire: Wire, connected: Callable[[str], neo4j.Driver]
) -> None:
    for scheme, carried in (("neo4j", True), ("bolt", False)):
        one = Database(connected(scheme), "neo4j")
        one.run("CREATE (n:TestsWritten) DELETE n")
        one.run(f"RETURN 'after {scheme}' AS x", write=False)
        assert (b"bookmarks" in wire.begun(f"after {scheme}")[-1]) is carried, "one server has what was written to it"


def test_a_leader_that_moved_and_a_database_that_is_away_are_said(
    wire: Wire, connected: Callable[[str], neo4j.Driver]
) -> None:
    one = Database(connected("bolt"), "neo4j")
    for code, error, says in (
        (NOT_A_LEADER, NotWritable, "another member of the cluster is the leader"),
        (AWAY, ConnectionFailed, "the database is not available"),
    ):
        wire.refusals = [code]
        assert one.run("RETURN 'refuse_me' AS x") == [{"x": "refuse_me"}], "one refusal costs a try"
        wire.refusals = [code] * 20
        with pytest.raises(error, match=says):
            one.run("RETURN 'refuse_me' AS x")
        wire.refusals = [code]
        with pytest.raises(error, match=says):
            one.autocommit("RETURN 'refuse_me' AS x")
