"""MEMORY.md, the bounded context of a scope, and what people write into it (seed 001, docs/reference/memory-file.md).

Everything between a manifest, which the database chooses, and a file. Nothing here speaks with a server.
"""

from jochi.context.edits import Edits, edits
from jochi.context.layout import is_ours
from jochi.context.manifest import Entry, Manifest, Section
from jochi.context.migration import Report, Segment, migrate, read_memories
from jochi.context.rendering import Rendering, as_json, as_prompt, render
from jochi.context.state import State
from jochi.context.writer import Store, WriteResult, write_context
from jochi.deprecation import old_names

__all__ = [
    "Edits",
    "Entry",
    "Manifest",
    "Rendering",
    "Report",
    "Section",
    "Segment",
    "State",
    "Store",
    "WriteResult",
    "as_json",
    "as_prompt",
    "edits",
    "is_ours",
    "migrate",
    "read_memories",
    "render",
    "write_context",
]

__getattr__ = old_names(__name__)
