"""The tables of a page, as a reader of its source finds them."""

from __future__ import annotations

from html.parser import HTMLParser

Tables = dict[str, list[list[str]]]


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tables: Tables = {}
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self._caption: list[str] | None = None
        self._rows: list[list[str]] = []
        self._cell: list[str] | None = None
        self._name = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "table":
            self._rows = []
        elif tag == "caption":
            self._caption = []
        elif tag == "tr":
            self._rows.append([])
        elif tag in ("td", "th"):
            self._cell = []

    def handle_endtag(self, tag: str) -> None:
        if tag == "caption":
            self._name = "".join(self._caption or ())
            self._caption = None
        elif tag in ("td", "th") and self._cell is not None:
            self._rows[-1].append("".join(self._cell).strip())
            self._cell = None
        elif tag == "table":
            self.tables[self._name] = self._rows

    def handle_data(self, data: str) -> None:
        self.text.append(data)
        if self._caption is not None:
            self._caption.append(data)
        if self._cell is not None:
            self._cell.append(data)


def parse(page: str) -> _Parser:
    """Tables by caption (rows of cells, the heads too), tags with their attributes, and all text."""
    parser = _Parser()
    parser.feed(page)
    parser.close()
    return parser
