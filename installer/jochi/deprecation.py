"""Names that changed, under the ones that they had: an old one still works in this version, with a `DeprecationWarning`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

RENAMED: Mapping[str, Mapping[str, str]] = {
    "jochi.context": {"Rendered": "Rendering", "Written": "WriteResult"},
    "jochi.forgetting": {
        "Forgotten": "ForgetResult",
        "Imported": "ImportSummary",
        "Meant": "Candidate",
        "alone": "unambiguous",
    },
    "jochi.heartbeat": {
        "Claimed": "Claim",
        "Reported": "ReportResult",
        "Started": "SessionStart",
        "Synced": "SyncResult",
    },
    "jochi.mirror": {"News": "Changes", "Written": "WriteResult"},
    "jochi.write.enrolling": {"Enrolled": "EnrolResult", "Released": "DisenrolResult", "Troubles": "Problems"},
    "jochi.write.ingesting": {"Ingested": "IngestResult", "Taken": "CopyResult", "take": "copy_source"},
    "jochi.write.observing": {"Observed": "ObserveResult"},
    "jochi.write.remembering": {"Remembered": "RememberResult"},
    "jochi_workers.derive.compress": {"Compress": "CompressHandler"},
    "jochi_workers.derive.extract": {
        "Alike": "NameMatch",
        "Extracted": "ExtractionOutput",
        "alike": "match_names",
        "worth_keeping": "drop_weak",
    },
    "jochi_workers.derive.learn": {"Learned": "LearningOutput"},
    "jochi_workers.embeddings": {"Embedded": "TextVector"},
}
"""By module: old name and new name."""
METHODS: Mapping[str, str] = {
    "acted": "report_action",
    "boxed": "box_contents",
    "meant": "candidates",
    "planned": "plan_entries",
    "requests_again": "requests_of_export",
}
"""The same of methods of `jochi.Jochi`."""


def old_names(module: str) -> Callable[[str], Any]:
    """The `__getattr__` of a module some of whose names changed."""

    def find(name: str) -> Any:
        if name not in RENAMED[module]:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        new = RENAMED[module][name]
        warnings.warn(f"{module}.{name} is {module}.{new} now", DeprecationWarning, stacklevel=2)
        return getattr(import_module(module), new)

    return find


def old_method(owner: object, name: str) -> Any:
    """What `__getattr__` of the client finds."""
    if name not in METHODS:
        raise AttributeError(f"{type(owner).__name__!r} object has no attribute {name!r}")
    new = METHODS[name]
    warnings.warn(f"{type(owner).__name__}.{name} is {new} now", DeprecationWarning, stacklevel=3)
    return getattr(owner, new)
