"""What a request in words means: everything that it names, or a statement that it describes; else a person is asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from jochi.database.engine import Engine
from jochi.forgetting.candidates import Candidate, Memory, rank_candidates, short_list, unambiguous
from jochi.forgetting.finder import Finder, Request
from jochi.forgetting.request_words import asks_to_keep
from jochi.forgetting.requests import Resolution
from jochi.forgetting.retrieval import Embed, cosine_to, memories_about
from jochi.forgetting.statements import is_question, remove_statement
from jochi.policy.model import Policy

_MOST = 200
"""Memories that say what is named and are ranked where a person has to choose."""


@dataclass(frozen=True)
class Reading:
    """``asked``: the request in words. ``request``: what it means without doubt, by a phrase with its spellings or by keys with
    statements; None: a person has to say which of ``candidates`` is meant, and ``reason`` says why. ``named``: what was read as
    named, in all spellings."""

    asked: Request
    request: Request | None
    candidates: tuple[Candidate, ...]
    named: tuple[str, ...] = ()
    reason: str | None = None


def read_request(
    engine: Engine,
    policy: Policy,
    recall: Callable[..., Any],
    about: str,
    scope: str,
    k: int,
    embed: Embed | None = None,
) -> Reading:
    """See `jochi.Jochi.read_request`."""
    asked = Request(about=about, scope=scope)
    finder = Finder(engine, policy)
    found = finder.resolve(about, scope)
    told_by = {one.text: one.source_key for one in reversed(found.spellings)}
    named = tuple(dict.fromkeys(one.text for one in found.spellings))
    question = is_question(about)
    if found.sure and question and not found.explicit:
        found = replace(found, reason="it is a question")
    if found.sure:
        wanted = Request(
            scope=scope, phrase=named[0], also=tuple((each, told_by[each]) for each in named[1:]), everything=True
        )
        others = _others(finder, wanted, found)
        if not others:
            return Reading(asked, wanted, (), named)
        found = replace(found, reason=f"more says it than was read as named: {', '.join(others[:3])}")
    memories = memories_about(about, recall, policy.forgetting, scope=scope, embed=embed, include_superseded=True)
    known = {memory.key for memory in memories}
    missing = finder.read(sorted(found.keys - known)[:_MOST]).targets if found.keys - known else {}
    memories += [Memory(key, target.kind, target.content) for key, target in missing.items()]
    ranked = rank_candidates(about, memories, cosine_of=cosine_to(about, embed) if embed else None)
    # Who means all of something doesn't mean the one statement that has most of the words.
    question = question or asks_to_keep(about)
    meant = [] if question or (found.keys and not found.described) else unambiguous(ranked, policy.forgetting)
    if meant and all(map(_can_go, meant)):
        stated = tuple((one.key, one.statement) for one in meant if one.statement is not None)
        return Reading(asked, Request(tuple(one.key for one in meant), statements=stated), tuple(ranked[:k]), named)
    reason = "it is a question, or asks to keep it" if question else found.reason if found.keys else None
    policy_words = f"a score of {policy.forgetting.sure:g} and {policy.forgetting.margin:g} before the next is needed"
    return Reading(
        asked,
        None,
        tuple(short_list(ranked, k, found.keys)),
        named,
        reason or f"which one is meant isn't sure ({policy_words})",
    )


def _can_go(one: Candidate) -> bool:
    """Whether what is left without it can be told for sure; else a person has to see it."""
    if one.statement is None or one.parsed is None:
        return True
    return remove_statement(one.content or "", one.parsed) is not None


def _others(finder: Finder, wanted: Request, found: Resolution) -> list[str]:
    """Memories that the phrase would take and that weren't read as saying what is named."""
    targets = finder.find(wanted).targets.values()
    return [one.key for one in targets if one.why == "match" and not one.dead and one.key not in found.keys]
