"""The folder of a mirror as it lies on the disk: what is in it, and how a file gets there and goes. Nothing leads out of it."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Collection, Iterator
from pathlib import Path

from jochi.errors import JochiError, UsageError
from jochi.files import EditedMeanwhileError, copy_of, write_atomically
from jochi.mirror.index import FILE, FileStamp
from jochi.mirror.names import folded_name


def open_folder(folder: Path, *, make: bool) -> Path:
    """The folder itself, made where it isn't there; `UsageError` for what is none."""
    try:
        if make:
            folder.mkdir(parents=True, exist_ok=True)
        real = folder.resolve(strict=True)
    except FileNotFoundError:
        raise UsageError("there is no such folder", where=str(folder), fix="`jochi mirror write` makes it") from None
    except OSError as error:
        raise JochiError(
            f"the folder can't be made: {error.strerror}", where=str(folder), fix="look at its rights, or name another"
        ) from None
    if not real.is_dir():
        raise UsageError("that is no folder", where=str(folder), fix="name a folder")
    return real


def files_in(folder: Path, rooms: Collection[str]) -> Iterator[tuple[str, FileStamp | None]]:
    """Paths in it and in its folders ``rooms``, and how each lay there; None for what is no plain file, such as a symbolic link.

    What begins with a point is nobody's business, and another mirror within this one is that one's.
    """
    waiting = [""]
    while waiting:
        below = waiting.pop()
        try:
            with os.scandir(folder / below) as found:
                entries = sorted(found, key=lambda each: each.name)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise JochiError(
                f"the folder can't be read: {error.strerror}", where=str(folder / below), fix="look at its rights"
            ) from None
        for entry in entries:
            path = f"{below}/{entry.name}" if below else entry.name
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                if (below or entry.name in rooms) and not (folder / path / FILE).exists():
                    waiting.append(path)
            else:
                yield path, stamp_of(folder / path)


def stamp_of(file: Path) -> FileStamp | None:
    """How a plain file lies there; None where there is none, or something else."""
    try:
        found = file.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise JochiError(f"the file can't be looked at: {error.strerror}", where=str(file)) from None
    return FileStamp(found.st_mtime_ns, found.st_size) if stat.S_ISREG(found.st_mode) else None


def is_free(folder: Path, path: str) -> bool:
    """Whether nothing but plain folders leads there, and nothing but a plain file, or nothing, is there."""
    *parents, _ = (folder / path).relative_to(folder).parts
    at = folder
    for name in parents:
        at /= name
        if at.is_symlink() or (at.exists() and not at.is_dir()):
            return False
    file = folder / path
    return not file.is_symlink() and (not file.exists() or file.is_file())


def put(folder: Path, path: str, text: str, was: FileStamp | None) -> FileStamp:
    """Writes a file, whole or not at all; `EditedMeanwhileError` where it doesn't lie there as it ``was``."""
    file = folder / path

    def look_again() -> None:
        if stamp_of(file) != was or not is_free(folder, path):
            raise EditedMeanwhileError

    look_again()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise JochiError(
            f"a folder can't be made: {error.strerror}",
            where=str(file.parent),
            fix="look at the rights and the room above it; the files that are there are whole",
        ) from None
    write_atomically(file, text, before_replacing=look_again)
    now = stamp_of(file)
    if now is None:
        raise EditedMeanwhileError
    return now


def remove(folder: Path, path: str, was: FileStamp | None) -> None:
    """Deletes a file that lies there as it ``was``, and folders that are empty then; else `EditedMeanwhileError`."""
    file = folder / path
    if not is_free(folder, path) or stamp_of(file) != was:
        raise EditedMeanwhileError
    try:
        file.unlink(missing_ok=True)
        copy_of(file).unlink(missing_ok=True)
    except OSError as error:
        raise JochiError(
            f"the file can't be deleted: {error.strerror}",
            where=str(file),
            fix="look at the rights of its folder, and whether the file is mounted: what it says is no longer to stand there",
        ) from None
    for parent in file.parents:
        if parent == folder:
            break
        try:
            parent.rmdir()
        except OSError:
            break


def sha256(text: str | bytes) -> str:
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()


def folded(path: str) -> str:
    """A path as a file system may compare it."""
    return "/".join(map(folded_name, path.split("/")))
