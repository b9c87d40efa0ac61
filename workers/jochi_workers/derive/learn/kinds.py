"""Episode or note: whether a fact tells of an event, or of what lasts (seed 003, Episode/Note Reconsolidation). One home."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from jochi_workers.derive.learn.wordlists import data, has

MemoryKind = Literal["episode", "note"]


def memory_kind(text: str, category: str, tags: Collection[str] = ()) -> MemoryKind:
    """By the seed's six steps, the first that tells: a true marker of time; the category; the tags, of which a note's win; a verb
    of what was done; a word of what holds; else an episode."""
    lists = data("kinds")
    named = {tag.lower() for tag in tags}
    if has("kinds", "moments", text):
        return "episode"
    if category in lists["note_categories"].split():
        return "note"
    if category in lists["episode_categories"].split():
        return "episode"
    if named & {*lists["note_tags"].split()}:
        return "note"
    if named & {*lists["episode_tags"].split()}:
        return "episode"
    if has("kinds", "past", text):
        return "episode"
    return "note" if has("kinds", "notes", text) else "episode"
