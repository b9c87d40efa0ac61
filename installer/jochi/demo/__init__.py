"""The demonstration: months of memories replayed in minutes, then runs that the database makes on its own.

`run_demo` does the work and returns a `Story`; `jochi.demo.report` makes a page of it, `jochi.cli.demo` prints it.
"""

from __future__ import annotations

from jochi.demo.run import INSTANCE, REPLAY_JOBS, Demo, run_demo
from jochi.demo.source import Source, file_source, generated_source
from jochi.demo.story import Story
from jochi.localserver.report import Report as Watcher

__all__ = [
    "INSTANCE",
    "REPLAY_JOBS",
    "Demo",
    "Source",
    "Story",
    "Watcher",
    "file_source",
    "generated_source",
    "run_demo",
]
