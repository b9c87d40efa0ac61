"""Takes in raw sources: conversations, mails, threads, transcripts, notes (seed 002, Phase 0; docs/reference/ingesting.md)."""

from jochi.write.ingesting.source import Fault, Message, Piece, Source
from jochi.write.ingesting.writing import KEPT, Ingested, IngestInterrupted, ingest

__all__ = ["KEPT", "Fault", "IngestInterrupted", "Ingested", "Message", "Piece", "Source", "ingest"]
