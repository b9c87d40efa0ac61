"""Statements and checksums against neo4j-migrations' own constants and against a slow, separately written oracle."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jochi.database.statements import schema_folder
from jochi.errors import UsageError
from jochi.schema.migrations import file_text as content


def slow_crc32(data: bytes) -> int:
    """CRC-32 bit by bit (reflected polynomial 0xEDB88320)."""
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = (value >> 1) ^ (0xEDB88320 if value & 1 else 0)
    return value ^ 0xFFFFFFFF


def slow_statements(text: str) -> list[str]:
    """The reader as a machine over characters, without regular expressions."""
    pieces, current, at = [], "", 0
    while at < len(text):
        if text[at] == ";" and at + 1 < len(text) and text[at + 1] in "\r\n":
            pieces.append(current)
            current = ""
            at += 3 if text[at + 1 : at + 3] == "\r\n" else 2
        else:
            current += text[at]
            at += 1
    pieces.append(current)
    return [kept for kept in map(slow_tidy, pieces) if kept]


def slow_tidy(piece: str) -> str:
    piece = slow_trim(piece)
    tail = ""
    if len(piece) > 1 and piece[-1] in "\x85\u2028\u2029" and piece[-2] == ";":
        piece, tail = piece[:-1], piece[-1]
    if piece.endswith(";"):
        piece = piece[:-1]
    return slow_trim(piece + tail)


def slow_trim(piece: str) -> str:
    while piece and ord(piece[0]) <= 0x20:
        piece = piece[1:]
    while piece and ord(piece[-1]) <= 0x20:
        piece = piece[:-1]
    return piece


ODD = st.text(
    st.sampled_from(list(";;;;\r\n\n\n \t\x00\x0b\x0c\x1f\x20\x85\xa0\u2028\u2029\ufeff/aé名😀")), max_size=60
)


@given(ODD)
@example("a;\x85")
@example(";\n;\r\n;\r;")
@example("a;;\nb; \nc")
@example("\xa0a\xa0;\n\x1fb\x1f")
def test_statements_and_checksum_equal_the_slow_oracle(text: str) -> None:
    expected = slow_statements(text)
    assert content.statements(text) == expected
    assert content.checksum(expected) == str(slow_crc32("".join(expected).encode("utf-8")))


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    ("texts", "constant"),
    [
        (["MATCH (n) RETURN count(n) AS n"] * 3, "1902097523"),
        (["MATCH (n:BrokenData) DETACH DELETE n"], "1100083332"),
        (["CREATE (n:FixedData) RETURN n", "MATCH (n) RETURN count(n) AS foobar"], "3226785110"),
    ],
)
def test_the_constants_of_neo4j_migrations(texts: list[str], constant: str, line_end: str) -> None:
    text = "".join(f"{part};{line_end}{line_end}" for part in texts)
    assert content.checksum(content.statements(text)) == constant


def test_line_ends_inside_a_statement_count() -> None:
    unix = "MATCH (n)\nRETURN count(n) AS n;\n" * 3
    assert content.checksum(content.statements(unix)) == "1916418554"
    assert content.checksum(content.statements(unix.replace("\n", "\r\n"))) != "1916418554"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("RETURN 1;\nRETURN 2;\n", 2),
        ("RETURN 1; RETURN 2;\n", 1),
        ("RETURN 1; \nRETURN 2;\n", 1),
        ("RETURN 1", 1),
        ("RETURN 1;", 1),
        ("", 0),
        (" \n;\n\t;\n", 0),
    ],
)
def test_only_a_semicolon_at_the_end_of_a_line_separates(text: str, number: int) -> None:
    assert len(content.statements(text)) == number


@pytest.mark.parametrize(
    ("statement", "left_out"),
    [
        ("// one line", True),
        ("// one\n// two", True),
        ("  // one\r\n  // two", True),
        ("// one\nRETURN 1", False),
        ("RETURN 1 // one", False),
        ("/* block */", False),
        ("// one\n\n// two", False),
    ],
)
def test_which_comments_are_not_sent(statement: str, left_out: bool) -> None:
    assert content.is_comment(statement) is left_out
    assert content.executable([statement]) == ([] if left_out else [statement])


@pytest.mark.parametrize(
    ("statement", "alone"),
    [
        ("MATCH (n) CALL { WITH n DETACH DELETE n } IN TRANSACTIONS", True),
        ("MATCH (n) CALL (n) { SET n.x = 1 } IN TRANSACTIONS OF 10 ROWS", True),
        ("MATCH (n)\nCALL (n) { SET n.x = 1 }\nin 4 concurrent transactions", True),
        ("MATCH (n) CALL (n) { SET n.x = 1 } IN CONCURRENT TRANSACTIONS", True),
        ("MATCH (n) CALL (n) { SET n.x = 1 } RETURN n", False),
        ("// CALL { } IN TRANSACTIONS\nRETURN 1", False),
        ("CREATE INDEX transactions IF NOT EXISTS FOR (t:T) ON (t.x)", False),
    ],
)
def test_which_statements_commit_by_themselves(statement: str, alone: bool) -> None:
    assert content.needs_own_transaction(statement) is alone


@pytest.mark.parametrize(
    ("part", "word"),
    [
        (":use system", "switch the database"),
        ("// never write :USE Movies here\nRETURN 1", "switch the database"),
        ("// assert that edition is enterprise\nRETURN 1", "preconditions"),
        ("// a\n//assume in target q' RETURN true\nRETURN 1", "preconditions"),
        ("// a\n\n// b", "blank line"),
    ],
)
def test_what_is_refused_names_the_statement(part: str, word: str) -> None:
    with pytest.raises(UsageError, match=word) as caught:
        content.check(["RETURN 1", part], "V0001__x.cypher")
    assert caught.value.where == "V0001__x.cypher, statement 2"


@pytest.mark.parametrize(
    "part", ["// to be used: system tables\nRETURN 1", "// we assume nothing\nRETURN 1", "RETURN 1\n\n// assert that x"]
)
def test_what_only_looks_like_it_is_allowed(part: str) -> None:
    content.check([part], "V0001__x.cypher")


def test_placeholders_come_from_the_argument_then_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NM_PLACEHOLDERS_dims", "3")
    monkeypatch.setenv("NM_PLACEHOLDERS_a.b-c", r"\1 $0")
    assert content.fill("RETURN ${nm:dims}, '${nm:a.b-c}'", {}, "f") == r"RETURN 3, '\1 $0'"
    assert content.fill("RETURN ${nm:dims}", {"dims": "4"}, "f") == "RETURN 4"
    assert content.fill("RETURN ${dims}, $nm", {}, "f") == "RETURN ${dims}, $nm"


def test_a_placeholder_without_a_value_is_an_error() -> None:
    with pytest.raises(UsageError, match=r"\$\{nm:nobody\}") as caught:
        content.fill("RETURN ${nm:nobody}", {"other": "1"}, "V1__x.cypher")
    assert caught.value.fix is not None
    assert "--placeholder nobody=" in caught.value.fix


def test_the_shipped_files_keep_unix_line_ends_and_no_bom() -> None:
    files = list(schema_folder().rglob("*.cypher"))
    assert files
    for file in files:
        data = file.read_bytes()
        assert b"\r" not in data
        assert not data.startswith(b"\xef\xbb\xbf")
        assert data.endswith(b";\n")
