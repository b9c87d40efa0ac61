"""`[context]` as types: what an agent starts with, chosen from the graph within a limit of tokens (seed 001, Rolling Window with
Value-Based Retention)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, get_args

from pydantic import Field, model_validator

from jochi.context.manifest import SectionName
from jochi.policy.parts import Count, Name, Part, PositiveDuration, repeated
from jochi.policy.tasks import TaskStatus, normal_status, of_task_status
from jochi.policy.value import OneOf


class Member(Part):
    """Memories of a kind belong into a section."""

    kind: Name
    """The label."""
    when: OneOf | None = None
    """What must hold of a memory. Where that is unknown, it doesn't belong there. Of the `status` of a Task what it means by
    `task_statuses` is compared as well."""

    @property
    def of_task_status(self) -> bool:
        """Whether it goes by what the status of a task means."""
        return self.when is not None and of_task_status(self.kind, self.when.property)


class Section(Part):
    """One section of the file."""

    name: SectionName
    """By which it is known: the lists of ids of the manifest follow it."""
    title: Annotated[str, Field(min_length=1, max_length=100)]
    """The heading in the file."""
    tokens: Annotated[int, Field(ge=0, le=1_000_000)]
    """Its share of `max_tokens`. What it doesn't need is handed on to the others."""
    newest: bool = False
    """`true`: the newest come first. `false`: those of the most value."""
    of: Annotated[tuple[Member, ...], Field(strict=False)] = ()
    """What belongs there. The first section, in the order of the policy, that something belongs to has it. None: all the rest."""


class Context(Part):
    """`[context]`: the manifest of a scope."""

    max_tokens: Annotated[int, Field(ge=1, le=1_000_000)]
    """The tokens of the whole, unless a manifest has a number of its own."""
    line_tokens: Annotated[int, Field(ge=0, le=1_000)]
    """What a memory costs besides its content: its bullet and its id."""
    frame_tokens: Annotated[int, Field(ge=0, le=10_000)]
    """What the file costs besides its memories: title, headings, marks."""
    sections: Annotated[tuple[Section, ...], Field(strict=False, min_length=1)]
    """The sections in the order of the file."""
    never: Annotated[tuple[Name, ...], Field(strict=False)] = ()
    """Kinds that belong into no section, unless a section names them; so do those with `container = true`."""
    task_statuses: dict[
        TaskStatus,
        Annotated[tuple[Annotated[str, Field(min_length=1, max_length=50)], ...], Field(strict=False, max_length=100)],
    ]
    """By status, the words of other task systems that mean the same. Case, spaces, `_` and `-` don't matter. A Task without a
    status is `pending`; any other word is `unknown`."""
    candidates: Annotated[int, Field(ge=1, le=10_000)]
    """So many memories of each tier, of the most value in each section, and of each row with `when`, are looked at."""
    every: PositiveDuration
    """A manifest is made anew after this, also where nothing that it holds has changed."""
    versions: Count
    """So many versions of a manifest are kept."""

    @model_validator(mode="after")
    def _sound(self) -> Context:
        if twice := repeated([section.name for section in self.sections]):
            raise ValueError(f"sections: a section is there twice: {', '.join(twice)}")
        if len([section for section in self.sections if not section.of]) != 1:
            raise ValueError("sections: just one has no `of`: it takes all the rest")
        if (total := sum(section.tokens for section in self.sections)) > self.max_tokens:
            raise ValueError(f"sections: together they have {total} tokens, and max_tokens is {self.max_tokens}")
        if twice := repeated([normal_status(word) for _, word in self._task_words()]):
            raise ValueError(f"task_statuses: a word is there twice: {', '.join(twice)}")
        return self

    def _task_words(self) -> Iterator[tuple[TaskStatus, str]]:
        for status, words in self.task_statuses.items():
            yield from ((status, word) for word in words)

    def meanings(self) -> dict[str, TaskStatus]:
        """What each word of `task_statuses` means, by its normal form; each status means itself."""
        return {normal_status(status): status for status in get_args(TaskStatus)} | {
            normal_status(word): status for status, word in self._task_words()
        }

    def search_words(self, member: Member) -> list[str]:
        """By which a full-text index finds memories of a row with `when`: it takes "in_progress" for one word, "in progress" for
        two."""
        words = list(member.when.one_of) if member.when else []
        if member.of_task_status:
            words += [word for status, word in self._task_words() if status in words]
            words = [re.sub("[ _-]", separator, word) for word in words for separator in (" ", "_", "")]
        return list(dict.fromkeys(words))
