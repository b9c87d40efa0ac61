"""Statements that may be replaced: listed, decided over, on record, taken back (DESIGN §16; docs/reference/facts.md)."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from tests.query_plans import operators
from typer.testing import CliRunner

from jochi import Jochi
from jochi.cli.app import app
from jochi.errors import PartlyDone, UsageError
from jochi.graph.driver_values import to_python

pytestmark = pytest.mark.server

NOW = datetime(2026, 6, 15, 12, tzinfo=timezone.utc)


def run(client: Jochi, cypher: str, **given: Any) -> list[dict[str, Any]]:
    return [dict(to_python(row)) for row in client.database.run(cypher, given)]


def put(client: Jochi, *pairs: tuple[str, str, str]) -> None:
    """Of each (scope, older, newer) two facts, the newer one of which may replace the other; the first pair is the oldest."""
    for n, (scope, *both) in enumerate(pairs):
        rows = [
            {
                "kind": "Fact",
                "scope": scope,
                "id": id,
                "content": f"Ann: the port is {id}.",
                "properties": {"valid_from": at},
            }
            for id, at in zip(both, (NOW + timedelta(days=n), NOW + timedelta(days=n, hours=1)), strict=True)
        ]
        client.remember(rows, now=NOW, on_refused="raise")
        keys = {"older": f"{scope}/{both[0]}", "newer": f"{scope}/{both[1]}"}
        run(client, "MATCH (n:Curated {key: $newer}), (o:Curated {key: $older}) CREATE (n)-[:MAY_REPLACE]->(o)", **keys)


def links(client: Jochi) -> set[tuple[str, str, str]]:
    rows = run(client, "MATCH (n:Curated)-[r:MAY_REPLACE|SUPERSEDES]->(o) RETURN n.id AS n, type(r) AS r, o.id AS o")
    return {(row["n"], row["r"], row["o"]) for row in rows}


def states(client: Jochi) -> dict[str, str]:
    return {
        row["id"]: row["s"]
        for row in run(client, "MATCH (f:Fact) WHERE f.state IS NOT NULL RETURN f.id AS id, f.state AS s")
    }


def test_doubts_are_listed_decided_and_taken_back(jochi: Jochi, server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("uri", "user", "password"):
        monkeypatch.setenv(f"JOCHI_{name.upper()}", getattr(server, name))

    def said(*arguments: str, wrong: type[Exception] | None = None) -> str:
        told = CliRunner().invoke(app, ["observe", *arguments])
        assert isinstance(told.exception, wrong) if wrong else told.exit_code == 0, told.output
        return " ".join(told.stdout.split())

    put(jochi, ("ann", "8080", "9090"), ("ann", "80", "90"), ("bob", "1", "2"))
    found = jochi.doubts(scope="ann")
    assert [(one.newer, one.older, one.newer_content) for one in found.doubts] == [
        ("ann/90", "ann/80", "Ann: the port is 90."),
        ("ann/9090", "ann/8080", "Ann: the port is 9090."),
    ]
    assert (len(jochi.doubts(scope=None).doubts), jochi.doubts(scope=None, limit=2).more, found.more) == (
        3,
        True,
        False,
    )
    listed = said("--doubts", "--scope", "ann")
    assert listed.index("ann/90 Ann: the port is 90.") < listed.index("ann/80 ") < listed.index("ann/9090 ")
    assert [one["older"] for one in json.loads(said("--doubts", "-s", "ann", "-n", "1", "--json"))["doubts"]] == [
        "ann/80"
    ]

    # The newer one takes the older one's place: on record, so recall and the list know it.
    done = said("--replaces", "90", "80", "--scope", "ann")
    assert "ann/90 takes the place of ann/80" in done
    assert (links(jochi), states(jochi)) == (
        {("90", "SUPERSEDES", "80"), ("9090", "MAY_REPLACE", "8080"), ("2", "MAY_REPLACE", "1")},
        {"80": "superseded"},
    )
    assert [one.newer for one in jochi.doubts(scope="ann").doubts] == ["ann/9090"]
    # Both hold: the doubt goes, and nothing else.
    both = jochi.decide_doubts([("ann/9090", "ann/8080")], "both", by="ada")
    assert (both.results[0].done, jochi.doubts(scope="ann").doubts, states(jochi)) == (True, (), {"80": "superseded"})
    [record] = run(
        jochi, "MATCH (a:CurationAudit {run: $run}) RETURN a.action AS a, a.type AS t, a.by AS by", run=both.run
    )
    assert record == {"a": "decide", "t": "MAY_REPLACE", "by": "ada"}
    told = said("--both-hold", "9090", "8080", "-s", "ann", wrong=PartlyDone)
    assert "isn't said to replace" in told
    assert "there is no memory ann/none" in said("--replaces", "9090", "none", "-s", "ann", wrong=PartlyDone)

    jochi.undo(str(both.run))
    [replaced] = run(jochi, "MATCH (a:CurationAudit {type: 'SUPERSEDES'}) RETURN a.run AS run")
    jochi.undo(replaced["run"])
    assert (links(jochi), states(jochi)) == (
        {("90", "MAY_REPLACE", "80"), ("9090", "MAY_REPLACE", "8080"), ("2", "MAY_REPLACE", "1")},
        {},
    )
    assert len(jochi.doubts(scope="ann").doubts) == 2


def test_what_is_no_doubt_is_said(jochi: Jochi) -> None:
    with pytest.raises(UsageError, match="limit"):
        jochi.doubts(limit=0)
    for pairs, decision in (([], "both"), ([("a/1", "a/1")], "both"), (["a/1"], "both"), ([("a/1", "a/2")], "maybe")):
        with pytest.raises(UsageError):
            jochi.decide_doubts(pairs, decision)  # type: ignore[arg-type]
    told = CliRunner().invoke(app, ["observe", "hello", "--doubts"])
    assert isinstance(told.exception, UsageError)


def test_the_list_begins_with_its_relationships(jochi: Jochi) -> None:
    """Not with all memories."""
    put(jochi, ("ann", "8080", "9090"))
    found = {name for name, _ in operators(jochi, jochi.engine.text("observe/doubts"))}
    assert "DirectedRelationshipTypeScan" in found
    assert not {"NodeByLabelScan", "AllNodesScan"} & found, found
