"""`jochi forget` and `jochi receipts` as a person types them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.conftest import TestServer, say_go
from typer.testing import CliRunner

from jochi import Jochi
from jochi.cli.app import app
from jochi.errors import JochiError
from jochi.forgetting import VARIABLE

pytestmark = pytest.mark.server


@dataclass(frozen=True)
class Told:
    """What a command said, and what it ended with."""

    exit_code: int
    output: str
    stdout: str


Run = Callable[..., Told]


def invoke(*words: str, **more: str) -> Told:
    result = CliRunner().invoke(app, list(words), **more)  # type: ignore[arg-type]
    if isinstance(result.exception, JochiError):
        return Told(result.exception.exit_code, result.output + str(result.exception), result.stdout)
    return Told(result.exit_code, result.output, result.stdout)


@pytest.fixture
def run(jochi: Jochi, server: TestServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "forget.key"))
    for name, value in (("URI", server.uri), ("USER", server.user), ("PASSWORD", server.password)):
        monkeypatch.setenv(f"JOCHI_{name}", value)
    say_go(jochi)
    rows = [
        {"kind": "MemoryEntry", "id": "home", "content": "Alice likes tea and lives at 5 Elm St"},
        {"kind": "MemoryEntry", "id": "mail", "content": "write to alice@acme.io"},
        {"kind": "MemoryEntry", "id": "other", "content": "write to malice@acme.io, not alice.smith@acme.io"},
        {"kind": "MemoryEntry", "id": "cat", "content": "the cat is called Mallory"},
    ]
    assert jochi.remember(rows).written == 4
    return invoke


def content(client: Jochi, id: str) -> object:
    found = client.database.run(
        "MATCH (m:Curated {key: 'default/' + $id}) RETURN m.content AS said", {"id": id}, write=False
    )
    return found[0]["said"]


def keys(client: Jochi) -> set[str]:
    return {row["key"] for row in client.database.run("MATCH (m:Curated) RETURN m.key AS key", write=False)}


def test_a_dry_run_shows_what_goes_what_is_cut_and_what_stays(run: Run, jochi: Jochi, tmp_path: Path) -> None:
    told = run("forget", "--match", "5 Elm St", "--scope", "default", "--dry-run", "--verify")
    assert told.exit_code == 0, told.output
    assert "default/home (MemoryEntry, says it): only the clause goes. Left: content: Alice likes tea" in told.output
    assert "would be: cut 1" in told.output
    assert "looked for: 5 Elm St (word for word, as a name)" in told.output
    assert "is said in Curated:MemoryEntry: content" in told.output
    near = run("forget", "--match", "alice@acme.io", "--everywhere", "--dry-run")
    assert "1 has these words only as part of others and stays: default/other" in near.output
    assert (len(keys(jochi)), (tmp_path / "forget.key").exists(), jochi.receipts().receipts) == (4, False, ())


def test_it_asks_and_no_changes_nothing(run: Run, jochi: Jochi) -> None:
    words = ("forget", "--match", "alice@acme.io", "--scope", "default")
    no = run(*words, input="n\n")
    assert (no.exit_code, len(keys(jochi))) == (5, 4)
    assert "a key of forgetting is made on this machine" in no.output
    nobody = run(*words, input="")
    assert (nobody.exit_code, len(keys(jochi))) == (5, 4)
    assert "--yes" in nobody.output
    yes = run(*words, "--verify", input="y\n")
    assert yes.exit_code == 0, yes.output
    assert "looked through every text in the store: nothing is left" in yes.output
    assert keys(jochi) == {"default/home", "default/other", "default/cat"}
    again = run("remember", "mail ALICE@acme.io", "--kind", "MemoryEntry")
    assert "forgotten" in again.output
    lifted = run("forget", "--lift", "--match", "alice@acme.io", "--scope", "default")
    assert "2 seals taken off" in lifted.output


def test_ids_hash_standard_input_and_scope(run: Run, jochi: Jochi) -> None:
    done = run("forget", "--id", "default/cat", "--id", "default/never", "--yes")
    assert done.exit_code == 0
    assert "default/never: there is no such memory" in done.output
    assert "default/cat" not in keys(jochi)
    for wrong in (("--id", "default/never"), ("--hash", f"v2:{'9f' * 32}", "--everywhere")):
        typo = run("forget", *wrong, "--yes")
        assert typo.exit_code == 3
        assert "nothing to forget" in typo.output
    jochi.database.run("CREATE (:JochiPlanPart {keys: ['default/planned'], notes: ['']})")
    assert run("forget", "--id", "default/planned", "--yes").exit_code == 0, "a record named it"
    hashed = jochi.database.run("MATCH (m:Curated {key: 'default/mail'}) RETURN m.content_hash AS h")[0]["h"]
    assert run("forget", "--hash", hashed, "--everywhere", "--yes").exit_code == 0
    assert run("forget", "--match", "-", "--scope", "default", "--yes", input="5 elm st\n").exit_code == 0
    assert keys(jochi) == {"default/home", "default/other"}
    as_json = run("forget", "--scope", "default", "--yes", "--verify", "--json")
    assert json.loads(as_json.stdout)["counts"]["memories"] == 2
    shown = run("receipts")
    assert (shown.exit_code, keys(jochi)) == (0, set())
    assert "7 receipts" in shown.output
    assert "Elm" not in shown.output
    jochi.database.run("MATCH (r:JochiReceipt {number: 2}) SET r.body = '{}'")
    broken = run("receipts", "--json")
    assert broken.exit_code == 1
    assert "receipt 2 doesn't fit" in broken.output


def test_a_scope_with_nothing_in_it_is_told_and_can_be_taken_back(run: Run, jochi: Jochi) -> None:
    typo = run("forget", "--scope", "defualt", "--yes")
    assert (typo.exit_code, len(keys(jochi))) == (3, 4)
    assert "jochi forget --lift --scope defualt" in typo.output
    assert "1 seals taken off" in run("forget", "--lift", "--scope", "defualt").output


def test_a_description_is_resolved_shown_and_chosen(run: Run, jochi: Jochi) -> None:
    none = run("forget", "--about", "the name of the cat", input="\n")
    assert (none.exit_code, len(keys(jochi))) == (5, 4)
    assert "default/cat (MemoryEntry): the cat is called Mallory" in none.output
    for wrong in ("9\n", "x\n", "0\n"):
        assert run("forget", "--about", "cat", input=wrong).exit_code == 5
    chosen = run("forget", "--about", "cat", "--verify", input="1\ny\n")
    assert chosen.exit_code == 0, chosen.output
    assert keys(jochi) == {"default/home", "default/mail", "default/other"}
    assert run("forget", "--about", "zebra", "--yes").exit_code == 2
    doubtful = run("forget", "--about", "write to alice", "--yes", "--json")
    assert (doubtful.exit_code, len(keys(jochi))) == (3, 3)
    assert {"default/mail", "default/other"} <= {key for key in keys(jochi) if key in doubtful.output}
    assert '"margin"' in doubtful.stdout
    # Of a compound memory only the statement.
    assert run("forget", "--about", "what Alice likes", "--yes").exit_code == 0
    assert content(jochi, "home") == "Alice lives at 5 Elm St"
    assert not jochi.remember({"kind": "MemoryEntry", "content": "Alice likes tea."}).written
    assert run("forget", "--about", "where Alice lives", "--whole", "--yes").exit_code == 0
    assert keys(jochi) == {"default/mail", "default/other"}


def test_a_statement_is_superseded_shown_and_chosen(run: Run, jochi: Jochi) -> None:
    asked = ("supersede", "where Alice resides", "Alice lives at 7 Oak Rd.")
    planned = run(*asked, "--plan", "--json")
    says = "Alice likes tea. Alice lives at 7 Oak Rd."
    assert (planned.exit_code, json.loads(planned.stdout)["replaced"]) == (0, {"default/home": says})
    assert run(*asked, input="n\n").exit_code == 5
    assert "lives at 5 Elm St" in str(content(jochi, "home"))
    done = run(*asked, input="y\n")
    assert (done.exit_code, content(jochi, "home")) == (0, says), done.output
    again = run(*asked, "--yes")
    assert (again.exit_code, "says it already" in again.output) == (0, True), again.output
    told = json.loads(run("supersede", "7 Oak Rd", "Alice lives at 9 Ash Ln.", "--yes", "--json").stdout)
    assert run("undo", told["run"]).exit_code == 0
    assert content(jochi, "home") == says
    # Nobody said it, and which one is like it isn't sure: a machine gets the list, a person chooses.
    unsure = ("supersede", "what Alice drinks", "Alice likes mate.")
    listed = run(*unsure, "--yes", "--json")
    assert (listed.exit_code, json.loads(listed.stdout)["candidates"][0]["statement"]) == (3, "Alice likes tea")
    assert run(*unsure, input="\n").exit_code == 5
    assert run("supersede", "zebra", "Alice likes mate.", "--yes").exit_code == 3
    assert run(*unsure, "--key", "home", "--yes").exit_code == 0, "of that memory it is the nearest"
    assert content(jochi, "home") == "Alice lives at 7 Oak Rd. Alice likes mate."
    assert run("supersede", "...", "Alice likes mate.").exit_code == 2


def test_of_what_says_more_a_person_says_what_becomes_of_it(run: Run, jochi: Jochi) -> None:
    jochi.remember([{"kind": "MemoryEntry", "id": "list", "content": "Sie kauft Milch, Tee und Honig."}])
    told = run("forget", "--match", "Tee", "--scope", "default", "--yes")
    assert (told.exit_code, "default/list" in keys(jochi)) == (3, True)
    assert "default/list stays: it says more" in told.output
    assert run("forget", "--match", "Tee", "--scope", "default", input="y\ny\n").exit_code == 0
    assert "default/list" not in keys(jochi)


def test_what_rails_hold_is_named_and_the_command_says_so(run: Run, jochi: Jochi) -> None:
    jochi.database.run("MATCH (m:Curated {key: 'default/cat'}) SET m:SystemConfig")
    told = run("forget", "--match", "Mallory", "--scope", "default", "--yes", "--verify")
    assert told.exit_code == 3
    assert "default/cat stays: system_config" in told.output
    assert "is left in" in told.output


SENSELESS: list[tuple[str, ...]] = [
    ("--match", "x"),
    ("--match", "x", "--scope", "s", "--everywhere"),
    ("--hash", "v2:0"),
    ("--hash", "v2:9f2c", "--everywhere"),
    ("--hash", "nonsense", "--everywhere"),
    (),
    ("--about", "x", "--id", "s/a"),
    ("--id", "noscope"),
    ("--match", "...", "--everywhere"),
]


def test_requests_that_make_no_sense_are_refused(run: Run, jochi: Jochi) -> None:
    for words in SENSELESS:
        told = run("forget", *words, "--yes")
        assert told.exit_code == 2, told.output
    assert len(keys(jochi)) == 4
