"""Seals and receipts outlive a restored backup: exported, brought back, and what they speak of is forgotten again."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest
from tests.integration.test_forget import DAY, MAIL, NOW, content, engine, keys, memories, said_anywhere
from tests.integration.test_forget_cli import Run, run

from jochi import Jochi
from jochi.errors import Refused, UsageError
from jochi.forgetting import VARIABLE, Request, read_export, write_export

__all__ = ["engine", "run"]

pytestmark = pytest.mark.server

BOOKS = "MATCH (n:JochiForgotten|JochiForgetting|JochiReceipt) DETACH DELETE n"


def write_memories(client: Jochi) -> None:
    memories(
        client,
        {"id": "mail", "content": f"Write to {MAIL}."},
        {"id": "both", "content": "Mallory likes tea and lives at 5 Elm St"},
        {"id": "call", "content": "Call 0049-170-555 01 99 tonight"},
        {"id": "bike", "content": "Sold the bike in May"},
        {"id": "car", "content": "Ann works at Acme and drives a Fiat"},
        {"id": "stays", "content": "Bob likes chess", "properties": {"note": "to alice.smith@acme.io"}},
        {"id": "x", "scope": "carol", "content": "Carol says anything"},
        {"id": "mail", "scope": "dora", "content": f"Dora, too, writes to {MAIL}"},
    )


def test_what_was_forgotten_since_a_backup_is_forgotten_again(engine: Jochi, tmp_path: Path) -> None:
    write_memories(engine)
    engine.database.run("MATCH (m:Curated {key: 'default/bike'}) SET m.content = 'Sold the old bike in May to Kim'")
    for request in (
        Request(phrase=MAIL, scope="default"),
        Request(phrase="5 Elm St"),
        Request(phrase="+49 170 5550199"),
        Request(scope="carol"),
        Request(keys=("default/bike",)),
        Request(keys=("default/car",), statements=(("default/car", "drives a Fiat"),)),
    ):
        engine.forget(request, now=NOW)
    left = {"default/both", "default/car", "default/stays", "dora/mail"}
    assert keys(engine) == left
    file = tmp_path / "receipts.json"
    write_export(file, engine.export_receipts())
    for word in ("alice", "acme", "elm", "bike", "carol", "fiat"):
        assert word not in file.read_text(encoding="utf-8").lower()

    # As a backup has it that was made before: the first text of the bike, and nothing of what was forgotten.
    engine.database.run(BOOKS)
    engine.database.run("MATCH (m:Curated) DETACH DELETE m")
    write_memories(engine)
    export = read_export(file)
    requests = engine.requests_of_export(export)
    assert {target.key for each in requests for target in engine.plan_forgetting(each).targets} == {
        *("default/mail", "default/both", "default/call", "default/bike", "default/car", "carol/x")
    }
    assert engine.receipts().receipts == ()  # so far nothing was written
    assert engine.import_receipts(export).seals == len(export.seals)
    for request in requests:
        engine.forget(request, now=NOW + DAY)
    assert keys(engine) == left
    assert content(engine, "default/both") == "Mallory likes tea"
    assert content(engine, "default/car") == "Ann works at Acme"
    assert said_anywhere(engine, "bike") == said_anywhere(engine, "elm") == 0
    assert engine.requests_of_export(export) == []
    again = engine.import_receipts(export)
    assert (again.seals, again.receipts, again.apart) == (0, 0, 0)
    chain = engine.receipts()
    assert chain.broken_at is None
    assert [each.hash for each in chain.receipts[:6]] == [each.hash for each in export.receipts]
    # Another memory of that key, made since, is another one.
    memories(engine, {"id": "bike", "content": "Kim has a bike", "properties": {"created_at": NOW + DAY}})
    assert engine.requests_of_export(export) == []


def test_a_file_that_was_changed_or_of_another_key_is_refused(
    engine: Jochi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memories(engine, {"id": "a", "content": f"Write to {MAIL}."})
    engine.forget(Request(phrase=MAIL, scope="default"), now=NOW)
    file = tmp_path / "receipts.json"
    write_export(file, engine.export_receipts())
    text = file.read_text(encoding="utf-8")
    said = json.loads(text)
    changed = said | {"receipts": [said["receipts"][0] | {"body": "{}"}]}
    for wrong, why in (
        (json.dumps(changed), "was changed"),
        ("{", "no file of seals"),
        (text[:-40], "no file of seals"),
    ):
        file.write_text(wrong, encoding="utf-8")
        with pytest.raises(UsageError, match=why):
            read_export(file)
    with pytest.raises(UsageError, match="no such file"):
        read_export(tmp_path / "none.json")
    file.write_text(text, encoding="utf-8")
    export = read_export(file)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "other.key"))
    engine.database.run(BOOKS)
    for act in (engine.requests_of_export, engine.import_receipts):
        with pytest.raises(Refused, match="there is none here"):
            act(export)
    # Receipts that came after the restore, and before the file: its own can't go between.
    monkeypatch.setenv(VARIABLE, str(tmp_path / "keys" / "forget.key"))
    engine.forget(Request(phrase="Zoe Quill", scope="default"), now=NOW + timedelta(days=1))
    done = engine.import_receipts(export)
    assert (done.receipts, done.apart) == (0, 1)
    assert engine.import_receipts(export).apart == 1
    chain = engine.receipts()
    assert (chain.broken_at, [each.body["form"] for each in chain.receipts]) == (None, ["phrase", "imported"])
    assert chain.receipts[1].body["last"] == export.receipts[0].hash


@pytest.mark.slow
def test_uninstall_loses_no_seal_in_silence(run: Run, jochi: Jochi, tmp_path: Path) -> None:
    assert run("forget", "--match", "alice@acme.io", "--everywhere", "--yes").exit_code == 0
    file = tmp_path / "receipts.json"
    told = run("uninstall", "--yes")
    assert (told.exit_code, "--receipts FILE" in told.output) == (5, True), told.output
    told = run("uninstall", input="n\n")
    assert (told.exit_code, "1 receipt of forgetting go, too" in " ".join(told.output.split())) == (5, True), (
        told.output
    )
    assert len(jochi.receipts().receipts) == 1
    told = run("uninstall", "--yes", "--receipts", str(tmp_path / "no" / "folder.json"))
    assert told.exit_code == 1, told.output
    assert len(jochi.receipts().receipts) == 1
    told = run("uninstall", "--yes", "--receipts", str(file))
    assert (told.exit_code, f"jochi receipts import {file}" in told.output.replace("\n", " ")) == (0, True), told.output
    jochi.install(arm=False)
    assert run("receipts", "import", str(file)).exit_code == 0
    assert jochi.remember({"kind": "MemoryEntry", "id": "m", "content": "alice@acme.io"}).refused == 1
    assert run("uninstall", "--yes", "--no-receipts").exit_code == 0
    assert run("uninstall", "--yes").exit_code == 0  # nothing is there
    jochi.install(arm=False)


def test_the_commands(run: Run, jochi: Jochi, tmp_path: Path) -> None:
    file = str(tmp_path / "receipts.json")
    assert run("forget", "--match", "alice@acme.io", "--everywhere", "--yes").exit_code == 0
    told = run("receipts", "export", file)
    assert (told.exit_code, "1 receipt" in told.output) == (0, True), told.output
    assert "1 receipts" in run("receipts").output
    jochi.database.run(BOOKS)
    assert jochi.remember({"kind": "MemoryEntry", "id": "mail", "content": "write to alice@acme.io"}).written == 1
    told = run("forget", "--again", file, "--dry-run")
    assert "would be forgotten again: 1 memory" in told.output, told.output
    assert jochi.receipts().receipts == ()
    assert run("forget", "--again", file, "--id", "default/mail").exit_code == 2
    assert run("forget", "--again", file, input="n\n").exit_code == 5
    told = run("forget", "--again", file, "--yes", "--verify")
    assert told.exit_code == 0, told.output
    assert "brought back:" in told.output
    assert "default/mail" not in keys(jochi)
    told = run("forget", "--again", file, "--yes")
    assert "nothing to do" in told.output, told.output
    told = run("receipts", "import", file)
    assert "brought back: 0 seals, 0 receipts" in told.output
