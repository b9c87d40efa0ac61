"""What a person wrote into MEMORY.md is told from what Jochi wrote, line by line."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from tests.context_memories import NOW, entry, exact, graph, manifest

from jochi.context import Edits, Manifest, Rendering, State, edits, render
from jochi.context.edits import Completion
from jochi.context.layout import END, PERSONAL, split_file
from jochi.context.manifest import Dated
from jochi.context.state import Generation
from jochi.errors import JochiError, Refused
from jochi.text.content import content_hash

GRAPH = graph(
    ("preferences", "Prefers tea."),
    ("preferences", "Uses `<T>` and snake_case\\*"),
    ("tasks", "Ship the export by Friday"),
    "Backups run at 3.",
)
MANIFEST = GRAPH.manifest()
FILE = render(MANIFEST, "My name is Ada.\n", exact(), False)
STATE = State(generations=(Generation(id=FILE.generation, file="", lines=FILE.lines),))
ID = {line.key.removeprefix("default/"): f"<!--{line_id}-->" for line_id, line in FILE.lines.items()}


def line(key: str) -> str:
    """The whole line of a memory, with its end."""
    (found,) = re.findall(rf".*{ID[key]}\n", FILE.text)
    return found


def of(text: str, now: Manifest = MANIFEST) -> Edits:
    return edits(text, STATE, now)


def kinds(found: Edits) -> tuple[list[tuple[str, str]], list[tuple[str, str]], list[str], list[str]]:
    return (
        [tuple(each) for each in found.additions],
        [(change.key.removeprefix("default/"), change.text) for change in found.changes],
        [each.key.removeprefix("default/") for each in found.strikes],
        [conflict.key.removeprefix("default/") for conflict in found.conflicts],
    )


A, B, C, D = (line(key) for key in "abcd")
OLD = FILE.text

CASES: dict[str, tuple[str, tuple[list[tuple[str, str]], list[tuple[str, str]], list[str], list[str]]]] = {
    "nothing": (OLD, ([], [], [], [])),
    "struck": (OLD.replace(A, ""), ([], [], ["a"], [])),
    "struck, its id left": (OLD.replace(A, f"- {ID['a']}\n"), ([], [], ["a"], [])),
    "all struck": (OLD[: OLD.index("\n## ")] + END, ([], [], ["a", "b", "c", "d"], [])),
    "changed": (OLD.replace("tea.", "green tea."), ([], [("a", "Prefers green tea.")], [], [])),
    "an open box says nothing": (OLD.replace(C, C.replace("- ", "- [ ] ")), ([], [], [], [])),
    "a new line loses its open box, and a ticked one keeps it": (
        OLD.replace(C, C + "- [ ] Buy soil\n- [x] Water roses\n"),
        ([("tasks", "Buy soil"), ("tasks", "[x] Water roses")], [], [], []),
    ),
    "a box without words is nothing": (
        OLD.replace(A, f"- [ ] {ID['a']}\n").replace(B, f"- [x] {ID['b']}\n") + "- [ ]\n- [x]\n",
        ([], [], ["a", "b"], []),
    ),
    "only its case": (OLD.replace("Prefers tea.", "prefers tea"), ([], [("a", "prefers tea")], [], [])),
    "escapes are undone": (OLD.replace("snake", "kebab"), ([], [("b", "Uses `<T>` and kebab_case\\*")], [], [])),
    "words behind the id": (
        OLD.replace(ID["a"], ID["a"] + " And cake."),
        ([], [("a", "Prefers tea.  And cake.")], [], []),
    ),
    "wrapped and with other bullets": (
        OLD.replace(A, f"*   Prefers\n    tea.\n    {ID['a']}\n").replace("\n", "\r\n"),
        ([], [], [], []),
    ),
    "more in its item": (
        OLD.replace(A, A + "  - with milk\n  - but no sugar\n\n  ever\n"),
        ([], [("a", "Prefers tea. \n- with milk\n- but no sugar\never")], [], []),
    ),
    "moved": (OLD.replace(A, "") + A, ([], [], [], [])),
    "moved below another": (OLD.replace(A, "").replace(C, C + "  " + A), ([], [], [], [])),
    "no item any more": (OLD.replace(A, "\n" + A.removeprefix("- ") + "\n"), ([], [], [], [])),
    "two lines in one": (OLD.replace(A + B, A.rstrip() + " " + B), ([], [], [], [])),
    "copied": (OLD + A, ([], [], [], [])),
    "copied and changed": (OLD + A.replace("tea", "rum"), ([("insights", "Prefers rum.")], [], [], [])),
    "copied, both changed": (
        OLD.replace(A, A.replace("tea", "gin") + A.replace("tea", "rum")),
        ([("preferences", "Prefers rum.")], [("a", "Prefers gin.")], [], []),
    ),
    "its id lost": (OLD.replace(ID["a"], ""), ([], [], [], [])),
    "its id lost and a letter": (OLD.replace(A, "- prefers TEA\n"), ([], [("a", "prefers TEA")], [], [])),
    "its old words in a new line": (
        OLD.replace("tea.", "rum.") + "- Prefers tea.\n",
        ([("insights", "Prefers tea.")], [("a", "Prefers rum.")], [], []),
    ),
    "an id that isn't known": (OLD + "- New <!--zzz99-->\n", ([("insights", "New")], [], [], [])),
    "a new item": (OLD.replace(C, C + "- Water roses\n"), ([("tasks", "Water roses")], [], [], [])),
    "a new item of several lines": (
        OLD + "- Deploy:\n  ```sh\n  make  x\n  ```\n  1. look\n",
        ([("insights", "Deploy:\n```sh\nmake  x\n```\n1. look")], [], [], []),
    ),
    "a paragraph": (OLD + "\nThe cat is\ncalled Tom.\n", ([("insights", "The cat is called Tom.")], [], [], [])),
    "before the sections": (
        OLD.replace("# Memory\n", "# Memory\nHello `\\*` \\*\n"),
        ([("insights", "Hello `\\*` *")], [], [], []),
    ),
    "a heading of their own": (
        OLD + "\n## Garden\n- Water on Fridays\n\n## To do\n- Buy soil\n",
        ([("insights", "Garden: Water on Fridays"), ("tasks", "Buy soil")], [], [], []),
    ),
    "a heading with nothing below": (
        OLD + "\n## Ada moved to Berlin\n",
        ([("insights", "Ada moved to Berlin")], [], [], []),
    ),
    "a table": (
        OLD + "\n| who | what |\n|---|---|\n| Bo | tea |\n",
        ([("insights", "who: Bo; what: tea")], [], [], []),
    ),
    "what is there already": (OLD + "- Backups run at 3.\n", ([], [], [], [])),
    "a heading by its underline, and lines that are no conflict": (
        OLD + "\nGarden\n=======\n- Water <<<<<<< here\n- Six: <<<<<< ======\n\n========\n",
        (
            [("insights", f"Garden: {said}") for said in ("Water <<<<<<< here", "Six: <<<<<< ======", "========")],
            [],
            [],
            [],
        ),
    ),
    "no title": (OLD.replace("# Memory\n", ""), ([], [], [], [])),
    "into the personal part": (OLD.replace(A, "").replace("My name", A + "My name"), ([], [], ["a"], [])),
}


@pytest.mark.parametrize("case", CASES)
def test_an_edit_is_found_and_nothing_else(case: str) -> None:
    text, expected = CASES[case]
    assert kinds(of(text)) == expected
    assert of(text).known
    assert not of(text).personal


def test_what_is_under_a_personal_heading_goes_to_the_personal_part_alone() -> None:
    found = of(OLD.replace(C, C + "\n## Private\n\nMy salary is 5.\n\n### Health\n- Back pain\n\n## To do\n- Run\n"))
    assert found == Edits(
        additions=(("tasks", "Run"),), personal="## Private\n\nMy salary is 5.\n\n### Health\n- Back pain\n"
    )
    assert of(OLD + "\n<!-- lint: off\n-->\n- New\n") == Edits(
        additions=(("insights", "New"),), personal="<!-- lint: off\n-->\n"
    )
    # A line of Jochi's under it is no person's, but what a person made of it is.
    assert of(OLD.replace(A, "\n## Privat\nsecret\n\n" + A)) == Edits(personal="## Privat\nsecret\n")
    for there, conflicts in (("", ["a"]), (A, [])):
        found = of(
            OLD.replace(A, there + "\n## Privat\n" + A.replace("tea", "gin") + B).replace("\n" + B + "\n## T", "\n## T")
        )
        assert (kinds(found), found.personal) == (([], [], [], conflicts), "## Privat\n- Prefers gin.\n")
    found = of(OLD.replace(A + B, "\n## Privat\n" + A.rstrip() + " And gin. " + B))  # with another in one item
    assert (kinds(found), "And gin." in found.personal) == (([], [], [], ["b"]), True)
    # A bold line is a heading where it is personal, up to the next one.
    bold = "\n**Private:**\nMy salary is 5.\n\n__Privat__\n\n- Back pain\n"
    for end in ("\n**Garden**\n\n- Roses\n", "\n## Garden\n- Roses\n"):
        found = of(OLD + bold + end)
        assert found.personal == bold.strip("\n") + "\n"
        assert found.additions[-1][1].endswith("Roses")
        assert all("salary" not in text and "pain" not in text for _, text in found.additions)
    assert of(OLD + "\n**Private** rooms are cheap.\n").additions


@pytest.mark.parametrize(
    ("line", "comment"),
    [
        (A.replace("tea.", "tea. <!-- he lies -->"), "<!-- he lies -->"),
        (A.replace("Prefers", "Prefers<!-- he\n  lies -->"), "<!-- he lies -->"),
        (A + "  <!-- he\n  lies -->\n", "<!-- he\nlies -->"),
        (A + "  - <!-- he lies -->\n", "<!-- he lies -->"),
        (A + "- <!-- he lies -->\n", "<!-- he lies -->"),
        (A + "\n> <!-- he lies -->\n", "<!-- he lies -->"),
        (A + "\n## Key insights <!-- he lies -->\n", "<!-- he lies -->"),
        (A + "\n| <!-- he lies --> |\n|---|\n| Prefers tea. |\n", "<!-- he lies -->"),
        (A + "\n<div><!-- he lies --></div>\n\n", "<!-- he lies -->"),
    ],
)
def test_a_comment_goes_to_the_personal_part_wherever_it_stands(line: str, comment: str) -> None:
    found = of(OLD.replace(A, line))
    assert found.personal == comment + "\n"
    assert "lies" not in repr(replace(found, personal=""))
    assert not found.changes
    assert not found.strikes


@pytest.mark.parametrize("comment", ["<!-- /personal -->", "<!-- personal matters -->"])
def test_a_comment_like_a_marker_leaves_a_file_that_can_be_read(comment: str) -> None:
    found = of(OLD.replace(A, A + f"- Likes {comment} tea\n"))
    assert comment in found.personal
    text = render(MANIFEST, found.personal, exact(), False).text
    assert split_file(text, "MEMORY.md").personal == found.personal


def test_a_comment_in_code_is_code() -> None:
    assert kinds(of(OLD + "- Write `<!-- x -->` or `` `<!-- y -->` ``\n"))[0] == [
        ("insights", "Write `<!-- x -->` or `` `<!-- y -->` ``")
    ]


@pytest.mark.parametrize(
    ("written", "now", "expected"),
    [
        ("Prefers rum.", "Prefers gin.", ([("preferences", "Prefers rum.")], [], [], ["a"])),
        ("Prefers gin.", "Prefers gin.", ([], [], [], [])),
        ("Prefers tea.", "Prefers gin.", ([], [], [], [])),
        (None, "Prefers gin.", ([], [], [], ["a"])),
        ("Prefers rum.", None, ([], [("a", "Prefers rum.")], [], [])),
        (None, None, ([], [], ["a"], [])),
    ],
)
def test_the_graph_may_have_changed_too(
    written: str | None,
    now: str | None,
    expected: tuple[list[tuple[str, str]], list[tuple[str, str]], list[str], list[str]],
) -> None:
    entries = [replace(each, text=now) if each.key == "default/a" and now else each for each in MANIFEST.entries]
    changed = replace(MANIFEST, entries=tuple(each for each in entries if now or each.key != "default/a"))
    text = OLD.replace(A, "" if written is None else f"- {written} {ID['a']}\n")
    found = of(text, changed)
    assert kinds(found) == expected
    for change in found.changes:
        assert change.old_hash == MANIFEST.entries[0].content_hash


def test_a_shortened_line_changes_no_memory() -> None:
    long = manifest([entry("default/a", "A sentence of some length. " * 500)])
    file = render(long, "", exact(), False)
    (line_id,) = file.lines
    assert dict(file.left_out) == {"default/a": "shortened"}
    state = State(generations=(Generation(id=file.generation, file="", lines=file.lines),))
    assert not edits(file.text, state, long)
    found = edits(file.text.replace("A sentence", "One sentence", 1), state, long)
    assert [(each.key, each.why) for each in found.conflicts] == [
        ("default/a", "the line shows only a part of the memory")
    ]
    assert found.additions[0].text.startswith("One sentence of some length. A sentence")
    assert edits(re.sub(f".*{line_id}.*\n", "", file.text), state, long).strikes[0].key == "default/a"


def test_of_an_unknown_generation_only_lines_without_an_id_are_read() -> None:
    text = OLD.replace(A, "").replace("Backups", "No backups") + "- New\n"
    for unknown in (edits(text, State(), MANIFEST), of(text.replace(FILE.generation, "00000000"))):
        assert unknown == Edits(additions=(("insights", "New"),), known=False)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("# My own file\n- x\n", "isn't one of Jochi's"),
        (OLD.replace("<!-- /personal -->\n", ""), "one line where it begins and one where it ends"),
        (OLD.replace("<!-- personal: stays in this file -->\n", ""), "one line where it begins"),
        (OLD + "<!-- personal: x -->\n<!-- /personal -->\n", "lines [4, 6, 22, 23]"),
        (OLD.replace("default", "other"), "scope other, not of default"),
        (OLD.replace(B, "\n```\n" + B), "Jochi's line"),
        (OLD.replace(A, "> " + A), "Jochi's line"),
        (OLD.replace(A, "<details>\n" + A + "</details>\n"), "Jochi's line"),
        (OLD.replace(A, "| a |\n|---|\n| " + A), "Jochi's line"),
        (OLD.replace(A, "<!-- " + A.rstrip() + " -->\n"), "Jochi's line"),
        (OLD.replace(A, "<<<<<<< HEAD\n" + A), "MEMORY.md, line 10: a conflict"),
        (OLD.replace(A, A + "=======\n"), "MEMORY.md, line 11: a conflict"),
        (OLD + "\n=======\r\n", "line 23: a conflict"),
        (
            OLD.replace("<!-- personal", "<<<<<<< HEAD\n<!-- personal: x -->\n<!-- personal"),
            "MEMORY.md, line 4: a conflict",
        ),
        (OLD + "```\n>>>>>>> main\n```\n", "line 23: a conflict"),
    ],
)
def test_what_cannot_be_told_is_refused(text: str, what: str) -> None:
    with pytest.raises(Refused) as error:
        of(text)
    assert what in str(error.value)
    assert "MEMORY.md" in str(error.value)
    assert "→" in str(error.value)


@pytest.mark.parametrize("scope", ["a --> b\n<!-- ü", "界" * 1000, "界" * 999])
def test_a_scope_of_any_name_ends_no_header(scope: str) -> None:
    odd = replace(MANIFEST, scope=scope)
    file: Rendering = render(odd, "", exact(), False)
    state = State(generations=(Generation(id=file.generation, file="", lines=file.lines),))
    assert not edits(file.text, state, odd)
    with pytest.raises(JochiError):
        edits(file.text, state, replace(MANIFEST, scope="界" * 1001))


def test_a_ticked_box_completes_what_the_line_is() -> None:
    """Also where its words changed, its id is gone, or a task of the graph changed meanwhile."""
    ticked = OLD.replace(C, C.replace("- ", "- [x] "))
    hash = next(entry.content_hash for entry in MANIFEST.entries if entry.key == "default/c")
    assert of(ticked) == Edits(completions=(Completion("default/c", hash),))
    without_id = re.sub(r"(- \[x\] .*) <!--\w+-->", r"\1", ticked)
    assert (without_id != ticked, of(without_id)) == (True, of(ticked))
    [line] = [line for line in ticked.splitlines() if "[x]" in line]
    words = line.partition("[x] ")[2].partition(" <!--")[0]
    found = of(ticked.replace(words, "Ship all of it"))
    assert [change.text for change in found.changes] == ["Ship all of it"]
    assert found.completions == (Completion("default/c", content_hash("Ship all of it")),)
    entries = [replace(each, text="Something else") if each.key == "default/c" else each for each in MANIFEST.entries]
    found = of(ticked, replace(MANIFEST, entries=tuple(entries)))
    assert kinds(found) == ([], [], [], ["c"])
    assert not found.completions
    own = graph(("tasks", "[x] Water roses")).manifest()
    file = render(own, "", exact(), False)
    state = State(generations=(Generation(id=file.generation, file="", lines=file.lines),))
    found = edits(file.text.replace("roses", "ferns"), state, own)
    assert ([change.text for change in found.changes], found.completions) == (["[x] Water ferns"], ())


def test_lines_of_what_was_said_earlier_are_edited_as_others() -> None:
    """What stands before them is the file's; a memory's own words stay, also where they are the same."""
    said = {"a": "Rent is 900.", "b": "Rent is 950.", "c": "Earlier (2026-01-02): own words"}
    entries = [entry(f"default/{key}", text) for key, text in said.items()]
    now = replace(
        manifest(entries), threads=((Dated("default/b", NOW), Dated("default/a", NOW), Dated("default/c", NOW)),)
    )
    file = render(now, "", exact(), False)
    state = State(generations=(Generation(id=file.generation, file="", lines=file.lines),))
    for change, wanted in (
        ((), ([], [], [], [])),
        (("is 900", "was 900"), ([], [("a", "Rent was 900.")], [], [])),
        (("own", "my own"), ([], [("c", "Earlier (2026-01-02): my own words")], [], [])),
        ((r"(is 900\.).*", r"\1"), ([], [], [], [])),  # its id
        ((r"- Rent is 950.*\n", ""), ([], [], ["b"], [])),
        ((r" *- .*is 900.*\n", ""), ([], [], ["a"], [])),
        ((r"\Z", "- Earlier (2026-01-02): new\n"), ([("insights", "Earlier (2026-01-02): new")], [], [], [])),
    ):
        assert kinds(edits(re.sub(*change, file.text, count=1) if change else file.text, state, now)) == wanted, change


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_mark_in_a_block_of_code_is_code(end: str) -> None:
    """Also one round which a fence stands in the personal part; a fence that nobody closed hides no mark."""
    code = f"```html\n{END}<!-- /personal -->\n{PERSONAL}```\n"
    text = (OLD.removesuffix(END) + code + END).replace("\n", end)
    found = split_file(text, "MEMORY.md")
    assert (found.rest.count(END.strip()), found.whole, found.personal.strip()) == (1, True, "My name is Ada.")
    assert split_file(text.removesuffix(END.replace("\n", end)), "MEMORY.md").whole is False
    own = OLD.replace("My name is Ada.\n", code).replace("\n", end)
    assert split_file(own, "MEMORY.md").personal == code.replace("\n", end)
    unclosed = (OLD.replace("My name is Ada.\n", "```\n").removesuffix(END) + f"```\ncode\n```\n{END}").replace(
        "\n", end
    )
    assert split_file(unclosed, "MEMORY.md").personal == "```" + end
