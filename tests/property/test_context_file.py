"""MEMORY.md over whatever memories and people may write: bounded, read back as it was written, and bytes of a person stay."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from tests.agent_imports import agent_paths
from tests.context_memories import SECTIONS, entry, exact, manifest
from tests.tally import examples

from jochi.context import Edits, Entry, Rendering, State, as_json, as_prompt, edits, render
from jochi.context.blocks import blocks
from jochi.context.edits import Addition, Change
from jochi.context.items import item, shown
from jochi.context.layout import split_file
from jochi.context.lines import digest, digests, mark, plain, read, write
from jochi.context.state import Generation
from jochi.errors import UsageError
from jochi.text.content import content_hash, is_blank
from jochi.text.private_data import private_kinds

MARKDOWN = (
    *("<!--", "-->", "<!--bcd-->", "<!-- personal -->", "<!-- /personal -->", "<!-", "->", "!"),
    *("<!-- jochi scope=default version=1 generation=00 -->", "<|endoftext|>", "[x]", "[x]: ", "[x]:", "[^1]: "),
    *(
        "\n",
        "\r\n",
        "\n\n",
        "\n- ",
        "\n# ",
        "\n## Preferences\n",
        "\n---\n",
        "\n===\n",
        "\u2028",
        "\x85",
        "\x0b",
        "\x00",
    ),
    *("`", "``", "```", "~~~", "```py\n", "\\", "\\\\", "\\`", "*", "**", "_", "|", "| a |\n|---|\n", "\t", "    "),
    *("- ", "+ ", "-", "--", "> ", ">", "#", "# ", "1. ", "9) ", "[a](b)", "![i](http://t)", "<http://a>"),
    *("<b>", "</b>", "<script>", "<", "<?", "&", "&lt;", "&#0;", "&amp;", "$x$", "{{", "%%"),
    *("@a.md", "@./b", "@~/c", "@/d", "@@e", "@", "\\@f", "g@h.org", " @i#j", "`k @l`", "@\\ m", "@[n]", "\u3000@o"),
    *("\u202e", "\u2066", "\u200b", "\u200d", "\ufeff", "\ud800", "\ufe0f", "\U000e0041", "e\u0301", "é", "👩"),
    *(" ", "…", "word", "Ω", "日本語", "0", "x" * 300, "ab " * 200, "One. Two! "),
)
HOSTILE = st.lists(st.sampled_from(MARKDOWN) | st.text(max_size=6), max_size=14).map("".join)
ENTRIES = st.lists(
    st.builds(
        lambda number, text, section, value, sensitive: entry(
            f"default/{number}", text, section, value=value, sensitive=sensitive
        ),
        st.integers(0, 40),
        HOSTILE,
        st.sampled_from([section.name for section in SECTIONS]),
        st.floats(0, 1),
        st.booleans(),
    ),
    max_size=12,
    unique_by=lambda each: each.key,
)
PERSONAL = st.lists(
    st.sampled_from(["I'm Ada.\n", "- x <!--bcd-->\r\n", "```\n", "<!-- open\n", "# H\n", "\t \n", "é\r", "end"]),
    max_size=4,
).map("".join)


@given(HOSTILE)
@settings(max_examples=examples(100, 1000))
@example("[x]:")
@example("`<!--bcd-->`")
@example("` \\`")
@example("``a` `` b`")
@example("--")
@example("-- -")
@example("***")
@example("___")
def test_a_line_is_read_as_it_was_written(text: str) -> None:
    said = plain(text)
    assert plain(said) == said
    written = f"- {write(said)} {mark('bcd')}\n"
    assert "".join(written.split("\n")) + "\n" == written
    assert re.findall("<!--|-->", written) == ["<!--", "-->"]
    assert not agent_paths(written)
    assert [(piece.text.removesuffix(" "), piece.id) for piece in read(written[2:-1])] == [(said, "bcd"), ("", None)]
    if said:
        for line, line_id in ((written, "bcd"), (f"- {write(said)}\n", None)):
            (block,) = blocks(f"{line}- other\n", apart=False)[:-1]
            assert (block.text, block.id, block.last) == (said, line_id, 1)
        tokens = MarkdownIt("commonmark").enable("table").parse(written)
        assert [token.type.removesuffix("_open") for token in tokens[:4]] == [
            "bullet_list",
            "list_item",
            "paragraph",
            "inline",
        ]
        assert len(tokens) == 7
        inline = tokens[3].children or []
        assert [token.content for token in inline if token.type == "html_inline"] == [mark("bcd")]
        assert not any(token.type == "image" for token in inline)


@given(HOSTILE, HOSTILE, st.sampled_from(["```", "~~~", "````", "1. ", "- "]))
@settings(max_examples=examples(100, 1000))
@example("@app.route('/')\ndef f():\n\treturn '<!--bcd-->' \\@x <\\!-- --\\>", "", "```")
@example("```\n", "\n", "~~~")
def test_a_memory_of_several_lines_is_read_as_it_was_written(text: str, intro: str, opens: str) -> None:
    """Whatever it holds, it opens and ends nothing else; what can't stand in its lines stands in one."""
    inner = text.strip("\n") or "x"
    said = f"{intro}\n{opens}\n{inner}\n{opens}" if opens[0] in "`~" else f"{intro}\n{opens}{inner}\n{opens}two"
    written = item(shown(said), "bcd")
    assert re.findall("<!--|-->", written) == ["<!--", "-->"]
    assert not agent_paths(written)
    found = blocks(f"- a\n{written}- b\n\n## C\n", apart=False)
    assert [(each.kind, each.id) for each in found] == [
        ("item", None),
        ("item", "bcd"),
        ("item", None),
        ("bare heading", None),
    ]
    assert digest(found[1].text) in digests(said)


def parts_are_less(text: str) -> int:
    return len(text) + text.count("\n") ** 2


def state_of(rendered: Rendering) -> State:
    """As if an editor had touched the file: its hash is another one, so every line is looked at."""
    return State(generations=(Generation(id=rendered.generation, file="", lines=rendered.lines),))


@given(
    ENTRIES,
    PERSONAL,
    st.sampled_from([0, 30, 60, 130, 300, 2000, 10**6]),
    st.booleans(),
    st.sampled_from([exact(), len, parts_are_less]),
)
@settings(max_examples=examples(100, 300))
def test_a_file_is_bounded_and_an_unedited_one_has_no_edits(
    entries: list[Entry], personal: str, max_tokens: int, include_sensitive: bool, count: Callable[[str], int]
) -> None:
    chosen = manifest(entries, max_tokens=max_tokens)
    for form in (as_json, as_prompt):
        try:
            other = form(chosen, count, include_sensitive)
        except UsageError:
            continue
        assert other.tokens == count(other.text) <= max_tokens
        if form is as_json:
            rows = json.loads(other.text)["memories"]
            assert {row["key"] for row in rows} <= {
                each.key for each in entries if include_sensitive or not each.sensitive
            }
        else:
            assert len(other.text.split("\n")) <= len(entries) + 3 * len(SECTIONS) + 2
    try:
        rendered = render(chosen, personal, count, include_sensitive)
    except UsageError:
        assert count(render(manifest([], max_tokens=10**7), personal, count, True).text) > max_tokens
        return
    assert rendered == render(chosen, personal, count, include_sensitive)
    assert rendered.tokens == count(rendered.text) <= max_tokens

    parts = split_file(rendered.text, "file")
    assert parts.generation == rendered.generation
    assert parts.personal == personal + ("" if personal.endswith("\n") or not personal else "\n")
    by_key = {each.key: each for each in entries}
    said = [block for block in blocks(parts.rest, apart=False) if not block.is_heading]
    assert [block.id for block in said] == list(rendered.lines)
    for block in said:
        line = rendered.lines[block.id or ""]
        assert digest(block.text) == line.hash
        whole = by_key[line.key].text
        is_whole = line.hash in digests(whole)
        assert is_whole == (line.hash == line.whole)
        assert block.first == block.last or is_whole
        assert is_whole or plain(whole).startswith(block.text.removesuffix("…").rstrip())
        assert include_sensitive or not by_key[line.key].sensitive

    shown = {line.key for line in rendered.lines.values()}
    why = dict(rendered.left_out)
    assert set(shown) | set(why) == {each.key for each in entries}
    assert set(shown) & set(why) <= {
        key for key, reason in rendered.left_out if reason in ("shortened", "it is there already")
    }
    if max_tokens == 10**6:
        assert "no room" not in why.values()

    for text in (rendered.text, rendered.text.replace("\n- ", "\r\n* "), "\ufeff" + rendered.text):
        if text.count("personal") == rendered.text.count("personal"):
            assert not edits(text, state_of(rendered), chosen)


@given(
    ENTRIES,
    HOSTILE.map(plain).filter(lambda text: not is_blank(text)),
    st.sampled_from(["strike", "change", "add"]),
    st.data(),
)
@settings(max_examples=examples(100, 300))
def test_an_edit_of_any_line_is_found_and_only_it(
    entries: list[Entry], text: str, kind: str, data: st.DataObject
) -> None:
    chosen = manifest({each.content_hash: each for each in entries}.values())
    assume(not private_kinds(text))  # it would go to the personal part
    assume(all(each.content_hash != content_hash(text) for each in chosen.entries))
    rendered = render(chosen, "", exact(), True)
    assume(rendered.lines)
    at = data.draw(st.sampled_from(list(rendered.lines)))
    line = rendered.lines[at]
    assume(line.hash == line.whole)
    (block,) = (each for each in blocks(split_file(rendered.text, "file").rest, apart=False) if each.id == at)
    old = "\n".join(rendered.text.split("\n")[block.first - 1 : block.last])
    new = {"strike": "", "change": f"- {write(text)} {mark(at)}\n", "add": f"{old}\n- {write(text)}\n"}[kind]
    found = edits(rendered.text.replace(f"{old}\n", new), state_of(rendered), chosen)
    section = next(each.section for each in entries if each.key == line.key)
    assert (
        found
        == {
            "strike": Edits(strikes=((line.key, line.content_hash),)),
            "change": Edits(changes=(Change(line.key, line.content_hash, text, section),)),
            "add": Edits(additions=(Addition(section, text),)),
        }[kind]
    )
