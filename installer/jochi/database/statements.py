"""Where the Cypher is: `schema/` and `procedures/` at the top of a checkout, the same folders inside an installed wheel."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jochi.errors import UsageError

_PACKAGE = Path(__file__).resolve().parent.parent
_CHECKOUT = _PACKAGE.parent.parent


def _folder(name: str) -> Path:
    packaged = _PACKAGE / "data" / name
    return packaged if packaged.is_dir() else _CHECKOUT / name


def schema_folder() -> Path:
    """The folder of the migration files `V0001__….cypher`."""
    return _folder("schema")


def procedures_folder() -> Path:
    """The folder of the procedures, one object a file, by area."""
    return _folder("procedures")


@cache
def statement(name: str) -> str:
    """The text of `procedures/<name>.cypher`, a statement that only a client runs and that needs no rendering.

    ``name`` is `<area>/<name>`. What the database itself runs is a template (`.cypher.j2`) and goes through
    `jochi.compile.rendering` instead.
    """
    path = procedures_folder() / f"{name}.cypher"
    if not path.is_file():
        raise UsageError(f"there is no statement {name!r}", where=str(path.parent))
    return path.read_text(encoding="utf-8")
