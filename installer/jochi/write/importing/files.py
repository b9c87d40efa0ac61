"""Files to import: opening (also gzip), telling the format, position for the progress bar."""

from __future__ import annotations

import gzip
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO, Literal, cast

from jochi.errors import UsageError

Format = Literal["jsonl", "locomo"]

_BOM = b"\xef\xbb\xbf"
_GZIP = b"\x1f\x8b"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass
class Source:
    """One open file: ``stream`` yields its (unpacked) bytes, after a byte order mark; ``raw`` is the file on disk."""

    path: Path
    raw: BinaryIO
    stream: IO[bytes]
    format: Format
    size: int

    def position(self) -> int:
        """Bytes of the file on disk that were read so far."""
        return min(self.raw.tell(), self.size)

    def close(self) -> None:
        self.stream.close()
        self.raw.close()


def open_source(path: Path) -> Source:
    """Opens ``path`` and tells its format by its first characters. UsageError if it can't be read or is neither."""
    try:
        raw = path.open("rb")
    except OSError as error:
        raise UsageError(
            f"the file can't be read: {error.strerror}", where=str(path), fix="name a file that exists"
        ) from error
    try:
        return _source(path, raw)
    except UsageError:
        raw.close()
        raise


def _source(path: Path, raw: BinaryIO) -> Source:
    try:
        packed = raw.read(2) == _GZIP
        raw.seek(0)
        stream = cast("IO[bytes]", gzip.GzipFile(fileobj=raw)) if packed else raw
        start = stream.read(1024)
        stream.seek(len(_BOM) if start.startswith(_BOM) else 0)
    except (OSError, EOFError, zlib.error) as error:
        raise UsageError(f"the file can't be read: {error}", where=str(path), fix="make it anew") from error
    if start.startswith(_UTF16):
        raise UsageError("the file is UTF-16", where=str(path), fix="save it as UTF-8")
    is_array = start.removeprefix(_BOM).lstrip().startswith(b"[")
    return Source(path, raw, stream, "locomo" if is_array else "jsonl", path.stat().st_size)
