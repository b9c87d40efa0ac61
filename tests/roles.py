"""What roles may, tried on real servers: statements that are read and refused, and changes of a graph held against privileges."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import neo4j
import pytest
from neo4j.exceptions import ClientError

from jochi.database.database import Database
from jochi.operate.privileges import Privilege, Privileges
from jochi.operate.rights import ROLES, Rights

UNSUPPORTED = "Neo.ClientError.Statement.UnsupportedAdministrationCommand"


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


@dataclass(frozen=True)
class Node:
    """One node as it stands."""

    labels: frozenset[str]
    properties: dict[str, Any]


def graph(database: Database) -> dict[str, Node]:
    """Every node, by element id."""
    rows = database.run(
        "MATCH (n) RETURN elementId(n) AS id, labels(n) AS labels, properties(n) AS properties", write=False
    )
    return {row["id"]: Node(frozenset(row["labels"]), row["properties"]) for row in rows}


def refused(may: Privileges, before: dict[str, Node], after: dict[str, Node]) -> Iterator[str]:
    """What of a change these privileges don't allow. Relationships, locks that leave nothing and reads don't show in it."""
    # An id is given again once its node is gone. A memory that is pruned, or comes back, has other labels and the same key.
    anew = {
        id
        for id in before.keys() & after.keys()
        if before[id].labels.isdisjoint(after[id].labels)
        and (before[id].properties.get("key") or id) != after[id].properties.get("key")
    }
    for id, node in after.items():
        was = None if id in anew else before.get(id)
        labels = sorted(node.labels | (was.labels if was else frozenset()))
        if was is None:
            # A label that is put on in the same statement looks like one that it was created with.
            for label in labels:
                created = may.allow(Privilege("CREATE", "neo4j", "NODE", label))
                if not created and not may.allow(Privilege("SET LABEL", "neo4j", name=label)):
                    yield f"CREATE {label}"
        else:
            yield from (
                f"{action} {label}"
                for action, changed in (
                    ("SET LABEL", node.labels - was.labels),
                    ("REMOVE LABEL", was.labels - node.labels),
                )
                for label in changed
                if not may.allow(Privilege(action, "neo4j", name=label))
            )
        old = was.properties if was else {}
        for name in sorted({*old, *node.properties}):
            if old.get(name) != node.properties.get(name):
                asked = Privilege("SET PROPERTY", "neo4j", "NODE", None, name)
                if not may.allow_on_node(asked, labels):
                    yield f"SET {name} of {':'.join(labels)}"
    for id in (before.keys() - after.keys()) | anew:
        if not may.allow_on_node(Privilege("DELETE", "neo4j", "NODE"), before[id].labels):
            yield f"DELETE {':'.join(sorted(before[id].labels))}"


def readable(may: Privileges, nodes: dict[str, Node]) -> Iterator[tuple[str, Any]]:
    """What is read with these privileges: label and property, and the value."""
    for node in nodes.values():
        for name, value in node.properties.items():
            if may.allow_on_node(Privilege("READ", "neo4j", "NODE", None, name), node.labels):
                yield f"{':'.join(sorted(node.labels))}.{name}", value
