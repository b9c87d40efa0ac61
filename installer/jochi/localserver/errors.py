"""What can go wrong with a local server, by name. Each message says what happened, where and what to do."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from jochi.errors import JochiError, Refused
from jochi.extras import extras_of


class LocalServerError(JochiError):
    """A local server could not be started, stopped or read."""


class MissingExtra(LocalServerError):
    """The packages of the extra `[server]` are not installed."""


class RegistryUnreachable(LocalServerError):
    """The Maven repository does not answer, or answers with an error of its own."""


class UnknownVersion(LocalServerError):
    """The Maven repository has no such Neo4j version."""

    exit_code = 2


class BrokenDownload(LocalServerError):
    """A downloaded file is not what the repository says it is."""


class PortTaken(LocalServerError):
    """Another process listens on the port."""


class DiskFull(LocalServerError):
    """Too little free disk space for the download, for the data, or while writing."""


class ServerDied(LocalServerError):
    """The server process ended, or never became ready; the message carries the end of its log."""


class Busy(LocalServerError):
    """Another `jochi server` command works on the same instance."""


class OtherInstance(Refused):
    """The instance exists or runs with something else than what was asked for (port, version, settings, password)."""


# EDQUOT: the quota of this user is used up, which a person experiences as a full disk.
_FULL = {errno.ENOSPC, errno.EDQUOT}


@contextmanager
def disk_full_reported(folder: Path) -> Iterator[None]:
    """Turns "no space left" while writing below ``folder`` into `DiskFull`; other errors pass."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise disk_full(folder) from error
        raise


def disk_full(folder: Path) -> DiskFull:
    """The error for a disk that ran full while writing below ``folder``."""
    return DiskFull(
        "no space left on this disk",
        where=str(folder),
        fix="free some space, or move Jochi's files with JOCHI_HOME (data) and JOCHI_CACHE (downloads)",
    )


def missing_extra(error: ImportError) -> Exception:
    """The error for a package of the extra `[server]` that isn't there; any other import error as it is."""
    if "server" not in extras_of(error.name or ""):
        return error
    return MissingExtra(
        f"the local server needs the package {error.name}, which is not installed",
        fix="pip install 'jochi[server]', or start any Neo4j 5.26 with APOC and set JOCHI_URI",
    )
