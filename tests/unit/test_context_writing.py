"""The file and the graph are brought together, and whatever goes wrong in between loses nothing and does nothing twice."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.context_memories import NOW, Graph, entry, exact, graph

from jochi.context import WriteResult, migrate, write_context
from jochi.context.lines import digest, mark, plain
from jochi.context.lines import write as lines_write
from jochi.context.state import State, save_state, state_file
from jochi.errors import JochiError, PartlyDone, Refused, UsageError

OLD_FILE = "# Me\n\n## Private\nMy salary is 5.\n\n## To do\n- [ ] Buy soil\n- [x] Water roses\n\nBackups run at 3.\n"


class Killed(BaseException):
    """The process ends here: nothing of it runs any more."""


def mount(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing can take the place of a MEMORY.md that is there."""
    replace = Path.replace

    def replaced(source: Path, target: Path) -> Path:
        if target.name == "MEMORY.md" and target.exists():
            raise OSError(errno.EBUSY, "Device or resource busy")
        return replace(source, target)

    monkeypatch.setattr(Path, "replace", replaced)


class Killer:
    """Ends the process at its ``at``-th step. A step is a call of the system, or of the graph, which has then done it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, store: Graph, at: int) -> None:
        self.left = at
        for owner, name in (
            (os, "open"),
            (os, "fsync"),
            (Path, "replace"),
            (Path, "chmod"),
            (Path, "unlink"),
            (Path, "exists"),
        ):
            monkeypatch.setattr(owner, name, self.before(getattr(owner, name)))
        for name in ("remember", "change", "strike", "manifest"):
            monkeypatch.setattr(store, name, self.after(getattr(store, name)), raising=True)

    def step(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise Killed

    def before(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def stepping(*args: Any, **named: Any) -> Any:
            self.step()
            return call(*args, **named)

        return stepping

    def after(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def stepping(*args: Any) -> Any:
            result = call(*args)
            self.step()
            return result

        return stepping


def write(path: Path, store: Graph, **named: Any) -> WriteResult:
    return write_context(path, store.look(), store, exact(), NOW, **named)


def edited(folder: Path) -> tuple[Path, Graph]:
    """A file with every kind of edit."""
    store = graph(
        ("preferences", "Prefers tea."), ("preferences", "Speaks Welsh."), ("tasks", "Ship it"), "Backups run at 3."
    )
    file = folder / "MEMORY.md"
    write(file, store)
    text = (
        file.read_text()
        .replace("file -->\n", "file -->\nI'm Ada.\n")
        .replace("Ship it", "Ship it now")
        .replace("at 3", "at 4")
    )
    file.write_text(re.sub(".*Welsh.*\n", "", text) + "- Rain tomorrow\n\n## Privat\nsecret\n")
    store.memories["default/d"] = entry("default/d", "Backups run at 5.")
    store.version += 1
    return file, store


def written(file: Path, lines: int) -> tuple[str, Graph]:
    """A file of so many memories."""
    remarks = [entry(f"default/{n}", f"Die Brücke {n} über den Fluß ist blau.") for n in range(lines)]
    store = Graph(memories={each.key: each for each in remarks}, max_tokens=3000)
    write(file, store)
    return file.read_text(), store


def test_a_file_that_was_cut_off_anywhere_strikes_and_adds_nothing(tmp_path: Path) -> None:
    """At each byte, also where an agent then appended a line, and where nobody knows any more what was written."""
    file = tmp_path / "MEMORY.md"
    text, store = written(file, 4)
    whole, known = text.replace("file -->\n", "file -->\nI'm Ada.\n").encode(), state_file(file).read_bytes()
    lost = whole.index(b"\n\n<!-- /jochi")
    for end in range(len(whole)):
        for appended in (b"", b"\n- Rain tomorrow\n"):
            for state in (known, b""):
                file.write_bytes(whole[:end] + appended)
                state_file(file).write_bytes(state)
                try:
                    write(file, store)
                except JochiError:
                    assert file.read_bytes() == whole[:end] + appended
                else:
                    assert (state and end >= lost) or end in (0, len(whole) - 1), end
                    assert end == 0 or "I'm Ada." in file.read_text()
                assert [call for call in store.calls if call[-1] != "Rain tomorrow"] == [], (end, appended)
                if store.calls:
                    assert end >= lost, end
                    store.calls.clear()
                    del store.memories["default/new-1"]
                    store.made = 0
    # Its last lines may be gone if its end is there, and a file of a release that wrote none is read by its last line.
    last = text.splitlines()[-3]
    for release in (text.replace("<!-- /jochi -->\n", ""), text.replace(last + "\n", "")):
        file.write_text(text)
        state_file(file).write_bytes(known)
        file.write_text(release)
        assert write(file, store).rewritten
        assert file.read_text().endswith("\n<!-- /jochi -->\n")
    assert store.calls == [("strike", "default/3")]


def test_a_cut_that_is_meant_is_taken_in(tmp_path: Path) -> None:
    file = tmp_path / "MEMORY.md"
    text, store = written(file, 12)
    file.write_text(text[: text.index("- Die Brücke 4")])
    with pytest.raises(Refused, match="was cut off: its last line, <!-- /jochi -->, is gone"):
        write(file, store)
    assert len(store.memories) == 12
    taken_in = write(file, store, strike_many=True).taken_in
    assert len(store.memories) == 4
    assert taken_in[0] == ("struck", "default/4", "Die Brücke 4 über den Fluß ist blau.", "done")


@pytest.mark.parametrize(
    ("lines", "gone", "refused"), [(40, 14, True), (29, 6, True), (30, 6, False), (6, 5, False), (6, 6, True)]
)
def test_many_lines_at_once_are_struck_if_that_is_meant(tmp_path: Path, lines: int, gone: int, refused: bool) -> None:
    """A fifth of thirty lines is a person who tidies up, and one more isn't; five are few, however short the file."""
    file = tmp_path / "MEMORY.md"
    text, store = written(file, lines)
    items = [line for line in text.splitlines() if line.startswith("- Die")]
    assert len(items) == lines
    for item in items[:gone]:
        text = text.replace(item + "\n", "")
    file.write_text(text)
    if refused:
        with pytest.raises(Refused, match=f"{gone} of {lines} lines"):
            write(file, store)
        assert file.read_text() == text
        assert len(store.memories) == lines
    write(file, store, strike_many=refused)
    assert len(store.memories) == lines - gone


def test_what_was_taken_in_says_nothing_personal(tmp_path: Path) -> None:
    file, secret = tmp_path / "MEMORY.md", "Her IBAN is DE02120300000000202051."
    store = graph("Prefers tea.", secret, "Speaks Welsh.")
    store.memories["default/c"] = entry("default/c", "Speaks Welsh.", sensitive=True)
    write(file, store, include_sensitive=True)
    text = "".join(line for line in file.read_text().splitlines(keepends=True) if not re.search("tea|IBAN|Welsh", line))
    file.write_text(text + "- Rain\n")
    done = write(file, store, include_sensitive=True)
    assert [(each.edit, each.text) for each in done.taken_in] == [
        *(("struck", said) for said in ("Prefers tea.", "", "")),
        ("added", ""),
    ]


def unknown(folder: Path) -> tuple[Path, Graph]:
    file, store = edited(folder)
    state_file(file).unlink()
    return file, store


def stale(folder: Path) -> tuple[Path, Graph]:
    """An editor has saved the file of before, with a change."""
    store = graph("Prefers tea.")
    file = folder / "MEMORY.md"
    write(file, store)
    open_in_editor = file.read_text()
    store.memories["default/z"] = entry("default/z", "Speaks Welsh.")
    store.version += 1
    assert write(file, store).rewritten
    file.write_text(open_in_editor.replace("tea", "rum"))
    return file, store


def new(folder: Path) -> tuple[Path, Graph]:
    return folder / "MEMORY.md", graph("Prefers tea.")


def unmigrated(folder: Path) -> tuple[Path, Graph]:
    file = folder / "MEMORY.md"
    file.write_text(OLD_FILE)
    return file, graph("Prefers tea.", "Backups run at 3.")


def migration(file: Path, store: Graph) -> None:
    migrate(file, store, exact())


SCENES: dict[str, tuple[Callable[[Path], tuple[Path, Graph]], Callable[[Path, Graph], object], list[str]]] = {
    "edited": (
        edited,
        write,
        ["Backups run at 4.", "Backups run at 5.", "Prefers tea.", "Rain tomorrow", "Ship it now"],
    ),
    "unknown": (unknown, write, ["Backups run at 5.", "Prefers tea.", "Rain tomorrow", "Ship it", "Speaks Welsh."]),
    "stale": (stale, write, ["Prefers rum.", "Speaks Welsh."]),
    "new": (new, write, ["Prefers tea."]),
    "migration": (unmigrated, migration, ["Backups run at 3.", "Buy soil", "Prefers tea.", "[x] Water roses"]),
}


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir() if not each.name.endswith(".tmp"))


@pytest.mark.parametrize(
    ("scene", "is_mount"),
    [
        *((scene, False) for scene in SCENES),
        *(pytest.param(scene, True, marks=pytest.mark.slow) for scene in ("edited", "migration")),
    ],
)
def test_a_kill_at_any_point_loses_nothing_and_does_nothing_twice(
    scene: str, is_mount: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare, act, texts = SCENES[scene]
    if is_mount:
        mount(monkeypatch)

    def folders() -> Iterator[Path]:
        for number in range(1000):
            (folder := tmp_path / str(number)).mkdir()
            yield folder

    ways = folders()
    undisturbed = next(ways)
    file, store = prepare(undisturbed)
    before = file.read_bytes() if file.exists() else None
    act(file, store)
    assert store.texts() == texts
    after, made, calls = file.read_bytes(), store.made, len(store.calls)

    at = 0
    for folder in ways:
        file, store = prepare(folder)
        with monkeypatch.context() as patching:
            Killer(patching, store, at)
            try:
                act(file, store)
            except Killed:
                killed = True
            else:
                killed = False
        assert (file.read_bytes() if file.exists() else None) in (before, after), at
        act(file, store)
        assert file.read_bytes() == after, at
        assert store.texts() == texts, at
        assert store.made == made, at
        assert names(folder) == names(undisturbed), at
        if act is write:
            assert len(store.calls) <= calls + 1, "only the call that was just made is made again"
        store.calls.clear()
        act(file, store)
        assert (store.calls, file.read_bytes()) == ([], after), at
        if not killed:
            break
        at += 1
    assert at > 10


def test_edits_are_taken_in_and_the_file_says_what_the_graph_says(tmp_path: Path) -> None:
    file, store = edited(tmp_path)
    done = write(file, store)
    assert done.rewritten
    assert [(each.edit, each.key, each.outcome) for each in done.taken_in] == [
        ("struck", "default/b", "done"),
        ("changed", "default/c", "done"),
        ("added", "default/new-1", "done"),
        ("added", "default/new-2", "done"),
    ]
    assert store.calls == [
        ("strike", "default/b"),
        ("change", "default/c", "Ship it now"),
        ("remember", "insights", "Backups run at 4."),
        ("remember", "insights", "Rain tomorrow"),
    ]
    text = file.read_text()
    assert "file -->\nI'm Ada.\n## Privat\nsecret\n<!-- /personal -->" in text
    assert [re.sub(" <!--.*", "", line) for line in text.splitlines() if line.startswith("- ")] == [
        *("- Prefers tea.", "- Ship it now", "- Backups run at 5.", "- Backups run at 4.", "- Rain tomorrow")
    ]
    assert done.notes == (
        "Comments, and what is under personal headings or shows personal data or a secret, are now in the personal part.",
        "default/d stays as it is in the graph: it changed in the graph meanwhile. What you wrote is a memory of its own.",
    )
    changed = file.stat().st_mtime_ns
    again = write(file, store)
    assert not again.rewritten
    assert not again.taken_in
    assert file.stat().st_mtime_ns == changed


def test_a_ticked_box_completes_a_task_and_says_nothing_of_other_memories(tmp_path: Path) -> None:
    store = graph(("tasks", "Ship it"), "Prefers tea.")
    file = tmp_path / "MEMORY.md"
    write(file, store)
    file.write_text(re.sub("(?m)^- ", "- [x] ", file.read_text()) + "- Rain\n")
    done = write(file, store)
    assert done.taken_in == (
        ("completed", "default/a", "Ship it", "done"),
        ("completed", "default/b", "Prefers tea.", "is no task"),
        ("added", "default/new-1", "Rain", "done"),
    )
    assert done.notes == ("default/b is no task, so its ticked box says nothing.",)
    assert "[x]" not in file.read_text()
    assert store.texts() == ["Prefers tea.", "Rain"]


def test_a_refused_change_comes_in_as_a_memory_of_its_own(tmp_path: Path) -> None:
    """The memory is no more among the chosen ones, so only the graph can see that it changed."""
    store = graph("Prefers tea.", "Speaks Welsh.")
    file = tmp_path / "MEMORY.md"
    write(file, store)
    file.write_text(file.read_text().replace("tea", "rum").replace("Welsh", "Manx"))
    chosen = store.manifest()
    hidden = chosen.__class__(**{**chosen.__dict__, "entries": ()})
    store.memories["default/a"] = entry("default/a", "Prefers gin.")
    del store.memories["default/b"]
    done = write_context(file, hidden, store, exact(), NOW)
    assert [(each.edit, each.outcome) for each in done.taken_in] == [
        ("added", "instead of default/a, which changed meanwhile"),
        ("added", "instead of default/b, which is gone"),
    ]
    assert store.texts() == ["Prefers gin.", "Prefers rum.", "Speaks Manx."]


def test_a_line_that_the_graph_refuses_stays_in_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = graph("Prefers tea.")
    file = tmp_path / "MEMORY.md"
    write(file, store)
    file.write_text(edited := file.read_text().replace("tea", "rum") + "- Too much\n- Rain\n")
    remember = store.remember

    def refuses(section: str, text: str) -> str:
        if text == "Too much":
            raise PartlyDone("it was forgotten")
        return remember(section, text)

    with monkeypatch.context() as patching:
        patching.setattr(store, "remember", refuses)
        with pytest.raises(Refused, match="'Too much' can't be taken in: it was forgotten") as error:
            write(file, store)
        assert str(file) in str(error.value)
        assert file.read_text() == edited
        assert store.calls == [("change", "default/a", "Prefers rum.")]
        file.write_text(edited.replace("- Too much\n", ""))
        assert [each.text for each in write(file, store).taken_in] == ["Rain"]


def test_edits_that_a_person_takes_back_after_a_refusal_are_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was changed says again what it said, what was struck comes back, and what was added is told."""
    store = graph("Prefers tea.", "Speaks Welsh.", "Owns a boat.")
    file = tmp_path / "MEMORY.md"
    write(file, store)
    text = file.read_text()
    boat = next(line for line in text.splitlines(keepends=True) if "boat" in line)
    first = text.replace("tea", "rum").replace(boat, "") + "- Rain\n"
    remember = store.remember

    def refuses(section: str, text: str) -> str:
        if text == "Too much":
            raise PartlyDone("it was forgotten")
        return remember(section, text)

    monkeypatch.setattr(store, "remember", refuses)

    def refused(text: str) -> list[str]:
        file.write_text(text + "- Too much\n")
        with pytest.raises(Refused, match="Too much"):
            write(file, store)
        assert file.read_text() == text + "- Too much\n"
        return store.texts()

    assert refused(first) == ["Prefers rum.", "Rain", "Speaks Welsh."]
    # To and fro, as often as a person likes.
    assert refused(text) == ["Owns a boat.", "Prefers tea.", "Rain", "Speaks Welsh."]
    assert refused(first) == ["Owns a boat.", "Prefers rum.", "Rain", "Speaks Welsh."]
    file.write_text(text)
    done = write(file, store)
    assert store.texts() == ["Owns a boat.", "Prefers tea.", "Rain", "Speaks Welsh."]
    assert [note for note in done.notes if "isn't in it any more" in note] == [
        "default/new-1 came from this file and isn't in it any more; it stays in the graph."
    ]
    assert all(said in file.read_text() for said in store.texts())
    assert not write(file, store).notes


def test_what_a_person_left_out_again_is_told_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the file is then the same as before."""
    store = graph("Prefers tea.", max_tokens=60)
    monkeypatch.setattr(Graph, "version", property(lambda _: 1, lambda _, __: None))
    file = tmp_path / "MEMORY.md"
    write(file, store)
    text = file.read_text()
    with monkeypatch.context() as patching:
        patching.setattr(store, "manifest", lambda: (_ for _ in ()).throw(JochiError("it is busy")))
        file.write_text(text + "- " + "A long story. " * 10 + "\n")
        with pytest.raises(JochiError, match="it is busy"):
            write(file, store)
    file.write_text(text)
    for told in (1, 0):
        done = write_context(file, store.look(), store, exact(), NOW)
        assert not done.rewritten
        assert sum("isn't in it any more" in note for note in done.notes) == told


def test_a_struck_line_whose_memory_changed_out_of_sight_stays(tmp_path: Path) -> None:
    """The memory is no more among the chosen ones, so only the graph can see that it changed."""
    store = graph("Prefers tea.", "Speaks Welsh.")
    file = tmp_path / "MEMORY.md"
    write(file, store)
    file.write_text(re.sub("(?m)^- Prefers.*\n", "", file.read_text()))
    chosen = store.look()
    hidden = chosen.__class__(**{**chosen.__dict__, "entries": chosen.entries[1:]})
    store.memories["default/a"] = entry("default/a", "Prefers gin.")
    done = write_context(file, hidden, store, exact(), NOW)
    assert done.notes == ("default/a changed meanwhile, so it stands in the file again.",)
    assert "Prefers gin." in file.read_text()


def test_no_choice_is_kept_of_a_call_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = graph("Prefers tea.", max_tokens=30)
    monkeypatch.setattr(store, "manifest", lambda: pytest.fail("it was kept"))
    for text in (
        "# Mine\n",
        "<<<<<<< HEAD\n- x\n",
        "na\xefve",
        "<!-- personal -->\n",
        "<!-- personal -->\n<!-- /personal -->\n",
    ):
        file = tmp_path / "MEMORY.md"
        file.write_text(text, encoding="latin-1")
        with pytest.raises(JochiError):
            write_context(file, store.look(), store, exact(), NOW)
        assert [each.name for each in tmp_path.iterdir()] == ["MEMORY.md"]
        assert file.read_text(encoding="latin-1") == text
    file.write_text("- x\n")
    with pytest.raises(UsageError):
        migrate(file, store, exact())
    known, roomy = tmp_path / "KNOWN.md", graph("Prefers tea.")
    write(known, roomy)
    with pytest.raises(UsageError):
        write_context(known, store.look(), store, exact(), NOW)


def test_a_memory_that_may_not_go_stands_there_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = graph("Prefers tea.")
    file = tmp_path / "MEMORY.md"
    write(file, store)
    before = file.read_text()
    monkeypatch.setattr(store, "strike", lambda *_: "is pinned")
    file.write_text(re.sub("(?m)^- .*\n", "", before))
    assert write(file, store).notes == ("default/a is pinned, so it stands in the file again.",)
    assert file.read_text() == before


def test_the_file_that_an_editor_had_open_is_still_known(tmp_path: Path) -> None:
    done = write(*stale(tmp_path))
    assert [each.edit for each in done.taken_in] == ["changed"]
    assert not done.kept


def test_the_same_edit_counts_again_after_the_file_was_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The new memory has no room, so neither the ids nor the version nor the lines of the file change."""
    store = graph("Prefers tea.", max_tokens=60)
    monkeypatch.setattr(Graph, "version", property(lambda _: 1, lambda _, __: None))
    file = tmp_path / "MEMORY.md"
    write(file, store)
    for _ in range(2):
        file.write_text(file.read_text() + "- " + "A long story. " * 10 + "\n")
        assert write(file, store).notes == ("default/new-1 is in the graph, but there is no room for it in the file.",)
        del store.memories["default/new-1"]  # forgotten
        store.made = 0


def test_a_file_of_unknown_generation_is_kept_and_an_unedited_one_is_known_again(tmp_path: Path) -> None:
    store = graph("Prefers tea.")
    file = tmp_path / "MEMORY.md"
    write(file, store)
    for lost in ("", "{", '{"format": 2}'):
        state_file(file).write_text(lost)
        assert write(file, store).kept is None
    for number, suffix in enumerate(("", "-2"), 1):
        edited = file.read_text().replace("tea", f"rum {number}")
        file.write_text(edited)
        state_file(file).unlink()
        done = write(file, store)
        generation = (re.findall("generation=(\\S+)", edited))[0]
        assert done.kept == tmp_path / f"MEMORY.md.kept-{generation}{suffix}"
        assert done.kept.read_text() == edited
        assert done.kept.name in done.notes[0]
        assert not done.taken_in
        assert "Prefers tea." in file.read_text()
    file.write_text(re.sub("<!-- jochi.*\n", "", file.read_text()) + "- New\n")
    state_file(file).unlink()
    done = write(file, store)
    assert done.kept == tmp_path / "MEMORY.md.kept-2026-02-04"
    assert store.texts() == ["New", "Prefers tea."]


def test_code_and_steps_stand_in_the_file_as_they_were(tmp_path: Path) -> None:
    """Also with decorators, comments and ids in them, and where the file is older: written in one line."""
    code = "Routes:\n```py\n@app.get('/')\ndef home():\n    return '<!--bcd-->'\n```"
    steps = "To release:\n1. tag it\n2. build it\n   ```sh\n   make  all\n   ```\n3. say so"
    store = graph(code, steps, "Prefers\ntea.")
    file = tmp_path / "MEMORY.md"
    write(file, store)
    text = file.read_text()
    assert re.sub(r" *<!--\w+-->\n", "\n", text).endswith(
        """## Key insights

- Routes:
  ```py
  \\@app.get('/')
  def home():
      return '<\\!--bcd--\\>'
  ```

- To release:
  1. tag it
  2. build it
     ```sh
     make  all
     ```
  3. say so

- Prefers tea.

<!-- /jochi -->
"""
    )
    for other in (
        text + "\n",
        text.replace("\n- ", "\r\n* "),
        text.replace("\\@app", "@app"),
        re.sub(" *<!--.*-->", "", text),
    ):
        file.write_text(other)
        assert not write(file, store).taken_in
        assert file.read_text() == text
    # In code blanks count, elsewhere they don't.
    file.write_text(text.replace("      return", "        return").replace("1. tag", "1.  tag"))
    [changed] = write(file, store).taken_in
    assert (changed.edit, store.memories["default/a"].text) == ("changed", code.replace("    return", "      return"))
    file.write_text(re.sub(r"- To release:(.|\n)*?say so\s*<!--\w+-->\n", "", file.read_text()))
    assert [each.key for each in write(file, store).taken_in] == ["default/b"]

    earlier = State.model_validate_json(state_file(file).read_bytes()).generations[0]
    line_id, line = next((line_id, line) for line_id, line in earlier.lines.items() if line.key == "default/a")
    old = store.memories["default/a"].text
    one_line = line._replace(hash=digest(plain(old)), whole=digest(plain(old)))
    before = re.sub(
        r"- Routes:(.|\n)*?(?=- Pref)", lambda _: f"- {lines_write(plain(old))} {mark(line_id)}\n", file.read_text()
    )
    state = State(generations=(earlier.model_copy(update={"lines": {**earlier.lines, line_id: one_line}}),))
    save_state(file, state)
    file.write_text(before + "\n")
    assert not write(file, store).taken_in
    assert old.split("\n")[1] in file.read_text()


def test_what_is_struck_out_in_the_file_is_struck(tmp_path: Path) -> None:
    store = graph("Prefers tea.", "Ships on Mondays.", "Markdown strikes ~~so~~.", "Backups run at 3.", "Speaks Welsh.")
    file = tmp_path / "MEMORY.md"
    write(file, store)
    text = (
        file.read_text().replace("Prefers tea.", "~~Prefers tea.~~").replace("on Mondays", "~~on Mondays~~ on Tuesdays")
    )
    text = re.sub("- Backups.*", "- ~~Backups run at 3.~~", text) + "- ~~Rain~~\n- ~~Rain~~ Snow\n"
    file.write_text(text)
    done = write(file, store)
    assert sorted((each.edit, each.key) for each in done.taken_in) == [
        ("added", "default/new-1"),
        ("changed", "default/b"),
        ("struck", "default/a"),
        ("struck", "default/d"),
    ]
    assert store.texts() == ["Markdown strikes ~~so~~.", "Ships on Tuesdays.", "Snow", "Speaks Welsh."]


def test_a_file_whose_comments_are_gone_is_known_by_what_stands_beside_it(tmp_path: Path) -> None:
    """Its personal part stays personal, and its lines are no new ones; another file by now isn't known."""
    personal = "My name is Ada.\n\n## Contacts\n\nThe key lies under the mat.\n"
    texts = [("preferences", "Prefers tea."), ("tasks", "Ship it"), ("tasks", "Buy soil"), "Backups run at 3."]
    for header, kept, known in ((False, 4, True), (True, 4, True), (False, 2, True), (False, 1, False)):
        store = graph(*texts)
        file = tmp_path / f"{header}-{kept}.md"
        write(file, store)
        file.write_text(file.read_text().replace("file -->\n", f"file -->\n{personal}"))
        write(file, store)
        text = re.sub("<!-- jochi.*" if header else " ?<!--.*-->", "", file.read_text())
        for gone in [text for _, text in texts[:3]][: 4 - kept]:
            text = re.sub(f"- {gone}.*\n", "", text)
        file.write_text(text + "- Rain tomorrow\n")
        if not known:
            with pytest.raises(Refused, match="isn't one of Jochi's"):
                write(file, store)
            continue
        assert migrate(file, store, exact()).already
        done = write(file, store)
        assert [(each.edit, each.text) for each in done.taken_in if each.edit == "added"] == [
            ("added", "Rain tomorrow")
        ]
        assert len(done.taken_in) == 1 + 4 - kept
        assert f"file -->\n{personal}<!-- /personal -->\n" in file.read_text()
        assert not write(file, store).rewritten

    file, store = tmp_path / "AGENTS.md", graph()
    file.write_text("# Rules\n\n- Use tabs\n")
    migrate(file, store, exact())
    file.write_text((tmp_path / "AGENTS.md.pre-migration").read_text())
    with pytest.raises(Refused, match="isn't one of Jochi's"):
        write(file, store)
    assert not migrate(file, store, exact()).already
    assert store.texts() == ["Use tabs"]


@pytest.mark.parametrize("is_mount", [False, True])
def test_who_writes_meanwhile_is_never_overwritten(
    is_mount: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_mount:
        mount(monkeypatch)
    store = graph("Prefers tea.")
    file = tmp_path / "MEMORY.md"
    write(file, store)
    store.remember("insights", "Speaks Welsh.")
    fsync, writes = os.fsync, iter(range(100))

    def fsync_while_somebody_writes(number: int) -> None:
        fsync(number)
        if stat.S_ISREG(os.fstat(number).st_mode) and (at := next(writes)) < busy:
            file.write_text(file.read_text() + f"- Line {at}\n")

    monkeypatch.setattr(os, "fsync", fsync_while_somebody_writes)
    busy = 3
    done = write(file, store)
    assert {f"Line {at}" for at in range(busy)} <= set(store.texts())
    assert len(done.taken_in) == busy
    assert all(f"Line {at}" in file.read_text() for at in range(busy))
    busy, writes = 1000, iter(range(100, 300))
    store.remember("insights", "Likes rain.")
    with pytest.raises(JochiError, match="somebody changed the file each of the 5 times"):
        write(file, store)
    assert "Line 100" in file.read_text()


def test_the_personal_part_may_be_long_but_not_longer_than_all(tmp_path: Path) -> None:
    store = graph("Prefers tea.", ("tasks", "word " * 300), max_tokens=1000)
    file = tmp_path / "MEMORY.md"
    write(file, store)
    file.write_bytes(file.read_bytes().replace(b"file -->\n", b"file -->\r\n" + b"me \t\r\n" * 230))
    done = write(file, store)
    assert any("its share is 500" in note for note in done.notes)
    assert done.tokens <= 1000
    assert "no room" in dict(done.left_out).values() or "shortened" in dict(done.left_out).values()
    assert b"file -->\n" + b"me \t\r\n" * 230 + b"<!-- /personal -->" in file.read_bytes()
    file.write_bytes(before := file.read_bytes().replace(b"me ", b"me and you and they and we "))
    with pytest.raises(UsageError, match="MEMORY\\.md: without any memory the file has"):
        write(file, store)
    assert file.read_bytes() == before


def test_an_emptied_or_deleted_file_is_made_again(tmp_path: Path) -> None:
    store = graph("Prefers tea.")
    file = tmp_path / "MEMORY.md"
    write(file, store)
    text = file.read_text()
    for lose in (lambda: file.write_text("\n"), file.unlink):
        lose()
        assert write(file, store).rewritten
        assert file.read_text() == text
    assert not store.calls


def test_modes_and_links_stay(tmp_path: Path) -> None:
    file = tmp_path / "MEMORY.md"
    store = graph("Prefers tea.")
    write(file, store)
    file.chmod(0o600)
    state_file(file).unlink()
    (tmp_path / "links").mkdir()
    link = tmp_path / "links" / "link.md"
    link.symlink_to(file)
    store.remember("insights", "Speaks Welsh.")
    write(link, store)
    assert "Welsh" in file.read_text()
    assert link.is_symlink()
    assert {stat.S_IMODE(each.stat().st_mode) for each in (file, state_file(file))} == {0o600}
    assert names(tmp_path / "links") == ["link.md"]
    file.unlink()
    for act in (write, migration):
        with pytest.raises(JochiError, match=f"link.md: it is a link to {file}, and there is no such file"):
            act(link, store)
    assert not file.exists()


def test_what_cannot_be_read_or_written_is_said_and_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = graph("Prefers tea.")

    def said(path: Path, what: str, kind: type[JochiError] = JochiError) -> None:
        for act in (write, migration):
            with pytest.raises(kind) as error:
                act(path, store)
            assert what in str(error.value)
            assert "→" in str(error.value)

    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "latin").write_bytes(b"# x\n\nna\xefve\n")
    said(tmp_path, "that is no file")
    said(tmp_path / "loop", "a link that leads in a circle")
    said(tmp_path / "latin", "latin, line 3: the file isn't UTF-8")
    os.mkfifo(tmp_path / "pipe")
    said(tmp_path / "pipe", "that is no file")
    assert (tmp_path / "latin").read_bytes() == b"# x\n\nna\xefve\n"

    (tmp_path / "mine.md").write_text("# Mine\n- x\n")
    with pytest.raises(Refused, match="isn't one of Jochi's"):
        write(tmp_path / "mine.md", store)
    with pytest.raises(JochiError, match="there is nothing in this file"):
        migrate(tmp_path / "missing.md", store, exact())
    with pytest.raises(JochiError, match="No such file"):
        write(tmp_path / "missing" / "MEMORY.md", store)

    file = tmp_path / "MEMORY.md"
    write(file, store)
    before = file.read_bytes()
    store.remember("insights", "Speaks Welsh.")
    for owner, name, problem in (
        (os, "open", OSError(errno.EROFS, "Read-only file system")),
        (os, "fsync", OSError(errno.ENOSPC, "No space left on device")),
        (Path, "replace", OSError(errno.EROFS, "Read-only file system")),
        (Path, "read_bytes", PermissionError(errno.EACCES, "Permission denied")),
    ):

        def fails(*_: Any, problem: OSError = problem, **__: Any) -> None:
            raise problem

        with monkeypatch.context() as patching:
            patching.setattr(owner, name, fails)
            with pytest.raises(JochiError, match=str(problem.strerror)):
                write(file, store)
        assert file.read_bytes() == before
    assert [name for name in names(tmp_path) if "MEMORY" in name] == [".MEMORY.md.jochi.json", "MEMORY.md"]
    assert write(file, store).rewritten
