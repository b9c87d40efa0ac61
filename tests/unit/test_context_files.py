"""The worker's table of files, and when each has its turn."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from neo4j.exceptions import DatabaseError

from jochi.errors import ConnectionFailed, JochiError, Refused, UsageError
from jochi_workers.context_files import ContextFiles, read_table

TABLE = """
[[files]]
scope = "ann"
file = "ann/MEMORY.md"

[[files]]
scope = "bob"
file = "/b/MEMORY.md"
every = "10s"
include_sensitive = true
max_tokens = 500
"""

LIMITED = "[[files]]\nscope = '{}'\nfile = '{}'\nmax_tokens = {}\n"


def table(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "contexts.toml"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("files = [", "no TOML"),
        ("", "files: Field required"),
        ("[[files]]\nscope = 's'", "files.0.file"),
        ("[[files]]\nscope = 's'\nfile = 'a'\nevery = '0s'", "longer than zero"),
        ("[[files]]\nscope = 's'\nfile = 'a'\npassword = 'x'", "files.0.password"),
        ("[[files]]\nscope = 's'\nfile = 'a'\n[[files]]\nscope = 't'\nfile = 'a'", "is there twice"),
        (
            "[[files]]\nscope = 's'\nfile = 'a'\n[[files]]\nscope = 't'\nfile = 'b/../a'",
            "is there twice, also as .*b/../a",
        ),
        ("[[files]]\nscope = 's'\nfile = 'a'\n[[files]]\nscope = 't'\nfile = 'link'", "is there twice, also as .*link"),
        ("[[files]]\nscope = 's/t'\nfile = 'a'", "'s/t' is no scope"),
        (f"{LIMITED.format('s', 'a', 9)}{LIMITED.format('s', 'b', 8)}", "with 9 and 8 tokens, and it has one manifest"),
    ],
)
def test_what_is_wrong_with_a_table_is_said(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "link").symlink_to("a")
    with pytest.raises(UsageError, match=said) as error:
        read_table(table(tmp_path, text))
    assert "contexts.toml" in str(error.value)
    with pytest.raises(UsageError, match="can't be read"):
        read_table(tmp_path / "none.toml")


def test_files_of_one_scope_may_have_one_limit(tmp_path: Path) -> None:
    """With what is SENSITIVE it is another manifest; who names no limit has the scope's."""
    text = LIMITED.format("s", "a", 9) + LIMITED.format("s", "b", 9) + LIMITED.format("t", "c", 8)
    text += LIMITED.format("s", "d", 8) + "include_sensitive = true\n[[files]]\nscope = 's'\nfile = 'e'\n"
    assert len(read_table(table(tmp_path, text))) == 5


def test_each_file_has_its_turn_and_one_that_fails_stops_no_other(tmp_path: Path) -> None:
    files = read_table(table(tmp_path, TABLE))
    assert [(str(each.file), each.scope) for each in files] == [
        (f"{tmp_path}/ann/MEMORY.md", "ann"),
        ("/b/MEMORY.md", "bob"),
    ]
    now, calls = [0.0], list[Any]()
    broken: list[Exception] = []

    def write(path: Path, scope: str, **options: Any) -> Any:
        calls.append((scope, options))
        if scope == "bob" and broken:
            raise broken[0]
        return SimpleNamespace(rewritten=scope == "bob", taken_in=())

    running = ContextFiles(files, write, clock=lambda: now[0])
    assert running.work()
    assert calls == [
        ("ann", {"include_sensitive": False, "max_tokens": None, "another_file": True}),
        ("bob", {"include_sensitive": True, "max_tokens": 500, "another_file": True}),
    ]
    assert not running.work()
    for n, (error, note) in enumerate(
        (
            (JochiError("the disk is full"), "/b/MEMORY.md: the disk is full"),
            (Refused("no", where="/b/MEMORY.md, line 3", fix="mend it"), "/b/MEMORY.md, line 3: no → mend it"),
            (Refused("no", where="database neo4j", fix="mend it"), "/b/MEMORY.md: no → mend it"),
            (
                DatabaseError._hydrate_neo4j(code="Neo.DatabaseError.X.Y", message="a secret"),
                "/b/MEMORY.md: the server refuses it (Neo.DatabaseError.X.Y)",
            ),
        ),
        1,
    ):
        now[0] = 10.0 * n
        broken[:] = [error]
        assert not running.work()
        assert (running.written, running.note) == (1, note)
    now[0] = 60.0
    broken[0] = ConnectionFailed("away")
    with pytest.raises(ConnectionFailed):
        running.work()
    broken.clear()
    assert running.work(all_of_them=True)
    assert running.note is None
    assert [scope for scope, _ in calls] == ["ann", *["bob"] * 5, "ann", "bob", "ann", "bob"]
