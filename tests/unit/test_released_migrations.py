"""Released migrations are frozen: databases have recorded what is in them (DESIGN §17)."""

from __future__ import annotations

from pathlib import Path

from jochi.database.statements import schema_folder
from jochi.schema.migrations.files import read_folder
from jochi.toml import tomllib
from jochi.version import __version__

RELEASES = Path(__file__).parents[1] / "released_migrations.toml"


def test_released_migrations_are_as_they_were_released() -> None:
    releases = tomllib.loads(RELEASES.read_text(encoding="utf-8"))
    released = {source: checksum for files in releases.values() for source, checksum in files.items()}
    found = {file.source: file.checksum for file in read_folder(schema_folder()).files}
    assert found == released, "a change of the schema is a new file, listed under the version that brings it"


def test_a_patch_release_brings_no_migration() -> None:
    """So that within a minor version one can go back (docs/how-to/upgrade.md)."""
    releases = tomllib.loads(RELEASES.read_text(encoding="utf-8"))
    assert all(version.endswith(".0") for version in releases)
    assert max(releases) <= __version__
