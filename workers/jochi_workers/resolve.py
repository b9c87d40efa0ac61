"""The handler that says which names may be one person's or thing's (seed 002, Entity Resolution; docs/reference/extraction.md).

It merges nothing: what it finds is shown to a person, as pairs of `jochi duplicates`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jochi_workers.derive.extract.names import canonical_name, match_names, ready, search_terms
from jochi_workers.handler import Outcome, Row, one_by_one


class ResolveHandler:
    """Compares each name that is leased with its candidates. `JochiError` without the extra [language]."""

    name: str = "resolve"
    exact = False

    def __init__(self, *, stopping: Callable[[], bool] = lambda: False) -> None:
        ready()
        self._stopping = stopping

    def handle(self, rows: Sequence[Row]) -> Outcome:
        return one_by_one(rows, _values, self._stopping)


def _values(row: Row) -> dict[str, Any]:
    """What `derive/resolve/store` gets. A name looks for others once it can be found itself: so of two that are new at once the
    later one finds the other."""
    terms = search_terms(row["name"], row["kind"], row["scope"])
    if terms != row["terms"]:
        return {"terms": terms, "other_terms": True, "pairs": [], "gone": [], "again": []}
    candidates = row["candidates"]
    found = [_pair(row, candidate) for candidate in candidates]
    pairs = sorted((pair for pair in found if pair is not None), key=lambda pair: (-pair["score"], pair["key"]))
    paired = {pair["key"] for pair in pairs}
    return {
        "terms": terms,
        "other_terms": False,
        "pairs": pairs,
        "gone": [each["key"] for each in candidates if each["flagged"] and each["key"] not in paired],
        # Somebody else has the name that stood alone, too.
        "again": [each["key"] for each in candidates if len(each["full_names"] or ()) > 1],
    }


def _pair(row: Row, candidate: Mapping[str, Any]) -> dict[str, Any] | None:
    one, other, kind = row["name"], candidate["name"], row["kind"]
    reason: str
    found = match_names(one, other, kind, candidate["cosine"])
    if found is not None:
        reason, score = found
    elif canonical_name(one, kind) == canonical_name(other, kind) != "":
        reason, score = "same", 1.0
    else:
        return None
    if reason in ("part", "meaning") and not (_is_the_one(row, candidate) and _is_the_one(candidate, row)):
        return None
    return {"key": candidate["key"], "content_hash": candidate["content_hash"], "reason": reason, "score": score}


def _is_the_one(single: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Of a person known by one name alone whether `other`, if known by several, is the only one who has it, and nobody has said
    whose it is. True of all others."""
    if single["full_names"] is None or other["full_names"] is not None:
        return True
    return not single["decided"] and single["full_names"] == [other["key"]]
