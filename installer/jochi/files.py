"""Files that are read whole and replaced whole: who reads one finds the old text or the new one, never a part of either."""

from __future__ import annotations

import contextlib
import errno
import itertools
import json
import os
import stat
import sys
import uuid
from collections.abc import Callable
from itertools import takewhile
from pathlib import Path
from typing import BinaryIO, TypeVar

from jochi.errors import JochiError, Refused

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


def real_file(path: Path) -> Path:
    """The file that ``path`` leads to, whether it is there or not. `JochiError` for a link that leads to no file or in a circle,
    and for what is no plain file."""
    try:
        target = path.resolve(strict=path.is_symlink())
        is_other = target.exists() and not target.is_file()
    except FileNotFoundError:
        what = f"it is a link to {path.parent / path.readlink()}, and there is no such file"
        raise JochiError(what, where=str(path), fix="make that file, or delete the link") from None
    except RuntimeError:  # so Python says it before 3.13
        raise JochiError("it is a link that leads in a circle", where=str(path), fix="delete the link") from None
    except OSError as error:
        is_loop = error.errno == errno.ELOOP
        what = "it is a link that leads in a circle" if is_loop else f"the file can't be reached: {error.strerror}"
        fix = "delete the link" if is_loop else "look at the rights of the folders above it"
        raise JochiError(what, where=str(path), fix=fix) from None
    if is_other:
        what = f"it is a link to {target}, and that is no file" if path.is_symlink() else "that is no file"
        raise JochiError(what, where=str(path), fix="name a file")
    return target


def place(path: Path) -> str:
    """The path as a person gave it, and where it leads if it is a link."""
    return f"{path} (a link to {path.resolve()})" if path.is_symlink() else str(path)


def write_atomically(
    path: Path, text: str, *, like: Path | None = None, before_replacing: Callable[[], None] | None = None
) -> None:
    """Makes ``text`` (UTF-8) the content of ``path``, whole or not at all, also if the machine stops in the middle.

    A file that is there keeps its mode; a new one gets that of ``like``, or what the umask allows. A symbolic link stays, and
    what it leads to is written. What ``before_replacing`` raises, the moment before the new text takes its place, stops it.
    A file that nothing can take the place of, such as one that is mounted alone into a container, is written in its place, with a
    copy of both texts beside it until that is done: `mend` needs it after a kill. `EditedMeanwhileError` where
    ``before_replacing`` is given and somebody wrote into the file even later: it says then what they wrote.
    `JochiError` where it can't be done: the old file is then as it was, and nothing is left beside it. (Only a process that is
    killed leaves a `.jochi-….tmp`, which can be deleted.)
    """
    target = real_file(path)
    temporary = target.with_name(f".jochi-{uuid.uuid4().hex}.tmp")
    fix = (
        "look at its folder: it must exist, be writable and have room; where the file alone is mounted, mount its folder. "
        "What the file held before is untouched"
    )
    try:
        try:
            _write(temporary, text, next((_mode(each) for each in (target, like) if each and each.exists()), None))
            fix = "look at its rights and at the room on its disk. What the file held before is untouched"
            replaced = _opened(target) if before_replacing else None
            with replaced or contextlib.nullcontext():
                seen = replaced and replaced.read()
                if before_replacing is not None:
                    before_replacing()
                try:
                    temporary.replace(target)
                except OSError as error:
                    if error.errno not in _IMMOVABLE or not target.exists():
                        raise
                    _overwrite(target, text.encode(), before_replacing)
                    temporary.unlink()
                    replaced = None
                if replaced:
                    replaced.seek(0)
                    if (later := replaced.read()) != seen:  # somebody wrote into it at the last moment
                        _write(temporary, later.decode("utf-8", "surrogateescape"), _mode(target), "surrogateescape")
                        temporary.replace(target)
                        raise EditedMeanwhileError
        except BaseException:
            with contextlib.suppress(OSError):  # what went wrong before is what is to be told
                temporary.unlink(missing_ok=True)
            raise
        _sync_folder(target.parent)
    except (OSError, UnicodeEncodeError) as error:
        if copy_of(target).exists():
            fix = f"make room on its disk: {copy_of(target)} holds what it said, and the next write puts it back"
        what = f"the file can't be written: {getattr(error, 'strerror', None) or error}"
        raise JochiError(what, where=str(path), fix=fix) from error


def mend(path: Path) -> None:
    """Makes whole a file that a killed process was writing in its place: it says again what it said before, or what it was to say,
    with what was appended since. Whoever reads a file to write it calls this first; it waits for a process that writes it now.

    `Refused`, once, where the file is neither: its old text is then beside it.
    """
    try:
        target = path.resolve()
        number = os.open(copy_of(target), os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    except (FileNotFoundError, RuntimeError):
        return
    except OSError as error:
        what = f"the copy of a file that is being written can't be read: {error.strerror}"
        raise JochiError(what, where=str(copy_of(path)), fix="look at its rights") from None
    with os.fdopen(number, "rb") as copy:
        if not _is_trusted(number, target):
            what = "somebody else's file has the name that the copy of a file has while it is written"
            raise Refused(what, where=str(copy_of(target)), fix="look at it, and delete it")
        if not _lock(copy_of(target), number):
            return
        try:
            texts = json.loads(copy.read())
            before, after = (texts[name].encode("utf-8", "surrogateescape") for name in ("before", "after"))
        except (ValueError, KeyError, TypeError, AttributeError):  # it was killed before it wrote the file
            copy_of(target).unlink()
            return
        try:
            with target.open("r+b") as opened:
                there = opened.read()
                whole = _mended(there, before, after)
                if whole is not None and whole != there:
                    _fill(opened, whole)
        except FileNotFoundError:
            whole = before
        except OSError as error:
            what = f"the last write into this file was cut off, and it can't be mended: {error.strerror}"
            raise JochiError(what, where=str(path), fix=f"{copy_of(target)} holds what it said") from None
        kept = None if whole is not None else keep(target, before.decode("utf-8", "replace"), "before")
        copy_of(target).unlink()
    if kept:
        raise Refused(
            "the last write into this file was cut off, and somebody changed it since",
            where=str(path),
            fix=f"{kept.name} is what it said before. Make the file what it should be, and try again",
        )


def copy_of(file: Path) -> Path:
    """Where the copy is of a file that is written in its place."""
    return file.with_name(f".{file.name}.jochi-copy")


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
            mend(path)
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


_IMMOVABLE = (errno.EBUSY, errno.EXDEV, errno.EPERM, errno.EACCES)
"""What a rename says of a file that is a mount of its own, or somebody else's in a folder like `/tmp`."""


def _overwrite(target: Path, text: bytes, look_again: Callable[[], None] | None) -> None:
    """Writes into the file that is there. What goes wrong in between is taken back."""
    with target.open("r+b") as opened:
        number = _exclusive_copy(target)
        with os.fdopen(number, "w", encoding="ascii") as copy:
            is_whole = True
            try:
                before = opened.read()
                texts = {"before": before.decode("utf-8", "surrogateescape"), "after": text.decode()}
                json.dump(texts, copy)
                copy.flush()
                os.fsync(number)
                _sync_folder(target.parent)
                if look_again is not None:
                    look_again()
                    opened.seek(0)
                    if opened.read() != before:
                        raise EditedMeanwhileError
                is_whole = False
                try:
                    _fill(opened, text, len(before))
                except BaseException:
                    _fill(opened, before, len(text))
                    is_whole = True
                    raise
                is_whole = True
            finally:
                if is_whole:
                    copy_of(target).unlink()


def _exclusive_copy(target: Path) -> int:
    """A new and locked file for the copy. `OSError` where others write the file all the time."""
    for _ in range(ATTEMPTS):
        mend(target)
        with contextlib.suppress(FileExistsError):
            number = os.open(copy_of(target), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            if _lock(copy_of(target), number):
                return number
            os.close(number)
    raise OSError(errno.EBUSY, "another process writes it")


def _fill(opened: BinaryIO, text: bytes, length: int | None = None) -> None:
    """Makes ``text`` all that the file says. ``length``: it had so many bytes; what somebody appended since stays."""
    opened.seek(0)
    opened.write(text)
    opened.flush()
    if length is not None:
        opened.seek(max(length, len(text)))
        appended = opened.read()
        if length > len(text) and appended:
            opened.seek(len(text))
            opened.write(appended)
            opened.flush()
        text += appended
    opened.truncate(len(text))
    os.fsync(opened.fileno())


def _mended(there: bytes, before: bytes, after: bytes) -> bytes | None:
    """What a file should say that was cut off while ``before`` became ``after``, with what was appended since. None where that
    can't be told: it is something else than a part of each, or what was appended may be a part of ``after``."""
    if there == after or (there.startswith(after) and len(after) >= len(before)):
        return there
    written = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(there, after, strict=False)))
    cut_off = after[:written] + before[written:]
    if there == cut_off:
        return before
    if written <= len(before) and there.startswith((before, cut_off)):
        return there if there.startswith(before) else before + there[len(cut_off) :]
    # The machine stopped: blocks reach the disk in any order.
    either = zip(there, before, after + before[len(after) :], strict=False)
    is_mixed = len(there) == len(before) and all(byte in pair for byte, *pair in either)
    return before if is_mixed else None


def _is_trusted(copy: int, file: Path) -> bool:
    """Whether who made the copy may write the file, too: in a folder like `/tmp` anybody may give it that name."""
    made = os.fstat(copy)
    owners = {os.geteuid()} if hasattr(os, "geteuid") else {made.st_uid}
    with contextlib.suppress(OSError):
        owners.add(file.stat().st_uid)
    return stat.S_ISREG(made.st_mode) and made.st_uid in owners


def _lock(file: Path, number: int) -> bool:
    """Waits until nobody else has it; whether it is still that file then."""
    if sys.platform != "win32":
        import fcntl

        with contextlib.suppress(OSError):  # some network file systems know no locks
            fcntl.flock(number, fcntl.LOCK_EX)
    try:
        return os.path.samestat(os.fstat(number), file.stat())
    except FileNotFoundError:
        return False


def _mode(file: Path) -> int:
    return stat.S_IMODE(file.stat().st_mode)


def _opened(file: Path) -> BinaryIO | None:
    try:
        return file.open("rb")
    except OSError:
        return None


def _write(file: Path, text: str, mode: int | None, errors: str = "strict") -> None:
    """A new file with the text, on the disk. One that replaces another is never open to more people than that was."""
    number = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if mode is None else 0o600)
    with os.fdopen(number, "w", encoding="utf-8", errors=errors, newline="") as opened:
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
