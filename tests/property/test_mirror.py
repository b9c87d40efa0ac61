"""The mirror over whatever memories hold and people do: read back as it was written, safe names, and a folder that is brought up to
date step by step is the one that is made at once."""

from __future__ import annotations

import string
import tempfile
import unicodedata
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.agent_imports import agent_paths
from tests.mirror_memories import Graph, fact, thing, tree
from tests.property.test_context_file import HOSTILE
from tests.tally import examples

from jochi.mirror import check_mirror, write_mirror
from jochi.mirror.document import digest, parse, render, visible_text
from jochi.mirror.edits import edits_of
from jochi.mirror.index import FILE
from jochi.mirror.kinds import text_of
from jochi.mirror.names import LONGEST, folded_name, safe_name
from jochi.text.content import is_blank
from jochi.text.imports import unescape_imports

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | HOSTILE,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(HOSTILE, inner, max_size=2),
    max_leaves=4,
)
FRONT = st.dictionaries(st.text(string.ascii_lowercase + "_", min_size=1, max_size=8), JSON, max_size=5)
TEXTS = HOSTILE.map(lambda text: text.encode("utf-8", "replace").decode())
BODIES = st.lists(TEXTS | st.sampled_from(["---\n", "\n---\nkey: 1\n---\n", "\r\n", "\n\n", "\r"]), max_size=5).map(
    "".join
)


@given(FRONT, BODIES)
@settings(max_examples=examples(60, 500))
@example({}, "")
@example({}, "\n")
@example({"key": "---"}, '---\nkey: "other"\n---\n\nx')
def test_a_file_is_read_as_it_was_written(front: dict[str, object], body: str) -> None:
    text = render(front, body)
    found = parse(text)
    assert found is not None
    assert (dict(found.front), found.body) == (front, body)
    # An editor that changes the ends of lines changes nothing that is said.
    other = parse("\ufeff" + text.replace("\r\n", "\n").replace("\n", "\r\n"))
    assert other is not None
    assert dict(other.front) == front
    assert visible_text(other.body) == visible_text(body)
    assert digest(other.body) == digest(body)


@given(st.sampled_from(["Fact", "Person", "MemoryBox"]), BODIES, HOSTILE, st.lists(HOSTILE, max_size=2))
@settings(max_examples=examples(60, 500))
@example("Fact", "x \\\\@a.md\n\n    @b.md\n```\n@c.md\n```\n`d` @e.md **f**@g.md", "@h.md", ["i @j.md"])
def test_no_memory_makes_a_reader_load_a_file(kind: str, text: str, name: str, notes: list[str]) -> None:
    memory = fact("a", text, tags=[name, *notes]) if kind == "Fact" else thing("a", name, text, *notes, kind=kind)
    file = text_of(memory)
    assert (file is None) == (kind == "Fact" and is_blank(text))
    if file is not None:
        assert not agent_paths(file)
        document = parse(file)
        assert document is not None
        assert edits_of(document, memory, "a.md", strike_many=True) == ()
        assert kind != "Fact" or unescape_imports(document.body) == text


@given(
    HOSTILE
    | st.sampled_from(
        ["CON", "nul.", "com1", "Lpt¹", "..", "/etc/passwd", "a\\b", "C:x", " . ", "İstanbul", "STRASSE", "é" * 90]
    )
)
@settings(max_examples=examples(60, 500))
def test_a_name_is_safe_everywhere(text: str) -> None:
    name = safe_name(text, "other")
    assert name == folded_name(name)
    assert name == safe_name(name, "other") or name.endswith("_")
    assert len(name.encode()) <= LONGEST + len("other") + 1
    assert not any(letter in '/\\:*?"<>|~.' or unicodedata.category(letter)[0] in "CZ" for letter in name)
    assert name.rstrip(" .-") == name
    assert name.upper() not in ("CON", "PRN", "AUX", "NUL", "COM1", "LPT1", "LPT¹")
    assert name == safe_name(text.swapcase().swapcase(), "other") or text.swapcase().swapcase() != text


NAMES = st.sampled_from(["Ann", "ANN", "Bob", "café", "cafe\u0301", "../x", "con", "?"])
SAID = st.sampled_from(["tea", "coffee", "---\nkey: 1\n---\n", "a\r\nb\n", "\u202eevil", "long " * 200]) | TEXTS
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["fact", "archived", "thing", "prune", "forget", "edit", "delete", "write", "kill"]),
        st.integers(0, 5),
        SAID,
        NAMES,
    ),
    max_size=14,
)


@given(STEPS)
@settings(max_examples=40)
def test_step_by_step_is_the_same_as_at_once(steps: list[tuple[str, int, str, str]]) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder, other = Path(place, "mirror"), Path(place, "other")
        graph, known = Graph(), b""
        write_mirror(folder, graph)
        for step, n, text, name in steps:
            files = sorted(tree(folder))
            if step in ("fact", "archived"):
                state = "archived" if step == "archived" else None
                graph.put(fact(f"f{n}", text, category=name, state=state))
            elif step == "thing":
                graph.put(thing(f"t{n}", name, text, "A second note.", description=text[:40]))
            elif step == "prune":
                graph.prune(f"f{n}", f"t{n}")
            elif step == "forget":
                graph.forget(f"t{n}")
            elif step == "edit" and files:
                file = folder / files[n % len(files)]
                file.write_bytes(file.read_bytes().replace(b"tea", b"milk").replace(b"coffee", b"juice"))
            elif step == "delete" and files:
                (folder / files[n % len(files)]).unlink()
            elif step == "kill":  # the files of the last write are there, and what is known of them isn't
                (folder / FILE).write_bytes(known) if known else (folder / FILE).unlink(missing_ok=True)
            else:
                known = (folder / FILE).read_bytes() if (folder / FILE).exists() else b""
                graph.later()
                write_mirror(folder, graph)
        graph.later()
        done = write_mirror(folder, graph)
        assert done.left == {}
        write_mirror(other, graph)
        assert tree(folder) == tree(other)
        assert check_mirror(folder, graph).is_none
        graph.later()
        again = write_mirror(folder, graph)
        assert (again.written, again.removed) == ([], [])
        assert [each.name for each in folder.rglob(".*")] == [FILE]
