"""Remembers memories through the procedure `memory/remember`, in batches (docs/reference/remember.md)."""

from jochi.deprecation import old_names
from jochi.write.remembering.memory import Link, Memory
from jochi.write.remembering.results import LinkResult, RememberResult, Result
from jochi.write.remembering.rows import Unreadable
from jochi.write.remembering.sending import BATCH_SIZE, TRIES, RememberInterrupted, SomeRefused, remember

__all__ = [
    "BATCH_SIZE",
    "TRIES",
    "Link",
    "LinkResult",
    "Memory",
    "RememberInterrupted",
    "RememberResult",
    "Result",
    "SomeRefused",
    "Unreadable",
    "remember",
]

__getattr__ = old_names(__name__)
