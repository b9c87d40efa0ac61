"""What is stored beside a content, whoever writes it: one home for remember, import, models, learning, heartbeat and workers."""

from __future__ import annotations

from typing import Any

from jochi.text.content import content_hash
from jochi.text.private_data import private_kinds


def content_properties(content: str) -> dict[str, Any]:
    """`content_hash`, and `private_kinds` (a list of texts) where it shows any."""
    kinds = private_kinds(content)
    return {"content_hash": content_hash(content)} | ({"private_kinds": list(kinds)} if kinds else {})
