"""The templates as files: their names and their hashes. Nothing is rendered here, so nothing that renders is imported."""

from __future__ import annotations

import hashlib
from pathlib import Path

from jochi.database.statements import procedures_folder

SUFFIX = ".cypher.j2"


def procedure_names(folder: Path | None = None) -> list[str]:
    """The names `<area>/<name>` and `derive/<derivation>/<name>` of all templates, sorted."""
    root = folder or procedures_folder()
    paths = [path.relative_to(root).as_posix() for path in root.glob(f"*/**/*{SUFFIX}")]
    return sorted(path.removesuffix(SUFFIX) for path in paths if not path.startswith("_"))


def shared_hash(root: Path) -> bytes:
    """A hash of all that a template may draw on."""
    paths = [*sorted((root / "_macros").rglob("*.j2")), *sorted((root / "_predicates").glob("*.j2"))]
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).digest()


def template_hash(file: Path, shared: bytes) -> str:
    """The hash of the template and of all it may draw on, so that a changed macro never looks like a changed database."""
    return hashlib.sha256(file.read_bytes() + shared).hexdigest()


def template_hashes(folder: Path | None = None) -> dict[str, str]:
    """`template_hash` of every template, by name."""
    root = folder or procedures_folder()
    shared = shared_hash(root)
    return {name: template_hash(root / f"{name}{SUFFIX}", shared) for name in procedure_names(root)}
