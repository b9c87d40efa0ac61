"""Parts of docs/reference that tests compute. Each stands between `<!-- name -->` and `<!-- end name -->`.

`JOCHI_WRITE_DOCS=1` writes the page anew instead of comparing it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

REFERENCE = Path(__file__).parents[1] / "docs/reference"


def says(page: str, parts: Mapping[str, str]) -> None:
    """The page has these parts, word for word."""
    path = REFERENCE / page
    wanted = page_of(parts, path.read_text(encoding="utf-8"))
    if os.environ.get("JOCHI_WRITE_DOCS"):
        path.write_text(wanted, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == wanted, "JOCHI_WRITE_DOCS=1 writes the page anew"


def page_of(parts: Mapping[str, str], text: str) -> str:
    """The page with what stands between `<!-- name -->` and `<!-- end name -->` replaced."""
    for name, part in parts.items():
        head, _, rest = text.partition(f"<!-- {name} -->\n")
        _, found, tail = rest.partition(f"<!-- end {name} -->")
        assert found, name
        text = f"{head}<!-- {name} -->\n{part}<!-- end {name} -->{tail}"
    return text


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """In Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join("|" + "|".join(f" {cell} " if cell != "---" else "---" for cell in line) + "|\n" for line in lines)
