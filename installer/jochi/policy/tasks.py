"""What the statuses of tasks are called by Jochi, and what goes by their meaning (`[context.task_statuses]`)."""

from __future__ import annotations

import re
from typing import Literal, get_args

TaskStatus = Literal["pending", "in_progress", "blocked", "completed", "failed", "cancelled"]
UNKNOWN = "unknown"
"""What a word means that the policy doesn't know."""


def normal_status(word: str) -> str:
    """A status without its case and its separators, as `task_status` of procedures/_macros/values/task_status.j2 has it."""
    return re.sub("[ _-]", "", word).lower()


def of_task_status(kind: str | None, property: str) -> bool:
    """Whether it is the status of a Task that is compared."""
    return (kind, property) == ("Task", "status")


def means_statuses(value: object) -> bool:
    """Whether what is compared with are statuses, and no words of the policy's author."""
    words = value if isinstance(value, tuple) else (value,)
    return set(words) <= {*get_args(TaskStatus), UNKNOWN}
