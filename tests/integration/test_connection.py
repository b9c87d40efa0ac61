"""How a server refuses somebody is told, however often."""

from __future__ import annotations

import secrets

import neo4j
import pytest
from tests.conftest import TestServer

from jochi.database.database import Database
from jochi.errors import ConnectionFailed

pytestmark = pytest.mark.server


def test_a_password_that_is_wrong_too_often_is_no_connection(server: TestServer) -> None:
    name, password = "mistyped", secrets.token_hex(8)
    with server.driver() as owner:
        owner.execute_query(
            f"CREATE OR REPLACE USER {name} SET PASSWORD $password", password=password, database_="system"
        )
        refusals: list[str] = []
        try:
            while not any("too often" in said for said in refusals):  # the third, by default
                assert len(refusals) < 20, refusals
                with (
                    neo4j.GraphDatabase.driver(server.uri, auth=(name, "wrong")) as driver,
                    pytest.raises(ConnectionFailed) as refused,
                ):
                    Database(driver).run("RETURN 1")
                refusals.append(refused.value.what)
        finally:
            owner.execute_query(f"DROP USER {name}", database_="system")
