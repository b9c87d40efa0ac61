"""No memory makes an agent load a file, whatever it says, and everybody reads it as it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from tests.agent_imports import agent_paths, claude_paths, gemini_paths
from tests.context_memories import NOW, exact, graph

from jochi.context import as_json, as_prompt, write_context
from jochi.context.lines import plain, write
from jochi.heartbeat.file import Entry, read_mark, render
from jochi.text.imports import escape_imports, unescape_imports
from jochi.text.tokens import best_counter

LOADS = {
    "@NOTES.md": ["NOTES.md"],
    "read @./docs/plan.md first": ["./docs/plan.md"],
    "the key is in @~/.ssh/known_hosts": ["~/.ssh/known_hosts"],
    "see @/etc/hostname, and @../up.md#part": ["/etc/hostname,", "../up.md"],
    "types in @types/node, by @ann": ["types/node,", "ann"],
    "**bold**@NOTES.md": ["NOTES.md"],
    "*@NOTES.md*": ["NOTES.md"],
    "[@NOTES.md](http://x)": ["NOTES.md"],
    "`a`@NOTES.md": ["NOTES.md"],
    "<b>@NOTES.md</b>": ["NOTES.md"],
    "two strokes \\\\@NOTES.md": ["NOTES.md"],
    "a star \\*@NOTES.md": ["NOTES.md"],
    "`git show @NOTES.md`": ["NOTES.md`"],
    "``a ` @NOTES.md`` b": ["NOTES.md``"],
    "@a\\ b.md": ["a b.md"],
    "\u3000@NOTES.md": ["NOTES.md"],
    "\ufeff@NOTES.md": ["NOTES.md"],
    "_x_@NOTES.md": ["NOTES.md"],
    "@NOTES.md " * 3: ["NOTES.md"] * 3,
}
HARMLESS = (
    *("mail ann@example.org", "`@types/node`", "5 @ 3", "@", "noted \\@NOTES.md", "a@b@c", "x@ y", "@@NOTES.md"),
    "`@Get()` and `ann@example.org`",
)


@pytest.mark.parametrize("text", [*LOADS, *HARMLESS])
def test_whatever_a_memory_says_no_file_loads_another(text: str, tmp_path: Path) -> None:
    found = set(claude_paths(f"- {text}")) | set(gemini_paths(f"- {text}"))
    assert found >= set(LOADS.get(text, ())), "the test knows less than an agent"
    store, file = graph(text, f"Else. {text}", f"{text} ` and more"), tmp_path / "MEMORY.md"
    write_context(file, store.look(), store, exact(), NOW)
    chosen, count = store.look(), exact()
    heartbeat = render(
        f"s {text}",
        [Entry(text, text, f"{text}\n\n{text}\n```\n{text}\n```"), Entry(f"t {text}")],
        active=9,
        definitions="0",
        max_tokens=9000,
        counter=best_counter(),
        now=NOW,
    )
    for written in (
        file.read_text(),
        as_prompt(chosen, count, True).text,
        as_json(chosen, count, True).text,
        heartbeat,
    ):
        assert not agent_paths(written)
    assert [each["text"] for each in json.loads(as_json(chosen, count, True).text)["memories"]] == [
        plain(memory.text) for memory in store.memories.values()
    ]
    mark = read_mark("\ufeff" + heartbeat.replace("\n", "\r\n"))
    assert mark is not None
    assert (mark.scope, mark.edited) == (f"s {text}", False)
    # An editor saved it; the older release had no escapes; the person takes them away.
    before = dict(store.memories)
    for other in (file.read_text() + "\n", file.read_text().replace("\\@", "@")):
        file.write_text(other)
        assert write_context(file, store.look(), store, exact(), NOW).taken_in == ()
        assert store.memories == before
        assert not agent_paths(file.read_text())


def test_a_person_reads_what_was_said() -> None:
    for text in HARMLESS:
        assert write(text) == text or "\\" in text or text == "@@NOTES.md"
    assert write("ask @ann about `@types/node`, or ann@example.org") == (
        "ask \\@ann about `@types/node`, or ann@example.org"
    )
    for text in ("ask @ann", "@types/node", "see @~/.config and @/etc/hosts", "`npm i @types/node`", "@@x"):
        [_, inline, _] = MarkdownIt("commonmark").parse(write(text))
        assert "".join(child.content for child in inline.children or ()) == text


@pytest.mark.parametrize("text", [*LOADS, *HARMLESS, "\\\\\\@a b\\@c \\\\@d", "```\n@e\n```\n\\@f\r\n@"])
def test_what_was_escaped_is_read_again(text: str) -> None:
    assert unescape_imports(escape_imports(text)) == text
    assert not agent_paths(escape_imports(text))


def test_what_a_person_wrote_is_taken_as_it_is_and_escaped_from_then_on(tmp_path: Path) -> None:
    store, file = graph("Ann likes tea."), tmp_path / "MEMORY.md"
    write_context(file, store.look(), store, exact(), NOW)
    file.write_text(file.read_text() + "- Rules are in @docs/rules.md and `git log @v1`\n")
    [done] = write_context(file, store.look(), store, exact(), NOW).taken_in
    assert (done.edit, done.text) == ("added", "Rules are in @docs/rules.md and `git log @v1`")
    assert "- Rules are in \\@docs/rules.md and \\`git log \\@v1\\` <!--" in file.read_text()
    assert not write_context(file, store.look(), store, exact(), NOW).rewritten
