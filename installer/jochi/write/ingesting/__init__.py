"""Raw sources: conversations, e-mail, Slack, transcripts, notes, as they come (docs/reference/ingesting.md; seed 002, Phase 0).

`read` streams the messages of one file (`READERS` are the formats), `ingest` writes them.
"""

from __future__ import annotations

from jochi.write.ingesting.readers import READERS, read
from jochi.write.ingesting.source import Fault, Message, Piece, Source
from jochi.write.ingesting.team import Taken, take
from jochi.write.ingesting.writing import KEPT, Ingested, IngestInterrupted, ingest

__all__ = [
    "KEPT",
    "READERS",
    "Fault",
    "IngestInterrupted",
    "Ingested",
    "Message",
    "Piece",
    "Source",
    "Taken",
    "ingest",
    "read",
    "take",
]
