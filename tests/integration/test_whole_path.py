"""From an app's words to a counted access, on the command line alone: remember, worker, recall by meaning, touch, fold."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.conftest import TestServer
from typer.testing import CliRunner

from jochi import Jochi
from jochi.cli.app import app
from jochi.policy import LoadedPolicy, load_policy

pytestmark = pytest.mark.server


@pytest.fixture
def client(install_once: Callable[[LoadedPolicy], Jochi]) -> Jochi:
    """The shipped policy: its model is the local one."""
    return install_once(load_policy())


@pytest.fixture
def run(server: TestServer, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    for name, value in (("URI", server.uri), ("USER", server.user), ("PASSWORD", server.password)):
        monkeypatch.setenv(f"JOCHI_{name}", value)
    for name in ("PASSWORD_FILE", "DATABASE", "POLICY"):
        monkeypatch.delenv(f"JOCHI_{name}", raising=False)

    def answer(*words: str) -> str:
        done = CliRunner().invoke(app, list(words))
        assert done.exit_code == 0, done.output
        return done.stdout

    return answer


def found(run: Callable[..., str], text: str, *more: str) -> list[dict[str, Any]]:
    hits: list[dict[str, Any]] = json.loads(run("recall", text, "--scope", "ada", "--json", *more))["hits"]
    return hits


def test_what_is_remembered_is_found_by_meaning_and_its_use_is_counted(client: Jochi, run: Callable[..., str]) -> None:
    pytest.importorskip("onnxruntime")
    texts = (
        "The signing certificate is replaced every Monday.",
        "Lunch is at noon in the large kitchen.",
        "The train to the coast leaves from platform four.",
    )
    for text in texts:
        run("remember", text, "--kind", "Belief", "--scope", "ada")
    run("remember", texts[0].upper(), "--kind", "Belief", "--scope", "ada")
    question = "when do we rotate keys?"
    assert found(run, question) == []  # no word in common
    run("worker", "--provider", "minilm", "--once")
    hits = found(run, question, "--provider", "minilm")
    assert (len(hits), hits[0]["content"]) == (3, texts[0])
    assert hits[0]["cosine"] > hits[1]["cosine"]
    run("memory", "touch", hits[0]["key"], "--agent", "planner")
    client.run("fold_accesses", drain=True)
    (row,) = client.database.run(
        "MATCH (m:Curated {key: $key}) RETURN m.access_count AS uses, m.agents AS agents, m.embed_due AS embed",
        {"key": hits[0]["key"]},
    )
    # Remembered twice (the second time in capitals) and used once.
    assert (row["uses"], row["agents"]) == (2, ["planner"])
    assert row["embed"] is None
