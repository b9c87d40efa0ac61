"""The tables of docs/reference/models.md, made from the models: `python docs/models.py docs/reference/models.md`."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from jochi_models import agents, facts, knowledge, personal, team
from jochi_models.common import CuratedFields
from jochi_models.properties import KeyProperty, Owned, TypedProperty
from jochi_models.relationships import RelationshipProperties, declared

BEGIN = "<!-- made from the models -->\n"
END = "<!-- end of what is made from the models -->\n"
MODULES = (team, knowledge, personal, facts, agents)


def kinds() -> list[Any]:
    """Every kind, in the order of the modules."""
    return [
        cls
        for module in MODULES
        for cls in vars(module).values()
        if inspect.isclass(cls) and cls.__module__ == module.__name__ and "__label__" in vars(cls)
    ]


def tables() -> str:
    """Common properties, then each kind with its own properties and its relationships."""
    common = _properties(CuratedFields)
    lines = ["## Every memory", "", *_table(common.values())]
    for module in MODULES:
        title = (inspect.getdoc(module) or "").splitlines()[0]
        lines += ["", f"## `jochi_models.{module.__name__.rpartition('.')[2]}`", "", title]
        for kind in (kind for kind in kinds() if kind.__module__ == module.__name__):
            lines += ["", f"### {kind.__name__}", "", " ".join((inspect.getdoc(kind) or "").split())]
            own = [made for name, made in kind.__all_properties__ if common.get(name) is not made]
            if own:
                lines += ["", *_table(own)]
            related = declared(kind)
            if related:
                lines += ["", "| relationship | as stored | meaning |", "|---|---|---|"]
                for name, link in related.items():
                    ends = (
                        (f"(:{link.target})", f"(:{kind.__name__})")
                        if link.incoming
                        else (f"(:{kind.__name__})", f"(:{link.target})")
                    )
                    held = f" `{link.properties.__name__}`" if link.properties else ""
                    lines.append(f"| `{name}` | `{ends[0]}-[:{link.type}]->{ends[1]}`{held} | {link.meaning} |")
    lines += ["", "## Properties of relationships"]
    for model in RelationshipProperties.__subclasses__():
        if model.__module__ == RelationshipProperties.__module__ and model.__bases__ == (RelationshipProperties,):
            lines += [
                "",
                f"### {model.__name__}",
                "",
                inspect.getdoc(model) or "",
                "",
                *_table(_properties(model).values()),
            ]
    return "\n".join(lines) + "\n"


def parts(page: str) -> tuple[str, str, str]:
    """What stands before the tables, the tables, and what stands after them."""
    before, _, rest = page.partition(BEGIN)
    table, _, after = rest.partition(END)
    return before, table, after


def _properties(cls: type) -> dict[str, TypedProperty[Any]]:
    return {name: made for name, made in vars(cls).items() if isinstance(made, TypedProperty)}


def _table(made: Iterable[TypedProperty[Any]]) -> list[str]:
    rows = ["| property | type | values | meaning |", "|---|---|---|---|"]
    for one in made:
        stored = f" (`{one.db_property}`)" if one.db_property else ""
        mark = "*engine* " if isinstance(one, Owned) else "*made* " if isinstance(one, KeyProperty) else ""
        rows.append(f"| `{one.name}`{stored} | {one.stored_type} | {one.allowed} | {mark}{one.meaning} |")
    return rows


def main(path: str) -> None:
    """Writes the tables into the page at ``path``."""
    page = Path(path)
    before, _, after = parts(page.read_text(encoding="utf-8"))
    page.write_text(before + BEGIN + tables() + END + after, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
