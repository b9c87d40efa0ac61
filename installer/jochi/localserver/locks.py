"""A lock file between processes: one works, the others say so and wait."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from jochi.localserver.errors import Busy, disk_full_reported
from jochi.localserver.report import Report


@contextmanager
def locked(path: Path, report: Report, wait_seconds: float, *, waiting: str, busy: Busy) -> Iterator[None]:
    """Holds the lock for the length of a `with` block; raises ``busy`` after ``wait_seconds``."""
    with disk_full_reported(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            report.doing(waiting)
            try:
                lock.acquire(timeout=wait_seconds)
            except Timeout:
                raise busy from None
    try:
        yield
    finally:
        lock.release()
