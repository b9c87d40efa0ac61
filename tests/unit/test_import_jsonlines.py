"""JSON Lines files as streams: encodings, line ends, sizes, duplicates."""

from __future__ import annotations

import gzip
import tracemalloc
from datetime import datetime, timezone
from pathlib import Path

import pytest

from jochi.errors import UsageError
from jochi.write.importing import BadLine, MemoryRecord, records
from jochi.write.importing.jsonlines import LONGEST_LINE
from jochi.write.importing.spool import Links

NOW = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)


def line(id: str, rest: str = "") -> bytes:
    return f'{{"kind": "Note", "id": "{id}"{rest}}}'.encode()


def read(path: Path, data: bytes) -> tuple[list[str], list[tuple[int | None, str]]]:
    path.write_bytes(data)
    bad: list[BadLine] = []
    ids = [record.id for record in records(path, now=NOW, on_bad=bad.append)]
    return ids, [(found.line, found.reason) for found in bad]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memories.jsonl"


def test_order_mark_blank_lines_and_crlf(path: Path) -> None:
    data = b"\xef\xbb\xbf" + line("a") + b"\r\n\r\n  \n" + line("b") + b"\n" + line("c")
    assert read(path, data) == (["a", "b", "c"], [])


def test_line_numbers_count_every_line(path: Path) -> None:
    ids, bad = read(path, b"\n" + line("a") + b"\n{no json}\n" + line("b") + b"\n")
    assert ids == ["a", "b"]
    assert [number for number, _ in bad] == [3]
    assert bad[0][1].startswith("is no JSON at character 2: write one object a line")


@pytest.mark.parametrize("data", [b'{"kind": "Note", "id": "a", "x": NaN}', b"[" * 100_000, b'{"kind": "Note"'])
def test_what_is_no_json_is_reported(path: Path, data: bytes) -> None:
    assert [number for number, _ in read(path, line("b") + b"\n" + data)[1]] == [2]


def test_invalid_utf8_is_reported_with_its_line(path: Path) -> None:
    ids, bad = read(path, line("a") + b'\n{"kind": "Note", "id": "\xff"}\n' + line("b"))
    assert ids == ["a", "b"]
    assert bad == [(2, "is no UTF-8 from byte 25 of the line on")]


def test_too_long_a_line_is_skipped_and_the_longest_is_read(path: Path) -> None:
    def of_size(id: str, size: int) -> bytes:
        start = line(id)[:-1] + b', "content": "'
        return start + b"x" * (size - len(start) - 2) + b'"}'

    ids, bad = read(
        path, of_size("a", LONGEST_LINE) + b"\r\n" + of_size("b", LONGEST_LINE + 1) + b"\n" + line("c") + b"\n"
    )
    assert ids == ["a", "c"]
    assert bad == [(2, "the line is longer than 4 MB")]


def test_the_second_of_two_ids_is_reported(path: Path) -> None:
    ids, bad = read(path, b"\n".join((line("a"), line("a", ', "scope": "other"'), line("a"))))
    assert ids == ["a", "a"]
    assert bad == [(3, "the id 'a' in scope 'default' is already that of line 1")]


def test_gzip_is_unpacked_and_a_cut_file_is_reported(path: Path) -> None:
    text = b"\n".join(line(f"n{i}", f', "content": "{i * 7919}"') for i in range(5000))
    packed = gzip.compress(text)
    assert len(read(path, packed)[0]) == 5000
    ids, bad = read(path, packed[: len(packed) // 2])
    assert len(ids) < 5000
    assert "can't be read from here on" in bad[-1][1]


def test_an_empty_file_holds_nothing(path: Path) -> None:
    assert read(path, b"") == ([], [])


@pytest.mark.parametrize(
    ("data", "words"), [(b"\xff\xfe{\x00", "UTF-16"), (b'[{"a": 1}]', "isn't LoCoMo"), (b"[1, 2", "isn't one")]
)
def test_a_file_of_another_format_is_a_usage_error(path: Path, data: bytes, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        read(path, data)


def test_a_missing_file_and_a_folder_are_usage_errors(tmp_path: Path) -> None:
    for path in (tmp_path / "none.jsonl", tmp_path):
        with pytest.raises(UsageError, match="can't be read"):
            records(path, now=NOW)


def test_without_a_taker_the_first_bad_line_is_raised(path: Path) -> None:
    path.write_bytes(line("a") + b"\n{}\n")
    found = records(path, now=NOW)
    assert next(found).id == "a"
    with pytest.raises(UsageError, match=r"memories\.jsonl:2: "):
        next(found)


def test_reading_and_spooling_hold_no_more_for_more_lines(path: Path) -> None:
    def peak(count: int) -> int:
        with path.open("wb") as file:
            for i in range(count):
                file.write(line(f"n{i}", ', "relationships": [{"type": "PART_OF", "to": "n0"}]') + b"\n")
        links = Links()
        tracemalloc.start()
        for record in records(path, now=NOW):
            links.add(record)
        highest = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert len(links) == count
        links.close()
        return highest

    peak(500)
    assert peak(10_000) < peak(1_000) + 200_000


def test_links_come_back_by_type_and_source_once() -> None:
    from jochi.write.importing import Place, Relationship

    links = Links()
    place = Place("f", 3)
    links.add(
        MemoryRecord(
            "Note",
            "b",
            "s",
            relationships=(
                Relationship("Z", "s", "a"),
                Relationship("A", "s", "c", {"at": NOW}),
                Relationship("A", "s", "c", {"second": True}),
            ),
            place=place,
        )
    )
    links.add(MemoryRecord("Note", "a", "s", relationships=(Relationship("Z", "s", "b"),)))
    found = list(links.by_type())
    links.close()
    assert [(link.type, link.from_key, link.to_key) for link in found] == [
        ("A", "s/b", "s/c"),
        ("Z", "s/a", "s/b"),
        ("Z", "s/b", "s/a"),
    ]
    assert found[0].properties == {"at": NOW}
    assert found[0].place == place
    assert found[1].place is None
