"""Raw sources: conversations, e-mail, Slack, transcripts, notes, as they come (docs/reference/ingesting.md; seed 002, Phase 0).

`read` streams the messages of one file (`READERS` are the formats), `ingest` writes them.
"""

from __future__ import annotations

from jochi.deprecation import old_names
from jochi.write.ingesting.readers import READERS, read
from jochi.write.ingesting.source import Fault, Message, Omission, OmittedFile, Piece, Source
from jochi.write.ingesting.team import CopyResult, copy_source
from jochi.write.ingesting.writer import (
    KEPT,
    FileReport,
    IngestInterrupted,
    IngestResult,
    OmittedFiles,
    SourceReport,
    ingest,
)

__all__ = [
    "KEPT",
    "READERS",
    "CopyResult",
    "Fault",
    "FileReport",
    "IngestInterrupted",
    "IngestResult",
    "Message",
    "Omission",
    "OmittedFile",
    "OmittedFiles",
    "Piece",
    "Source",
    "SourceReport",
    "copy_source",
    "ingest",
    "read",
]

__getattr__ = old_names(__name__)
