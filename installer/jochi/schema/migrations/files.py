"""Which files of a folder are migrations, in which order, and which only look like it.

The contract is neo4j-migrations' `MigrationVersion` and `ResourceDiscoverer`. That tool leaves misnamed files out
without a word (or stops at them); here each of them is reported.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from functools import cached_property, cmp_to_key
from pathlib import Path

from jochi.errors import UsageError
from jochi.schema.migrations import file_text

_NAME = re.compile(
    r"(?P<type>[VR])(?P<version>\d+(?:_\d+)*|\d+(?:\.\d+)*)__(?P<name>[\w ]+)(?:\.(?P<ext>\w+))?", re.ASCII
)
_LOOKS_LIKE_ONE = re.compile(r"[VRU]\d*[\d._-]*_\w", re.IGNORECASE)
_CYPHER_LIKE = {"cypher", "cyp", "cql", "cqlsh"}
_CALLBACKS = re.compile(r"(?:beforeFirstUse|(?:before|after)(?:Migrate|Clean|Validate|Info))(?:__.+)?\.cypher")


@dataclass(frozen=True)
class MigrationFile:
    """One migration file: its path and text, and what its name says."""

    path: Path
    text: str = field(repr=False)
    version: str
    description: str
    repeatable: bool

    @property
    def source(self) -> str:
        """The file's name without its folder, as it is recorded in the chain."""
        return self.path.name

    @cached_property
    def statements(self) -> list[str]:
        """All statements, comment-only ones too: what the checksum covers."""
        return file_text.statements(self.text)

    @cached_property
    def checksum(self) -> str:
        """The checksum as neo4j-migrations takes it."""
        return file_text.checksum(self.statements)

    @cached_property
    def checksum_with_line_feeds(self) -> str:
        """The checksum this file would have with Unix line ends: a checkout may have changed nothing but those."""
        return file_text.checksum(file_text.statements(re.sub(r"\r\n|\r", "\n", self.text)))

    @property
    def executable(self) -> list[str]:
        """The statements that go to the server, placeholders not yet filled."""
        return file_text.executable(self.statements)


@dataclass(frozen=True)
class Folder:
    """What a folder of migrations holds: the migrations in order, and a warning for each file that is left out."""

    path: Path
    files: tuple[MigrationFile, ...]
    warnings: tuple[str, ...]


def read_folder(path: Path) -> Folder:
    """Reads all migrations below ``path`` (subfolders too, links followed).

    Raises `UsageError` if there is no such folder, if it holds no migration, if two files claim one version, or if a
    file is not UTF-8 or uses what Jochi does not support (see `content.check`).
    """
    if not path.is_dir():
        raise UsageError("there is no such folder of migrations", where=str(path), fix="reinstall jochi")
    files: list[MigrationFile] = []
    warnings: list[str] = []
    for file in _all_files(path):
        relative = file.relative_to(path)
        problem = left_out_because(relative)
        if problem is not None:
            warnings.append(f"{relative.as_posix()}: {problem}")
        elif _NAME.fullmatch(file.name):
            files.append(_read(file))
    if not files:
        raise UsageError(
            "there is no migration in this folder",
            where=str(path),
            fix="migrations are named V0001__what_it_does.cypher" + "".join(f"\n  left out: {w}" for w in warnings),
        )
    return Folder(path, tuple(in_order(files)), tuple(warnings))


def _all_files(path: Path) -> list[Path]:
    found = [Path(folder) / name for folder, _, names in os.walk(path, followlinks=True) for name in names]
    return sorted(found)


def left_out_because(relative: Path) -> str | None:
    """Why the file at ``relative`` (below the folder of migrations) is no migration though somebody may think so.

    None for a migration, and for a file that has nothing to do with migrations.
    """
    name = relative.name
    exact = _NAME.fullmatch(name)
    extension = name.rpartition(".")[2] if "." in name else ""
    if exact and exact["ext"] == "cypher":
        for folder in relative.parts[:-1]:
            if _NAME.search(folder):
                return f"left out, because neo4j-migrations skips everything below a folder named like {folder!r}"
        return None
    if exact and extension == "xml":
        return "left out: a catalog, which neo4j-migrations would apply and Jochi can't"
    if _CALLBACKS.fullmatch(name):
        return "not run: a callback of neo4j-migrations"
    found = _NAME.search(name)
    if found and found["ext"] == "cypher":
        return "left out, and neo4j-migrations stops at this name: nothing may stand before the V or after `.cypher`"
    if extension.lower() in _CYPHER_LIKE or _LOOKS_LIKE_ONE.match(name):
        return f"left out: {_what_is_wrong(name)}; a migration is named like V0004__what_it_does.cypher"
    return None


def _what_is_wrong(name: str) -> str:
    stem, _, extension = name.rpartition(".")
    if not stem:
        stem, extension = name, ""
    if name[:1] in "Uu" and _LOOKS_LIKE_ONE.match(name):
        return "there are no undo migrations"
    if name[:1] not in "VR":
        return "the name must begin with a capital V (or R) and a version"
    if not re.match(r"[VR]\d", name):
        return "a version number must follow the first letter (a repeatable migration has one too)"
    if not re.match(r"[VR][\d_.]+?__", name):
        return "two underscores must stand between the version and the name"
    if extension != "cypher":
        return "the extension must be .cypher" + (f", not .{extension}" if extension else "")
    if "-" in stem:
        return "a hyphen is not allowed"
    return "the version takes digits joined by _ or by ., the name ASCII letters, digits, underscores and spaces"


def _read(path: Path) -> MigrationFile:
    name = _NAME.fullmatch(path.name)
    assert name is not None
    try:
        # Bytes, not read_text: that would change line ends, and with them the checksum.
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"the file is not UTF-8 (byte {error.start})", where=str(path), fix="save it as UTF-8"
        ) from None
    if text.startswith("\ufeff"):
        raise UsageError(
            "the file begins with a byte order mark, which the server and neo4j-migrations take for a part of its first statement",
            where=str(path),
            fix="save it as UTF-8 without BOM",
        )
    file = MigrationFile(
        path=path,
        text=text,
        version=name["version"].replace("_", "."),
        description=name["name"].replace("_", " "),
        repeatable=name["type"] == "R",
    )
    file_text.check(file.statements, str(path))
    return file


def compare_versions(left: str, right: str) -> int:
    """Below, at or above zero as ``left`` comes before, with or after ``right``: number by number, `1` with `1.0`."""
    a = [int(part) for part in left.split(".")]
    b = [int(part) for part in right.split(".")]
    for x, y in zip(a, b, strict=False):
        if x != y:
            return -1 if x < y else 1
    if len(a) < len(b):
        return 0 if b[len(a)] == 0 else -1
    if len(a) > len(b):
        return 0 if a[len(b)] == 0 else 1
    return 0


def in_order(files: list[MigrationFile]) -> list[MigrationFile]:
    """``files`` by version. Raises `UsageError` if two have one place in the order (V and R share the numbers)."""
    for index, file in enumerate(files):
        for other in files[index + 1 :]:
            if compare_versions(file.version, other.version) == 0:
                raise UsageError(
                    f"two migrations have the same version: {file.source} ({file.version}) and "
                    f"{other.source} ({other.version})",
                    where=str(file.path.parent),
                    fix="remove or rename one of them; only one that was never applied may be renamed",
                )

    def by_version(left: MigrationFile, right: MigrationFile) -> int:
        return compare_versions(left.version, right.version)

    return sorted(files, key=cmp_to_key(by_version))
