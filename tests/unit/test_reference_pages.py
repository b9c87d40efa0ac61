"""The pages of the reference that are made from the code: what isn't told there fails the build (docs/generate.py)."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from jochi.policy.parts import Part, Share

SCRIPT = Path(__file__).parents[2] / "docs/generate.py"
HEAD = """// Kind: call
// Counts (seed 000, Option B; DESIGN §4).
// Parameters: $in.a list of {b, c}, $in.d.
// Returns n.
RETURN 1 AS n
"""


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_generate", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "area").mkdir()
    (tmp_path / "area/count.cypher.j2").write_text(HEAD, encoding="utf-8")
    return tmp_path


def test_a_procedure_is_told_part_by_part(generate: ModuleType, folder: Path) -> None:
    page = generate.procedures(folder)
    told = page.partition("### area/count\n\n")[2]
    assert told.splitlines()[:10] == [
        "Counts.",
        "",
        "**Parameters**:",
        "",
        "- `$in.a` list of {b, c}",
        "- `$in.d`",
        "",
        "**Returns** n.",
        "",
        "Source: seed 000, Option B.",
    ]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("// Kind: call\n", "its first line says no kind"),
        ("// Counts (seed 000, Option B; DESIGN §4).\n", "doesn't say what it does"),
        ("// Parameters: $in.a list of {b, c}, $in.d.\n", "doesn't say its parameters"),
        ("// Returns n.\n", "doesn't say what it returns"),
    ],
)
def test_a_template_whose_head_lacks_a_part_fails(generate: ModuleType, folder: Path, line: str, said: str) -> None:
    (folder / "area/count.cypher.j2").write_text(HEAD.replace(line, ""), encoding="utf-8")
    with pytest.raises(generate.Untold, match=f"area/count: .*{said}"):
        generate.procedures(folder)


def test_each_field_of_the_policy_has_its_type_its_shipped_value_and_its_meaning(generate: ModuleType) -> None:
    page = generate.policy()
    assert "| `confident_belief` | number, 0 to 1 | `0.9` | An active Belief of this confidence or more" in page
    assert "| `tombstone_ttl` | duration | `30d` |" in page
    assert "Source: seed 000, Option B." in page.partition("| `tombstone_ttl` |")[2].partition("\n")[0]
    assert "| `targets` | table of whole number, 1 to 1,000,000 | `Fact` 100, `Note` 100," in page


class Untold(Part):
    """A table."""

    share: Share


class Told(Part):
    """A table."""

    share: Share
    """A share."""


class OfTold(Part):
    told: Told
    """What it says."""


class OfUntoldField(Part):
    untold: Untold
    """What it says."""


class OfUntoldTable(Part):
    told: Told


def test_a_field_or_table_without_a_description_fails(generate: ModuleType) -> None:
    assert "| `share` | number, 0 to 1 | must be given | A share. |" in generate.policy(OfTold)
    with pytest.raises(generate.Untold, match=r"untold\.share: it has no description"):
        generate.policy(OfUntoldField)
    with pytest.raises(generate.Untold, match=r"told: it has no description"):
        generate.policy(OfUntoldTable)


def test_commands_of_commands_are_there(generate: ModuleType) -> None:
    page = generate.command_line()
    assert "### `jochi plan exclude`" in page
    assert "--install-completion" not in page


def test_each_metric_says_what_it_is_and_where_it_comes_from(generate: ModuleType) -> None:
    page = generate.metrics()
    rows = [line.split(" | ") for line in page.splitlines() if line.startswith("| `jochi_")]
    assert len({row[0] for row in rows}) == len(rows) > 50
    assert all(len(row) == 5 and all(cell.strip(" |") for cell in (row[1], row[3], row[4])) for row in rows)


def test_each_property_says_who_writes_it(generate: ModuleType) -> None:
    app, _, engine = generate.properties().partition("## Written by the engine")
    assert "| `expires_at` | zoned datetime |" in app
    assert "| `next_due` | zoned datetime | the due queue |" in engine
