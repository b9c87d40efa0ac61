"""Indexes whose form the policy decides: made, changed, left alone, refused, watched, removed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jochi import Jochi
from jochi.database.database import Database
from jochi.errors import JochiError, Refused
from jochi.operate.check import Level
from jochi.operate.checks_indexes import check_indexes
from jochi.policy import LoadedPolicy, Policy, load_policy
from jochi.schema import indexes

VECTOR = "vector_index_Curated_embedding"
TEXT = "curated_text"


def vector_index(on: str, dimensions: int = 384, similarity: str = "cosine", more: str = "") -> str:
    """The command that makes an index of the vector index's name."""
    config = f"`vector.dimensions`: {dimensions}, `vector.similarity_function`: '{similarity}'{more}"
    return f"CREATE VECTOR INDEX {VECTOR} FOR {on} OPTIONS {{indexConfig: {{{config}}}}}"


CURATED = "(m:Curated) ON (m.embedding)"


@pytest.fixture
def policy_of(tmp_path: Path) -> Callable[[str], LoadedPolicy]:
    """A policy without edges (tests/integration/test_edges.py has theirs) that differs from the shipped one in what is given."""

    def made(extra: str = "") -> LoadedPolicy:
        file = tmp_path / "policy.toml"
        file.write_text(f"[policy]\nname = 'indexes'\nextends = 'default'\n[edges]\ntypes = []\n{extra}")
        return load_policy(file)

    return made


def rows(database: Database) -> dict[str, dict[str, Any]]:
    """What there is of the two, built or not yet."""
    return {
        row["name"]: {key: value for key, value in row.items() if key not in ("state", "percent")}
        for row in indexes.read(database)
    }


def level(database: Database, policy: Policy) -> Level:
    """How the doctor judges it."""
    return check_indexes(policy, indexes.read(database)).level


def test_made_once_then_left_alone(database: Database, policy_of: Callable[..., LoadedPolicy]) -> None:
    policy = policy_of().policy
    assert level(database, policy) is Level.FAIL
    changes = indexes.reconcile(database, policy)
    assert [(change.name, change.done) for change in changes] == [(VECTOR, "created"), (TEXT, "created")]
    said: list[str] = []
    indexes.await_built(database, indexes.wanted_indexes(policy), on_progress=said.append)
    there = rows(database)
    assert there[VECTOR]["options"]["indexConfig"]["vector.dimensions"] == 384
    assert there[VECTOR]["options"]["indexConfig"]["vector.similarity_function"].lower() == "cosine"
    assert there[TEXT]["properties"] == ["content", "scope"]
    assert there[TEXT]["options"]["indexConfig"]["fulltext.analyzer"] == "standard-no-stop-words"
    assert indexes.reconcile(database, policy) == []
    assert level(database, policy) is Level.OK
    assert sorted(indexes.remove(database)) == sorted([VECTOR, TEXT])
    assert rows(database) == {}
    assert indexes.remove(database) == []


def test_what_the_policy_does_not_speak_of_is_the_dbas(
    database: Database, policy_of: Callable[..., LoadedPolicy]
) -> None:
    database.autocommit(vector_index(CURATED, more=", `vector.quantization.enabled`: false"))
    changes = indexes.reconcile(database, policy_of().policy)
    assert [change.name for change in changes] == [TEXT]
    assert rows(database)[VECTOR]["options"]["indexConfig"]["vector.quantization.enabled"] is False


@pytest.mark.parametrize(
    ("there", "name", "why"),
    [
        (vector_index(CURATED, 8), VECTOR, "8 dimensions"),
        pytest.param(vector_index(CURATED, similarity="euclidean"), VECTOR, "384", marks=pytest.mark.exhaustive),
        (f"CREATE FULLTEXT INDEX {TEXT} FOR (m:Curated) ON EACH [m.content]", TEXT, "content"),
        pytest.param(
            f"CREATE FULLTEXT INDEX {TEXT} FOR (m:Curated) ON EACH [m.content, m.title, m.scope]",
            TEXT,
            "title",
            marks=pytest.mark.exhaustive,
        ),
        (
            f"CREATE FULLTEXT INDEX {TEXT} FOR (m:Curated) ON EACH [m.content, m.scope] "
            "OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}}",
            TEXT,
            "scope",
        ),
    ],
)
def test_one_of_another_form_is_changed(
    database: Database, policy_of: Callable[..., LoadedPolicy], there: str, name: str, why: str
) -> None:
    policy = policy_of().policy
    indexes.reconcile(database, policy)
    database.autocommit(f"DROP INDEX {name}")
    database.autocommit(there)
    assert level(database, policy) is Level.FAIL
    (change,) = indexes.reconcile(database, policy)
    assert (change.name, change.done) == (name, "changed")
    assert why in change.why
    indexes.await_built(database, indexes.wanted_indexes(policy))
    assert level(database, policy) is Level.OK


@pytest.mark.parametrize(
    "foreign",
    [
        f"CREATE INDEX {VECTOR} FOR (m:Curated) ON (m.embedding)",
        pytest.param(vector_index("(m:Document) ON (m.embedding)"), marks=pytest.mark.exhaustive),
        pytest.param(vector_index("(m:Curated) ON (m.other)"), marks=pytest.mark.exhaustive),
        f"CREATE FULLTEXT INDEX {TEXT} FOR (m:Curated|Document) ON EACH [m.content, m.scope]",
        pytest.param(
            f"CREATE FULLTEXT INDEX {TEXT} FOR ()-[r:SAID]-() ON EACH [r.content]", marks=pytest.mark.exhaustive
        ),
        f"CREATE CONSTRAINT {TEXT} FOR (m:Document) REQUIRE m.id IS UNIQUE",
    ],
)
def test_one_of_somebody_else_is_refused_and_stays(
    database: Database, policy_of: Callable[..., LoadedPolicy], foreign: str
) -> None:
    policy = policy_of()
    database.autocommit(foreign)
    before = rows(database)
    with pytest.raises(Refused, match="isn't Jochi's"):
        indexes.reconcile(database, policy.policy)
    with pytest.raises(Refused, match="isn't Jochi's"):
        Jochi(database.driver, policy=policy).install(arm=False)
    assert rows(database) == before, "refused, and the other one was made all the same"
    assert database.run("MATCH (p:JochiProcedure) RETURN count(p) AS n") == [{"n": 0}]
    assert level(database, policy.policy) is Level.FAIL
    assert indexes.remove(database) == []
    assert rows(database) == before


@pytest.mark.slow
def test_install_changes_the_dimension_switches_off_and_uninstall_removes(
    database: Database, policy_of: Callable[..., LoadedPolicy]
) -> None:
    first = Jochi(database.driver, policy=policy_of("[embedding]\nmodel = 'a'\ndimensions = 4\n")).install(arm=False)
    assert {change.name: change.done for change in first.indexes} == {
        VECTOR: "created",
        TEXT: "created",
    }
    database.run(
        "UNWIND range(1, 3) AS i CREATE (:Curated:Fact {key: 'default/' + i, scope: 'default', id: toString(i), "
        "content: 'tea', embedding_model: 'b', embedding: [1.0, i, 0.0]})"
    )
    client = Jochi(database.driver, policy=policy_of("[embedding]\nmodel = 'b'\ndimensions = 3\n"))
    changed = client.install(arm=False)
    assert {change.name: change.done for change in changed.indexes} == {VECTOR: "changed"}
    assert "4 dimensions → :Curated(embedding), 3 dimensions" in changed.indexes[0].why
    assert client.install(arm=False).indexes == []
    assert client.recall(vector=[1.0, 3.0, 0.0]).keys == ["default/3", "default/2", "default/1"]
    off = Jochi(database.driver, policy=policy_of("[embedding]\nmodel = 'b'\ndimensions = 3\nenabled = false\n"))
    assert {change.name: change.done for change in off.install(arm=False).indexes} == {VECTOR: "dropped"}
    assert set(rows(database)) == {TEXT}
    assert level(database, off.policy.policy) is Level.OK
    assert level(database, client.policy.policy) is Level.FAIL
    with pytest.raises(JochiError, match="switched off"):
        off.recall(vector=[1.0, 3.0, 0.0])
    assert len(off.recall("tea")) == 3
    off.uninstall()
    assert rows(database) == {}


def test_waiting_has_an_end(
    database: Database, policy_of: Callable[..., LoadedPolicy], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An index that isn't there can't come online: the wait ends all the same, and says how far it got."""
    said: list[str] = []
    with pytest.raises(JochiError, match="not built within 0 s"):
        indexes.await_built(
            database, indexes.recall_indexes(policy_of().policy), on_progress=said.append, wait_seconds=0
        )
    assert said == [f"building {VECTOR} 0 %, {TEXT} 0 %"]
