"""Raw sources: conversations, e-mail, Slack, transcripts, notes, read as messages (docs/reference/ingesting.md; seed 002, Phase 0).

`read` streams the messages of one file; `READERS` are the formats.
"""

from __future__ import annotations

from jochi.write.ingesting.readers import READERS, read
from jochi.write.ingesting.source import Fault, Message, Piece, Source

__all__ = ["READERS", "Fault", "Message", "Piece", "Source", "read"]
