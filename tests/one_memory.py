"""One memory, remembered as an application does it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from jochi import Jochi


def remember_one(
    client: Jochi,
    kind: str,
    id: str,
    content: str,
    *,
    scope: str,
    at: datetime,
    relationships: Sequence[dict[str, Any]] = (),
    **properties: Any,
) -> None:
    """At that moment; refused is an error."""
    row = {"kind": kind, "scope": scope, "id": id, "content": content, "properties": properties}
    row["relationships"] = list(relationships)
    assert client.remember([row], now=at, on_refused="raise").written == 1
