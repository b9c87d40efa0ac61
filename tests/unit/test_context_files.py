"""The worker's table of files, and when each has its turn."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from jochi.errors import ConnectionFailed, JochiError, UsageError
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
    ],
)
def test_what_is_wrong_with_a_table_is_said(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read_table(table(tmp_path, text))
    with pytest.raises(UsageError, match="can't be read"):
        read_table(tmp_path / "none.toml")


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
        return SimpleNamespace(rewritten=scope == "bob")

    running = ContextFiles(files, write, clock=lambda: now[0])
    assert running.work()
    assert calls == [
        ("ann", {"include_sensitive": False, "max_tokens": None}),
        ("bob", {"include_sensitive": True, "max_tokens": 500}),
    ]
    assert not running.work()
    now[0] = 10.0
    broken.append(JochiError("the disk is full"))
    assert not running.work()
    assert (running.written, running.note) == (1, "/b/MEMORY.md: the disk is full")
    now[0] = 60.0
    broken[0] = ConnectionFailed("away")
    with pytest.raises(ConnectionFailed):
        running.work()
    broken.clear()
    assert running.work(all_of_them=True)
    assert running.note is None
    assert [scope for scope, _ in calls] == ["ann", "bob", "bob", "ann", "bob", "ann", "bob"]
