"""The folders of this machine's user that Jochi keeps things in, outside any database."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs


def home_folder() -> Path:
    """The root of all local servers: `JOCHI_HOME`, or the user's data folder."""
    given = os.environ.get("JOCHI_HOME")
    return Path(given).expanduser().resolve() if given else platformdirs.user_data_path("jochi")


def cache_folder() -> Path:
    """The root of downloads: `JOCHI_CACHE`, or the user's cache folder."""
    given = os.environ.get("JOCHI_CACHE")
    return Path(given).expanduser().resolve() if given else platformdirs.user_cache_path("jochi")
