"""A file is the old text or the new one, whatever goes wrong in the middle."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from jochi import files
from jochi.errors import JochiError, Refused
from jochi.files import copy_of, mend, place, read_text, replace_text, until_quiet, write_atomically


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


def test_a_link_is_followed_and_what_leads_nowhere_is_said(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    file = tmp_path / "far" / "real.md"
    file.write_text("old")
    for name, leads_to in {
        "first": "far/real.md",
        "second": "first",
        "gone": "far/none.md",
        "loop": "loop",
        "room": "far",
        "null": "/dev/null",
    }.items():
        (tmp_path / name).symlink_to(leads_to)
    write_atomically(tmp_path / "second", "new")
    assert file.read_text() == "new"
    assert place(tmp_path / "second") == f"{tmp_path}/second (a link to {file})"
    assert place(file) == str(file)
    for name, said in {
        "gone": f"it is a link to {tmp_path}/far/none.md, and there is no such file",
        "loop": "it is a link that leads in a circle",
        "room": f"it is a link to {tmp_path}/far, and that is no file",
        "null": "it is a link to /dev/null, and that is no file",
    }.items():
        with pytest.raises(JochiError) as error:
            write_atomically(tmp_path / name, "new")
        assert str(error.value).startswith(f"{tmp_path / name}: {said}\n  → ")
    assert names(tmp_path / "far") == ["real.md"]


def stuck(monkeypatch: pytest.MonkeyPatch, problem: int = errno.EBUSY) -> None:
    """A file that is there stays there: nothing can take its place, as where it is a mount."""
    replace = Path.replace

    def replaced(source: Path, target: Path) -> Path:
        if target.exists():
            raise OSError(problem, os.strerror(problem))
        return replace(source, target)

    monkeypatch.setattr(Path, "replace", replaced)


@pytest.mark.parametrize("problem", [errno.EBUSY, errno.EXDEV, errno.EPERM, errno.EACCES])
def test_what_cannot_be_replaced_is_written_in_its_place(
    file: Path, monkeypatch: pytest.MonkeyPatch, problem: int
) -> None:
    stuck(monkeypatch, problem)
    file.chmod(0o640)
    before = file.stat()
    for text in ("longer than it was é\r\n", "short", "", "old"):
        write_atomically(file, text)
        assert file.read_bytes() == text.encode()
        assert names(file.parent) == ["HEARTBEAT.md"]
    assert (file.stat().st_ino, file.stat().st_mode) == (before.st_ino, before.st_mode)


class Killed(BaseException):
    """The process ends here."""


LONG, SHORT = "# A\n- one é\n- two\n", "# B\n- 1\n"


def killed(file: Path, text: str, written: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """While ``text`` was written in the place of the file, and so many of its bytes were on the disk."""

    def cut_off(opened: Any, whole: bytes, *_: Any) -> None:
        opened.seek(0)
        opened.write(text.encode()[:written] if whole == text.encode() else b"")
        opened.flush()
        raise Killed

    with monkeypatch.context() as patch:
        stuck(patch)
        patch.setattr(files, "_fill", cut_off)
        with pytest.raises(Killed):
            write_atomically(file, text)


@pytest.mark.parametrize(("old", "new"), [(LONG, SHORT), (SHORT, LONG), (SHORT, SHORT + "- more\n"), ("", LONG)])
def test_a_write_that_was_cut_off_is_mended_and_what_was_appended_since_stays(
    file: Path, old: str, new: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = new.encode()
    for written in range(len(whole) + 1):
        for appended in ("", "+ mine é\n"):
            file.write_text(old)
            killed(file, new, written, monkeypatch)
            assert appended or file.read_bytes() == whole[:written] + old.encode()[written:]
            with file.open("a") as opened:
                opened.write(appended)
            there = file.read_text("utf-8", "replace")
            if appended and len(old.encode()) < written < len(whole):  # who wrote the last part of it can't be told
                with pytest.raises(Refused):
                    mend(file)
                assert file.read_text("utf-8", "replace") == there
                (kept,) = file.parent.glob("*.before*")
                assert kept.read_text() == old
                kept.unlink()
            else:
                mend(file)
                assert file.read_text() in (old + appended, new + appended), written
            assert names(file.parent) == ["HEARTBEAT.md"]
            mend(file)
    # The disk takes blocks in any order, and who mends may be killed as well.
    file.write_text(LONG)
    killed(file, "x" * len(LONG.encode()), 0, monkeypatch)
    file.write_bytes(LONG.encode()[:5] + b"x" * 3 + LONG.encode()[8:])
    mend(file)
    assert file.read_text() == LONG


def test_a_copy_is_only_of_use_where_the_file_is_a_part_of_it(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text(LONG)
    killed(file, SHORT, 4, monkeypatch)
    file.write_text(edited := "# B\nI mended it myself.\n")
    with pytest.raises(Refused, match="cut off, and somebody changed it since") as error:
        until_quiet(file, lambda: None)
    assert "HEARTBEAT.md.before is what it said before" in str(error.value)
    assert (file.read_text(), (file.parent / "HEARTBEAT.md.before").read_text()) == (edited, LONG)
    until_quiet(file, lambda: None)
    # Somebody else's in a folder where everybody may write.
    killed(file, SHORT, 4, monkeypatch)
    if os.geteuid() == 0:
        there = file.read_bytes()
        os.chown(copy_of(file), 4321, 4321)
        with pytest.raises(Refused, match="somebody else's file"):
            mend(file)
        assert file.read_bytes() == there
    copy_of(file).unlink()
    file.write_text(edited)
    # Killed while the copy was made, or the file taken away since.
    copy_of(file).write_text('{"before": "# A')
    mend(file)
    assert names(file.parent) == ["HEARTBEAT.md", "HEARTBEAT.md.before"]
    assert file.read_text() == edited
    killed(file, SHORT, 4, monkeypatch)
    file.unlink()
    mend(file)
    assert names(file.parent) == ["HEARTBEAT.md.before"]


def test_a_disk_that_is_full_in_the_middle_changes_nothing(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text(SHORT)
    fill, left = files._fill, [0]

    def full(opened: Any, text: bytes, *more: Any) -> None:
        if left[0]:
            left[0] -= 1
            opened.seek(0)
            opened.write(text[:6])
            opened.flush()
            raise OSError(errno.ENOSPC, "No space left on device")
        fill(opened, text, *more)

    stuck(monkeypatch)
    monkeypatch.setattr(files, "_fill", full)
    left[0] = 1
    with pytest.raises(JochiError, match="No space left on device"):
        write_atomically(file, LONG)
    assert (file.read_text(), names(file.parent)) == (SHORT, ["HEARTBEAT.md"])
    left[0] = 2
    with pytest.raises(JochiError, match=f"No space left(?s:.*){copy_of(file).name} holds what it said"):
        write_atomically(file, LONG)
    until_quiet(file, lambda: write_atomically(file, LONG))
    assert (file.read_text(), names(file.parent)) == (LONG, ["HEARTBEAT.md"])


@pytest.mark.parametrize("new", [SHORT, LONG * 2])
def test_what_is_appended_while_it_is_written_in_its_place_is_there_once(
    file: Path, new: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the copy is on the disk it is another file to be looked at; behind what is written already it stays."""
    stuck(monkeypatch)
    file.write_text(LONG)
    fsync, calls = os.fsync, iter(range(100))

    def meanwhile(number: int) -> None:
        fsync(number)
        if next(calls) in when:
            with file.open("a") as opened:
                opened.write("+ mine\n")

    def once() -> None:
        text = read_text(file) or ""
        replace_text(file, text, new + ("+ mine\n" if text.endswith("+ mine\n") else ""))

    monkeypatch.setattr(os, "fsync", meanwhile)
    when = {1}  # the new text, the copy
    until_quiet(file, once)
    assert file.read_text() == new + "+ mine\n"
    assert names(file.parent) == ["HEARTBEAT.md"]
    write = files._fill

    def late(opened: Any, text: bytes, length: int | None = None) -> None:
        if length is not None and len(text) < length:
            with file.open("a") as other:
                other.write("+ late\n")
        write(opened, text, length)

    when = set()
    monkeypatch.setattr(files, "_fill", late)
    write_atomically(file, "x")
    assert file.read_text() == "x+ late\n"


def test_what_is_appended_at_the_last_moment_is_there(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By who opened the file before another took its place."""
    file.chmod(0o640)
    replace, late = Path.replace, iter(["mine é\n"])

    def replaced(source: Path, target: Path) -> Path:
        with target.open("a") as opened:
            made = replace(source, target)
            opened.write(next(late, ""))
        return made

    monkeypatch.setattr(Path, "replace", replaced)

    def once() -> None:
        text = read_text(file) or ""
        replace_text(file, text, "new\n" + text.removeprefix("old"))

    until_quiet(file, once)
    assert file.read_text() == "new\nmine é\n"
    assert (file.stat().st_mode & 0o777, names(file.parent)) == (0o640, ["HEARTBEAT.md"])


def test_two_that_write_in_its_place_wait_for_each_other(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stuck(monkeypatch)
    wait = (
        "import fcntl, os, sys\n"
        "held = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)\n"
        "fcntl.flock(held, fcntl.LOCK_EX)\n"
        "print(flush=True)\n"
        "sys.stdin.read()\n"
        "os.unlink(sys.argv[1])\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", wait, str(copy_of(file))], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdin is not None
        other.stdout.readline()
        lock, waited = files._lock, [False]

        def locked(path: Path, number: int) -> bool:
            if not waited[0]:
                waited[0] = True
                other.stdin.close()
            return lock(path, number)

        monkeypatch.setattr(files, "_lock", locked)
        write_atomically(file, "new")
    assert waited == [True]
    assert (file.read_text(), names(file.parent)) == ("new", ["HEARTBEAT.md"])


@pytest.mark.slow
def test_real_mounts(tmp_path: Path) -> None:
    """MEMORY.md, HEARTBEAT.md and a file of the mirror, each mounted alone, and a file in a folder that takes no new ones."""
    own = ["unshare", "--user", "--map-root-user", "--mount"]
    if shutil.which("unshare") is None or subprocess.run([*own, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no mounts of one's own here")
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [*own, sys.executable, "-m", "tests.mounted_files", str(tmp_path)],
        cwd=root,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "ok\n"), done.stderr
