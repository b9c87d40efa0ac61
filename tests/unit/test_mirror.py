"""The mirror by hand: what stands in a file, what becomes of edits, and what may lie in the way (docs/reference/mirror.md)."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from tests.context_memories import NOW
from tests.mirror_memories import Graph, fact, thing, tree

from jochi import files
from jochi.errors import JochiError, Refused, UsageError
from jochi.mirror import Memory, WriteResult, check_mirror, index, write_mirror
from jochi.mirror import folder as disk
from jochi.mirror.document import digest
from jochi.mirror.index import FILE, Index, index_of
from jochi.mirror.names import short_hash
from jochi.mirror.writer import OVERLAP, named
from jochi.text.content import content_hash
from jochi_workers.mirrors import Mirrors, read_table

TEA = f"facts/2026-02-04/preference-20260204T120000Z-{short_hash('s/tea')}.md"


@pytest.fixture
def graph() -> Graph:
    return Graph().put(
        fact("tea", "Ann likes tea.\n\n---\nShe said so.", category="preference", status="active", confidence=0.9),
        thing("ann", "Ann", "Lives in Rome.", "Plays chess.", description="A friend."),
    )


@pytest.fixture
def folder(graph: Graph, tmp_path: Path) -> Path:
    made = tmp_path / "memory"
    write_mirror(made, graph)
    graph.later()
    return made


def edit(folder: Path, path: str, old: str, new: str) -> None:
    file = folder / path
    text = file.read_bytes().decode()
    assert old in text
    file.write_bytes(text.replace(old, new).encode())


def test_what_stands_in_a_file(folder: Path) -> None:
    said = "Ann likes tea.\n\n---\nShe said so."
    found = tree(folder)
    assert sorted(found) == ["entities/ann.md", TEA]
    assert found[TEA] == (
        '---\nkey: "s/tea"\nkind: "Fact"\ncategory: "preference"\nstatus: "active"\nconfidence: 0.9\n'
        f'created_at: "2026-02-04T12:00:00Z"\ncontent_hash: "{content_hash(said)}"\ndigest: "{digest(said)}"\n---\n\n{said}\n'
    )
    lines = found["entities/ann.md"].partition("---\n\n")[2].splitlines()
    said_of = [line.partition(" <!--")[0] for line in lines]
    assert said_of == ["# Ann", "", "- A friend.", "", "## Notes", "", "- Lives in Rome.", "- Plays chess."]


def test_what_it_costs_is_what_changed(folder: Path, graph: Graph) -> None:
    write_mirror(folder, graph)  # what was under way the last time may have been stored since
    graph.later()
    assert write_mirror(folder, graph).written == []
    assert graph.looked == []
    # What was stored while that was written, or in a transaction that began before.
    graph.stored["s/tea"] = fact("tea", "Ann likes milk.", category="preference")
    graph.change_log += [(graph.now - OVERLAP, "s/tea"), (graph.now - 2 * OVERLAP, "s/ann")]
    assert write_mirror(folder, graph.later(timedelta(minutes=1))).written == [TEA]
    assert graph.looked == ["s/tea"]
    graph.later().put(fact("rome", "Ann lives in Rome."))
    done = write_mirror(folder, graph)
    assert (len(done.written), done.removed, done.whole, graph.looked) == (1, [], False, ["s/rome"])
    # Pruned, archived, of another category: the old name goes.
    graph.later().prune("rome")
    graph.put(fact("tea", "Ann likes tea.", category="preference", state="archived"))
    done = write_mirror(folder, graph)
    archived = TEA.replace("facts", "archive", 1)
    assert (done.written, len(done.removed), TEA in done.removed) == ([archived], 2, True)
    assert sorted(tree(folder)) == [archived, "entities/ann.md"]
    assert not (folder / "facts").exists()


def test_nothing_of_what_is_forgotten_stays(folder: Path, graph: Graph) -> None:
    graph.put(fact("a-secret-word", "Something."))
    write_mirror(folder, graph)
    assert b"a-secret-word" in (folder / FILE).read_bytes()
    graph.later().forget("a-secret-word", "tea")
    done = write_mirror(folder, graph)
    assert done.whole
    assert len(done.removed) == 2
    for file in folder.rglob("*"):
        assert file.is_dir() or b"a-secret-word" not in file.read_bytes()


def test_edits_are_taken_in(folder: Path, graph: Graph) -> None:
    edit(folder, TEA, "Ann likes tea.", "Ann likes coffee.")
    edit(folder, "entities/ann.md", "- Lives in Rome.", "- Swims.\n- Lives in Oslo.")
    ann = folder / "entities/ann.md"
    ann.write_text("\n".join(line for line in ann.read_text().splitlines() if "chess" not in line) + "\n")
    assert check_mirror(folder, graph).edited == ("entities/ann.md", TEA)
    done = write_mirror(folder, graph)
    assert sorted((each.edit, each.outcome) for each in done.taken_in) == [
        ("added", "done"),
        ("changed", "done"),
        ("changed", "done"),
        ("struck", "done"),
    ]
    assert graph.stored["s/tea"].text == "Ann likes coffee.\n\n---\nShe said so."
    assert [each.text for each in graph.stored["s/ann"].parts] == ["A friend.", "Lives in Oslo.", "Swims."]
    assert check_mirror(folder, graph).is_none
    assert write_mirror(folder, graph).taken_in == []

    # A text that is emptied is struck; a file that is emptied or deleted is made again.
    edit(folder, TEA, "Ann likes coffee.\n\n---\nShe said so.", "")
    ann.write_text("")
    done = write_mirror(folder, graph)
    assert [(each.edit, each.key) for each in done.taken_in] == [("struck", "s/tea")]
    assert list(tree(folder)) == ["entities/ann.md"]
    ann.unlink()
    assert check_mirror(folder, graph).missing == ("entities/ann.md",)
    assert write_mirror(folder, graph).written == ["entities/ann.md"]
    assert check_mirror(folder, graph).is_none


def test_a_name_makes_nothing_personal(graph: Graph, tmp_path: Path) -> None:
    graph.put(thing("coach", "Personal trainer", "Comes on Mondays."))
    write_mirror(tmp_path / "new", graph)
    edit(tmp_path / "new", "entities/personal-trainer.md", "Mondays", "Fridays")
    [done] = write_mirror(tmp_path / "new", graph).taken_in
    assert (done.edit, done.text) == ("changed", "Comes on Fridays.")


def test_what_changed_on_both_sides_is_two_memories(folder: Path, graph: Graph) -> None:
    edit(folder, TEA, "Ann likes tea.", "Ann likes coffee.")
    graph.put(fact("tea", "Ann likes milk.", category="preference"))
    done = write_mirror(folder, graph)
    assert [each.edit for each in done.taken_in] == ["added"]
    assert sorted(memory.text or "" for memory in graph.stored.values() if memory.kind == "Fact") == [
        "Ann likes coffee.\n\n---\nShe said so.",
        "Ann likes milk.",
    ]
    assert check_mirror(folder, graph).is_none
    # So is what was pruned meanwhile.
    edit(folder, TEA, "milk", "cocoa")
    graph.later().prune("tea")
    write_mirror(folder, graph)
    assert "Ann likes cocoa." in [memory.text for memory in graph.stored.values()]
    assert check_mirror(folder, graph).is_none


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('key: "s/tea"', 'key: "s/ann"', "speaks of s/ann"),
        ('key: "s/tea"', 'key: "t/tea"', "speaks of t/tea"),
        ("---\nkey", "key", "front matter is gone"),
        ("Ann likes tea.", "<<<<<<< mine\nAnn.", "conflict of git"),
        ("Ann likes tea.", "Ann likes SECRET.", "forgotten"),
    ],
)
def test_what_cant_be_told_stays_as_it_is(folder: Path, graph: Graph, old: str, new: str, why: str) -> None:
    graph.refused = "SECRET"
    edit(folder, TEA, old, new)
    if "speaks" in why:  # alone it is a front matter that was changed, as after a kill, and is written again
        assert "is Jochi's" in write_mirror(folder, graph).notes[0]
        assert check_mirror(folder, graph).is_none
        edit(folder, TEA, old, new)
        edit(folder, TEA, "likes", "loves")
    text = tree(folder)[TEA]
    for _ in range(2):
        graph.later().put(replace(graph.stored["s/tea"], values={"category": "preference", "status": "superseded"}))
        done = write_mirror(folder, graph)
        assert why in done.left[TEA]
        assert tree(folder)[TEA] == text
    (folder / TEA).unlink()
    assert write_mirror(folder, graph.later()).left == {}
    assert "superseded" in tree(folder)[TEA]


def test_names_are_told_apart(tmp_path: Path) -> None:
    things = [thing("1", "Ann"), thing("2", "ANN", kind="Concept"), thing("3", "a\u200bnn")]
    graph = Graph().put(things[0])
    write_mirror(tmp_path, graph)
    graph.later().put(*things[1:])
    write_mirror(tmp_path, graph)
    paths = named("entities/ann", [each.key for each in things])
    assert {path: (tmp_path / path).read_text().split('"')[1] for path in tree(tmp_path)} == {
        path: key for key, path in paths.items()
    }
    # Whoever has the plain name goes, and another one has it.
    first = next(key for key, path in paths.items() if path == "entities/ann.md")
    graph.later().prune(first.partition("/")[2])
    write_mirror(tmp_path, graph)
    assert sorted(tree(tmp_path)) == sorted(named("entities/ann", paths.keys() - {first}).values())
    assert check_mirror(tmp_path, graph).is_none


def test_what_isnt_ours_stays(folder: Path, graph: Graph, tmp_path: Path) -> None:
    (folder / "README.md").write_text("mine")
    (folder / "entities/Bob.md").write_text("mine, too")
    away = tmp_path / "away"
    away.mkdir()
    (folder / "artifacts").symlink_to(away)
    graph.put(thing("bob", "Bob"), Memory("s/scan", "Artifact", "A scan.", None, NOW))
    done = write_mirror(folder, graph)
    assert sorted(done.left) == [
        f"artifacts/2026-02-04/artifact-20260204T120000Z-{short_hash('s/scan')}.md",
        "entities/bob.md",
    ]
    assert not list(away.iterdir())
    assert (folder / "README.md").read_text() == "mine"
    found = check_mirror(folder, graph)
    assert (found.foreign, len(found.missing)) == (("README.md", "artifacts", "entities/Bob.md"), 2)
    # What waits is written once there is room, whatever changed since.
    assert len(write_mirror(folder, graph.later()).left) == 2
    graph.later()
    (folder / "entities/Bob.md").unlink()
    (folder / "artifacts").unlink()
    assert len(write_mirror(folder, graph.later()).written) == 2


def test_pages_are_made_as_a_whole(folder: Path, graph: Graph) -> None:
    pages: dict[str, str | None] = {"state/topics.json": "{}\n", "state/rules.md": None}
    assert write_mirror(folder, graph, pages=pages).written == ["state/topics.json"]
    assert check_mirror(folder, graph, pages=pages).is_none
    assert write_mirror(folder, graph, pages=pages, whole=True).written == []
    (folder / "state/topics.json").write_text("mine")
    assert check_mirror(folder, graph, pages=pages).stale == ("state/topics.json",)
    done = write_mirror(folder, graph, pages=pages)
    assert (len(done.notes), tree(folder)["state/topics.json"]) == (1, "{}\n")
    (folder / "state/topics.json").unlink()
    assert check_mirror(folder, graph, pages=pages).missing == ("state/topics.json",)
    write_mirror(folder, graph, pages=pages)
    assert write_mirror(folder, graph, pages=pages | {"state/topics.json": None}).removed == ["state/topics.json"]
    assert not (folder / "state").exists()


def test_one_scope_a_folder(folder: Path, graph: Graph) -> None:
    other = Graph(scope="t")
    with pytest.raises(Refused, match="scope s, not of t"):
        write_mirror(folder, other)
    (folder / FILE).unlink()
    with pytest.raises(Refused, match="scope s, not of t"):
        write_mirror(folder, other)
    assert check_mirror(folder, graph).is_none
    with pytest.raises(UsageError, match="no such folder"):
        check_mirror(folder / "none", graph)


def test_what_was_known_is_found_again(folder: Path, graph: Graph) -> None:
    before = {path: (folder / path).stat().st_mtime_ns for path in tree(folder)}
    for spoiled in (None, b"no database at all", (folder / FILE).read_bytes()[:5000]):
        (folder / FILE).unlink() if spoiled is None else (folder / FILE).write_bytes(spoiled)
        done = write_mirror(folder, graph.later())
        assert (done.whole, done.written) == (True, [])
    assert {path: (folder / path).stat().st_mtime_ns for path in tree(folder)} == before
    # Who changes a file behind its date is found by whoever reads all.
    file, lies = folder / TEA, (folder / TEA).stat()
    file.write_text(file.read_text().replace('"active"', '"actual"'))
    os.utime(file, ns=(lies.st_atime_ns, lies.st_mtime_ns))
    assert write_mirror(folder, graph.later()).written == []
    assert check_mirror(folder, graph).stale == (TEA,)
    assert write_mirror(folder, graph, whole=True).written == [TEA]
    # Another mirror of the scope within this one is left alone, and so is what is in other folders.
    (folder / "src").mkdir()
    (folder / "src/copy.md").write_text(file.read_text())
    write_mirror(folder / "entities/inner", graph)
    write_mirror(folder, graph, whole=True)
    assert len(tree(folder)) == 5
    # A copy within the folder is ours as well: it goes, with its edits taken in.
    (folder / "copy.md").write_text((folder / TEA).read_text().replace("tea", "cocoa", 2).replace("s/cocoa", "s/tea"))
    done = write_mirror(folder, graph)
    assert done.removed == ["copy.md"]


class Killed(BaseException):
    """Nobody catches it."""


@pytest.mark.parametrize(("one", "two"), [("1", "2"), ("2", "1")])  # who has the plain name leaves it, or has to
def test_it_may_be_killed_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, one: str, two: str) -> None:
    """Before and after each file that is written or deleted, and each time that what is known of them is kept."""
    put, take_away, keep = disk.put, disk.remove, Index.keep
    for n in range(100):
        folder, calls = tmp_path / f"{n}", iter(range(100))

        def dying(work: Any, last: int = n, calls: Iterator[int] = calls) -> Any:
            def step(*given: Any) -> Any:
                if next(calls) == last:
                    raise Killed
                done = work(*given)
                if next(calls) == last:
                    raise Killed
                return done

            return step

        graph = Graph().put(
            fact("a", "Tea.", category="x"), fact("b", "Milk."), thing(one, "Ann", "N."), thing(two, "ann", "M.")
        )
        write_mirror(folder, graph)
        graph.later().put(fact("a", "Coffee.", category="y"), thing(one, "Bea", "N."), fact("c", "New."))
        graph.prune("b")
        edit(
            folder,
            next(path for path in tree(folder) if f'"s/{two}"' in tree(folder)[path]),
            "- M.",
            "- M, and more.\n- Another.",
        )
        killed = False
        with monkeypatch.context() as patch:
            for where, name, work in ((disk, "put", put), (disk, "remove", take_away), (Index, "keep", keep)):
                patch.setattr(where, name, dying(work))
            try:
                write_mirror(folder, graph)
            except Killed:
                killed = True
                texts = tree(folder).values()
                assert all(any(f'key: "s/{id}"' in text for text in texts) for id in ("a", one, two))
        assert write_mirror(folder, graph.later()).notes == []
        assert check_mirror(folder, graph).is_none
        assert write_mirror(folder, graph).written == []
        assert sorted(each.text for each in graph.stored[f"s/{two}"].parts) == ["Another.", "M, and more."]
        if not killed:
            break
    assert n > 15


def test_somebody_saves_a_file_meanwhile(folder: Path, graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    graph.put(replace(graph.stored["s/tea"], values={"category": "preference", "status": "superseded"}))
    is_free = disk.is_free

    def saved(root: Path, path: str) -> bool:
        if path == TEA and "coffee" not in tree(folder)[TEA]:
            edit(folder, TEA, "Ann likes tea.", "Ann likes coffee.")
        return is_free(root, path)

    with monkeypatch.context() as patch:
        patch.setattr(disk, "is_free", saved)
        done = write_mirror(folder, graph)
    assert "changed it while" in done.left[TEA]
    assert "Ann likes coffee." in tree(folder)[TEA]
    assert [each.outcome for each in write_mirror(folder, graph.later()).taken_in] == ["done"]
    assert "superseded" in tree(folder)[TEA]
    assert "Ann likes coffee." in tree(folder)[TEA]


def test_a_folder_of_an_older_release_is_made_anew_without_an_edit(graph: Graph, tmp_path: Path) -> None:
    """When `@path` stood in files as it was said."""
    graph.put(fact("tea", "Ann's rules: @NOTES.md and @~/tea", category="preference"))
    write_mirror(tmp_path / "new", graph)
    text = (tmp_path / "new" / TEA).read_text()
    said = graph.stored["s/tea"].text or ""
    escaped = said.replace("@", "\\@")
    older = text.replace(escaped, said).replace(digest(escaped), digest(said))
    assert older.count("\\") == 0
    with index_of(tmp_path / "new") as known:
        known.set_values(format=1)
        known.keep()
    (tmp_path / "new" / TEA).write_text(older)
    done = write_mirror(tmp_path / "new", graph)
    assert (done.taken_in, done.left, done.written) == ([], {}, [TEA])
    assert (tmp_path / "new" / TEA).read_text() == text


def test_a_file_that_nothing_can_replace_is_written_in_its_place(
    folder: Path, graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace_file = Path.replace

    def stuck(source: Path, target: Path) -> Path:
        if target == folder / TEA and target.exists():
            raise OSError(errno.EBUSY, "Device or resource busy")
        return replace_file(source, target)

    def dying(written: int) -> Any:
        def cut_off(opened: Any, text: bytes, *_: Any) -> None:
            opened.seek(0)
            opened.write(text[:written] if b"coffee" in text else b"")
            opened.flush()
            raise Killed

        return cut_off

    monkeypatch.setattr(Path, "replace", stuck)
    inode = (folder / TEA).stat().st_ino
    for written in (0, 160, 10_000):
        graph.later().put(fact("tea", "Ann likes tea.", category="preference"))
        write_mirror(folder, graph)
        graph.later().put(fact("tea", "Ann likes coffee, and no tea.", category="preference"))
        with monkeypatch.context() as patch:
            patch.setattr(files, "_fill", dying(written))
            with pytest.raises(Killed):
                write_mirror(folder, graph)
        done = write_mirror(folder, graph)  # what was cut off is no edit of a person's
        assert (done.taken_in, done.left) == ([], {})
        assert graph.stored["s/tea"].text == "Ann likes coffee, and no tea."
        assert check_mirror(folder, graph).is_none
        assert not [each for each in folder.rglob(".*") if each.name != FILE]
    assert (folder / TEA).stat().st_ino == inode
    edit(folder, TEA, "coffee", "milk")
    assert [each.outcome for each in write_mirror(folder, graph.later()).taken_in] == ["done"]


def test_a_table_of_folders(tmp_path: Path) -> None:
    table = tmp_path / "mirrors.toml"
    for said, why in (
        ('[[folders]]\nscope = "a/b"\nfolder = "x"', "no scope"),
        ('[[folders]]\nscope = "a"\nfolder = "x"\n[[folders]]\nscope = "b"\nfolder = "./x"', "twice"),
        ('[[folders]]\nscope = "a"', "folder"),
        ("[[", "no TOML"),
    ):
        table.write_text(said)
        with pytest.raises(UsageError, match=why):
            read_table(table)
    table.write_text('[[folders]]\nscope = "a"\nfolder = "x"\nevery = "5min"\n[[folders]]\nscope = "b"\nfolder = "y"')
    now = [0.0]
    asked: list[str] = []

    def write(folder: Path, scope: str, *, include_sensitive: bool) -> WriteResult:
        asked.append(scope)
        return WriteResult(written=["one"], left={"two": "its front matter is gone"} if scope == "b" else {})

    running = Mirrors(read_table(table), write, clock=lambda: now[0])
    running.work()
    now[0] = 60.0
    running.work()
    assert asked == ["a", "b", "b"]
    assert running.written == 1
    assert running.note == f"{tmp_path / 'y' / 'two'}: its front matter is gone"


def test_a_disk_that_is_full_loses_nothing(folder: Path, graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    before = tree(folder)
    graph.put(fact("tea", "Ann likes milk.", category="preference"), fact("new", "Another."))
    with monkeypatch.context() as patch:
        patch.setattr(
            files, "_write", lambda *_: (_ for _ in ()).throw(OSError(errno.ENOSPC, "No space left on device"))
        )
        with pytest.raises(JochiError, match="No space left") as error:
            write_mirror(folder, graph)
    assert error.value.fix
    assert tree(folder) == before
    assert len(write_mirror(folder, graph).written) == 2
    # One that writes keeps others out.
    monkeypatch.setattr(index, "WAIT", 0.0)
    with index_of(folder), pytest.raises(JochiError, match="locked"):
        write_mirror(folder, graph)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_takes_no_writes_is_said(folder: Path, graph: Graph) -> None:
    graph.put(fact("new", "Another."))
    folder.chmod(0o500)
    try:
        with pytest.raises(JochiError) as error:
            write_mirror(folder, graph)
        assert error.value.fix
    finally:
        folder.chmod(0o700)


def test_a_file_keeps_its_mode_and_moments_are_in_utc(folder: Path, graph: Graph) -> None:
    (folder / TEA).chmod(0o600)
    graph.put(
        fact("tea", "Ann likes milk.", category="preference", valid_from=datetime(2026, 1, 1, tzinfo=timezone.utc))
    )
    write_mirror(folder, graph)
    assert (folder / TEA).stat().st_mode & 0o777 == 0o600
    assert 'valid_from: "2026-01-01T00:00:00Z"' in (folder / TEA).read_text()
