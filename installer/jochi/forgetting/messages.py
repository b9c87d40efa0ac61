"""Messages of sources that are forgotten: their lists lose the same places, and each is sealed by what it is known by, so that
neither an edited export nor a longer one brings it back (docs/reference/ingesting.md)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from jochi.forgetting.checker import Seal, Sealer
from jochi.text.messages import KNOWN_BY, first_part, of_one_message, versions

RAW = "raw_content"
_NEXT = re.compile(r"\n(?!  )")
"""Where the next message begins."""

ALONG = ("message_ids", "message_versions")
"""The lists of a source that have an item for each of its raw content."""


def find_messages(stored: Mapping[str, Any], says: Callable[[str], bool]) -> list[int]:
    """The places of messages of which any text says it; none where the lists don't go together."""
    raw, ids = stored.get(RAW), stored.get("message_ids")
    if not (isinstance(raw, list) and isinstance(ids, list) and len(raw) == len(ids)):
        return []
    known = versions(ids, stored.get("message_versions"))
    return sorted({at for place, text in enumerate(raw) if says(text) for at in of_one_message(known, place)})


def remove_messages(stored: Mapping[str, Any], gone: list[int]) -> dict[str, list[str]]:
    """Of each list what stays without these places."""
    lists = {name: stored[name] for name in (RAW, *ALONG) if isinstance(stored.get(name), list)}
    return {name: [each for at, each in enumerate(items) if at not in gone] for name, items in lists.items()}


def remove_from_text(text: str, says: Callable[[str], bool]) -> str | None:
    """The text of a source without the messages that say it: as in its raw content, each goes as a whole. Further lines of one are
    indented (`jochi.write.ingesting.writer.line_of`). None where it is said across messages."""
    left = "\n".join(each for each in _NEXT.split(text) if not says(each))
    return None if says(left) else left.strip()


def seals_of(
    sealer: Sealer, key: str, stored: Mapping[str, Any], places: list[int] | None, of: str | None = None
) -> Iterator[Seal]:
    """Of the messages at ``places`` of a source or a part of one; None: of all, and of whatever else may come of the source.
    ``of``: what they are lifted with, else the key of the source."""
    ids = stored.get("message_ids")
    if not isinstance(ids, list):
        return
    source, known = first_part(key), versions(ids, stored.get("message_versions"))
    of = of or sealer.key_only(source).hash
    for at in range(len(ids)) if places is None else places:
        ambiguous = len(of_one_message(known, at)) > 1 or sum(one.identity == known[at].identity for one in known) == 1
        for name in {ids[at], known[at].identity} if ambiguous else {ids[at]}:
            yield replace(sealer.message(source, name), of=of)
    if places is None and source == key:
        yield sealer.key_only(source)
        firsts = [id for id, version in zip(ids, known, strict=True) if not version.edit][:KNOWN_BY]
        yield from (replace(sealer.source(source, second), of=of) for second in firsts[1:] or [None])
