"""What a text says, read on this machine by libraries: no model is asked, nothing is fetched (extra [language]).

`read(text)` gives one `Reading`. Importing this package imports no library; reading does (docs/reference/language.md).
"""

from __future__ import annotations

from jochi_workers.language.reader import forget_readings, read, read_all
from jochi_workers.language.reading import Entity, Moment, Personal, Reading, Reference, Span, Statement

__all__ = [
    "Entity",
    "Moment",
    "Personal",
    "Reading",
    "Reference",
    "Span",
    "Statement",
    "forget_readings",
    "read",
    "read_all",
]
