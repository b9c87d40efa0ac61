"""What an agent starts with, from the graph to a file and back (seed 001; docs/reference/context.md, memory-file.md)."""

from __future__ import annotations

import json
import re
import shlex
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import say_go
from tests.duplicate_pairs import NOON
from tests.one_memory import remember_one
from typer.testing import CliRunner

from jochi import Jochi
from jochi.cli.app import app
from jochi.cli.context import taken_in
from jochi.context.state import state_file
from jochi.database.statements import statement
from jochi.errors import JochiError, PartlyDone, Refused, UsageError
from jochi.forgetting import VARIABLE, Request
from jochi.jobs.results import Switch
from jochi.jobs.runner import run_job
from jochi.operate.check import Level
from jochi.operate.doctor import examine
from jochi.operate.status import overview
from jochi.text.tokens import Estimate, best_counter
from jochi.write.importing import import_files
from jochi.write.scope_graph import ScopeGraph
from jochi_workers.context_files import ContextFiles, read_table
from jochi_workers.prepare import PrepareHandler
from jochi_workers.worker import Worker

pytestmark = pytest.mark.server

DAY = timedelta(days=1)
MINUTE = timedelta(minutes=1)
LIKES, STAIRS, TOWER = "Ann prefers tea with lemon.", "Paint the stairs of the tower.", "The tower has no lift."
MANY = [f"Remark {n} about the harbour and boat {n * 7}." for n in range(30)]


@pytest.fixture
def client(jochi: Jochi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Jochi:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "forget.key"))
    say_go(jochi)
    put(jochi, LIKES, "likes", "Fact", category="preference")
    put(jochi, STAIRS, "stairs", "Task", status="in_progress")
    put(jochi, TOWER, "tower")
    return jochi


def put(client: Jochi, content: str, id: str, kind: str = "Note", scope: str = "s", **properties: Any) -> None:
    remember_one(client, kind, id, content, scope=scope, at=NOON - DAY, **properties)


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
    assert (run.changed, run.counts) == (2, {"added": 1, "changed": 1, "struck": 1})
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
    # To and fro while one file is written: each is on record.
    graph = ScopeGraph.of(client.engine, client.policy.policy, "s", include_sensitive=False, max_tokens=None, now=NOON)
    for _ in range(2):
        assert graph.strike("s/tower", None) == "done"
        assert graph.remember("insights", TOWER) == "s/tower"
    for _ in range(2):
        assert [graph.change("s/tower", said, None) for said in (STAIRS, TOWER)] == ["done", "done"]
    rows = client.database.run(
        "MATCH (a:CurationAudit) WHERE a.run = $run RETURN count(a) AS n, count(DISTINCT a.id) AS ids",
        {"run": graph.run},
    )
    assert rows[0] == {"n": 8, "ids": 8}


def test_what_a_memory_of_any_kind_says_already_is_reinforced_by_a_file(client: Jochi, tmp_path: Path) -> None:
    """A file to be taken over, lines that are added, and a file whose comments an editor dropped: nothing is doubled."""
    kinds = ("Fact", "Reflection", "MemoryEntry", "Artifact", "Note")
    for kind in kinds:
        put(client, f"The {kind} speaks of the quay.", kind, kind)
    count = "MATCH (m:Curated {scope: 's'}) WHERE m.content IS NOT NULL RETURN count(m) AS n"
    before = client.database.run(count)[0]["n"]
    file, old = tmp_path / "MEMORY.md", tmp_path / "AGENTS.md"
    old.write_text("# Notes\n\n" + "".join(f"- The {kind} speaks of the quay.\n" for kind in kinds))
    done = client.migrate_context(old, "s", now=NOON)
    # An artifact is in no file, so its text is a memory of its own there.
    assert [key for _, key in done.memories if key in {f"s/{kind}" for kind in kinds}] == [
        f"s/{kind}" for kind in kinds if kind != "Artifact"
    ]
    assert client.database.run(count)[0]["n"] == before + 1

    client.write_context(file, "s", another_file=True, now=NOON)
    text = file.read_text().replace("file -->\n", "file -->\nI'm Ann.\n")
    file.write_text(re.sub(r" ?<!--.*-->", "", text))
    assert client.migrate_context(file, "s", now=NOON).already
    done_now = client.write_context(file, "s", now=NOON)
    assert (done_now.taken_in, file.read_text()) == ((), text)
    assert client.database.run(count)[0]["n"] == before + 1


def test_a_struck_line_strikes_all_that_say_it(client: Jochi, tmp_path: Path) -> None:
    said = "The quay is closed on Sundays."
    for kind in ("Note", "Fact", "MemoryEntry", "Artifact"):
        put(client, said if kind != "Fact" else said.upper(), kind, kind)
    put(client, said, "pinned", "Reflection", pinned=True)
    put(client, said, "other", scope="t")
    file = tmp_path / "MEMORY.md"
    client.write_context(file, "s", now=NOON)
    text = file.read_text()
    assert text.lower().count(said.lower()) == 1
    file.write_text("".join(line for line in text.splitlines(True) if said.lower() not in line.lower()))
    done = client.write_context(file, "s", now=NOON)
    assert sorted((each.key, each.outcome) for each in done.taken_in) == [
        ("s/Fact", "done"),
        ("s/MemoryEntry", "done"),
        ("s/Note", "done"),
        ("s/pinned", "is pinned"),
    ]
    assert done.notes == ("s/pinned is pinned, so it stands in the file again.",)
    ends = {
        key: content(client, key)[1]
        for key in ("s/Fact", "s/MemoryEntry", "s/Note", "s/pinned", "s/Artifact", "t/other")
    }
    assert [key for key, at in ends.items() if at] == ["s/Fact", "s/MemoryEntry", "s/Note"]


def test_what_a_task_stands_for_is_left_out_and_struck_with_it(client: Jochi, tmp_path: Path) -> None:
    file = tmp_path / "MEMORY.md"
    put(client, "Ann: I'll paint the gate by Friday.", "gate", "Fact", message_ids=["turn"])
    put(client, "The gate is made of oak.", "oak", "Fact")
    client.write_context(file, "s", now=NOON - MINUTE)
    task = "Ann: I'll paint the gate by Friday. (2026-06-19)"
    link = {"type": "EVIDENCE", "to": "gate"}
    put(client, task, "paint", "Task", status="In Bearbeitung", message_ids=["turn"], relationships=[link])
    put(client, "Oil the gate", "oil", "Task", status="todo", relationships=[{"type": "EVIDENCE", "to": "oak"}])
    client.write_context(file, "s", now=NOON)
    assert [(line.key, line.reason) for line in client.context_diff("s").left] == [("s/gate", "its task says it")]
    text = file.read_text()
    assert text.count("paint the gate") == 1
    file.write_text("".join(line for line in text.splitlines(True) if task not in line))
    done = client.write_context(file, "s", now=NOON + MINUTE)
    assert [(each.edit, each.key, each.outcome) for each in done.taken_in] == [
        ("struck", "s/gate", "done"),
        ("struck", "s/paint", "done"),
    ]
    assert "paint" not in file.read_text()
    assert "oak" in file.read_text(), "what an app's task rests on is said nowhere else"


def test_what_stands_beside_a_file_reaches_no_other_scope(client: Jochi, tmp_path: Path) -> None:
    other = tmp_path / "other" / "MEMORY.md"
    other.parent.mkdir()
    file = tmp_path / "MEMORY.md"
    for path, scope in ((file, "ada"), (other, "ben")):
        client.remember(
            [{"scope": scope, "kind": "Note", "content": said} for said in ("Tea is green.", "Rain comes.")]
        )
        client.write_context(path, scope)
    beside = state_file(file)
    beside.write_text(beside.read_text().replace("ada/", "ben/"))
    text = file.read_text().replace("Rain comes.", "Rain came.")
    file.write_text("".join(line for line in text.splitlines(keepends=True) if "Tea" not in line))
    done = client.write_context(file, "ada")
    assert {each.outcome for each in done.taken_in if each.key.startswith("ben/")} == {"is of another scope"}
    assert not client.write_context(other, "ben").rewritten


def test_edits_that_cannot_be_taken_in_are_memories_of_their_own(client: Jochi, tmp_path: Path) -> None:
    """The graph changed the same line, a slot holds it, a pin keeps it: nothing is lost, and the graph's stays."""
    file = tmp_path / "MEMORY.md"
    slot = {"subject": "Ann", "attribute": "home", "value": "Bonn", "valid_from": NOON - 2 * DAY}
    put(client, "Ann lives in Bonn.", "home", "Fact", **slot)
    put(client, "Never strike this.", "pinned", pinned=True)
    put(client, "Keep this for ever.", "ever", ttl_policy="keep_forever")
    put(client, "Struck under a hold.", "held")
    client.database.run("MATCH (m:Curated {key: 's/held'}) SET m.hold_until = $at", {"at": NOON + DAY})
    client.write_context(file, "s", now=NOON)
    client.database.run(
        "MATCH (m:Curated {key: 's/tower'}) SET m.content = 'The tower has two lifts.', m.content_hash = 'v2:other'"
    )
    text = file.read_text().replace("no lift", "a lift now").replace("in Bonn", "in Kiel")
    gone = ("Never strike", "Keep this", "Struck under")
    file.write_text("\n".join(line for line in text.splitlines() if not any(said in line for said in gone)) + "\n")
    done = client.write_context(file, "s", now=NOON)
    text = file.read_text()
    for said in ("two lifts", "a lift now", "in Bonn", "in Kiel", "Never strike this.", "Keep this for ever."):
        assert said in text, (said, done)
    assert "Struck under a hold." not in text  # a hold keeps it from being pruned, and a struck line isn't
    assert (content(client, "s/held")[1], content(client, "s/ever")[1]) == (NOON, None)
    assert content(client, "s/home")[0] == "Ann lives in Bonn."
    assert {edit.outcome for edit in done.taken_in if edit.edit == "struck"} == {
        "is pinned",
        "is to be kept for ever",
        "done",
    }
    assert "s/ever is to be kept for ever, so it stands in the file again." in done.notes

    # What comes between the choice and the edit, and what can't be edited at all.
    options: Any = {"include_sensitive": False, "max_tokens": None, "now": NOON}
    graph = ScopeGraph.of(client.engine, client.policy.policy, "s", **options)
    client.database.run(
        "MATCH (m:Curated {key: 's/likes'}) SET m.locked_by = 'agent', m.locked_at = $now", {"now": NOON}
    )
    assert [
        graph.change("s/tower", "Another", "v2:before"),
        graph.strike("s/tower", "v2:before"),
        graph.change("s/likes", "Another", None),
        graph.strike("s/likes", None),
        graph.change("s/none", "Another", None),
        graph.strike("s/none", "v2:before"),
        graph.strike("s/tower", "v2:other"),
    ] == [*["says something else by now"] * 2, *["is locked by an agent"] * 2, "is gone", "done", "done"]


def test_a_line_may_not_say_again_what_was_forgotten(
    client: Jochi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither one that was changed, nor a new one, nor one of an old file; and what wasn't compared, a worker compares."""
    code = "The code of the safe is 4711."
    put(client, code, "code")
    file, old = tmp_path / "MEMORY.md", tmp_path / "OLD.md"
    client.write_context(file, "s", now=NOON)
    client.forget(Request(keys=("s/code",)), now=NOON)
    client.write_context(file, "s", now=NOON)
    sent: list[str] = []
    call = client.engine.call

    def noting(name: str, *args: Any, **more: Any) -> Any:
        sent.append(name)
        return call(name, *args, **more)

    monkeypatch.setattr(client.engine, "call", noting)
    for text in (file.read_text().replace(TOWER, code), file.read_text() + f"- {code}\n"):
        file.write_text(text)
        with pytest.raises(Refused, match=r"'The code of the safe is 4711.' can't be taken in: .*forgotten on request"):
            client.write_context(file, "s", now=NOON)
        assert file.read_text() == text
        assert not {"memory/remember", "context/edit"} & set(sent)
        file.write_text(text.replace(f"- {code}\n", "").replace(code, TOWER))
    old.write_text(f"- Fog comes from the east.\n\n- {code}\n")
    with pytest.raises(Refused, match=r"OLD.md, line 3: 'The code of the safe"):
        client.migrate_context(old, "s", another_file=True, now=NOON)

    # What the server refuses is sent once.
    sent.clear()
    file.write_text(file.read_text() + f"- {'long ' * (client.policy.policy.content.longest // 4)}\n")
    with pytest.raises(Refused, match="content_too_long"):
        client.write_context(file, "s", now=NOON)
    assert sent.count("memory/remember") == 1

    version = client.database.run("MATCH (g:JochiForgetting {id: 'gate'}) RETURN g.version AS n")[0]["n"]
    edit = {
        "key": "s/tower",
        "way": "change",
        "text": "The tower is high.",
        "content_hash": "v2:" + "0" * 64,
        "was": None,
    }
    for stamp, outcome in ((version - 1, "forgetting_changed"), (version, "done"), (None, "done")):
        parameters = {"now": NOON, "run": "edit/x", "edits": [edit | {"forgotten_as_of": stamp}]}
        assert client.engine.call("context/edit", parameters)["results"][0]["outcome"] == outcome
    assert content(client, "s/tower")[0] == "The tower is high."


def test_an_edit_of_what_was_made_of_memories_can_be_undone(client: Jochi, tmp_path: Path) -> None:
    client.database.run(
        "MATCH (m:Curated {key: 's/tower'}), (i:Curated {key: 's/likes'}) "
        "SET m += {derived_by: 'levels', derived_for: 's/likes', derived_at: $now, derived_model: 'offline', "
        "derived_version: 'v1', derived_hash: 'h'} "
        "CREATE (m)-[:DERIVED_FROM {content_hash: 'v2:was', at: $now}]->(i)",
        {"now": NOON - DAY},
    )
    provenance = (
        "MATCH (m:Curated {key: 's/tower'}) RETURN m {.derived_by, .derived_for, .derived_model, .derived_version, .derived_hash, "
        ".derived_at} AS said, COLLECT { MATCH (m)-[d:DERIVED_FROM]->(i) RETURN [i.key, d.content_hash, toString(d.at)] } AS inputs"
    )
    before = client.database.run(provenance)
    file = tmp_path / "MEMORY.md"
    client.write_context(file, "s", now=NOON)
    file.write_text(file.read_text().replace("no lift", "a lift now"))
    client.write_context(file, "s", now=NOON)
    assert client.database.run(provenance) == before
    runs = [run.id for run in client.runs() if run.job == "edit"]
    undone = client.undo(runs[0], now=NOON + MINUTE)
    assert content(client, "s/tower")[0] == TOWER
    assert client.database.run(provenance) == before
    client.undo(undone.run, now=NOON + 2 * MINUTE)
    assert content(client, "s/tower")[0] == "The tower has a lift now."
    assert client.database.run(provenance) == before


def test_a_call_that_fails_keeps_no_manifest_and_no_limit(client: Jochi, tmp_path: Path) -> None:
    file = tmp_path / "MEMORY.md"
    file.write_text("# Mine\n")
    for limit in (500, 1):
        with pytest.raises(JochiError):
            client.write_context(file, "s", max_tokens=limit, now=NOON)
        assert client.contexts() == []
        file.unlink(missing_ok=True)
    client.write_context(file, "s", max_tokens=500, now=NOON)
    file.write_text(file.read_text().replace("<!-- /personal -->", "word " * 300 + "\n<!-- /personal -->"))
    with pytest.raises(UsageError, match="300 are allowed"):
        client.write_context(file, "s", max_tokens=300, now=NOON)
    assert [each.max_tokens for each in client.contexts()] == [500]


def test_a_manifest_that_is_dropped_while_it_is_made_is_told(client: Jochi, tmp_path: Path) -> None:
    file = tmp_path / "MEMORY.md"
    client.write_context(file, "s", now=NOON)
    before = file.read_text()
    database = client.database
    blocked = "SHOW TRANSACTIONS YIELD status WHERE status STARTS WITH 'Blocked' RETURN count(*) AS n"
    with database.driver.session(database=database.name) as session, ThreadPoolExecutor(1) as pool:
        dropping = session.begin_transaction()
        dropping.run(statement("context/drop"), {"id": "s/context", "scope": "s"}).consume()
        writing = pool.submit(client.write_context, file, "s", now=NOON + MINUTE)
        while not writing.done() and not database.run(blocked, write=False)[0]["n"]:
            pass
        dropping.commit()
        with pytest.raises(JochiError, match="the manifest of s was dropped meanwhile"):
            writing.result()
    assert file.read_text() == before
    assert client.contexts() == []
    assert client.write_context(file, "s", now=NOON + 2 * MINUTE).version == 1


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
    Worker(client.engine, [PrepareHandler(Estimate())]).run(once=True)
    # Longer than there is room for.
    client.database.run(
        "MATCH (m:Curated {key: 's/harbour'}) SET m.content = $text, m.prepare_due = $at REMOVE m.content_hash, m.token_count",
        {"text": " ".join(MANY), "at": at},
    )
    Worker(client.engine, [PrepareHandler(Estimate())]).run(once=True)
    assert versions(client, at) == [4]
    left = [[(line.key, line.reason) for line in client.context_diff("s", old, old + 1).left] for old in (1, 2, 3)]
    assert left == [[], [("s/tower", "it is gone")], [("s/harbour", "others are worth more")]]
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
    client.write_context(open_, "s", include_sensitive=True, another_file=True, now=NOON)
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


def test_private_data_is_in_no_file_whoever_wrote_it(client: Jochi, tmp_path: Path) -> None:
    file, open_, wifi = tmp_path / "MEMORY.md", tmp_path / "SECRET.md", "The Wi-Fi password is blue!whale7"
    dump = tmp_path / "rows.jsonl"
    dump.write_text(json.dumps({"kind": "Note", "id": "imported", "scope": "s", "content": "Mum: +49 170 7654321"}))
    import_files(client.database, [dump], now=NOON)
    put(client, wifi, "wifi")
    put(client, "Anyone may write to office@moon-harbour.org", "said", access_tier="PUBLIC")
    for key, text in (
        ("s/tower", "IBAN DE89 3704 0044 0532 0130 00"),
        ("s/stairs", "PIN: 4711"),
    ):  # as any driver writes
        client.database.run("MATCH (m:Curated {key: $key}) SET m.content = $text", {"key": key, "text": text})
    private = ("7654321", "blue!whale7", "0532", "4711")

    def shown() -> list[str]:
        client.write_context(file, "s", now=NOON)
        assert "office@moon-harbour.org" in file.read_text()
        assert LIKES in file.read_text()
        return [each for each in private if each in file.read_text()]

    def kinds() -> dict[str, Any]:
        rows = client.database.run("MATCH (m:Curated {scope: 's'}) RETURN m.id AS id, m.private_kinds AS kinds")
        return {row["id"]: row["kinds"] for row in rows if row["kinds"]}

    assert shown() == []  # two of them nobody has read yet
    read = {"imported": ["phone number"], "wifi": ["password"], "said": ["e-mail address"]}
    assert kinds() == read
    client.database.run(
        "MATCH (m:Curated {scope: 's'}) WHERE m.id IN ['tower', 'stairs'] SET m.prepare_due = $now", {"now": NOON}
    )
    Worker(client.engine, [PrepareHandler(Estimate())]).run(once=True)
    assert kinds() == {**read, "tower": ["IBAN"], "stairs": ["password"]}
    assert shown() == []
    client.write_context(open_, "s", include_sensitive=True, another_file=True, now=NOON)
    assert all(each in open_.read_text() for each in private)
    # What says it no more is for everybody again.
    client.database.run(
        "MATCH (m:Curated {key: 's/tower'}) SET m.content = $text, m.prepare_due = $now", {"text": TOWER, "now": NOON}
    )
    Worker(client.engine, [PrepareHandler(Estimate())]).run(once=True)
    assert "tower" not in kinds()
    assert shown() == []
    assert TOWER in file.read_text()


def test_a_line_in_a_file_with_what_is_sensitive_is_sensitive(client: Jochi, tmp_path: Path) -> None:
    file, plain = tmp_path / "SECRET.md", tmp_path / "MEMORY.md"
    client.write_context(file, "s", include_sensitive=True, now=NOON)
    file.write_text(file.read_text() + "\n## Key insights\n\n- Ann earns more now.\n")
    client.write_context(file, "s", include_sensitive=True, now=NOON)
    client.write_context(plain, "s", another_file=True, now=NOON)
    assert ["Ann earns more now." in each.read_text() for each in (file, plain)] == [True, False]


def test_one_odd_memory_and_paused_scopes_stop_no_other(client: Jochi) -> None:
    client.database.run("MATCH (m:Curated {key: 's/tower'}) SET m.content_hash = 12345")
    assert TOWER in [entry.text for entry in client.context("s", at=NOON).entries]
    for scope in ("p1", "p2", "s"):
        client.engine.call("context/make", {"now": NOON, "scope": scope, "open": False, "max_tokens": None})
    for scope in ("p1", "p2"):
        client.pause(Switch("scope", scope))
    put(client, "The harbour is closed on Mondays.", "harbour")
    client.database.run("MATCH (j:JochiJob {name: 'make_manifests'}) SET j.batch_size = 1, j.max_batches = 1")
    client.run("make_manifests", now=NOON + 2 * DAY)
    assert {each.scope: each.version for each in client.contexts()} == {"p1": 1, "p2": 1, "s": 2}


def test_what_ended_takes_no_place_and_no_text_is_too_long(client: Jochi) -> None:
    """Of the archive, in which no tier is looked at; and an app's writes don't fail because Jochi has an index."""
    long = "x" * 40_000 + " y" * 40_000
    ended = (
        "UNWIND range($from, $from + 449) AS n "
        "CREATE (:Curated:Fact {key: 's/old' + n, id: 'old' + n, scope: 's', content: 'Old ' + n, tier: 'ARCHIVE', "
        "category: 'preference', status: CASE WHEN n % 2 = 0 THEN 'superseded' END, "
        "expires_at: CASE WHEN n % 2 = 1 THEN $now END})"
    )
    # Before and behind one that counts, in whatever order the index has them.
    client.database.run(ended, {"from": 1000, "now": NOON - DAY})
    put(client, "Ann dislikes coffee.", "dislikes", "Fact", category="preference")
    client.database.run(ended, {"from": 2000, "now": NOON - DAY})
    client.database.run(
        "MATCH (m:Curated) WHERE m.key IN ['s/likes', 's/dislikes'] SET m.tier = 'ARCHIVE', m.last_accessed_at = null"
    )
    client.database.run(
        "MATCH (m:Curated {key: 's/stairs'}) SET m.category = $long "
        "CREATE (:Task {scope: $long, status: $long}), (:Fact {scope: $long, category: $long}), "
        "(:Curated:Task {key: 's/long', scope: 's', id: 'long', content: 'Long', status: $long, tier: 'ARCHIVE'})",
        {"long": long},
    )
    # Nor has what is superseded by state; what a later statement that holds may replace stands behind that.
    later = [("may", "by"), ("held", "past")]
    for n, (id, state) in enumerate([("may", None), ("by", None), ("held", None), ("past", "superseded")]):
        put(client, f"Budget {id}.", id, "Fact", state=state, confidence=0.9 + n / 100)
    client.database.run(
        "UNWIND $links AS link MATCH (a:Curated {id: link[1]}), (b:Curated {id: link[0]}) CREATE (a)-[:MAY_REPLACE]->(b)",
        {"links": [list(link) for link in later]},
    )
    # What was said word for word has no place either: its statements have.
    client.database.run(
        "UNWIND ['TurnBatch', 'MemoryBox', 'Trace', 'Source', 'Artifact'] AS kind "
        "CREATE (m:Curated {key: 's/' + kind, id: kind, scope: 's', content: 'Ann: ' + kind, tier: 'HOT', access_count: 50}) "
        "SET m:$(kind)"
    )
    manifest = client.context("s", at=NOON)
    assert [[each.key for each in thread] for thread in manifest.threads] == [["s/by", "s/may"]]
    assert {entry.text for entry in manifest.entries} == {
        LIKES,
        "Ann dislikes coffee.",
        STAIRS,
        TOWER,
        "Budget by.",
        "Budget may.",
        "Budget held.",
    }
    # Where there is no room for the newer one, there is none for it.
    client.database.run("MATCH (m:Curated {key: 's/by'}) SET m.content = 'Budget by.', m.token_count = 5000")
    assert not {"s/by", "s/may"} & {entry.key for entry in client.context("s", at=NOON).entries}


STATUSES = {
    "active": [
        "todo",
        "To Do",
        "IN_PROGRESS",
        "in-progress",
        "inProgress",
        "needsAction",
        "Selected for Development",
        "Offen",
        "in Arbeit",
        "BLOCKED",
    ],
    "unknown": ["when the moon is full", 7, True],
    "ended": ["completed", "Done", "CLOSED", "won't do", "canceled", "Erledigt", "storniert", "✅", "superseded"],
}


@pytest.mark.parametrize("tier", ["COLD", "ARCHIVE"])
def test_a_task_is_active_by_what_its_status_means(client: Jochi, server: Any, tier: str) -> None:
    """Without a status it is, and of a word that nobody knows that is told. In the archive tasks are found by known words."""
    tasks = [(means, status) for means, every in STATUSES.items() for status in every] + [("none", None)]
    client.database.run(
        "UNWIND range(0, size($statuses) - 1) AS n CREATE (:Curated:Task {key: 't/' + n, id: '' + n, scope: 't', tier: $tier, "
        "content: 'Task ' + n, status: $statuses[n], created_at: $at})",
        {"statuses": [status for _, status in tasks], "tier": tier, "at": NOON - DAY},
    )
    manifest = client.context("t", at=NOON)
    shown = ("active", "unknown", "none") if tier == "COLD" else ("active",)
    keys = {f"t/{n}" for n, (means, _) in enumerate(tasks) if means in shown}
    assert {entry.key for entry in manifest.entries} == keys
    assert {entry.section for entry in manifest.entries} == {"tasks"}
    unknown = {"when the moon is full", "7", "true"} if "unknown" in shown else set()
    assert set(manifest.unknown_statuses.values()) == unknown
    connection = {"JOCHI_URI": server.uri, "JOCHI_USER": server.user, "JOCHI_PASSWORD": server.password}
    said = CliRunner().invoke(app, ["context", "show", "--scope", "t"], env=connection).output
    assert said.count("so it counts as active") == len(unknown)


def test_what_speaks_of_one_matter_stands_together_the_newest_first(client: Jochi, tmp_path: Path) -> None:
    """Two are near by vector, and two are linked; the others are as far from each other as most are. The lines of what was said
    earlier are edited as all others."""
    said = {"may": "Rent is 900.", "by": "Rent is 950.", "old": "She lives in Bergen.", "new": "Home is in Oslo now."}
    said |= {f"other-{n}": f"Remark {n}." for n in range(8)}
    for n, (id, text) in enumerate(said.items()):
        put(client, text, id, "Fact", valid_from=NOON - timedelta(days=20 - n))
    axes = {id: n for n, id in enumerate(said)} | {"new": list(said).index("old")}
    rows = [
        {"id": id, "vector": [1.0 if at == axis else 0.001 * len(id) for at in range(384)]} for id, axis in axes.items()
    ]
    client.database.run(
        "UNWIND $rows AS row MATCH (m:Curated {key: 's/' + row.id}) SET m.embedding = row.vector, m.embedding_model = $model",
        {"rows": rows, "model": client.policy.policy.embedding.model},
    )
    client.database.run("MATCH (a {key: 's/by'}), (b {key: 's/may'}) CREATE (a)-[:MAY_REPLACE]->(b)")
    client.database.run("MATCH (a {key: 's/new'}), (b {key: 's/old'}) CREATE (a)-[:MAY_REPLACE]->(b)")
    threads = client.context("s", at=NOON).threads
    assert {tuple(each.key for each in thread if each.outdated) for thread in threads} == {(), ("s/old",)}
    client.database.run("MATCH (:Curated {key: 's/new'})-[link:MAY_REPLACE]->() DELETE link")
    threads = client.context("s", at=NOON).threads
    assert {tuple(each.key for each in thread if not each.outdated) for thread in threads} == {
        ("s/by", "s/may"),
        ("s/new", "s/old"),
    }
    file = tmp_path / "MEMORY.md"
    client.write_context(file, "s", now=NOON)
    day = f"{NOON - timedelta(days=20):%Y-%m-%d}"
    text = file.read_text()
    newer, older = (next(line for line in text.splitlines() if said[id] in line) for id in ("by", "may"))
    assert f"{newer}\n{older}\n" in text
    assert older.startswith(f"  - Earlier ({day}): Rent is 900.")
    file.write_text(text.replace("is 900.", "was 900.").replace(newer + "\n", ""))
    done = client.write_context(file, "s", now=NOON)
    assert [(edit.edit, edit.key, edit.text) for edit in done.taken_in] == [
        ("struck", "s/by", "Rent is 950."),
        ("changed", "s/may", "Rent was 900."),
    ]
    # Its newer one is gone, so it is earlier than nothing.
    assert "\n- Rent was 900." in file.read_text()


def test_a_file_of_hostile_texts_is_full_and_never_over_its_limit(client: Jochi, tmp_path: Path) -> None:
    """220 texts in some 65 scripts, counted, and as the database estimates them: too few tokens by half, in some a fifteenth."""
    said = json.loads((Path(__file__).parents[1] / "memory_files" / "hostile_texts.json").read_text(encoding="utf-8"))
    for scope, counter in (("counted", best_counter()), ("estimated", Estimate())):
        memories = [
            {"kind": "Note", "scope": scope, "id": f"h{n}", "content": text}
            | {"token_count": counter.count(text), "token_counter": counter.name}
            for n, text in enumerate(said)
        ]
        assert client.remember(memories, now=NOON).written >= 200, "all but those in which nothing can be seen"
        # The choice goes by the tokens of the content, and some of these texts are shorter once what nobody sees is left out.
        for limit, least in ((500, 0.8), (2000, 0.9), (6000, 0.9)):
            file = tmp_path / f"{scope}-{limit}.md"
            done = client.write_context(file, scope, max_tokens=limit, another_file=True, now=NOON)
            assert least * limit <= best_counter().count(file.read_text(encoding="utf-8")) == done.tokens <= limit


def test_an_instruction_file_keeps_its_order_and_what_must_be_done_comes_first(client: Jochi, tmp_path: Path) -> None:
    """A real one of 42 memories, with room for all of them and for half."""
    text = (Path(__file__).parents[1] / "memory_files" / "seen" / "04-agents-md.md").read_text(encoding="utf-8")
    file = tmp_path / "AGENTS.md"
    file.write_text(text, encoding="utf-8")
    dry = client.migrate_context(file, "small", max_tokens=800, dry_run=True, now=NOON)
    assert dry.left_out, "it is foreseen"
    with pytest.raises(Refused, match=r"\d+ of 42 memories of this file would not be in the new one"):
        client.migrate_context(file, "small", max_tokens=800, now=NOON)
    assert file.read_text(encoding="utf-8") == text
    small = client.migrate_context(file, "small", max_tokens=800, shrink=True, now=NOON)
    file.write_text(text, encoding="utf-8")
    whole = client.migrate_context(file, "large", max_tokens=4000, now=NOON)
    assert not whole.left_out
    assert not client.migrate_context(tmp_path / "AGENTS.md", "large", dry_run=True, now=NOON).left_out
    obliged = [segment.text for segment, _ in whole.memories if re.search("(?i)never|must", segment.text)]
    assert len(obliged) >= 5
    assert not {segment.text for segment in small.left_out} & set(obliged)
    written = file.read_text(encoding="utf-8")
    for section in {segment.section for segment, _ in whole.memories}:
        told = [segment.text for segment, _ in whole.memories if segment.section == section]
        plain = [text for text in told if not re.search("(?i)never|must|do not|n't", text)]
        order = [*(text for text in told if text in obliged), *plain]
        places = [written.index(text.splitlines()[0][:40]) for text in order]
        assert places == sorted(places), section


def test_what_was_never_used_of_the_archive_is_looked_for_where_room_is(client: Jochi) -> None:
    """Of 1,000 tokens 55 are the frame's; preferences have 500 of 2,000, so 236. A line costs 5 tokens more."""
    # Near ones fill share and whole; not the share of the section; not the whole.
    for scope, insights, of_each, looked_for in (("n1", 9, 74, False), ("n2", 9, 71, True), ("n3", 6, 74, True)):
        near = {f"insight {n}": {"token_count": 75} for n in range(insights)}
        near |= {f"wish {n}": {"token_count": of_each, "category": "preference"} for n in range(3)}
        client.database.run(
            "UNWIND keys($near) AS said "
            "CREATE (m:Curated:Fact {key: $scope + '/' + said, id: said, scope: $scope, content: said, tier: 'WARM'}) "
            "SET m += $near[said] RETURN count(*)",
            {
                "scope": scope,
                "near": near | {"archived": {"token_count": 1, "category": "identity", "tier": "ARCHIVE"}},
            },
        )
        asked = {"now": NOON, "scope": scope, "open": False, "max_tokens": 1000}
        made = client.engine.call("context/look", asked, write=False)
        assert ("archived" in {entry["text"] for entry in made["entries"]}) is looked_for, scope


def test_personal_data_and_secrets_stay_in_the_file_that_has_them(client: Jochi, tmp_path: Path) -> None:
    home, repository = tmp_path / "MEMORY.md", tmp_path / "AGENTS.md"
    planted = ("DE89 3704 0044 0532 0130 00", "+49 170 1234567", "Sonnenblume77", "hunter2!x")
    parts = ("## About Alex", "- Bank: {}", "## Familie", "- Mama {}", "## Accounts", "- WLAN-Passwort: {}")
    text = "\n".join((*parts, "- Likes the sea", "## Zugangsdaten", "- NAS password: {}\n")).format(*planted)
    home.write_text(text)
    repository.write_text("# Rules\n\n- Run the tests before each commit.\n")
    dry = client.migrate_context(home, "private", dry_run=True, now=NOON)
    kinds = [(each.lines[0], each.private) for each in dry.personal]
    assert kinds == [(2, ("IBAN",)), (4, ("phone number",)), (6, ("password",)), (9, ("password",))]
    client.migrate_context(home, "private", now=NOON)
    with pytest.raises(Refused, match=f"stand in {re.escape(str(home))} already") as caught:
        client.migrate_context(repository, "private", now=NOON)
    assert "--another-file" in str(caught.value)
    assert "Run the tests" not in home.read_text(encoding="utf-8")
    client.migrate_context(repository, "private", another_file=True, now=NOON)
    assert all(said in home.read_text() for said in (*planted, "## About Alex", "Likes the sea"))
    assert not any(said in repository.read_text() for said in planted)

    # A line that comes in by an edit, and a line of Jochi's whose words become private.
    added = repository.read_text().replace("Likes the sea", "Likes the sea, phone +49 170 7654321")
    repository.write_text(added + "- The token is kept; mail me at alex@posteo.net\n")
    client.write_context(repository, "private", now=NOON)
    client.write_context(home, "private", now=NOON)
    assert all(said in repository.read_text() for said in ("7654321", "alex@posteo.net"))
    assert not any(said in home.read_text() for said in ("7654321", "alex@posteo.net"))
    asked = {"said": [*planted, "7654321", "alex@posteo.net"]}
    rows = client.database.run(
        "MATCH (n) WHERE any(p IN keys(n) WHERE any(s IN $said WHERE toStringOrNull(n[p]) CONTAINS s)) RETURN count(n) AS n",
        asked,
    )
    assert rows[0]["n"] == 0


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
    told: list[str] = []
    files = ContextFiles(
        read_table(table),
        client.write_context,
        taken_in=lambda file, edit: told.append(f"{file.name}: {taken_in(edit)}"),
    )
    worker = Worker(client.engine, [], files=[files])
    worker.run(once=True)
    assert TOWER in (tmp_path / "S.md").read_text()
    assert (worker.progress["context"].done, worker.progress["context"].failed) == (1, 1)
    assert "none/T.md" in str(worker.progress["context"].note)

    text = (tmp_path / "S.md").read_text()
    (tmp_path / "S.md").write_text(text.replace("no lift", "a lift now") + "- Ann [Bo] sings.\n")
    worker.run(once=True)
    (key,) = {entry.key for entry in client.context("s").entries} - {"s/likes", "s/stairs", "s/tower"}
    assert told == ["S.md: changed: s/tower The tower has a lift now.", f"S.md: added: {key} Ann [Bo] sings."]
    # What only adds is a run as well, and there is nothing to undo in it.
    (tmp_path / "S.md").write_text((tmp_path / "S.md").read_text() + "- Bo dances.\n")
    worker.run(once=True)
    run = client.runs(limit=1)[0]
    assert (run.job, run.changed, run.counts) == ("edit", 0, {"added": 1})
    assert client.undo(run.id, now=NOON).rows == []


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
    # Of two manifests each memory counts once, and what was said, word for word, not at all; tokens are those of the files.
    put(client, "The whole log of the tower.", "log", "Artifact")
    put(client, "Stairs and lifts.", "box", "MemoryBox")
    run("write", "--scope", "s", "--out", "OPEN.md", "--include-sensitive", "--another-file")
    told = json.loads(run("metrics", "--json"))
    assert (told["manifests"], told["in_files"], told["memories"], told["max_tokens"]) == (2, 3, 3, 4000)
    assert told["tokens"] == sum(
        best_counter().count((tmp_path / name).read_text()) for name in ("MEMORY.md", "OPEN.md")
    )
    assert "3 memories are in files; the graph has 3, 1 for each" in run("metrics")
    assert "s has no manifest" in run("drop", "--scope", "s") + run("drop", "--scope", "s")
    (tmp_path / "OLD.md").write_text("- Fog comes from the east.\n- PIN: 4711\n## About me\n\nMy salary is 5.\n")
    dry = run("migrate", "OLD.md", "--scope", "s", "--another-file", "--dry-run")
    as_json = run("migrate", "OLD.md", "--scope", "s", "--another-file", "--dry-run", "--json")
    assert [("Fog" in each, "password" in each) for each in (dry, as_json)] == [(True, True)] * 2
    assert not any(each in dry + as_json for each in ("4711", "salary"))
    assert "Private by their form: IBAN" in " ".join(dry.split())
    assert "Jochi's already, of scope s" in run("migrate", "MEMORY.md", "--scope", "s")
    for words, kind, said in (
        (("show", "--scope", "nosuch"), UsageError, "the scope nosuch has no memory"),
        (("migrate", "MEMORY.md", "--scope", "nosuch"), Refused, "of scope s, not of nosuch"),
        (("migrate", "MEMORY.md", "--scope", "nosuch", "--dry-run"), Refused, "of scope s, not of nosuch"),
    ):
        error = CliRunner().invoke(app, ["context", *words]).exception
        assert isinstance(error, kind), (words, error)
        assert said in str(error)
    run("write", "--scope", "nosuch", "--out", "NEW.md")
    assert "0 memories" in run("show", "--scope", "nosuch"), "it has a manifest"
    run("write", "--scope", "a/b", code=1)  # as an exception, which `jochi` tells with its code


def test_a_ticked_box_completes_the_task_and_an_undo_takes_that_back(client: Jochi, tmp_path: Path) -> None:
    file = tmp_path / "MEMORY.md"
    client.write_context(file, "s", now=NOON)
    file.write_text("\n".join(re.sub("^- ", "- [x] ", line) for line in file.read_text().splitlines()) + "\n")
    done = client.write_context(file, "s", now=NOON)
    assert sorted((edit.edit, edit.key, edit.outcome) for edit in done.taken_in) == [
        ("completed", "s/likes", "is no task"),
        ("completed", "s/stairs", "done"),
        ("completed", "s/tower", "is no task"),
    ]
    asked = "MATCH (m:Curated {key: 's/stairs'}) RETURN m.status AS status, m.completed_at AS at, m.embedding_model AS model"
    assert client.database.run(asked)[0] == {"status": "completed", "at": NOON, "model": None}
    text = file.read_text()
    assert (STAIRS in text, TOWER in text, "[x]" in text) == (False, True, False)
    run = client.runs(limit=1)[0]
    assert (run.changed, run.counts) == (1, {"completed": 1})
    graph = ScopeGraph.of(client.engine, client.policy.policy, "s", include_sensitive=False, max_tokens=None, now=NOON)
    assert graph.complete("s/stairs", None) == "done"
    assert client.runs(limit=1)[0].id == run.id, "it was completed already"
    client.undo(run.id, now=NOON + MINUTE)
    assert client.database.run(asked)[0] == {"status": "in_progress", "at": None, "model": None}
    client.write_context(file, "s", now=NOON + 2 * MINUTE)
    assert STAIRS in file.read_text()


def test_a_file_that_stands_still_is_seen_from_elsewhere(
    client: Jochi, server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the inbox, in status, by the doctor and in the worker's exit code; by its place and why, and without a word of it."""
    for name, value in (("URI", server.uri), ("USER", server.user), ("PASSWORD", server.password)):
        monkeypatch.setenv(f"JOCHI_{name}", value)
    cut, bytes_, beat, fine = (tmp_path / name for name in ("CUT.md", "BYTES.md", "HEARTBEAT.md", "FINE.md"))
    (tmp_path / "contexts.toml").write_text(
        "".join(f'[[files]]\nscope = "s"\nfile = "{file.name}"\n' for file in (cut, bytes_, fine))
    )
    (tmp_path / "heartbeats.toml").write_text('[[files]]\nscope = "s"\nfile = "HEARTBEAT.md"\n')

    def worker() -> Any:
        tables = (f"--{table}={tmp_path}/{table}.toml" for table in ("contexts", "heartbeats"))
        return CliRunner().invoke(app, ["worker", "--once", "--compress=none", *tables])

    assert worker().exit_code == 0
    assert examine(client, probe=False)["files"].level is Level.OK
    whole = {file: file.read_bytes() for file in (cut, bytes_, beat)}
    cut.write_bytes(whole[cut][:-80])
    bytes_.write_bytes(whole[bytes_] + b"- na\xefve\n")
    beat.write_bytes(whole[beat] + b"- Call Rosa Baker\n")
    done = worker()
    assert (type(done.exception), str(done.exception).partition("\n")[0]) == (PartlyDone, "3 files stand still")
    found = overview(client, tiers=False).files
    at = whole[bytes_].count(b"\n") + 1
    assert sorted(item.what for item in found) == [
        f"{bytes_} stands still: line {at}: the file isn't UTF-8; the next try says what to do",
        f"{cut} stands still: the file was cut off: its last line, <!-- /jochi -->, is gone, and what stood before it; "
        "nothing was taken in; the next try says what to do",
        f"{beat} stands still: somebody has edited this file; the next try says what to do",
    ]
    check = examine(client, probe=False)["files"]
    assert (check.level, check.found.count("stands still")) == (Level.WARN, 3)
    assert f"{cut} stands still" in CliRunner().invoke(app, ["status"]).output.replace("\n", " ")
    for item in found:
        look, again, _ = (shlex.split(command.line)[1:] for command in item.commands)
        assert CliRunner().invoke(app, look).exit_code == 0
        assert isinstance(CliRunner().invoke(app, again).exception, JochiError)

    # What the graph refuses is quoted to who asks, and nowhere kept.
    code = "The code of the safe is 4711."
    put(client, code, "code")
    client.forget(Request(keys=("s/code",)), now=NOON)
    for file, text in whole.items():
        file.write_bytes(text)
    fine.write_text(fine.read_text() + f"- {code}\n")
    assert "4711" in worker().output
    (item,) = overview(client, tiers=False).files
    assert item.what.startswith(f"{fine} stands still: the graph refuses what is in it")
    rows = client.database.run("MATCH (q:JochiQuestion) RETURN collect(properties(q)) AS all")
    assert "4711" not in str(rows)
    fine.unlink()
    assert worker().exit_code == 0
    assert overview(client, tiers=False).files == []
