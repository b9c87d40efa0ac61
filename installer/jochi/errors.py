"""Errors that a person can cause, each with what happened, where, and what to do about it.

Exit codes of the command line (documented in docs/reference/exit-codes.md):
0 done · 1 failed · 2 wrong usage · 3 done in part (the output says which part) · 4 no connection to the database ·
5 refused to protect data (drift, a foreign chain, a guard that waits for `jochi approve`).
"""

from __future__ import annotations


class JochiError(Exception):
    """An error with a remedy.

    ``what`` happened, ``where`` it happened (a file and line, a database, a job) and the ``fix``: one sentence or
    command that a person can act on. ``exit_code`` is what the command line ends with. ``unquoted``: what happened without
    a word of anybody's, where ``what`` has some.
    """

    exit_code = 1

    def __init__(
        self, what: str, *, where: str | None = None, fix: str | None = None, unquoted: str | None = None
    ) -> None:
        self.what = what
        self.unquoted = what if unquoted is None else unquoted
        self.where = where
        self.fix = fix
        super().__init__(what if where is None else f"{where}: {what}")

    def __str__(self) -> str:
        text = super().__str__()
        return text if self.fix is None else f"{text}\n  → {self.fix}"


class UsageError(JochiError):
    """The request itself is wrong (an unknown name, a value out of range)."""

    exit_code = 2


class PartlyDone(JochiError):
    """Some of the work was done and stays done; the message says which part was not."""

    exit_code = 3


class ConnectionFailed(JochiError):
    """The database can't be reached, refuses the login, or went away."""

    exit_code = 4


class NotWritable(ConnectionFailed):
    """The server answers and may not write: its database is read-only, or another member of the cluster is the leader."""


class MemoryExceeded(JochiError):
    """What one transaction was to do takes more memory than the server gives it; nothing of it was done."""


class Refused(JochiError):
    """Jochi could go on and won't, because that could lose or mix up data."""

    exit_code = 5
