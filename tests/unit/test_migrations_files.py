"""Names, order and the files that only look like migrations."""

from __future__ import annotations

from pathlib import Path

import pytest

from jochi.database.statements import schema_folder
from jochi.errors import UsageError
from jochi.schema.migrations.files import compare_versions, left_out_because, read_folder
from jochi.schema.migrations.schema_objects import created_by


def write(folder: Path, *names: str, text: str = "RETURN 1;\n") -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return folder


@pytest.mark.parametrize(
    ("name", "version", "description", "repeatable"),
    [
        ("V0001__core.cypher", "0001", "core", False),
        ("V1_2_3__a_b.cypher", "1.2.3", "a b", False),
        ("V1.2.3__a b.cypher", "1.2.3", "a b", False),
        ("V1__2__x.cypher", "1", "2  x", False),
        ("V1___x.cypher", "1", " x", False),
        ("R0900__again.cypher", "0900", "again", True),
        ("sub/V7__deep.cypher", "7", "deep", False),
    ],
)
def test_a_name_says_version_and_description(
    tmp_path: Path, name: str, version: str, description: str, repeatable: bool
) -> None:
    found = read_folder(write(tmp_path, name))
    (file,) = found.files
    assert (file.version, file.description, file.repeatable) == (version, description, repeatable)
    assert file.source == Path(name).name
    assert found.warnings == ()


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("V0002__a-b.cypher", "hyphen"),
        ("V0002__héllo.cypher", "ASCII"),
        ("V0002_a.cypher", "two underscores"),
        ("v0002__a.cypher", "capital V"),
        ("V0002__a.cypher.j2", "stops at this name"),
        ("old_V0002__a.cypher", "stops at this name"),
        (".V0002__a.cypher.swp", "stops at this name"),
        ("V0002__a.CYPHER", "extension must be .cypher"),
        ("V0002__a.cql", "extension must be .cypher"),
        ("V0002__a", "extension must be .cypher"),
        ("V0002__a.xml", "catalog"),
        ("R__a.cypher", "version number must follow"),
        ("U0002__a.cypher", "no undo"),
        ("V1_2.3__a.cypher", "digits joined by _ or by ."),
        ("notes.cypher", "capital V"),
        ("afterMigrate.cypher", "callback"),
        ("beforeClean__x.cypher", "callback"),
        ("V2__old/V0002__a.cypher", "below a folder"),
    ],
)
def test_a_file_that_looks_like_a_migration_is_reported_and_left_out(tmp_path: Path, name: str, word: str) -> None:
    found = read_folder(write(tmp_path, "V0001__right.cypher", name))
    assert [file.source for file in found.files] == ["V0001__right.cypher"]
    (warning,) = found.warnings
    assert warning.startswith(name + ": ")
    assert word in warning


@pytest.mark.parametrize("name", ["README.md", "version.txt", "__init__.py", "Readme_first.txt", "V.txt"])
def test_other_files_are_nobodys_business(name: str) -> None:
    assert left_out_because(Path(name)) is None


@pytest.mark.parametrize(
    ("left", "right", "sign"),
    [
        ("0001", "0002", -1),
        ("2", "10", -1),
        ("1.16", "1.4", 1),
        ("1", "1.0", 0),
        ("1", "1.1", -1),
        ("1.1", "1", 1),
        ("0001", "1", 0),
        ("1.2.3", "1.2.3", 0),
    ],
)
def test_versions_compare_number_by_number(left: str, right: str, sign: int) -> None:
    assert compare_versions(left, right) == sign
    assert compare_versions(right, left) == -sign


def test_the_order_is_semantic_and_mixes_v_and_r(tmp_path: Path) -> None:
    names = ["V10__d.cypher", "R9__c.cypher", "V2__b.cypher", "V1_16__a.cypher", "V1_4__z.cypher"]
    found = read_folder(write(tmp_path, *names))
    assert [file.version for file in found.files] == ["1.4", "1.16", "2", "9", "10"]


@pytest.mark.parametrize(
    "other", ["V1__b.cypher", "R1__b.cypher", "V1_0__b.cypher", "sub/V1__a.cypher", "V01__b.cypher"]
)
def test_two_files_of_one_version_are_an_error(tmp_path: Path, other: str) -> None:
    write(tmp_path, "V1__a.cypher", other)
    with pytest.raises(UsageError, match="same version"):
        read_folder(tmp_path)


def test_no_folder_and_an_empty_one_are_errors(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such folder"):
        read_folder(tmp_path / "nowhere")
    with pytest.raises(UsageError, match="no migration") as caught:
        read_folder(write(tmp_path, "V1_a.cypher"))
    assert caught.value.fix is not None
    assert "V1_a.cypher" in caught.value.fix


def test_a_file_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    (tmp_path / "V1__a.cypher").write_bytes(b"RETURN '\xe9';\n")
    with pytest.raises(UsageError, match="not UTF-8") as caught:
        read_folder(tmp_path)
    assert caught.value.where == str(tmp_path / "V1__a.cypher")


def test_a_checkout_with_other_line_ends_is_recognised(tmp_path: Path) -> None:
    text = "// why\nRETURN 1;\nRETURN\n2;\n"
    unix = read_folder(write(tmp_path / "unix", "V1__a.cypher", text=text)).files[0]
    windows = read_folder(write(tmp_path / "dos", "V1__a.cypher", text=text.replace("\n", "\r\n"))).files[0]
    assert windows.checksum != unix.checksum
    assert windows.checksum_with_line_feeds == unix.checksum == unix.checksum_with_line_feeds


def test_the_objects_of_a_folder_are_read_from_its_statements(tmp_path: Path) -> None:
    text = (
        "// first\nCREATE CONSTRAINT a_key IF NOT EXISTS FOR (a:A) REQUIRE a.key IS UNIQUE;\n"
        "create range index b_two if not exists\nfor (b:B) on (b.x, b.y);\n"
        "CREATE INDEX t_at IF NOT EXISTS FOR ()-[t:T]-() ON (t.at);\n"
        "CREATE VECTOR INDEX v IF NOT EXISTS FOR (c:C) ON (c.e) OPTIONS {indexConfig: {`vector.dimensions`: 3}};\n"
        "MERGE (n:CreateIndex {x: 1});\n"
    )
    found = created_by(*read_folder(write(tmp_path, "V1__a.cypher", text=text)).files)
    assert [(o.is_constraint, o.name, o.label, o.properties) for o in found] == [
        (True, "a_key", "A", ("key",)),
        (False, "b_two", "B", ("x", "y")),
        (False, "t_at", "T", ("at",)),
        (False, "v", "C", ("e",)),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "CREATE INDEX FOR (b:B) ON (b.x);\n",
        "CREATE INDEX b FOR (b:B) ON (b.x);\n",
        "CREATE CONSTRAINT IF NOT EXISTS FOR (a:A) REQUIRE a.x IS UNIQUE;\n",
    ],
)
def test_an_object_without_a_name_can_not_be_taken_back(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError, match="plain name"):
        created_by(*read_folder(write(tmp_path, "V1__a.cypher", text=text)).files)


def test_every_statement_we_ship_creates_a_named_object() -> None:
    folder = read_folder(schema_folder())
    assert folder.warnings == ()
    assert [file.version for file in folder.files][:3] == ["0001", "0002", "0003"]
    assert len(created_by(*folder.files)) == sum(len(file.executable) for file in folder.files)
