"""`jochi worker --provider openai` from the command line to the stored vectors, against an endpoint that fails first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from tests.conftest import TestServer
from tests.unit.stub_openai import DIMENSIONS, Answer, Stub, error, stub_server, vector_of
from typer.testing import CliRunner, Result

from jochi import Jochi
from jochi.cli.app import app
from jochi.errors import JochiError
from jochi.policy import LoadedPolicy, load_policy
from jochi.text.content import content_hash
from jochi_workers import worker as worker_module
from jochi_workers.embeddings.protocol import PROBE
from jochi_workers.embeddings.vectors import normalised
from jochi_workers.worker import Stop

pytestmark = pytest.mark.server

MODEL = "tests-model"
KEY = "sk-tests-0123456789"
TEXTS = {f"b{n}": f"Ann's note number {n}" for n in range(1, 6)}


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> LoadedPolicy:
    file = tmp_path_factory.mktemp("policy") / "policy.toml"
    file.write_text(
        "[policy]\nname = 'endpoint'\nextends = 'default'\n"
        f"[embedding]\nmodel = '{MODEL}'\ndimensions = {DIMENSIONS}\n",
        encoding="utf-8",
    )
    return load_policy(file)


@pytest.fixture
def client(install_once: Callable[[LoadedPolicy], Jochi], policy: LoadedPolicy) -> Jochi:
    """Installed, with five memories that wait for a vector."""
    made = install_once(policy)
    made.database.run(
        "UNWIND $rows AS row CREATE (:Curated:Belief {key: 's/' + row.id, id: row.id, scope: 's', tier: 'HOT', "
        "content: row.content, created_at: $due, embed_due: $due})",
        {
            "rows": [{"id": id, "content": content} for id, content in TEXTS.items()],
            "due": datetime.now(timezone.utc) - timedelta(minutes=1),
        },
    )
    return made


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stub]:
    """Wants the key; answers the worker's own short text rightly, whatever the script says about memories."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("TESTS_KEY", KEY)
    with stub_server() as made:
        made.key = KEY
        made.always = lambda request: Answer() if request["input"] == [PROBE] else None
        yield made


Run = Callable[..., Result]


@pytest.fixture
def run(server: TestServer, stub: Stub, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("JOCHI_URI", server.uri)
    monkeypatch.setenv("JOCHI_USER", server.user)
    monkeypatch.setenv("JOCHI_PASSWORD", server.password)
    monkeypatch.delenv("JOCHI_PASSWORD_FILE", raising=False)
    words = ["worker", "--provider", "openai", "--model", MODEL, "--base-url", stub.url, "--once"]
    return lambda *more: CliRunner().invoke(app, [*words, "--key-variable", "TESTS_KEY", *more])


def stored(client: Jochi) -> dict[str, Mapping[str, Any]]:
    rows = client.database.run("MATCH (m:Belief) RETURN m.id AS id, properties(m) AS p", write=False)
    return {row["id"]: row["p"] for row in rows}


def asked(stub: Stub) -> list[Sequence[str]]:
    """What was asked about memories."""
    return [texts for texts in stub.texts if texts != [PROBE]]


def test_vectors_are_stored_after_429_and_broken_json(client: Jochi, run: Run, stub: Stub) -> None:
    stub.script = [error(429, Retry_After="0"), Answer(body=b'{"data": [{"index": 0, "embed')]
    done = run()
    assert done.exit_code == 0, done.output
    assert "embed: 5 done" in done.stdout.splitlines()
    assert stub.script == []
    assert [sorted(texts) for texts in asked(stub)] == [sorted(TEXTS.values())] * 3, "twice in vain"
    for id, memory in stored(client).items():
        assert memory["embedding"] == pytest.approx(normalised(vector_of(TEXTS[id])))
        assert (memory["embedding_model"], memory["embedding_hash"]) == (MODEL, content_hash(TEXTS[id]))
        assert not {"embed_due", "embedding_unknown"} & memory.keys()
    assert set(stub.authorizations) == {f"Bearer {KEY}"}
    assert KEY not in done.output


def test_a_key_that_is_refused_is_not_shown_and_nothing_fails(
    client: Jochi, run: Run, stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TESTS_KEY", KEY + "-old")
    done = run()
    assert isinstance(done.exception, JochiError)
    assert "401" in str(done.exception)
    assert asked(stub) == []
    assert set(stub.authorizations) == {f"Bearer {KEY}-old"}
    assert KEY not in done.output + str(done.exception)
    assert not any("embedding" in memory for memory in stored(client).values())
    assert client.database.run("MATCH (w:JochiWork) WHERE w.tries > 0 RETURN count(*) AS n")[0]["n"] == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "lots", "moments"),
    [
        ([], [5], [0.0]),
        (["--limit-rate", "5"], [5], [0.0]),
        (["--limit-rate", "4"], [4, 1], [0.0, 1.0]),
        (["--limit-rate", "0.5"], [1] * 5, [0.0, 2.0, 4.0, 6.0, 8.0]),
        (["--limit-rate", "4", "--batch", "2"], [2, 2, 1], [0.0, 0.5, 1.0]),
    ],
)
def test_a_limited_worker_keeps_to_so_many_a_second(
    client: Jochi,
    run: Run,
    stub: Stub,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    lots: list[int],
    moments: list[float],
) -> None:
    """On a clock that only the worker's own pauses move."""
    now = 1_000.0
    seen: list[float] = []

    def wait(_stop: Stop, seconds: float) -> None:
        nonlocal now
        now += seconds

    def notice(request: dict[str, Any]) -> Answer:
        if request["input"] != [PROBE]:
            seen.append(now - 1_000.0)
        return Answer()

    monkeypatch.setattr(worker_module, "monotonic", lambda: now)
    monkeypatch.setattr(Stop, "wait", wait)
    stub.always = notice
    done = run(*words)
    assert done.exit_code == 0, done.output
    assert [len(texts) for texts in asked(stub)] == lots
    assert seen == moments
