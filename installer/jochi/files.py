"""Files that are read whole and replaced whole: who reads one finds the old text or the new one, never a part of either."""

from __future__ import annotations

import contextlib
import itertools
import os
import stat
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from jochi.errors import JochiError

T = TypeVar("T")

ATTEMPTS = 5
"""So often a file is read again that somebody edits while it is written."""


class EditedMeanwhileError(Exception):
    """The file isn't what was read any more."""


def read_text(path: Path, *, pipes: bool = False) -> str | None:
    """The file's text (UTF-8) with its own line ends; None where there is none. `JochiError` where it can't be read.

    ``pipes``: what is no plain file may be read, too.
    """
    try:
        if not pipes and path.exists() and not path.is_file():
            raise JochiError("that is no file", where=str(path), fix="name a file")
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise JochiError("the file isn't UTF-8", where=f"{path}, line {line}", fix="save it as UTF-8") from None
    except OSError as error:
        raise JochiError(
            f"the file can't be read: {error.strerror}", where=str(path), fix="look at its rights"
        ) from None


def write_atomically(
    path: Path, text: str, *, like: Path | None = None, before_replacing: Callable[[], None] | None = None
) -> None:
    """Makes ``text`` (UTF-8) the content of ``path``, whole or not at all, also if the machine stops in the middle.

    A file that is there keeps its mode; a new one gets that of ``like``, or what the umask allows. A symbolic link stays, and
    what it leads to is written. What ``before_replacing`` raises, the moment before the new text takes its place, stops it.
    `JochiError` where it can't be done: the old file is then as it was, and nothing is left beside it. (Only a process that is
    killed leaves a `.jochi-….tmp`, which can be deleted.)
    """
    try:
        target = path.resolve(strict=path.is_symlink())
        temporary = target.with_name(f".jochi-{uuid.uuid4().hex}.tmp")
        try:
            _write(temporary, text, next((_mode(each) for each in (target, like) if each and each.exists()), None))
            if before_replacing is not None:
                before_replacing()
            temporary.replace(target)
        except BaseException:
            with contextlib.suppress(OSError):  # what went wrong before is what is to be told
                temporary.unlink(missing_ok=True)
            raise
        _sync_folder(target.parent)
    except (OSError, RuntimeError, UnicodeEncodeError) as error:
        raise JochiError(
            f"the file can't be written: {getattr(error, 'strerror', None) or error}",
            where=str(path),
            fix="look at its folder: it must exist, be writable and have room. What the file held before is untouched",
        ) from error


def replace_text(path: Path, before: str, text: str) -> None:
    """`write_atomically`, where the file still says ``before`` ('': nothing, or there is none); else `EditedMeanwhileError`."""

    def look_again() -> None:
        if (read_text(path) or "") != before:
            raise EditedMeanwhileError

    write_atomically(path, text, before_replacing=look_again)


def until_quiet(path: Path, once: Callable[[], T], *, left: str = "") -> T:
    """What ``once``, which reads the file and replaces it, returns; again where somebody edited the file in between.

    `JochiError` after `ATTEMPTS` times: the file is untouched, and ``left`` says in a sentence what isn't.
    """
    for _ in range(ATTEMPTS):
        with contextlib.suppress(EditedMeanwhileError):
            return once()
    raise JochiError(
        f"somebody changed the file each of the {ATTEMPTS} times it was to be written",
        where=str(path),
        fix=f"try again when it is quiet. {left}The file is untouched",
    )


def keep(path: Path, text: str, suffix: str) -> Path:
    """A copy of the file beside it. One that is there with another text stays, and this one gets a number."""
    for number in itertools.count(1):
        copy = path.with_name(f"{path.name}.{suffix}" + (f"-{number}" if number > 1 else ""))
        there = copy.exists() or copy.is_symlink()
        if there and (not copy.is_file() or read_text(copy) != text):
            continue
        if not there:
            write_atomically(copy, text, like=path)
        return copy
    raise AssertionError("numbers have no end")


def _mode(file: Path) -> int:
    return stat.S_IMODE(file.stat().st_mode)


def _write(file: Path, text: str, mode: int | None) -> None:
    """A new file with the text, on the disk. One that replaces another is never open to more people than that was."""
    number = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if mode is None else 0o600)
    with os.fdopen(number, "w", encoding="utf-8", newline="") as opened:
        opened.write(text)
        opened.flush()
        if mode is not None:
            file.chmod(mode)
        os.fsync(number)


def _sync_folder(folder: Path) -> None:
    """Puts the folder's entry on the disk, on systems that can."""
    with contextlib.suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
