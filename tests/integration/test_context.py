"""What an agent starts with, from the graph to a file and back (seed 001; docs/reference/context.md, memory-file.md)."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.duplicate_pairs import NOON
from typer.testing import CliRunner

from jochi import Jochi
from jochi.cli.app import app
from jochi.errors import UsageError
from jochi.forgetting import VARIABLE, Request
from jochi.jobs.results import Switch
from jochi.jobs.runner import run_job
from jochi.text.tokens import Estimate
from jochi.write.editing import Graph
from jochi_workers.context_files import ContextFiles, read_table
from jochi_workers.prepare import Prepare
from jochi_workers.worker import Worker

pytestmark = pytest.mark.server

DAY = timedelta(days=1)
MINUTE = timedelta(minutes=1)
LIKES, STAIRS, TOWER = "Ann prefers tea with lemon.", "Paint the stairs of the tower.", "The tower has no lift."
MANY = [f"Remark {n} about the harbour and boat {n * 7}." for n in range(30)]


@pytest.fixture
def client(jochi: Jochi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Jochi:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "forget.key"))
    jochi.apply()
    put(jochi, LIKES, "likes", "Fact", category="preference")
    put(jochi, STAIRS, "stairs", "Task", status="in_progress")
    put(jochi, TOWER, "tower")
    return jochi


def put(client: Jochi, content: str, id: str, kind: str = "Note", scope: str = "s", **properties: Any) -> None:
    row = {"kind": kind, "scope": scope, "id": id, "content": content, "properties": properties}
    assert client.remember([row], now=NOON - DAY, on_refused="raise").written == 1


def content(client: Jochi, key: str) -> Any:
    rows = client.database.run(
        "MATCH (m:Curated {key: $key}) RETURN m.content AS said, m.expires_at AS ends", {"key": key}
    )
    return (rows[0]["said"], rows[0]["ends"]) if rows else None


def versions(client: Jochi, at: datetime) -> list[int]:
    """The job at that moment, and the versions that there are then."""
    runs = run_job(client.engine, "make_manifests", now=at, drain=True)
    assert [run.error or run.quarantined for run in runs if run.error or run.quarantined] == []
    return [each.version for each in client.contexts()]


def test_a_file_is_written_edited_and_brought_back(client: Jochi, tmp_path: Path) -> None:
    file = tmp_path / "MEMORY.md"
    put(client, "Only in t.", "other", scope="t")
    first = client.write_context(file, "s", now=NOON)
    text = file.read_text()
    assert first.rewritten
    assert text.index(LIKES) < text.index(STAIRS) < text.index(TOWER)
    assert "Only in t." not in text
    before = file.stat().st_mtime_ns
    assert not client.write_context(file, "s", now=NOON + MINUTE).rewritten
    assert file.stat().st_mtime_ns == before

    # A person: one added, one changed, one struck. The graph: another one new, and the struck one's neighbour changed.
    lines = [line for line in text.splitlines() if STAIRS not in line]
    lines = [line.replace("no lift", "a lift now") for line in lines]
    at = next(n for n, line in enumerate(lines) if LIKES in line)
    file.write_text("\n".join([*lines[: at + 1], "- Ann dislikes coffee.", *lines[at + 1 :]]) + "\n")
    put(client, "The harbour is closed on Mondays.", "harbour")
    done = client.write_context(file, "s", now=NOON + MINUTE)
    assert sorted((edit.edit, edit.outcome) for edit in done.taken_in) == [
        ("added", "done"),
        ("changed", "done"),
        ("struck", "done"),
    ]
    text = file.read_text()
    assert all(
        said in text for said in (LIKES, "Ann dislikes coffee.", "The tower has a lift now.", "closed on Mondays")
    )
    assert "stairs" not in text
    assert content(client, "s/tower") == ("The tower has a lift now.", None)
    assert content(client, "s/stairs")[1] is not None
    added = next(edit.key for edit in done.taken_in if edit.edit == "added")
    rows = client.database.run("MATCH (m {key: $key}) RETURN m:Fact AS fact, m.category AS category", {"key": added})
    assert rows[0] == {"fact": True, "category": "preference"}

    # What came in is one run. Undone, the graph says what it said, and so does the file.
    run = next(run for run in client.runs() if run.job == "edit")
    assert run.changed == 2
    client.undo(run.id, now=NOON + 2 * MINUTE)
    assert content(client, "s/tower") == (TOWER, None)
    assert content(client, "s/stairs") == (STAIRS, None)
    client.write_context(file, "s", now=NOON + 3 * MINUTE)
    assert TOWER in file.read_text()
    assert STAIRS in file.read_text()


def test_what_was_struck_and_stands_there_again_stays(client: Jochi, tmp_path: Path) -> None:
    file = tmp_path / "MEMORY.md"
    client.write_context(file, "s", now=NOON)
    text = file.read_text()
    file.write_text("\n".join(line for line in text.splitlines() if TOWER not in line) + "\n")
    client.write_context(file, "s", now=NOON)
    assert content(client, "s/tower")[1] is not None
    file.write_text(file.read_text() + f"\n## Key insights\n\n- {TOWER}\n")
    client.write_context(file, "s", now=NOON)
    assert content(client, "s/tower") == (TOWER, None)


def test_edits_that_cannot_be_taken_in_are_memories_of_their_own(client: Jochi, tmp_path: Path) -> None:
    """The graph changed the same line, a slot holds it, a pin keeps it: nothing is lost, and the graph's stays."""
    file = tmp_path / "MEMORY.md"
    slot = {"subject": "Ann", "attribute": "home", "value": "Bonn", "valid_from": NOON - 2 * DAY}
    put(client, "Ann lives in Bonn.", "home", "Fact", **slot)
    put(client, "Never strike this.", "pinned", pinned=True)
    client.write_context(file, "s", now=NOON)
    client.database.run(
        "MATCH (m:Curated {key: 's/tower'}) SET m.content = 'The tower has two lifts.', m.content_hash = 'v2:other'"
    )
    text = file.read_text().replace("no lift", "a lift now").replace("in Bonn", "in Kiel")
    file.write_text("\n".join(line for line in text.splitlines() if "Never strike" not in line) + "\n")
    done = client.write_context(file, "s", now=NOON)
    text = file.read_text()
    for said in ("two lifts", "a lift now", "in Bonn", "in Kiel", "Never strike this."):
        assert said in text, (said, done)
    assert content(client, "s/home")[0] == "Ann lives in Bonn."
    assert any("is pinned" in edit.outcome for edit in done.taken_in)

    # What comes between the choice and the edit, and what can't be edited at all.
    options: Any = {"include_sensitive": False, "max_tokens": None, "now": NOON}
    graph = Graph.of(client.engine, client.policy.policy, "s", **options)
    client.database.run(
        "MATCH (m:Curated {key: 's/likes'}) SET m.locked_by = 'agent', m.locked_at = $now", {"now": NOON}
    )
    assert {
        graph.change("s/tower", "Another", "v2:before"): "changed",
        graph.change("s/likes", "Another", None): "locked",
        graph.strike("s/likes"): "locked",
        graph.change("s/none", "Another", None): "gone",
        graph.strike("s/none"): "done",
    } == {
        "says something else by now": "changed",
        "is locked by an agent": "locked",
        "is gone": "gone",
        "done": "done",
    }


def test_the_job_makes_it_anew_when_what_it_holds_changed(client: Jochi) -> None:
    client.engine.call("context/make", {"now": NOON, "scope": "s", "open": False, "max_tokens": 300})
    held = [entry.key for entry in client.context("s", at=NOON).entries]
    assert set(held) == {"s/likes", "s/stairs", "s/tower"}
    assert versions(client, NOON + MINUTE) == [1]
    # Something new waits for the day, or for whoever writes a file.
    put(client, "The harbour is closed on Mondays.", "harbour")
    assert versions(client, NOON + MINUTE) == [1]
    assert versions(client, NOON + DAY - MINUTE) == [1]
    assert versions(client, NOON + DAY) == [2]

    at = NOON + DAY + MINUTE
    client.database.run(
        "MATCH (m:Curated {key: 's/tower'}) SET m.expires_at = $at, m.next_due = $at REMOVE m.hold_until", {"at": at}
    )
    client.database.run("MATCH (m:Curated) SET m.next_due = $at, m.created_at = $at - duration('P3D')", {"at": at})
    client.run("curate_due", now=at)
    assert content(client, "s/tower") is None
    assert versions(client, at) == [3]
    client.restore(["s/tower"], now=at)
    client.database.run("MATCH (m:Curated {key: 's/tower'}) SET m.expires_at = null")
    Worker(client.engine, [Prepare(Estimate())]).run(once=True)
    # Longer than there is room for.
    client.database.run(
        "MATCH (m:Curated {key: 's/harbour'}) SET m.content = $text, m.prepare_due = $at REMOVE m.content_hash",
        {"text": " ".join(MANY), "at": at},
    )
    Worker(client.engine, [Prepare(Estimate())]).run(once=True)
    assert versions(client, at) == [4]
    left = [[(line.key, line.reason) for line in client.context_diff("s", old, old + 1).left] for old in (1, 2, 3)]
    assert left == [[], [("s/tower", "it is gone")], [("s/harbour", "others are worth more for a token")]]
    assert [line.key for line in client.context_diff("s", 2, 4).left] == ["s/harbour"]
    assert [line.key for line in client.context_diff("s", 0, 1).came] == held
    with pytest.raises(UsageError, match="isn't kept"):
        client.context_diff("s", 2, 9)

    assert client.drop_context("s")
    assert not client.drop_context("s")
    assert versions(client, at + DAY) == []


def test_only_so_many_versions_are_kept_and_none_names_what_was_forgotten(client: Jochi) -> None:
    for n, said in enumerate(MANY[:24]):
        put(client, said, f"n{n}")
        client.engine.call("context/make", {"now": NOON, "scope": "s", "open": False, "max_tokens": None})
    count = "MATCH (v:JochiManifestVersion) RETURN count(v) AS n, max(v.version) AS last"
    assert client.database.run(count)[0] == {"n": 20, "last": 24}
    client.forget(Request(keys=("s/n3",)), now=NOON)
    left = client.database.run(
        "MATCH (b) WHERE b:JochiManifest OR b:JochiManifestVersion UNWIND keys(b) AS name "
        "WITH b[name] AS value WHERE value IS :: LIST<STRING> AND any(x IN value WHERE x IN ['s/n3', 'n3']) RETURN count(*) AS n"
    )
    assert left[0]["n"] == 0
    assert versions(client, NOON) == [25]


def test_what_is_sensitive_is_only_in_a_file_that_asks_for_it(client: Jochi, tmp_path: Path) -> None:
    for tier in ("PUBLIC", "SENSITIVE", "PRIVATE", "odd"):
        put(client, f"Something {tier}.", tier, access_tier=tier if tier != "odd" else None)
    client.database.run("MATCH (m:Curated {key: 's/odd'}) SET m.access_tier = 7")
    plain, open_ = tmp_path / "MEMORY.md", tmp_path / "SECRET.md"
    client.write_context(plain, "s", now=NOON)
    client.write_context(open_, "s", include_sensitive=True, now=NOON)
    said = {
        tier: [f"Something {tier}." in file.read_text() for file in (plain, open_)]
        for tier in ("PUBLIC", "SENSITIVE", "PRIVATE", "odd")
    }
    assert said == {
        "PUBLIC": [True, True],
        "SENSITIVE": [False, True],
        "PRIVATE": [False, False],
        "odd": [False, False],
    }
    assert [(each.scope, each.include_sensitive) for each in client.contexts()] == [("s", False), ("s", True)]
    # It became sensitive: the next writing takes it out, and what is told of earlier versions doesn't say it.
    for said in ("m.access_tier = 'SENSITIVE'", "m.contains_pii = true", "m.sensitivity = 'high'"):
        client.write_context(plain, "s", now=NOON)
        assert TOWER in plain.read_text()
        client.database.run(f"MATCH (m:Curated {{key: 's/tower'}}) SET {said}")
        client.write_context(plain, "s", now=NOON)
        assert TOWER not in plain.read_text()
        for open, known in ((False, False), (True, True)):
            texts = client.engine.call("context/versions", {"scope": "s", "open": open}, write=False)["texts"]
            assert ("s/tower" in [key for key, _ in texts]) == known
        client.database.run("MATCH (m:Curated {key: 's/tower'}) REMOVE m.access_tier, m.contains_pii, m.sensitivity")


def test_a_line_in_a_file_with_what_is_sensitive_is_sensitive(client: Jochi, tmp_path: Path) -> None:
    file, plain = tmp_path / "SECRET.md", tmp_path / "MEMORY.md"
    client.write_context(file, "s", include_sensitive=True, now=NOON)
    file.write_text(file.read_text() + "\n## Key insights\n\n- Ann earns more now.\n")
    client.write_context(file, "s", include_sensitive=True, now=NOON)
    client.write_context(plain, "s", now=NOON)
    assert ["Ann earns more now." in each.read_text() for each in (file, plain)] == [True, False]


def test_one_odd_memory_and_paused_scopes_stop_no_other(client: Jochi) -> None:
    client.database.run("MATCH (m:Curated {key: 's/tower'}) SET m.content_hash = 12345")
    assert TOWER in [entry.text for entry in client.context("s", at=NOON).entries]
    for scope in ("p1", "p2", "s"):
        client.engine.call("context/make", {"now": NOON, "scope": scope, "open": False, "max_tokens": None})
    for scope in ("p1", "p2"):
        client.pause(Switch("scope", scope))
    client.database.run("MATCH (j:JochiJob {name: 'make_manifests'}) SET j.batch_size = 1, j.max_batches = 1")
    put(client, "The harbour is closed on Mondays.", "harbour")
    client.run("make_manifests", now=NOON + 2 * DAY)
    assert {each.scope: each.version for each in client.contexts()} == {"p1": 1, "p2": 1, "s": 2}


def test_an_old_file_is_taken_over_once(client: Jochi, tmp_path: Path) -> None:
    file = tmp_path / "MEMORY.md"
    parts = ("# Notes", "## About me", "My bank is the Moon Bank.", "## Todo", "- [ ] Call the pilot", "## Learned")
    old = "\n\n".join([*parts, "- Fog comes from the east.\n"])
    file.write_text(old)
    dry = client.migrate_context(file, "s", dry_run=True, now=NOON)
    assert [(s.section, key) for s, key in dry.memories] == [("tasks", None), ("insights", None)]
    assert file.read_text() == old
    client.migrate_context(file, "s", now=NOON)
    assert (tmp_path / "MEMORY.md.pre-migration").read_text() == old
    rows = client.database.run("MATCH (m:Curated) WHERE m.content CONTAINS 'Moon Bank' RETURN count(m) AS n")
    assert rows[0]["n"] == 0
    text = file.read_text()
    assert all(said in text for said in ("Moon Bank", "Call the pilot", "Fog comes from the east.", LIKES))
    assert client.migrate_context(file, "s", now=NOON).already
    assert not client.write_context(file, "s", now=NOON).rewritten


def test_a_worker_keeps_files_up_to_date(client: Jochi, tmp_path: Path) -> None:
    table = tmp_path / "contexts.toml"
    table.write_text('[[files]]\nscope = "s"\nfile = "S.md"\n[[files]]\nscope = "t"\nfile = "none/T.md"\n')
    worker = Worker(client.engine, [], files=ContextFiles(read_table(table), client.write_context))
    worker.run(once=True)
    assert TOWER in (tmp_path / "S.md").read_text()
    assert (worker.progress["context"].done, worker.progress["context"].failed) == (1, 1)
    assert "none/T.md" in str(worker.progress["context"].note)


def test_the_command_line(client: Jochi, server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("URI", server.uri), ("USER", server.user), ("PASSWORD", server.password)):
        monkeypatch.setenv(f"JOCHI_{name}", value)
    monkeypatch.chdir(tmp_path)

    def run(*words: str, code: int = 0) -> str:
        done = CliRunner().invoke(app, ["context", *words])
        assert done.exit_code == code, done.output
        return done.output

    assert "MEMORY.md written: version 1" in run("write", "--scope", "s")
    assert "is up to date" in run("write", "--scope", "s")
    assert TOWER in run("show", "--scope", "s", "--format", "prompt")
    assert json.loads(run("show", "--scope", "s", "--format", "json"))
    assert "s/tower" in run("show", "--scope", "s")
    assert len(json.loads(run("diff", "--scope", "s", "--json"))["came"]) == 3
    assert json.loads(run("ls", "--json"))[0]["version"] == 1
    told = json.loads(run("metrics", "--json"))
    assert (told["manifests"], told["in_files"], told["memories"], told["max_tokens"]) == (1, 3, 3, 2000)
    assert "3 memories are in files; the graph has 3, 1 for each" in run("metrics")
    assert "s has no manifest" in run("drop", "--scope", "s") + run("drop", "--scope", "s")
    (tmp_path / "OLD.md").write_text("- Fog comes from the east.\n")
    assert "Fog" in run("migrate", "OLD.md", "--scope", "s", "--dry-run")
    run("write", "--scope", "a/b", code=1)  # as an exception, which `jochi` tells with its code
