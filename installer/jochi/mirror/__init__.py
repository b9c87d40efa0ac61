"""A folder of Markdown files that says what the memories of a scope say, and takes in what people write there.

Everything between memories as the database hands them out and files (seed 003, Write Path; docs/reference/mirror.md). Nothing here
speaks with a server.
"""

from jochi.deprecation import old_names
from jochi.mirror.document import Document
from jochi.mirror.kinds import BY_LABEL, LABELS, NAMES, PARTS, Memory, Part
from jochi.mirror.writer import Changes, Difference, Pages, Source, WriteResult, check_mirror, write_mirror

__all__ = [
    "BY_LABEL",
    "LABELS",
    "NAMES",
    "PARTS",
    "Changes",
    "Difference",
    "Document",
    "Memory",
    "Pages",
    "Part",
    "Source",
    "WriteResult",
    "check_mirror",
    "write_mirror",
]

__getattr__ = old_names(__name__)
