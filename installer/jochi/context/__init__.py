"""MEMORY.md, the bounded context of a scope, and what people write into it (seed 001, docs/reference/memory-file.md).

Everything between a manifest, which the database chooses, and a file. Nothing here speaks with a server.
"""

from jochi.context.edits import Edits, edits
from jochi.context.manifest import Entry, Manifest, Section
from jochi.context.migration import Report, Segment, migrate, read_memories
from jochi.context.rendering import Rendered, as_json, as_prompt, render
from jochi.context.state import State
from jochi.context.writing import Store, Written, write_context

__all__ = [
    "Edits",
    "Entry",
    "Manifest",
    "Rendered",
    "Report",
    "Section",
    "Segment",
    "State",
    "Store",
    "Written",
    "as_json",
    "as_prompt",
    "edits",
    "migrate",
    "read_memories",
    "render",
    "write_context",
]
