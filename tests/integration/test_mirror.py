"""The mirror of a real graph: what changed is found without a scan, and makes the same folder (docs/reference/mirror.md)."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from tests.conftest import TestServer, say_go
from tests.duplicate_pairs import NOON
from tests.mirror_memories import tree
from tests.one_memory import remember_one
from typer.testing import CliRunner

from jochi import Jochi
from jochi.cli.app import app
from jochi.errors import PartlyDone, Refused
from jochi.forgetting import VARIABLE, Request
from jochi.jobs.runner import run_job
from jochi.mirror import WriteResult
from jochi_workers.mirrors import Mirrors, read_table
from jochi_workers.worker import Worker

pytestmark = pytest.mark.server

HOUR = timedelta(hours=1)
OF_ANN = {"type": "HAS_NOTE", "to": "ann", "direction": "in"}


class Shelf:
    """A graph, a folder of it that is brought up to date, and the clock."""

    def __init__(self, client: Jochi, place: Path) -> None:
        self.client, self.place, self.folder, self.now = client, place, place / "memory", NOON

    def put(self, id: str, content: str, kind: str = "Fact", scope: str = "s", **row: Any) -> None:
        remember_one(self.client, kind, id, content, scope=scope, at=self.now, **row)

    def write(self, **how: Any) -> WriteResult:
        """An hour later. Each time the folder is what one is that is made at once."""
        self.now += HOUR
        done = self.client.write_mirror(self.folder, "s", now=self.now, **how)
        assert self.client.check_mirror(self.folder, "s", now=self.now, **how).is_none
        return done

    def texts(self) -> str:
        return "\n".join(tree(self.folder).values())

    def path(self, said: str) -> Path:
        (found,) = (path for path, text in tree(self.folder).items() if said in text)
        return self.folder / found

    def change(self, id: str, **properties: Any) -> None:
        """As an app's model does: it is looked at again."""
        self.client.database.run(
            "MATCH (m:Curated {key: 's/' + $id}) SET m += $properties, m.next_due = $now",
            {"id": id, "properties": properties, "now": self.now},
        )


@pytest.fixture
def shelf(jochi: Jochi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "forget.key"))
    say_go(jochi)
    made = Shelf(jochi, tmp_path)
    made.put("tea", "Ann prefers tea with lemon.", category="preference")
    made.put("scan", "The whole text of a letter.", "Artifact", type="letter")
    made.put("ann", "Ann", "Person", name="Ann Brown")
    made.put(
        "chess",
        "Plays chess on Fridays.",
        "Note",
        lifetime="month",
        relationships=[OF_ANN],
    )
    made.put("hidden", "A private fact.", access_tier="PRIVATE")
    made.put("diagnosis", "A sensitive fact.", sensitivity="high")
    made.put("other", "A fact of another scope.", scope="t")
    return made


def test_a_folder_says_what_the_graph_says(shelf: Shelf) -> None:
    client, folder = shelf.client, shelf.folder
    assert shelf.write().whole
    day = f"{NOON:%Y-%m-%d}"
    assert [path.partition(f"-{NOON:%Y%m%d}T")[0] for path in sorted(tree(folder))] == [
        f"artifacts/{day}/letter",
        "entities/ann-brown.md",
        f"facts/{day}/preference",
    ]
    assert "private" not in shelf.texts()
    assert "sensitive" not in shelf.texts()

    # Everything is looked at once by the job, so it isn't due any more: from here on what changed is found by its moment.
    assert [run.error for run in run_job(client.engine, "curate_due", now=shelf.now, drain=True) if run.error] == []
    shelf.write()
    shelf.write()
    looked: list[int] = []
    files = client.engine.call
    client.engine.call = lambda name, given, **how: (  # type: ignore[method-assign]
        looked.append(len(given["keys"])) if name == "mirror/files" else None,
        files(name, given, **how),
    )[1]
    shelf.now += HOUR
    client.write_mirror(folder, "s", now=shelf.now)
    assert looked == []
    shelf.put("rome", "Ann lives in Rome.", subject="Ann", attribute="city", value="Rome")
    shelf.put("swims", "Swims on Mondays.", "Note", relationships=[OF_ANN])
    done = client.write_mirror(folder, "s", now=shelf.now + HOUR)
    assert (len(done.written), done.whole, looked) == (2, False, [3])  # two, and the note itself
    client.engine.call = files  # type: ignore[method-assign]

    # Superseded, it stays; expired, it goes.
    shelf.now += HOUR
    moment = shelf.now
    shelf.put("oslo", "Ann lives in Oslo.", subject="Ann", attribute="city", value="Oslo", valid_from=moment)
    shelf.change("scan", expires_at=moment)
    assert len(shelf.write().written) == 2
    assert 'status: "superseded"' in shelf.path("Rome").read_text()
    assert "letter" not in shelf.texts()

    # Pruned, it goes from the file of its owner, of whom nothing else changed.
    shelf.now = NOON + 30 * 24 * HOUR - 2 * HOUR
    run_job(client.engine, "curate_due", now=shelf.now, drain=True)
    shelf.write()
    shelf.now += 2 * HOUR
    shelf.change("tea", importance=0.4)  # it isn't due any more when the files are written
    run_job(client.engine, "curate_due", now=shelf.now, drain=True)
    done = client.write_mirror(folder, "s", now=shelf.now + HOUR)
    assert (done.whole, "chess" in shelf.texts(), "importance: 0.4" in shelf.texts()) == (False, False, True)

    # What is SENSITIVE comes and goes with the question.
    shelf.write(include_sensitive=True)
    assert "A sensitive fact." in shelf.texts()
    assert "A private fact." not in shelf.texts()
    shelf.write()
    assert "A sensitive fact." not in shelf.texts()


def test_edits_and_forgetting(shelf: Shelf, now: datetime) -> None:
    client = shelf.client
    shelf.write()
    shelf.put(
        "box", "Tea", "MemoryBox", topics=["tea"], relationships=[{"type": "IN_BOX", "to": "tea", "direction": "in"}]
    )
    shelf.write()
    run_job(client.engine, "curate_due", now=shelf.now, drain=True)
    tea, ann = shelf.path('category: "preference"'), shelf.path("chess")
    tea.write_text(tea.read_text().replace("tea with lemon", "coffee"))
    ann.write_text(ann.read_text() + "- Sings in a choir.\n")
    done = shelf.write()
    assert sorted((each.edit, each.outcome) for each in done.taken_in) == [("added", "done"), ("changed", "done")]
    said = client.database.run(
        "MATCH (:Curated {key: 's/ann'})-[:HAS_NOTE]->(n) WITH n.content AS said ORDER BY said "
        "MATCH (t:Curated {key: 's/tea'}) RETURN collect(said) AS notes, t.content AS tea",
    )
    assert "- Ann prefers coffee." in (shelf.folder / f"boxes/{NOON + HOUR:%Y-%m-%d}/box-box.md").read_text()
    assert said[0] == {"notes": ["Plays chess on Fridays.", "Sings in a choir."], "tea": "Ann prefers coffee."}

    # The profile of the scope, and what the jobs say of it.
    shelf.put("profile", "- Prefers tea.", "BehaviourProfile")
    client.report_action("store_note", "applied", scope="s")
    for job, moment in (("index_topics", shelf.now), ("learn_guidelines", now + 48 * HOUR)):
        run_job(client.engine, job, now=moment, drain=True)
    pages = {"state/topics.json", "state/compression-guidelines.md"}
    assert pages | {"profile.md"} <= set(shelf.write().written)
    topics = json.loads((shelf.folder / "state/topics.json").read_text())["topics"]
    assert topics == [{"topic": "tea", "memories": 1, "newest": ["s/box"]}]

    # What is emptied is struck; the job prunes it, and a restored one comes back.
    tea.write_text(tea.read_text().replace("Ann prefers coffee.", ""))
    assert [each.edit for each in shelf.write().taken_in] == ["struck"]
    assert not tea.exists()

    client.forget(Request(keys=("s/chess",)), now=shelf.now)
    shelf.write()
    assert "chess" not in shelf.texts()
    assert b"chess" not in (shelf.folder / ".jochi-mirror.db").read_bytes()
    # A clause that is forgotten is in no page once they are written again; what else was said there is.
    shelf.put("both", "Ann works at Acme and lives in Lyon.", category="preference")
    shelf.write()
    assert "lives in Lyon" in shelf.texts()
    client.forget(Request(phrase="Lyon", scope="s"), now=shelf.now)
    shelf.write()
    assert "Ann works at Acme." in shelf.texts()
    assert "Lyon" not in shelf.texts()
    assert b"Lyon" not in (shelf.folder / ".jochi-mirror.db").read_bytes()
    client.forget(Request(scope="s"), now=shelf.now)
    assert pages | {"profile.md"} < set(shelf.write().removed)
    assert tree(shelf.folder) == {}


def test_a_worker_and_the_command_line(shelf: Shelf, server: TestServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("URI", server.uri), ("USER", server.user), ("PASSWORD", server.password)):
        monkeypatch.setenv(f"JOCHI_{name}", value)
    table = shelf.place / "mirrors.toml"
    table.write_text(
        '[[folders]]\nscope = "s"\nfolder = "memory"\n[[folders]]\nscope = "t"\nfolder = "forget.key/none"\n'
    )
    (shelf.place / "forget.key").touch()
    worker = Worker(shelf.client.engine, [], files=[Mirrors(read_table(table), shelf.client.write_mirror)])
    worker.run(once=True)
    progress = worker.progress["mirror"]
    assert (progress.done, progress.failed) == (3, 1)
    assert "lemon" in shelf.texts()

    def run(*words: str) -> Result:
        return CliRunner().invoke(app, ["mirror", *words, "--scope", "s", "--out", str(shelf.folder)])

    assert "0 files written" in run("write").output
    found = run("check", "--json")
    assert (found.exit_code, json.loads(found.output)["files"]) == (0, 3)
    shelf.path("lemon").unlink()
    found = run("check")
    assert "missing: facts/" in found.output
    assert isinstance(found.exception, Refused)
    assert found.exception.exit_code == 5
    assert "1 file written" in run("rebuild").output
    # What is left undone is said, and the exit code says so.
    file = shelf.path("lemon")
    file.write_text(file.read_text().replace("---\n", "", 1))
    found = run("write")
    assert isinstance(found.exception, PartlyDone)
