"""The statements that make roles, on a real server: Community Edition parses them, and then says that it has no roles."""

from __future__ import annotations

import neo4j
import pytest
from neo4j.exceptions import ClientError

from jochi import Jochi
from jochi.operate.doctor import examine
from jochi.operate.rights import ADMIN, ROLES, Rights
from jochi.policy import load_policy

UNSUPPORTED = "Neo.ClientError.Statement.UnsupportedAdministrationCommand"


@pytest.fixture(scope="module")
def rights() -> Rights:
    return Rights(load_policy().policy)


def refusals(driver: neo4j.Driver, statements: list[str]) -> dict[str, set[str]]:
    """By code of the refusal the statements that it was given for."""
    found: dict[str, set[str]] = {}
    with driver.session(database="system") as session:
        for statement in statements:
            with pytest.raises(ClientError) as refused:
                session.run(statement).consume()
            found.setdefault(str(refused.value.code), set()).add(statement)
    return found


def all_statements(rights: Rights) -> list[str]:
    made = [
        each
        for role in ROLES
        for each in (*rights.statements(role, database="neo4j"), *rights.revocations(role, database="neo4j"))
    ]
    return list(dict.fromkeys(made))


def test_a_server_can_read_every_statement(driver: neo4j.Driver, rights: Rights) -> None:
    statements = all_statements(rights)
    assert refusals(driver, statements) == {UNSUPPORTED: set(statements)}
    wrong = ["GRANT SET PROPERTY {a} ON GRAPHS neo4j TO", "GRANT SHOW INDEX (*) ON DATABASE neo4j TO `x`"]
    assert refusals(driver, wrong) == {"Neo.ClientError.Statement.SyntaxError": set(wrong)}


def test_what_roles_may_call_is_there_and_marked_as_we_think(driver: neo4j.Driver, rights: Rights) -> None:
    touched = rights.touched("installer")
    there = driver.execute_query("SHOW PROCEDURES YIELD name, admin").records
    assert touched.procedures <= {row["name"] for row in there}
    assert {row["name"] for row in there if row["admin"]} & touched.procedures == {
        name for name in touched.procedures if name.startswith(ADMIN)
    }
    functions = driver.execute_query("SHOW FUNCTIONS YIELD name, isBuiltIn WHERE NOT isBuiltIn").records
    assert touched.functions <= {row["name"] for row in functions}


def test_the_doctor_says_that_community_has_no_roles(jochi: Jochi) -> None:
    assert "every user may do everything" in examine(jochi, probe=False)["privileges"].found
