"""Named conditions on the graph around a memory: those that Jochi ships lie in `procedures/_predicates/`, one a file."""

from __future__ import annotations

from functools import cache

from jochi.database.statements import procedures_folder

_SUFFIX = ".cypher.j2"


@cache
def shipped_predicates() -> frozenset[str]:
    """Their names; a policy's own stand in its `[predicates]`."""
    return frozenset(
        path.name.removesuffix(_SUFFIX) for path in (procedures_folder() / "_predicates").glob(f"*{_SUFFIX}")
    )
