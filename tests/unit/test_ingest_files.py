"""Files as other programs write them, each with what a reader is to make of it (`tests/ingest_files`)."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from jochi.toml import tomllib
from jochi.write.ingesting import Fault, Left, read

_MARK = ".expected.toml"
EXPECTED = sorted((Path(__file__).parent.parent / "ingest_files").glob(f"*/*{_MARK}"))


@pytest.mark.parametrize(
    "expected", EXPECTED, ids=[f"{path.parent.name}/{path.name[: -len(_MARK)]}" for path in EXPECTED]
)
def test_what_a_reader_makes_of_a_file(expected: Path) -> None:
    """Who said what and when, in which source; what is left out, by reason; what can't be read, by place; what is `nowhere`."""
    wanted = tomllib.loads(expected.read_text(encoding="utf-8"))
    sources: dict[tuple[str | None, ...], list[dict[str, Any]]] = {}
    formats, left, faults, words = set(), Counter[str](), list[str](), ""
    for piece in read(expected.with_name(expected.name[: -len(_MARK)])):
        if isinstance(piece, Fault):
            faults.append(piece.where)
        elif isinstance(piece, Left):
            left[piece.why] += 1
        else:
            source, message = piece
            formats.add(source.provenance["origin"])
            words += f"{message.text}\n{message.raw}\n"
            named = (source.id, source.source_type, source.title, source.context_type)
            sources.setdefault(named, []).append(
                {name: getattr(message, name) for name in ("id", "at", "sender", "text", "attachment")}
            )
    assert sources == {
        tuple(source.get(name) for name in ("id", "type", "title", "context")): [
            {
                "id": message.get("id"),
                "at": datetime.fromisoformat(message["at"]) if "at" in message else None,
                "sender": message.get("sender"),
                "text": message["text"],
                "attachment": message.get("attachment", False),
            }
            for message in source.get("message", [])
        ]
        for source in wanted.get("source", [])
    }
    assert (dict(left), faults) == (wanted.get("left", {}), wanted.get("faults", []))
    assert formats <= {wanted["format"]}
    assert [each for each in wanted.get("nowhere", []) if each in words] == []
