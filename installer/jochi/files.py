"""Files that are replaced whole: who reads one finds the old text or the new one, never a part of either."""

from __future__ import annotations

import contextlib
import os
import stat
import uuid
from pathlib import Path

from jochi.errors import JochiError


def write_atomically(path: Path, text: str) -> None:
    """Makes ``text`` (UTF-8) the content of ``path``, whole or not at all, also if the machine stops in the middle.

    A file that is there keeps its mode; a new one gets what the umask allows. A symbolic link stays, and what it leads to is
    written. `JochiError` where it can't be done: the old file is then as it was, and nothing is left beside it. (Only a process
    that is killed leaves a `.jochi-….tmp`, which can be deleted.)
    """
    try:
        target = path.resolve(strict=path.is_symlink())
        temporary = target.with_name(f".jochi-{uuid.uuid4().hex}.tmp")
        try:
            _write(temporary, text, stat.S_IMODE(target.stat().st_mode) if target.exists() else None)
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


def _write(file: Path, text: str, mode: int | None) -> None:
    """A new file with the text, on the disk. One that replaces another is never open to more people than that was."""
    number = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if mode is None else 0o600)
    with open(number, "w", encoding="utf-8", newline="") as opened:
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
