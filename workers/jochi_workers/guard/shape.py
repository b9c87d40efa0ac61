"""Whether two texts with the same items put them together in the same way.

Word for word, or with what may be moved without a change of meaning: a phrase from the front to the end, a single moment, the
members of a list, active and passive. Everything else counts as another order, which is another meaning until somebody says
otherwise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import NamedTuple

from jochi_workers.guard.items import WHEN
from jochi_workers.guard.lists import WORDED, Language
from jochi_workers.guard.word_order import is_reordering

Key = Hashable
_FREE = frozenset({WHEN, "since", "seit", "ab", "bis", "until"})
LIST = frozenset({",", "and", "or"})
_MARKS = frozenset({",", ".", "!", "\n", "–", "…", ":", ";", "(", ")"})
_SILENT = _MARKS | {"and"}


class Part(NamedTuple):
    """An item, a phrase or a separator by the numbers that matching gave their items.

    ``kind``: item, noun, case, voice, negation, phrase or separator. ``keys``: its items; ``marker``: of a phrase, a separator.
    ``agent``: the phrase may name who acts in a passive. ``peer``: it could change places with another.
    """

    kind: str
    keys: tuple[Key, ...]
    marker: str = ""
    moment: bool = False
    agent: bool = False
    adjective: bool = False


def flat(parts: tuple[Part, ...]) -> tuple[Key, ...]:
    """The row without punctuation, and without an "and" in front: "Anna Maria" is one person."""
    found: list[Key] = []
    for part in parts:
        silent = part.kind == "separator" and (part.marker in _MARKS or (part.marker == "and" and not found))
        if not silent:
            found.append((part.kind if part.kind != "noun" else "item", part.keys, part.marker))
    return tuple(found)


def same(left: tuple[Part, ...], right: tuple[Part, ...], language: Language, *, tied: bool = False) -> bool:
    """Whether both say the same of the same. ``tied``: no phrase may stand in another place."""
    if flat(left) == flat(right):
        return True
    if language in WORDED:
        left, right = _trimmed(left), _trimmed(right)
        return _same_members(left, right) or _moved(left, right, language)
    left, right = _trimmed(left), _trimmed(right)
    voices = ["passive" in [p.marker for p in parts if p.kind == "voice"] for parts in (left, right)]
    if voices[0] != voices[1]:
        passive, active = (left, right) if voices[0] else (right, left)
        first = next((at for at, part in enumerate(active) if part.kind == "noun"), 0)
        if any(part.kind == "case" for part in active[:first]):
            return False  # "Den Hund ...": an object in front of who acts
        turned = _active(passive, language)
        return turned is not None and _same(
            turned, tuple(p for p in active if p.kind not in ("case", "voice")), language, free=True, tied=tied
        )
    return _same(left, right, language, tied=tied)


def _trimmed(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """Without the comma behind a phrase in front, and without the full stop at the end."""
    found = list(parts)
    while found and found[-1].kind == "separator" and found[-1].marker in _SILENT:
        found.pop()
    while found and found[0].kind == "separator" and found[0].marker in _SILENT:
        found.pop(0)
    front = 0
    while front < len(found) and found[front].kind == "phrase":
        front += 1
        if front < len(found) and found[front] == Part("separator", (), ","):
            del found[front]
    return tuple(found)


def _same(
    left: tuple[Part, ...], right: tuple[Part, ...], language: Language, *, free: bool = False, tied: bool
) -> bool:
    rows = [_rows(parts, language, tied=tied) for parts in (left, right)]
    if rows[0] is None or rows[1] is None:
        return False
    (outer, segments, small), (other_outer, other_segments, other_small) = rows[0], rows[1]
    if outer != other_outer:
        return False
    if free and language == "de":
        if Counter(small) != Counter(other_small) or len(small) > 3:
            return False
    elif small != other_small:
        return False
    if segments == other_segments:
        return True
    members = {member for member, _ in small}
    return len(members) < 2 and _same_lists(segments, other_segments)


Rows = tuple[frozenset[tuple[Key, ...]], list[list[Key]], tuple[tuple[int, Key], ...]]


def _rows(parts: tuple[Part, ...], language: Language, *, tied: bool) -> Rows | None:
    """Phrases that may be moved; the rest in order, by members of a list; in German the small words apart.

    None if separators stand there that aren't a list's. Small words come with the member that they stand in: a list of which more
    than one member has a verb of its own is a row of clauses.
    """
    separators = [part.marker for part in parts if part.kind == "separator"]
    if any(marker not in LIST for marker in separators) or {"and", "or"} <= set(separators):
        return None
    firm = [place for place, part in enumerate(parts) if _firm(part, language)]
    if not firm:
        return None
    first, last = firm[0], firm[-1]
    single = sum(part.kind == "phrase" and part.moment for part in parts) == 1
    # "Anna plays on Monday and Ben sings" isn't "Anna plays and Ben sings on Monday".
    simple = not separators
    if language == "de" and separators and len(_members(parts)) > 1:
        tied = True
    outer: dict[str, list[Key]] = {}
    segments: list[list[Key]] = [[]]
    small: list[tuple[int, Key]] = []
    adjectives: list[Key] = []
    for place, part in enumerate(parts):
        if part.kind == "phrase":
            ends = place > last and ((part.moment and single) or not separators)
            if not tied and (
                place < first
                or ends
                or (simple and single and part.moment and part.marker in _FREE)
                or (simple and language == "de" and _adverbial(parts, place))
            ):
                outer.setdefault(part.marker, []).append(part.keys)
            else:
                segments[-1].append(("phrase", part.marker, part.keys))
        elif part.kind == "separator":
            if segments[-1]:
                segments.append([])
        elif language == "en" or part.kind in ("noun", "case"):
            segments[-1].append((part.keys, part.marker if part.kind == "case" else "", tuple(adjectives)))
            adjectives = []
        elif part.adjective and _noun_follows(parts, place):
            adjectives.append(part.keys)
        else:
            small.append((len(segments), (part.keys, part.marker)))
    if "or" in separators:
        outer["or"] = []
    if not segments[-1]:
        return None
    return (
        frozenset((marker, *(sorted(keys, key=repr) if marker == WHEN else keys)) for marker, keys in outer.items()),
        segments,
        tuple(small),
    )


def _members(parts: tuple[Part, ...]) -> set[int]:
    """Which members of a list have a word that may be a verb."""
    found: set[int] = set()
    member = 0
    for part in parts:
        member += part.kind == "separator"
        if part.kind == "voice" or (part.kind == "item" and not part.adjective):
            found.add(member)
    return found


def _adverbial(parts: tuple[Part, ...], place: int) -> bool:
    """Whether a German phrase hangs on the verb before it, perhaps with a moment between, and not on a noun."""
    for part in reversed(parts[max(0, place - 3) : place]):
        if part.kind != "phrase" or not part.moment:
            return part.kind == "voice" or (part.kind == "item" and not part.adjective)
    return False


def _firm(part: Part, language: Language) -> bool:
    return part.kind == "noun" or (language == "en" and part.kind in ("item", "negation", "voice"))


def _noun_follows(parts: tuple[Part, ...], place: int) -> bool:
    """Whether a noun stands behind this adjective, and adjectives at most between."""
    for part in parts[place + 1 : place + 5]:
        if not part.adjective:
            return part.kind == "noun"
    return False


def _same_lists(left: list[list[Key]], right: list[list[Key]]) -> bool:
    """Whether the members of one list stand there in another order, between the same words before and behind."""
    if len(left) != len(right) or len(left) < 2:
        return False
    left, right = [list(row) for row in left], [list(row) for row in right]
    while len(left[0]) > 1 and len(right[0]) > 1 and left[0][0] == right[0][0]:
        del left[0][0], right[0][0]
    while len(left[-1]) > 1 and len(right[-1]) > 1 and left[-1][-1] == right[-1][-1]:
        del left[-1][-1], right[-1][-1]
    # "coffee with milk and tea", "Ben's boss and Ann": what hangs on one member may hang on all.
    forms = {(len(row), sum(isinstance(part, tuple) and part[0] == "phrase" for part in row)) for row in left}
    return (
        len(forms) == 1 and len(left[0]) <= _LONGEST_MEMBER and Counter(map(tuple, left)) == Counter(map(tuple, right))
    )


def _moved(left: tuple[Part, ...], right: tuple[Part, ...], language: Language) -> bool:
    ours, theirs = ([key for part in parts for key in part.keys] for parts in (left, right))
    one_clause = all(part.keys and not part.marker for parts in (left, right) for part in parts)
    return one_clause and is_reordering(ours, theirs, language)


_LONGEST_MEMBER = 4
_MOST_OF_A_MEMBER = 2


def _same_members(left: tuple[Part, ...], right: tuple[Part, ...]) -> bool:
    """Whether the short members of one list stand in another order, and all else in the same. For languages without a grammar: a
    longer member may be a clause, whose place says who acts."""
    rows: list[list[list[Part]]] = []
    for parts in (left, right):
        segments: list[list[Part]] = [[]]
        for part in parts:
            if part.kind != "separator":
                segments[-1].append(part)
            elif part.marker not in LIST:
                return False
            else:
                segments.append([])
        rows.append([segment for segment in segments if segment])
    ours, theirs = rows
    marks = [Counter(part.marker for part in parts if part.marker in ("and", "or")) for parts in (left, right)]
    if len(ours) != len(theirs) or len(ours) < 2 or marks[0] != marks[1]:
        return False
    return any(
        (listed := _listed(ours, size)) is not None and listed == _listed(theirs, size)
        for size in range(1, _MOST_OF_A_MEMBER + 1)
    )


def _listed(
    segments: list[list[Part]], size: int
) -> tuple[tuple[Part, ...], frozenset[tuple[Part, ...]], tuple[Part, ...]] | None:
    """What stands before a list of members of this size, the members, and what stands behind; None if one has another size."""
    first, *middle, last = segments
    if len(first) < size or len(last) < size or any(len(segment) != size for segment in middle):
        return None
    members = [tuple(segment) for segment in (first[-size:], *middle, last[:size])]
    if len(set(members)) < len(members):
        return None
    return tuple(first[:-size]), frozenset(members), tuple(last[size:])


def _active(parts: tuple[Part, ...], language: Language) -> tuple[Part, ...] | None:
    """A passive sentence with the one who acts in front; None if it doesn't say who acts, or has several clauses."""
    if any(part.kind == "separator" for part in parts):
        return None
    place = next(at for at, part in enumerate(parts) if part.kind == "voice" and part.marker == "passive")
    agents = [at for at, part in enumerate(parts) if part.agent]
    if len(agents) != 1:
        return None
    agent = Part("noun", parts[agents[0]].keys[-1:])
    named = (*(Part("noun", (key,)) for key in parts[agents[0]].keys[:-1]), agent)
    rest = [part for at, part in enumerate(parts) if at not in (place, agents[0]) and part.kind != "case"]
    cut = sum(1 for at in range(place) if at not in agents and parts[at].kind != "case")
    if language == "de":
        front = 0
        while front < len(rest) and rest[front].kind == "phrase":
            front += 1
        return (*rest[:front], *named, *rest[front:])
    before, behind = rest[:cut], rest[cut:]
    front = 0
    while front < len(before) and before[front].kind == "phrase":
        front += 1
    negated = [part for part in before if part.kind == "negation"]
    subject = [part for part in before[front:] if part.kind != "negation"]
    if not behind or not subject:
        return None
    return (*before[:front], *named, *negated, behind[0], *subject, *behind[1:])
