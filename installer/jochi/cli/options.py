"""What was given before the command: `jochi --uri … status`. Light: the help of the whole tree needs it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from jochi.policy import LoadedPolicy


@dataclass(frozen=True)
class Options:
    """What was given before the command: `jochi --uri … status`."""

    uri: str | None = None
    user: str | None = None
    password_file: Path | None = None
    database: str | None = None
    policy: Path | None = None

    def load_policy(self) -> LoadedPolicy | None:
        """The policy file that was named, if one was."""
        if self.policy is None:
            return None
        from jochi.policy import load_policy

        return load_policy(self.policy)


def options_of(context: typer.Context) -> Options:
    """The options given before the command."""
    found = context.find_object(Options)
    return found or Options()
