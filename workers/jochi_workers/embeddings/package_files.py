"""Weights that come in a Python package: found without importing it, and compared with what the model's name stands for."""

from __future__ import annotations

import hashlib
import importlib.util
import os
from pathlib import Path

from jochi_workers.embeddings.protocol import ProviderUnusable


def package_file(package: str, path: str, sha256: str, *, where: str, fix: str) -> Path:
    """A package's file. The package isn't imported: it may do more than we need. `ProviderUnusable` where the file is missing or
    another one."""
    spec = importlib.util.find_spec(package)
    places = [] if spec is None else list(spec.submodule_search_locations or [])
    file = next((Path(place, path) for place in places if Path(place, path).is_file()), None)
    if file is None:
        raise ProviderUnusable(f"the package {package} with {path} is not installed", where=where, fix=fix)
    if hashlib.sha256(file.read_bytes()).hexdigest() != sha256:
        raise ProviderUnusable(
            "the file is not the one this model's name stands for (its SHA-256 differs), so its vectors might not compare with "
            "those in the database",
            where=str(file),
            fix=f"{fix} --force-reinstall",
        )
    return file


def cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
