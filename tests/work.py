"""The node that keeps a piece of work, as tests look at it."""

from __future__ import annotations

from typing import Any

from jochi.database.database import Database


def work_of(database: Database, key: str, derivation: str = "prepare") -> dict[str, Any]:
    """Its properties; empty where there is nothing to do, or nobody has wanted it yet."""
    text = "MATCH (w:JochiWork {id: $id}) RETURN properties(w) AS p"
    found = database.run(text, {"id": f"{derivation}/{key}"}, write=False)
    return dict(found[0]["p"]) if found else {}


def hits(database: Database, text: str, parameters: dict[str, Any]) -> int:
    """How often a statement goes to the store, by PROFILE. It is taken back."""

    def own_and_below(node: dict[str, Any]) -> int:
        own = int(node.get("dbHits", node["args"].get("DbHits", 0)))
        return own + sum(own_and_below(child) for child in node.get("children", []))

    with database.driver.session() as session, session.begin_transaction() as tx:
        profile = tx.run(f"PROFILE {text}", parameters).consume().profile
        tx.rollback()
    assert profile is not None
    return own_and_below(profile)
