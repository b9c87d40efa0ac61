"""What of a folder is read: conversations and what people wrote; everything else is named and left out."""

from __future__ import annotations

import json
import os
from datetime import timezone
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tally import examples

from jochi.cli.ingest import _print_ingested
from jochi.client.ingest import _Files
from jochi.write.ingesting import Fault, IngestResult, Omission, OmittedFile, Piece
from jochi.write.ingesting.folder import is_prose, path_text

PROSE = "We walked to the mill, and the miller gave us flour.\nIt was late when we came home.\n"
TALK = '{"from": "Mia", "text": "The mill is open.", "at": "2026-01-05T10:00:00Z"}\n'
MAIL = "From: Mia <mia@example.org>\nTo: tom@example.org\nSubject: Mill\nDate: Mon, 5 Jan 2026 10:00:00 +0000\n\nIt is open.\n"
SCRIPT = 'import os\n\n\ndef main():\n    """Mia likes mills."""\n    os.remove("Tom Baker")\n'

READ = {
    **{
        "diary": PROSE,
        "notes.txt": "2026-01-05 10:00\n",
        "README.md": f"# Mill\n\n{PROSE}",
        "License to mill": PROSE,
        "talk.jsonl": TALK,
    },
    **{
        "1767607200.M1P2.host:2,S": MAIL,
        "tales.rst": PROSE,
        "日記": "水車小屋まで歩いて、粉をもらった。帰りは遅くなった。\n",
    },
    **{
        "sub/more/list.json": json.dumps([json.loads(TALK)]),
        "house/build/wood.txt": PROSE,
        "Письмо": "Мы дошли до мельницы. Было поздно.\n",
    },
}
"""By its path the text of a file that is read."""
LEFT = {
    "source code": {
        **{
            "tool.py": SCRIPT,
            "Makefile": "all:\n\tcc mill.c\n",
            "app.min.js": "var a=1;",
            "CMakeLists.txt": "project(mill)\n",
        },
        **{
            "sub/more/Main.java": "class Main {}\n",
            "run.sh": "echo Mia: hello\necho Tom: hello\necho Mia: bye\n",
            "a.css": "a {}\n",
        },
    },
    "configuration": {
        **{
            "config.toml": 'mill = "Mia"\n',
            "settings.yaml": "Mia: open\nTom: shut\nMia: late\n",
            "nginx.conf": "user www;\n",
        },
        **{
            "requirements.txt": "mill==1.0\n",
            "package.json": '{"name": "mill", "message": "hello"}',
            "tls.pem": "-----BEGIN KEY-----\n",
        },
    },
    "licence": {"LICENSE": PROSE, "sub/COPYING": PROSE, "LICENSE.txt": PROSE, "LICENSE-MIT": PROSE},
    "lock file": {
        **{
            "poetry.lock": "[[package]]\n",
            "package-lock.json": "{}",
            "yarn.lock": "mill@1:\n",
            "go.sum": "mill v1 h1:a=\n",
        },
    },
    "data": {
        "mills.csv": "name,town\nMia,Lyon\n",
        "map.geojson": "{}",
        "page.html": "<p>Mia</p>\n",
        "n.ipynb": '{"cells": []}',
    },
    "binary file": {
        "mill.png": "\x89PNG",
        "scan": "%PDF-1.7\n",
        "mill.pyc": "\x00\x01\x02",
        "blob": "\x00\x01\x02\x03" * 50,
    },
    "hidden": {".env": "KEY=1\n", ".git/HEAD": PROSE},
    "output of a build": {
        **{"node_modules/mill/README.md": PROSE, "sub/__pycache__/a.txt": PROSE, "venv/pyvenv.cfg": "home = /usr\n"},
        **{"web/dist/about.txt": PROSE},
    },
    "no format that is known": {
        **{"words.json": '{"title": "Mill", "text": "Open"}', "many.json": json.dumps([{"id": n} for n in range(500)])},
        **{
            "broken.json": "{",
            "trace": "2026-01-05 10:00:00,123 INFO [7] mill.core:17 ok 0x7f\n" * 9,
            "run": f"#!/bin/sh\n{PROSE}",
        },
        **{
            "key": "mQINBGVx" * 80 + "\n",
            "code": "int main() {\n  return 0;\n}\n",
            "texts.jsonl": '{"text": "It is open."}\n',
        },
    },
}
"""By the reason why it is left out, files that are."""
ALSO = {"web/package.json": "{}"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One with all of them."""
    for name, text in (READ | ALSO | {name: text for files in LEFT.values() for name, text in files.items()}).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(text.encode("latin-1" if name in ("mill.png", "mill.pyc", "blob") else "utf-8"))
    return tmp_path


def pieces(path: Path) -> list[Piece]:
    return list(_Files().pieces(path, None, timezone.utc))


def test_what_people_wrote_is_read_and_everything_else_named(folder: Path) -> None:
    files = _Files()
    found = list(files.pieces(folder, None, timezone.utc))
    assert not [str(piece) for piece in found if isinstance(piece, Fault)]
    names = {str(Path(report.path).relative_to(folder)): report.messages for report in files.reports}
    assert names.keys() == READ.keys()
    assert all(names.values()), names
    left: dict[str, set[str]] = {}
    for piece in found:
        if isinstance(piece, OmittedFile):
            left.setdefault(piece.why, set()).add(str(Path(piece.where).relative_to(folder)))
    whole = {".git/HEAD": ".git", "node_modules/mill/README.md": "node_modules", "venv/pyvenv.cfg": "venv"}
    whole |= {"sub/__pycache__/a.txt": "sub/__pycache__", "web/dist/about.txt": "web/dist"}
    expected = {why: {whole.get(name, name) for name in texts} for why, texts in LEFT.items()}
    expected["configuration"] |= {"web/package.json"}
    assert left == expected
    # In the order of their names, folder by folder.
    order = [report.path for report in files.reports]
    assert order == [str(path) for path in sorted(map(Path, order))]


def test_what_a_person_names_is_read_whatever_it_is(folder: Path) -> None:
    for name in ("tool.py", "config.toml", ".env", "mills.csv", "texts.jsonl", ".git/HEAD"):
        assert any(isinstance(piece, tuple) for piece in pieces(folder / name)), name
    assert [piece for piece in pieces(folder / "node_modules" / "mill") if isinstance(piece, tuple)]


def test_links_faults_and_what_goes_away_stop_nothing(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "secret.txt"
    inside.mkdir()
    outside.write_text(PROSE)
    for name, target in (
        ("a.txt", outside),
        ("b.txt", inside / "talk.jsonl"),
        ("c.txt", tmp_path / "gone"),
        ("up", tmp_path),
    ):
        (inside / name).symlink_to(target)
    os.mkfifo(inside / "pipe")
    (inside / "bad.eml").write_bytes(b"From: Mia\xff\n\n")
    (inside / "large.json").write_bytes(b"[" + b" " * (33 * 1024 * 1024))
    (inside / "talk.jsonl").write_text(TALK + "{broken\n")
    (inside / "later.txt").write_text(PROSE)
    found: list[Piece] = []
    for piece in _Files().pieces(inside, None, timezone.utc):
        if not found:
            (inside / "later.txt").unlink()
        found.append(piece)
    left = {(Path(piece.where).name, piece.why) for piece in found if isinstance(piece, OmittedFile)}
    assert left == {*((name, "link") for name in ("a.txt", "b.txt", "c.txt", "up")), ("pipe", "binary file")}
    faults = [str(piece).removeprefix(f"{inside}/").split(": ")[:2] for piece in found if isinstance(piece, Fault)]
    assert ["talk.jsonl", "line 2"] in faults
    assert [name for name, *_ in faults if name in ("large.json", "later.txt")] == ["large.json", "later.txt"]
    said = [piece[1] for piece in found if isinstance(piece, tuple)]
    assert "The mill is open." in [message.text for message in said]
    # The link itself, where a person names it.
    assert [piece for piece in pieces(inside / "a.txt") if isinstance(piece, tuple)]


NAMES = (
    "a.txt",
    "b.py",
    "c.json",
    "d.jsonl",
    ".e",
    "README",
    "f",
    "g.md",
    "h.lock",
    "package.json",
    "i\udcff.txt",
    "j.eml",
    "k.vtt",
)
FOLDERS = ("in", "in/build", "in/node_modules", "in/.git", "in/b/c")
TEXTS = (
    b"",
    PROSE.encode(),
    TALK.encode(),
    MAIL.encode(),
    SCRIPT.encode(),
    b"\x00\x01" * 99,
    b"\xff\xfe",
    b"[{}, 1]",
    b"{",
)


@given(
    st.dictionaries(st.tuples(st.sampled_from(FOLDERS), st.sampled_from(NAMES)), st.sampled_from(TEXTS), max_size=12)
)
@settings(max_examples=examples(40, 500), deadline=None)
def test_every_file_is_read_or_named(files: dict[tuple[str, str], bytes]) -> None:
    with TemporaryDirectory() as made:
        top = Path(made) / "in"
        top.mkdir()
        for (folder, name), text in files.items():
            (top.parent / folder).mkdir(parents=True, exist_ok=True)
            (top.parent / folder / name).write_bytes(text)
        reader = _Files()
        found = list(reader.pieces(top, None, timezone.utc))
        named = {each.path for each in reader.reports} | {each.where for each in found if isinstance(each, OmittedFile)}
        for folder, name in files:
            path = top.parent / folder / name
            shown = [path_text(each) for each in (path, *path.parents)]
            assert sum(each in named for each in shown) == 1, path
        json.dumps([piece.where for piece in found if not isinstance(piece, tuple)], ensure_ascii=False).encode()


def test_the_report_of_thousands_of_files_is_a_line_a_kind(capsys: pytest.CaptureFixture[str]) -> None:
    done = IngestResult(faulty=2, known=3)
    for n in range(5_000):
        done.leave(OmittedFile(f"in/tool{n}.py", "source code"))
    for piece in (
        OmittedFile("in/a\x1b.lock", "lock file"),
        *[Omission("line 1", "notice")] * 2,
        Omission("line 2", "output of a tool"),
    ):
        done.leave(piece)
    _print_ingested(done)
    assert capsys.readouterr().out.splitlines() == [
        "0 new messages in 0 new sources and 0 known ones; 3 messages were there already",
        "2 pieces couldn't be read or may not be written",
        "left out: notice (2), output of a tool (1)",
        "left out, source code (5,000): in/tool0.py, in/tool1.py, in/tool2.py, …",
        "left out, lock file (1): in/a\N{REPLACEMENT CHARACTER}.lock",
    ]
    assert len(done.omitted_files["source code"].paths) == 100


@pytest.mark.parametrize(
    ("text", "prose"),
    [
        (PROSE, True),
        ("- milk\n- bread\n- call Tom\n", True),
        ("Dear Mia,\n\nthe mill (the old one!) is open — come by.\n", True),
        ("製粉所は開いています。" * 30, True),
        ("a;b;c\n1;2;3\n4;5;6\n", False),
        ("mill = 1;\nopen(mill);\n", False),
        ("<?xml version='1.0'?><a/>", False),
        ("", False),
    ],
)
def test_prose_is_told_by_its_shape(text: str, prose: bool) -> None:
    assert is_prose(text) == prose
