"""What Jochi knows of the file it wrote: kept beside it, so that a person's edits can be told from its own lines."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from jochi.errors import JochiError
from jochi.files import write_atomically

KEPT = 2
"""So many generations are known: an editor may have the one before the newest open."""


class Line(NamedTuple):
    """A line as it was written. ``hash``: the `digest` of what stands there; ``whole``: of the whole memory, another one where
    the line was shortened; ``content_hash``: the memory's in the graph."""

    key: str
    hash: str
    content_hash: str | None
    whole: str


class Generation(BaseModel):
    """``file``: SHA-256 of the whole file."""

    model_config = ConfigDict(frozen=True)

    id: str
    file: str
    lines: dict[str, Line]


class AppliedEdit(NamedTuple):
    """An edit that the graph has. ``edit``: a hash of it; ``key``: of the memory that it is in; ``text``: the `digest` of what was
    added, None where a line was changed or struck. ``moved``: the line is to be compared with what the graph has since: with
    ``line``, or, where that is None, with nothing, because it was struck."""

    edit: str
    key: str
    text: str | None
    moved: bool
    line: Line | None


class State(BaseModel):
    """The newest generation first. ``taken``: the edits of generation ``taken_of`` that the graph has already, in their order,
    while the file still shows them."""

    model_config = ConfigDict(frozen=True)

    format: Literal[1] = 1
    generations: tuple[Generation, ...] = ()
    taken_of: str | None = None
    taken: tuple[AppliedEdit, ...] = ()

    def generation(self, generation_id: str | None) -> Generation | None:
        return next((each for each in self.generations if each.id == generation_id), None)

    def taken_from(self, generation_id: str | None) -> tuple[AppliedEdit, ...]:
        return self.taken if self.taken_of == (generation_id or "") else ()

    def lines(self, generation: Generation) -> dict[str, Line]:
        """Its lines as the graph has them since edits of it were taken in."""
        lines = dict(generation.lines)
        by_key = {line.key: line_id for line_id, line in lines.items()}
        for taken in self.taken_from(generation.id):
            if taken.moved and taken.key in by_key:
                lines.pop(by_key[taken.key], None)
                if taken.line is not None:
                    lines[by_key[taken.key]] = taken.line
        return lines

    def with_generation(self, new: Generation, on_disk: str | None) -> State:
        """With a new one; the one of the file that is still there stays among the kept ones."""
        others = sorted((each for each in self.generations if each.id != new.id), key=lambda each: each.id != on_disk)
        return self.model_copy(update={"generations": (new, *others)[:KEPT]})


def file_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def state_file(path: Path) -> Path:
    return path.with_name(f".{path.name}.jochi.json")


def load_state(path: Path) -> State:
    """The state of the file ``path``; an empty one where there is none, or none that can be understood."""
    file = state_file(path)
    try:
        return State.model_validate_json(file.read_bytes())
    except (FileNotFoundError, ValidationError):
        return State()
    except OSError as error:
        raise JochiError(
            f"what Jochi knows of {path.name} can't be read: {error.strerror}",
            where=str(file),
            fix="make it readable, or delete it: then only lines without an id are taken in, and the old file is kept",
        ) from None


def save_state(path: Path, state: State) -> None:
    write_atomically(state_file(path), state.model_dump_json() + "\n", like=path)
