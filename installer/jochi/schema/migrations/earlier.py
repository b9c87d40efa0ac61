"""Databases of before the first release: their migrations had other contents, and other numbers (`earlier.toml`).

They are no damage and no newer version: `apply` brings such a database to the schema of today. Its statements bear to be run again.
"""

from __future__ import annotations

from functools import cache

from jochi.schema.migrations.chain import Applied, Chain
from jochi.schema.migrations.files import Folder
from jochi.schema.migrations.schema_objects import SchemaObject
from jochi.toml import beside


def is_earlier(entry: Applied) -> bool:
    """Whether ``entry`` records a file as it was before the first release."""
    return entry.checksum in beside(__file__, "earlier.toml")["checksums"].get(entry.source, ())


def is_earlier_chain(folder: Folder, chain: Chain) -> bool:
    """Whether the chain is one of before the first release: each entry is as it was then or as it is now, and one isn't as now."""
    now = {(file.source, file.checksum) for file in folder.files}
    then = [entry for entry in chain.applied if (entry.source, entry.checksum) not in now]
    return bool(then) and all(map(is_earlier, then))


@cache
def earlier_objects() -> tuple[SchemaObject, ...]:
    """Constraints and indexes that only those databases have."""
    return tuple(
        SchemaObject(entry["is_constraint"], entry["name"], entry["label"], tuple(entry["properties"]))
        for entry in beside(__file__, "earlier.toml")["objects"]
    )
