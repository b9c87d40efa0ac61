"""The short sources, read, and how near something comes to what a person made of them (docs/reference/extraction.md, Figures)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from jochi.toml import beside
from jochi_workers.derive.extract.names import canonical_name, singular, words

_WHEN = re.compile(r"^\[\d{4}-\d\d-\d\d(?: \d\d:\d\d)?\] ", re.MULTILINE)
_RUN = re.compile(r"[^\W\d_a-zäöüß]\w+(?:[ '’-][^\W\d_a-zäöüß]\w+)*")


class Story(NamedTuple):
    """``anchor``: the name of what it is about."""

    anchor: str
    content: str


@dataclass
class Result:
    """What something makes of a group. ``keywords`` and ``tags``: of each source; ``things``: by kind and name the numbers of the
    sources that mention it, from 1 on; ``stories``: the text of each storyline."""

    keywords: list[Sequence[str]] = field(default_factory=list)
    tags: list[Sequence[str]] = field(default_factory=list)
    things: dict[tuple[str, str], set[int]] = field(default_factory=dict)
    stories: list[Story] = field(default_factory=list)


def groups(*, unseen: bool) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = beside(__file__, "unseen.toml" if unseen else "sources.toml")["group"]
    return found


def figures(all_groups: Sequence[Mapping[str, Any]], results: Sequence[Result]) -> Counter[str]:
    """Counts over all groups: `<what>` of `<what> of`."""
    sums: Counter[str] = Counter()
    for group, result in zip(all_groups, results, strict=True):
        for source, found in zip(group["source"], result.keywords, strict=True):
            wanted = [{_normal(one) for one in each} for each in source["keywords"]]
            right = {_normal(one) for one in source["also"]}.union(*wanted)
            given = [_normal(one) for one in found]
            sums["keywords right"] += sum(one in right for one in given)
            sums["keywords right of"] += len(given)
            sums["keywords found"] += sum(bool(each & set(given)) for each in wanted)
            sums["keywords found of"] += len(wanted)
        for source, found in zip(group["source"], result.tags, strict=True):
            allowed = {tag.casefold() for tag in (*source["tags"], source["type"].replace("-", " "))}
            sums["tags right"] += sum(tag.casefold() in allowed for tag in found)
            sums["tags right of"] += len(found)
        sums += _of_things(group, result)
        sums += _of_stories(group, result)
    return sums


def table(sums: Mapping[str, int]) -> str:
    return "\n".join(f"  {name}: {sums[name]} of {sums[f'{name} of']}" for name in sorted(sums) if f"{name} of" in sums)


def naive(group: Mapping[str, Any]) -> Result:
    """Without any reading: names are runs of words with a capital that two sources have, keywords the most frequent runs."""
    runs = [Counter(_RUN.findall(_plain(source["text"]))) for source in group["source"]]
    by_name: dict[tuple[str, str], set[int]] = {}
    for number, found in enumerate(runs, 1):
        for run in found:
            by_name.setdefault(("", run), set()).add(number)
    return Result(
        keywords=[[run for run, _ in found.most_common(5)] for found in runs],
        tags=[() for _ in runs],
        things={name: numbers for name, numbers in by_name.items() if len(numbers) > 1},
    )


def _of_things(group: Mapping[str, Any], result: Result) -> Counter[str]:
    sums: Counter[str] = Counter()
    found = [(canonical_name(name), kind, numbers) for (kind, name), numbers in result.things.items()]
    known: set[str] = set()
    for thing in group["things"]:
        names = {canonical_name(name) for name in thing["names"]}
        known |= names
        same = [(kind, numbers) for name, kind, numbers in found if name in names]
        mentioned = set[int]().union(*(numbers for _, numbers in same))
        sums["things there"] += bool(same)
        sums["things there of"] += 1
        sums["kinds right"] += any(kind == thing["kind"] for kind, _ in same)
        sums["kinds right of"] += bool(same)
        sums["mentions there"] += len(mentioned & set(thing["sources"]))
        sums["mentions there of"] += len(thing["sources"])
    unwanted = {canonical_name(name) for name in group["none"]}
    sums["no things at all"] += sum(name in unwanted for name, _, _ in found)
    sums["no things at all of"] += len(found)
    sums["other things"] += sum(name not in known | unwanted for name, _, _ in found)
    sums["other things of"] += len(found)
    return sums


def _of_stories(group: Mapping[str, Any], result: Result) -> Counter[str]:
    sums: Counter[str] = Counter()
    names = {canonical_name(name) for name in group["things"][0]["names"]}
    text = " ".join(story.content for story in result.stories if canonical_name(story.anchor) in names).casefold()
    places = [
        min((text.find(one.casefold()) for one in each if one.casefold() in text), default=-1)
        for each in group["story"]
    ]
    there = [place for place in places if place >= 0]
    sums["stories there"] += bool(text)
    sums["stories there of"] += 1
    sums["told of a story"] += len(there)
    sums["told of a story of"] += len(places)
    sums["stories in order"] += bool(there) and there == sorted(there)
    sums["stories in order of"] += 1
    return sums


def _plain(text: str) -> str:
    return _WHEN.sub("", text)


def _normal(text: str) -> str:
    return " ".join(map(singular, words(text)))


def source_rows(group: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    """As `Jochi.remember` takes them, each group in a scope of its own."""
    from datetime import datetime, timezone

    for number, source in enumerate(group["source"], 1):
        first = _WHEN.match(source["text"])
        at = datetime.fromisoformat(first[0].strip("[] ") if first else source["at"]).replace(tzinfo=timezone.utc)
        yield {
            **{"kind": "Source", "id": f"source-{number}", "scope": group["name"], "content": source["text"].strip()},
            "properties": {"source_type": source["type"], "processing_status": "raw", "started_at": at},
        }
