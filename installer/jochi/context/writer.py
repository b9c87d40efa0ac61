"""Brings a file and the graph together: takes in what a person wrote, then writes the file anew (docs/reference/memory-file.md).

What is killed in between loses nothing and does nothing twice. The order is: edits into the graph, each on record beside the file;
what is known of the new file; the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from jochi.context.edits import Addition, Change, Completion, Edit, Edits, Strike, edits
from jochi.context.layout import is_ours
from jochi.context.lines import digest, plain
from jochi.context.manifest import Manifest
from jochi.context.recognition import known_of, parts_of
from jochi.context.rendering import Count, Rendering, render
from jochi.context.state import AppliedEdit, Generation, Line, State, file_hash, save_state, state_file
from jochi.errors import ConnectionFailed, JochiError, Refused, UsageError
from jochi.files import keep, read_text, real_file, replace_text, until_quiet
from jochi.text.content import content_hash
from jochi.text.visible import visible

MANY, SHARE = 5, 5
"""More lines than `MANY` aren't struck at once, where they are more than one of `SHARE`, unless that is asked for. Who tidies up
strikes a handful at a time, and a worker takes that in within a minute; an agent that writes the file anew leaves out many."""

DONE = "done"


class EditTarget(Protocol):
    """The graph as one edit sees it. Each call can come twice with the same values and then does nothing more. What it refuses
    it raises as a `JochiError`.

    An outcome is `done`, or a few words for a person that go on after the key: `changed meanwhile`, `is gone`, `is pinned`.
    """

    def remember(self, section: str, text: str) -> str:
        """The key of the memory: a new one, or the one that says this already."""

    def change(self, key: str, text: str, expected_content_hash: str | None) -> str:
        """Only if the content hash is the expected one, where one is expected."""

    def strike(self, key: str, expected_content_hash: str | None) -> str:
        """Likewise."""

    def complete(self, key: str, expected_content_hash: str | None) -> str:
        """Likewise, of a task; `is no task` of any other memory."""


class Store(EditTarget, Protocol):
    """The graph, as the file sees it."""

    def remember(self, section: str, text: str, behind: int = 0) -> str:
        """As of `EditTarget`. Of those that are worth the same, those that stand ``behind`` fewer come first."""

    def look(self) -> Manifest:
        """What would be chosen now. Nothing is kept of it."""

    def manifest(self) -> Manifest:
        """What is chosen now, with all that was taken in."""

    def copies(self, key: str, content_hash: str) -> Mapping[str, str | None]:
        """Other memories of the scope that say what ``key`` said when it had this content hash: their keys, each with its own
        content hash, which is another where a task stands for a fact."""


class Outcome(NamedTuple):
    """What became of one edit, in a word or a few. ``key``: of the memory that it is in now. ``text``: what it says, or
    said; empty where that is personal (SENSITIVE, or it shows personal data or a secret) or isn't known."""

    edit: Literal["added", "changed", "struck", "completed"]
    key: str
    text: str
    outcome: str


@dataclass(frozen=True)
class WriteResult:
    """``rewritten``: whether the file is another one now. ``kept``: a copy of the file as it was, where its edits couldn't be
    told. ``notes``: sentences that a person should read."""

    rewritten: bool
    tokens: int
    version: int
    left_out: tuple[tuple[str, str], ...]
    taken_in: tuple[Outcome, ...]
    edits: Edits
    kept: Path | None
    notes: tuple[str, ...]


def write_context(
    path: Path,
    manifest: Manifest,
    store: Store,
    count: Count,
    now: datetime,
    *,
    include_sensitive: bool = False,
    personal_share: int = 500,
    strike_many: bool = False,
) -> WriteResult:
    """Takes in the edits of the file ``path`` and makes it what the graph chooses after that. ``manifest``: what it would choose
    before (`Store.look`); the choice is kept once the file could be read and has room for it.

    The file isn't touched where nothing changed. ``now`` names the copy of a file whose generation is unknown. ``personal_share``:
    tokens up to which the personal part isn't worth a note. ``strike_many``: many lines may be gone, and the end. `JochiError`
    where something can't be read or written: the file is then as it was. `Refused` (by `edits`) where it can't be told what a
    person meant.
    """
    writing = _Writer(real_file(path), manifest, store, count, now, include_sensitive, personal_share, strike_many)
    return until_quiet(path, writing.once, left="What was read of the edits is in the graph. ")


@dataclass
class _Writer:
    path: Path
    manifest: Manifest
    store: Store
    count: Count
    now: datetime
    include_sensitive: bool
    personal_share: int
    strike_many: bool
    taken_in: list[Outcome] = field(default_factory=list)
    hashes: dict[str, str | None] = field(default_factory=dict)
    """Of what was taken in, by the keys that it has."""

    def once(self) -> WriteResult:
        there = read_text(self.path)
        before = there or ""
        state = known_of(self.path, before)
        notes: list[str] = []
        kept, found, personal, generation = None, Edits(), "", None
        if before.strip():
            parts = parts_of(before, state, self.manifest.sections, str(self.path))
            if not is_ours(before):
                notes.append(
                    f"The comments that Jochi wrote into this file were gone; {state_file(self.path).name} says what they were. "
                    "What stood before its first section is the personal part."
                )
            generation, personal = parts.generation, parts.personal
            if state.generation(generation) is None and (same := self.render(personal)).text == before:
                state = _with(state, same, generation)  # nobody edited it, so what is known of it is found again
            found = edits(before, state, self.manifest, where=str(self.path), cut_is_meant=self.strike_many)
            if not found.known:
                kept = keep(self.path, before, f"kept-{generation or format(self.now, '%Y-%m-%d')}")
                notes.append(
                    f"What Jochi wrote into this file isn't known: lines with an id were not read. {kept.name} is the old file."
                )
        elif there is not None and state.generations:
            notes.append("The file was empty, so it was made again, without the personal part that it may have had.")
        if not self.strike_many and (of := state.generation(generation)):
            refuse_many(str(self.path), len(found.strikes), len(of.lines))
        state = self.apply_edits(found, state, generation)
        if found.personal:
            notes.append(
                "Comments, and what is under personal headings or shows personal data or a secret, are now in the personal part."
            )
            personal += ("" if not personal or personal.endswith("\n") else "\n") + found.personal
        self.render(personal)  # whether it has room
        self.manifest = self.store.manifest()
        rendered = self.render(personal)
        if rendered.text != before:
            self.replace(before, rendered, state, generation)
        elif state != (known := _done(_with(state, rendered, generation))):
            save_state(self.path, known)
        notes += self.remarks(personal, rendered, found)
        return WriteResult(
            rewritten=rendered.text != before,
            tokens=rendered.tokens,
            version=self.manifest.version,
            left_out=rendered.left_out,
            taken_in=tuple(self.taken_in),
            edits=found,
            kept=kept,
            notes=tuple(notes),
        )

    def render(self, personal: str) -> Rendering:
        return render_for(self.path, self.manifest, personal, self.count, self.include_sensitive)

    def apply_edits(self, found: Edits, state: State, generation: str | None) -> State:
        """Each edit once, also if this is the second time that it is read."""
        taken = state.taken_from(generation)
        for edit in self.with_copies(found):
            name = digest(repr(edit))
            if any(each.edit == name and not each.moved for each in taken):
                continue
            subject = edit.key if isinstance(edit, Strike | Completion) else edit.text
            with taking_in(subject, str(self.path), "change or delete that line; until then the file stays as it is"):
                outcome = apply_edit(edit, self.store)
            self.hashes[outcome.key] = content_hash(outcome.text)
            self.taken_in.append(outcome._replace(text=self.shown_text(edit)))
            taken = (*taken, _taken(name, edit, outcome))
            state = state.model_copy(update={"taken_of": generation or "", "taken": taken})
            save_state(self.path, state)
        return state

    def with_copies(self, found: Edits) -> Iterator[Edit]:
        """A line is one memory of those that say the same. What goes with it goes first: after a kill it is found again."""
        for edit in found.in_order():
            if isinstance(edit, Strike) and edit.old_hash:
                yield from (Strike(key, said) for key, said in self.store.copies(edit.key, edit.old_hash).items())
            yield edit

    def shown_text(self, edit: Edit) -> str:
        """What may be said of it where others read."""
        from jochi.text.private_data import private_kinds  # as in `sections.private_lines`

        said = next(
            (each for each in self.manifest.entries if not isinstance(edit, Addition) and each.key == edit.key), None
        )
        if said.sensitive if said else self.include_sensitive:
            return ""
        text = edit.text if isinstance(edit, Addition | Change) else plain(said.text) if said else ""
        return "" if private_kinds(text) else text

    def replace(self, before: str, rendered: Rendering, state: State, generation: str | None) -> None:
        """What is known of the new file is written first: whichever of the two files is there after a kill, it is known."""
        state = _with(state, rendered, generation)
        save_state(self.path, state)
        replace_text(self.path, before, rendered.text)
        if state.taken:
            save_state(self.path, _done(state))

    def remarks(self, personal: str, rendered: Rendering, found: Edits) -> Iterator[str]:
        tokens = self.count(personal)
        if tokens > self.personal_share:
            yield (
                f"The personal part has {tokens} tokens, its share is {self.personal_share}: the memories have that much less room."
            )
        for conflict in found.conflicts:
            yield f"{conflict.key} stays as it is in the graph: {conflict.why}." + (
                " What you wrote is a memory of its own." if conflict.text else ""
            )
        lines = rendered.lines.values()
        there = {line.key for line in lines}
        said = {line.content_hash for line in lines}  # of memories that say the same one stands there
        for each in dict.fromkeys(self.taken_in):
            if each.edit == "added" and each.key not in there and self.hashes[each.key] not in said:
                yield f"{each.key} is in the graph, but there is no room for it in the file."
            if each.edit == "struck" and each.outcome != DONE:
                yield f"{each.key} {each.outcome}, so it stands in the " + (
                    "file again." if each.key in there else "graph; there is no room for it in the file."
                )
            if each.edit == "completed" and each.outcome != DONE:
                yield f"{each.key} {each.outcome}, so its ticked box says nothing."
        for key in found.left:
            yield f"{key} came from this file and isn't in it any more; it stays in the graph."


def refuse_many(where: str, struck: int, lines: int) -> None:
    """A file that a script or an agent wrote anew looks like one whose lines a person struck."""
    if struck > MANY and SHARE * struck > lines:
        raise Refused(
            f"{struck} of {lines} lines are gone from the file; nothing was taken in",
            where=where,
            fix="if that is meant, use --strike-many; else take an older copy, or delete the file: it is made again",
        )


@contextmanager
def taking_in(text: str, where: str, fix: str) -> Iterator[None]:
    """What the graph refuses is `Refused` by its words and its place."""
    try:
        yield
    except ConnectionFailed:
        raise
    except JochiError as error:
        raise Refused(
            f"{text[:60]!r} can't be taken in: {error.what}",
            where=where,
            fix=error.fix or fix,
            unquoted="the graph refuses what is in it",
        ) from error


def _taken(name: str, edit: Edit, outcome: Outcome) -> AppliedEdit:
    if outcome.edit == "added":
        text = edit.text if isinstance(edit, Addition | Change) else ""
        return AppliedEdit(name, outcome.key, digest(text), False, None)
    line = None
    if isinstance(edit, Completion):
        return AppliedEdit(name, outcome.key, None, False, None)
    if isinstance(edit, Change):
        line = Line(edit.key, digest(edit.text), content_hash(edit.text), digest(visible(edit.text)))
    return AppliedEdit(name, outcome.key, None, outcome.outcome == DONE, line)


def apply_edit(edit: Edit, store: EditTarget) -> Outcome:
    """Once more does nothing more. Where a line's memory is another by now, its text becomes one of its own."""
    if isinstance(edit, Strike):
        return Outcome("struck", edit.key, "", store.strike(edit.key, edit.old_hash))
    if isinstance(edit, Completion):
        return Outcome("completed", edit.key, "", store.complete(edit.key, edit.old_hash))
    if isinstance(edit, Addition):
        return Outcome("added", store.remember(edit.section, edit.text), edit.text, DONE)
    outcome = store.change(edit.key, edit.text, edit.old_hash)
    if outcome == DONE:
        return Outcome("changed", edit.key, edit.text, DONE)
    return Outcome(
        "added", store.remember(edit.section, edit.text), edit.text, f"instead of {edit.key}, which {outcome}"
    )


def render_for(path: Path, manifest: Manifest, personal: str, count: Count, include_sensitive: bool) -> Rendering:
    try:
        return render(manifest, personal, count, include_sensitive)
    except UsageError as error:
        raise UsageError(error.what, where=str(path), fix=error.fix) from None


def _with(state: State, rendered: Rendering, on_disk: str | None) -> State:
    new = Generation(id=rendered.generation, file=file_hash(rendered.text), lines=rendered.lines)
    return state.with_generation(new, on_disk)


def _done(state: State) -> State:
    """The file shows no edit any more."""
    return state.model_copy(update={"taken_of": None, "taken": ()})
