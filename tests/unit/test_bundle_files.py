"""What `jochi bundle` writes, without a server: whatever a policy says, tools find the same statements in the files."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tally import examples
from typer.testing import CliRunner

from jochi.cli.app import app
from jochi.compile.quoting import readable
from jochi.errors import UsageError
from jochi.install.bundle import Bundle, Part, bundle, filled, migration_files, plain_files, target_facts
from jochi.install.changelog import changelog_files
from jochi.policy import load_policy
from jochi.schema.migrations import file_text
from jochi.schema.migrations.files import left_out_because

HOSTILE = (
    'it\'s "both" \\ and \\u0027 and \\',
    "end;\nMATCH (n) DETACH DELETE n;\r\nend;",
    ":use system\n// assert that edition is enterprise\n// assume that x\n${nm:password} $name $in.clock",
    "`tick` */ /* // no comment \u2028 \x00 \t ' ;",
    "Zürich 東京 🙂",
)

PIECES = ("'", '"', "\\", ";", "\n", "u0027", ":use x", "//", " assert that ", "${nm:x}", "${a}", "a")


@pytest.fixture(scope="module")
def made() -> Bundle:
    return bundle(load_policy(), target_facts("2026"))


_TOKEN = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|//[^\n]*|;""", re.DOTALL)


def _shell_statements(text: str) -> int:
    """How many statements cypher-shell finds: a `;` outside of quotes and comments ends one."""
    return sum(found[0] == ";" for found in _TOKEN.finditer(text))


def _value(literal: str) -> str:
    """What Cypher reads: escapes of four digits, and a backslash before what it stands for."""
    return re.sub(r"\\(?:u([0-9a-f]{4})|(.))", lambda m: chr(int(m[1], 16)) if m[1] else m[2], literal[1:-1])


@settings(max_examples=examples(60, 1000))
@given(st.one_of(st.sampled_from(HOSTILE), st.text(), st.lists(st.sampled_from(PIECES)).map("".join)))
def test_a_text_is_one_literal_to_every_reader(text: str) -> None:
    literal = readable(text)
    assert _value(literal).encode("utf-16", "surrogatepass").decode("utf-16") == text
    file = f"// head\n\nRETURN {literal} AS text;\n\nRETURN 1;\n"
    assert _shell_statements(file) == 2
    parts = file_text.statements(file)
    assert len(parts) == 2
    assert "${" not in literal
    file_text.check(parts, "file")
    assert file_text.fill(parts[0], {}, "file") == parts[0]


def test_every_file_says_what_it_is_and_ends_each_statement(made: Bundle) -> None:
    parts = {part.name: part for part in (*made.install, *made.uninstall)}
    for name, text in plain_files(made).items():
        head, _, body = text.partition("\n\n")
        assert head.startswith(f"// {name}: ")
        assert made.policy.label in head
        assert "run it again" in head
        assert hashlib.sha256(f"\n{body}".encode()).hexdigest() in head
        count = len(parts[name].statements)
        assert (_shell_statements(text), len(file_text.executable(file_text.statements(text)))) == (count, count)


def test_a_folder_of_neo4j_migrations_is_one_to_jochi_too(made: Bundle) -> None:
    files = migration_files(made)
    indexes, engine = (files[f"afterMigrate__{name}"] for name in ("01_schema.cypher", "02_engine.cypher"))
    assert "INDEX" in indexes
    assert "awaitIndexes" not in indexes, "it would wait for its own transaction"
    assert "awaitIndexes" in engine
    for name in files:
        why = left_out_because(Path(name))
        assert why is None or why == "not run: a callback of neo4j-migrations"


_IN = {"": "http://www.liquibase.org/xml/ns/dbchangelog", "neo4j": "http://www.liquibase.org/xml/ns/dbchangelog-ext"}


def test_a_changelog_has_every_statement_and_its_way_back(made: Bundle) -> None:
    hostile = Part("02_engine.cypher", "a & b <c>", (*made.install[1].statements, 'RETURN "]]> & ]]]]><x/>"'))
    odd = replace(made, install=(made.install[0], hostile, made.install[2]))
    root = ElementTree.fromstring(changelog_files(odd)["changelog.xml"])
    sets = root.findall("changeSet", _IN)
    assert [each.get("id") for each in sets] == [
        *("tag", "bookkeeping", "V0001__curated_memories", "V0002__engine", "V0003__audit", "indexes", "engine", "arm")
    ]
    assert {each.get("runInTransaction") for each in sets} == {"false"}
    assert [each.get("id") for each in sets if not each.get("runOnChange")] == [
        "tag",
        *(f.path.stem for f in odd.migrations),
    ]
    texts = [part for each in sets for part in each.findall("neo4j:cypher", _IN)]
    back = [part for each in sets for part in each.findall("rollback/neo4j:cypher", _IN)]
    for part in (*texts, *back):
        assert part.attrib == {"splitStatements": "false", "stripComments": "false"}
    written = [re.sub(r"^// Arms the engine \w{64}\n", "", part.text or "") for part in texts]
    assert sorted(written) == sorted(text for part in odd.install for text in part.statements)
    disarm = next(text for text in odd.uninstall[0].statements if "apoc.periodic.cancel" in text)
    assert sorted(part.text or "" for part in back) == sorted(
        [disarm, *(text for part in odd.uninstall for text in part.statements)]
    )


def test_a_parameter_without_value_is_a_defect() -> None:
    assert (
        filled("// $not this\nRETURN $a.b + $in.c.year", {"a": {"b": 1}, "c": None})
        == "// $not this\nRETURN 1 + null.year"
    )
    with pytest.raises(ValueError, match=r"\$b"):
        filled("RETURN $b", {})


@pytest.mark.parametrize("release", ["4.4", "5", "newest", "2024", "5.25"])
def test_a_release_that_is_none_is_refused(release: str) -> None:
    with pytest.raises(UsageError, match="too old"):
        target_facts(release)


def test_the_command_asks_no_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JOCHI_URI", "bolt://127.0.0.1:1")
    done = CliRunner().invoke(
        app, ["--database", "graph", "bundle", str(tmp_path / "new"), "--for", "5.26", "--no-apoc"]
    )
    assert done.exit_code == 0, done.output
    files = sorted(path.name for path in (tmp_path / "new").iterdir())
    assert "02_engine.cypher" in files
    assert "03_arm.cypher" not in files
    assert "'jochi.pump.graph'" in (tmp_path / "new" / "02_engine.cypher").read_text(encoding="utf-8")
