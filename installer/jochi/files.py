"""Files that are replaced whole: who reads one finds the old text or the new one, never a part of either."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from jochi.errors import JochiError


def write_atomically(path: Path, text: str) -> None:
    """Makes ``text`` (UTF-8) the content of ``path``, whole or not at all, also if the machine stops in the middle.

    A file that is there keeps its mode; a new one gets what the umask allows. A symbolic link stays, and what it leads to is
    written. `JochiError` where it can't be done: the old file is then as it was, and nothing is left beside it.
    """
    try:
        target = path.resolve(strict=path.is_symlink())
        mode = target.stat().st_mode & 0o7777 if target.exists() else 0o666 & ~_umask()
        temporary = _written(target, text, mode)
        try:
            os.replace(temporary, target)
        except BaseException:
            _remove(temporary)
            raise
        _sync_folder(target.parent)
    except (OSError, RuntimeError) as error:
        raise JochiError(
            f"the file can't be written: {getattr(error, 'strerror', None) or error}",
            where=str(path),
            fix="look at the folder: it must exist, be writable and have room; what the file held before is untouched",
        ) from error


def _written(target: Path, text: str, mode: int) -> Path:
    """A file beside ``target`` that holds ``text``, on the disk."""
    number, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(number, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
    except BaseException:
        _remove(temporary)
        raise
    return temporary


def _remove(file: Path) -> None:
    with contextlib.suppress(OSError):  # what went wrong before is what is to be told
        file.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """Puts the folder's entry on the disk. Some file systems can't, and there the entry is as safe as it gets."""
    with contextlib.suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def _umask() -> int:
    now = os.umask(0)
    os.umask(now)
    return now
