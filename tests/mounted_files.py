"""Files that are mounts, in a namespace of their own: run as `python -m tests.mounted_files FOLDER` by tests/unit/test_files.py."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.context_memories import NOW, exact, graph
from tests.mirror_memories import Graph, fact, tree

from jochi.context import write_context
from jochi.errors import JochiError
from jochi.files import read_text, replace_text, until_quiet
from jochi.heartbeat.file import Entry, render
from jochi.mirror import check_mirror, write_mirror
from jochi.text.tokens import best_counter


def mount(source: Path, target: Path, *options: str) -> None:
    subprocess.run(["mount", "--bind", str(source), str(target)], check=True)
    if options:
        subprocess.run(["mount", "-o", f"remount,bind,{','.join(options)}", str(target)], check=True)


def mounted(file: Path) -> Path:
    """The file elsewhere, which is from now on what ``file`` shows."""
    elsewhere = file.with_name(f"elsewhere-{file.name}")
    elsewhere.write_bytes(file.read_bytes())
    mount(elsewhere, file)
    other = file.parent / "other"
    other.touch()
    with pytest.raises(OSError, match="busy"):
        other.replace(file)
    other.unlink()
    return elsewhere


def memory_file(folder: Path) -> None:
    store, file = graph("Ann likes tea.", "Ann swims on Mondays."), folder / "MEMORY.md"
    write_context(file, store.look(), store, exact(), NOW)
    elsewhere = mounted(file)
    with file.open("a") as opened:
        opened.write("- Ann moved to Oslo.\n")
    store.remember("insights", "Bo sings.")
    [done] = write_context(file, store.look(), store, exact(), NOW).taken_in
    assert (done.edit, done.text) == ("added", "Ann moved to Oslo.")
    assert "Ann moved to Oslo. <!--" in elsewhere.read_text()
    assert "Bo sings." in elsewhere.read_text()
    assert not write_context(file, store.look(), store, exact(), NOW).rewritten
    assert sorted(each.name for each in folder.iterdir()) == [".MEMORY.md.jochi.json", "MEMORY.md", elsewhere.name]


def heartbeat_file(folder: Path) -> None:
    file = folder / "HEARTBEAT.md"
    file.write_text("")
    elsewhere = mounted(file)
    for tasks in ([Entry("a", "Look", "Look at the gate.")], [Entry("a"), Entry("b")], []):
        text = render("s", tasks, active=len(tasks), definitions="0", max_tokens=1000, counter=best_counter(), now=NOW)
        until_quiet(file, lambda text=text: replace_text(file, read_text(file) or "", text))
        assert elsewhere.read_text() == text
    assert sorted(each.name for each in folder.iterdir()) == ["HEARTBEAT.md", elsewhere.name]


def mirror(folder: Path) -> None:
    memories = Graph().put(fact("tea", "Ann likes tea."), fact("swim", "Ann swims."))
    write_mirror(folder, memories)
    path = next(path for path, text in tree(folder).items() if "tea" in text)
    elsewhere = folder.parent / "elsewhere"
    elsewhere.write_bytes((folder / path).read_bytes())
    mount(elsewhere, folder / path)
    memories.later().put(fact("tea", "Ann likes coffee, and no tea."))
    assert write_mirror(folder, memories).written == [path]
    assert "coffee" in elsewhere.read_text()
    elsewhere.write_text(elsewhere.read_text().replace("coffee", "milk"))
    assert [each.outcome for each in write_mirror(folder, memories.later()).taken_in] == ["done"]
    assert memories.stored["s/tea"].text == "Ann likes milk, and no tea."
    assert check_mirror(folder, memories).is_none
    assert not [each for each in folder.rglob(".*") if each.name != ".jochi-mirror.db"]
    memories.later().prune("tea")
    with pytest.raises(
        JochiError, match=r"can't be deleted: Device or resource busy(?s:.*)whether the file is mounted"
    ):
        write_mirror(folder, memories)


def closed_folder(folder: Path) -> None:
    store, file = graph("Ann likes tea."), folder / "MEMORY.md"
    write_context(file, store.look(), store, exact(), NOW)
    elsewhere = folder.parent / "alone.md"
    elsewhere.write_bytes(file.read_bytes())
    mount(folder, folder, "ro")
    mount(elsewhere, file)
    mount(elsewhere, file, "rw")
    store.remember("insights", "Bo sings.")
    before = file.read_bytes()
    with pytest.raises(
        JochiError, match=r"Read-only file system(?s:.*)where the file alone is mounted, mount its folder"
    ):
        write_context(file, store.look(), store, exact(), NOW)
    assert file.read_bytes() == before


if __name__ == "__main__":
    for act in (memory_file, heartbeat_file, mirror, closed_folder):
        (room := Path(sys.argv[1]) / act.__name__ / "room").mkdir(parents=True)
        act(room)
    sys.stdout.write("ok\n")
