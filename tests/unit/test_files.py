"""A file is the old text or the new one, whatever goes wrong in the middle."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from jochi.errors import JochiError
from jochi.files import write_atomically


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "HEARTBEAT.md"
    made.write_text("old", encoding="utf-8")
    return made


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def test_new_and_replaced_files_hold_the_text_and_keep_their_mode(file: Path) -> None:
    file.chmod(0o640)
    write_atomically(file, "new é\r\n")
    assert file.read_bytes() == "new é\r\n".encode()
    assert file.stat().st_mode & 0o777 == 0o640
    before = os.umask(0o027)
    try:
        write_atomically(file.with_name("other"), "x")
    finally:
        os.umask(before)
    assert file.with_name("other").stat().st_mode & 0o777 == 0o640
    write_atomically(file.with_name("like"), "x", like=file)
    assert file.with_name("like").stat().st_mode & 0o777 == 0o640
    assert names(file.parent) == ["HEARTBEAT.md", "like", "other"]


def test_a_link_stays_a_link(file: Path, tmp_path: Path) -> None:
    link = tmp_path / "elsewhere" / "link.md"
    link.parent.mkdir()
    link.symlink_to(file)
    write_atomically(link, "new")
    assert link.is_symlink()
    assert file.read_text() == "new"
    assert names(link.parent) == ["link.md"]


def test_file_and_folder_are_put_on_the_disk(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    fsync, replace = os.fsync, Path.replace

    def synced(number: int) -> None:
        done.append("folder" if os.fstat(number).st_ino == file.parent.stat().st_ino else "file")
        fsync(number)

    def replaced(source: Path, target: Path) -> Path:
        done.append("replace")
        assert source.parent == target.parent
        return replace(source, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", replaced)
    write_atomically(file, "new")
    assert done == ["file", "replace", "folder"]


@pytest.mark.parametrize("broken", [(os, "open"), (os, "fsync"), (Path, "chmod"), (Path, "replace")])
@pytest.mark.parametrize(
    "problem", [OSError(errno.ENOSPC, "No space left"), OSError(errno.EROFS, "Read-only"), KeyboardInterrupt()]
)
def test_what_fails_leaves_the_old_file_and_nothing_beside_it(
    file: Path, broken: tuple[Any, str], problem: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise problem

    monkeypatch.setattr(*broken, fails)
    with pytest.raises(JochiError if isinstance(problem, OSError) else KeyboardInterrupt) as error:
        write_atomically(file, "new")
    if isinstance(problem, OSError):
        assert str(problem.strerror) in str(error.value)
        assert f"{file}: " in str(error.value)
        assert "→" in str(error.value)
    assert names(file.parent) == ["HEARTBEAT.md"]
    assert file.read_text() == "old"


def test_a_last_look_can_stop_it(file: Path) -> None:
    def look() -> None:
        assert len(names(file.parent)) == 2, "the new text is written already"
        raise LookupError

    with pytest.raises(LookupError):
        write_atomically(file, "new", before_replacing=look)
    assert names(file.parent) == ["HEARTBEAT.md"]
    assert file.read_text() == "old"


def test_what_cannot_be_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for path in (tmp_path / "missing" / "a.md", tmp_path, tmp_path / "loop"):
        with pytest.raises(JochiError) as error:
            write_atomically(path, "new")
        assert f"{path}: " in str(error.value)
    with pytest.raises(JochiError, match="surrogates"):
        write_atomically(tmp_path / "half", "\ud800")
    assert names(tmp_path) == ["loop"]
