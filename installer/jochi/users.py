"""Who is at the keyboard, for records."""

from __future__ import annotations

import getpass


def operating_system_user() -> str:
    """Who runs this process, `unknown` where the system has no name for it (containers)."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "unknown"
