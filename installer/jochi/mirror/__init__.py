"""A folder of Markdown files that says what the memories of a scope say, and takes in what people write there.

Everything between memories as the database hands them out and files (seed 003, Write Path; docs/reference/mirror.md). Nothing here
speaks with a server.
"""

from jochi.mirror.document import Document
from jochi.mirror.kinds import BY_LABEL, LABELS, NAMES, PARTS, Memory, Part
from jochi.mirror.writing import Difference, News, Pages, Source, Written, check_mirror, write_mirror

__all__ = [
    "BY_LABEL",
    "LABELS",
    "NAMES",
    "PARTS",
    "Difference",
    "Document",
    "Memory",
    "News",
    "Pages",
    "Part",
    "Source",
    "Written",
    "check_mirror",
    "write_mirror",
]
