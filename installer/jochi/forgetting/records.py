"""What forgetting finds in the engine's own nodes, and what becomes of them (docs/reference/forgetting.md).

Words that people said stand in few places there: copies of memories, what a record says of before and after, errors, slots.
Everywhere else stand words of our own ("HOT", "prune", the name of a job) and names of scopes, which no phrase may take away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import regex

from jochi.forgetting.spelling import Spelling, pattern
from jochi.forgetting.words import folded_needle, phrase, says
from jochi.graph.catalogue import LINK_MARKS, MANIFEST_IDS, is_our_word, named

_NEEDLES = 100
"""Needles that one look through the store is for."""

_SCOPED = {
    "JochiScope": "name",
    "JochiBudget": "scope",
    "JochiScopeChange": "scope",
    "JochiQuota": "key",
    "JochiPause": "name",
    "JochiSpent": "scope",
    "JochiManifestChange": "scope",
    "JochiValue": "scope",
    "JochiGuidelines": "scope",
    "JochiBuffer": "scope",
    "JochiPass": "scope",
}
"""Nodes of a scope, by label, and the property that names it: they go with the scope and with nothing else."""
_COUNTED_SCOPES = frozenset(("scopes", "walk_scopes", "open_scope"))
"""And the properties by which a count of memories names the largest."""
_GO = frozenset(
    (
        *("JochiAccess", "JochiMerged", "JochiMerging", "JochiSlotChange", "JochiWork", "JochiInputChange"),
        *("JochiManifestVersion", "JochiAction", "JochiTopicIndex", "JochiTurn", "JochiQuestion"),
    )
)
"""Nodes of one memory: they go with it. (A version that names others as well has been rid of its name by then.)"""
ENGINE = frozenset(
    (
        *_SCOPED,
        *_GO,
        *("CurationAudit", "CurationSnapshot", "JochiSlot", "JochiDerivation"),
        *("JochiJob", "JochiJobRun", "JochiPlan", "JochiPlanPart", "JochiPump", "JochiAccessBatch", "JochiManifest"),
    )
)
"""All of them."""
BOOKS = frozenset(("JochiForgetting", "JochiReceipt", "JochiForgotten"))
ERRORS = frozenset(("error", "last_error", "note", "notes", "said"))
"""Properties of the engine's nodes that may quote what somebody said."""
_VOCABULARY = frozenset(
    (
        *("job", "procedure", "policy", "status", "mode", "runner", "action", "rule", "kind", "kinds", "labels"),
        *("property", "properties", "what", "form", "run", "stopped_run", "approved_plan", "plan", "results", "deeds"),
        *("rails", "stopped_kinds", "stopped_windows"),
    )
)
"""Properties of the engine's nodes that name no memory, whatever stands there."""
_NAMED_BY_RUN = frozenset(("JochiJob", "JochiJobRun", "JochiPlan", "JochiPump", "JochiManifest"))
_PLACES = frozenset(("keys", "left_keys", "others", "notes", "before", "after", "stopped_scopes", "said"))
"""Lists whose places say which entries of other lists are meant: there something stays in the place of what goes."""
_SCOPE_NAMES = frozenset(("scope", "stopped_scopes", "overflowing_scopes"))
_WALKED_BY_SCOPE = "enforce_budgets"
_WALKS = frozenset(("cursor", "check_cursor", "skip"))
"""The job that works scope by scope, and where it stands: without a cursor it begins anew."""
_MARKED_TYPES = {"unlinked": "SIMILAR_TO", "other_key": "KEEPS"}
"""An app may have properties of these names at others."""
ON_MEMORIES = frozenset(("duplicate_of", "merged_from", "merged_into", "level_line"))
"""Properties of memories that hold keys of others."""
_PART = "/turns/"
"""Stands before the key in `level_line` of a batch of turns (procedures/_macros/queue/contexts.j2)."""
_ARE_KEYS = frozenset(
    (
        *(
            "key",
            "keys",
            "left_keys",
            "other",
            "others",
            "into",
            "to",
            "from",
            "other_key",
            "redirected",
            "seal",
            "seals",
            "seal_was",
            "newest",
            "source",
        ),
        *("skip", "cursor", "check_cursor", "quarantined", "slot", *ON_MEMORIES),
    )
)
"""Properties that hold whole keys, or begin with a scope; elsewhere, as in ids of records and errors, keys stand in other text."""

IDS = (*named(mark="ids"), *MANIFEST_IDS)
"""Properties of memories and manifests that hold bare ids, of memories in the scope of the node."""

GONE = "forgotten"
"""What stands in the place of a key or a scope that was forgotten."""


@dataclass(frozen=True)
class SearchTerms:
    """What is looked for: ``keys`` ('scope/id'), ``scopes`` (all keys in them), ``phrases`` (rows of words).

    ``within``: the scopes in whose records words are looked for; None: all. ``exact``: only texts that say nothing else, so that
    what another memory says of its own stays.
    """

    keys: frozenset[str] = frozenset()
    scopes: frozenset[str] = frozenset()
    phrases: tuple[tuple[str, ...], ...] = ()
    within: frozenset[str] | None = None
    exact: bool = False
    spellings: tuple[Spelling, ...] = ()

    def needles(self) -> list[str]:
        """What a database looks for first, folded."""
        return sorted({folded_needle(words) for words in (*self.phrases, *(each.words for each in self.spellings))})

    def pattern(self) -> str | None:
        """And by what it finds texts that may spell it otherwise."""
        return pattern(self.spellings, self.phrases)

    def literals(self) -> list[str]:
        """What it looks for besides, to the letter."""
        return sorted(self.keys | self.scopes)

    def parts(self) -> Iterable[SearchTerms]:
        """The same in parts of some needles each."""
        keys, phrases = sorted(self.keys), list(self.phrases)
        for at in range(0, max(len(keys), 1 if self.scopes or phrases or self.spellings else 0), _NEEDLES):
            first = at == 0
            yield replace(
                self,
                keys=frozenset(keys[at : at + _NEEDLES]),
                scopes=self.scopes if first else frozenset(),
                phrases=tuple(phrases[:_NEEDLES]) if first else (),
                spellings=self.spellings if first else (),
            )
        for at in range(_NEEDLES, len(phrases), _NEEDLES):
            yield replace(
                self, keys=frozenset(), scopes=frozenset(), phrases=tuple(phrases[at : at + _NEEDLES]), spellings=()
            )

    def says(self, text: str) -> bool:
        """Whether a text has the words."""
        return any(says(text, words) for words in self.phrases) or any(each.says(text) for each in self.spellings)

    def matches(self, text: str) -> bool:
        """Whether a record's text gives it away."""
        if not self.exact:
            return self.says(text)
        return any(phrase(text) == words for words in self.phrases)

    def takes(self, key: str) -> bool:
        """Whether a memory's key is one of the keys, or in one of the scopes."""
        scope, slash, _ = key.partition("/")
        return key in self.keys or (bool(slash) and scope in self.scopes)

    def names(self, text: str, others: Sequence[str] = ()) -> bool:
        """Whether a record's text has one of the keys, or one in one of the scopes, but as a part of one of the ``others``."""
        for other in others:
            text = text.replace(other, "\0")
        if any(text.startswith(f"{scope}/") or f"/{scope}/" in text for scope in self.scopes):
            return True
        return any(key in text and _whole(key).search(text) is not None for key in self.keys)

    def reaches(self, scope: str | None) -> bool:
        """Whether words are looked for in what belongs to this scope; None: to none."""
        return self.within is None or scope is None or scope in self.within


def _key_at(name: str, text: str) -> str:
    """The key that what stands at a relationship names."""
    return text if name == "other_key" else key_in_mark(text)


def key_in_mark(mark: str) -> str:
    """The key of the memory that was merged away, of a mark at a relationship: <job>/<token>/<key>, then # and a number."""
    id, _, number = mark.rpartition("#")
    parts = (id if id and (number.isdigit() or number == "late") else mark).split("/", 2)
    return parts[2] if len(parts) == 3 else mark


def _whole(key: str) -> regex.Pattern[str]:
    return regex.compile(rf"(?<![\w@.+-]){regex.escape(key)}(?![\w@+-]|\.\w)")


def is_ours(labels: Iterable[str]) -> bool:
    """Whether a node is the engine's own, but for what forgetting itself keeps."""
    return bool(ENGINE & set(labels)) and not BOOKS & set(labels)


def scope_of(row: Mapping[str, Any]) -> str | None:
    """The scope that a memory or a record belongs to; None where it has none. A snapshot belongs to that of its record."""
    stored = row["stored"]
    key = row.get("of") or stored.get("key") or (stored.get("name") if "JochiSlot" in row["labels"] else None)
    if isinstance(key, str) and "/" in key:
        return key.split("/", 1)[0]
    scope = stored.get("scope")
    return scope if isinstance(scope, str) else None


Given = Callable[[str, str], bool]
"""Whether a text in the property of this name (name, text) gives away what is looked for."""


def _given_away(row: Mapping[str, Any], terms: SearchTerms) -> Given:
    """The one judge of a node's texts: by it something is found, and by it is told what of a list goes."""
    labels, stored = set(row["labels"]), row["stored"]
    if {"Curated", "Tombstone"} & labels:
        return lambda name, text: (
            (name in ON_MEMORIES and terms.takes(text.removeprefix(_PART)))
            or (name in IDS and terms.takes(f"{stored.get('scope')}/{text}"))
        )
    scoped = next((label for label in _SCOPED if label in labels), None)
    if scoped is not None:
        if scoped == "JochiPause" and stored.get("what") != "scope":
            return lambda name, text: False
        whole = scoped != "JochiQuota"
        names = _COUNTED_SCOPES | {_SCOPED[scoped]}
        return lambda name, text: name in names and (text if whole else text.split("/", 1)[0]) in terms.scopes
    is_free_text = _free_text(labels, stored) if terms.reaches(scope_of(row)) else lambda name, text: False
    # The id of a record of default/m1:2 has default/m1 in it and is none of its.
    others = _other_keys(stored, terms)

    def named(name: str, text: str) -> bool:
        whole = name in _ARE_KEYS or "JochiSlot" in labels
        return terms.takes(text) if whole else terms.names(text, others)

    return lambda name, text: (
        (_may_name(labels, name) and named(name, text))
        or (_names_scope(stored, name) and text in terms.scopes)
        or (name in IDS and terms.takes(f"{stored.get('scope')}/{text}"))
        or (is_free_text(name, text) and terms.matches(text))
    )


def _other_keys(stored: Mapping[str, Any], terms: SearchTerms) -> list[str]:
    """The keys that a node says it is about, longest first, but those that are looked for."""
    about = {text for name in _ARE_KEYS for text in texts(stored.get(name)) if "/" in text}
    return sorted((key for key in about if not terms.takes(key)), key=len, reverse=True)


def found_in(row: Mapping[str, Any], terms: SearchTerms) -> list[str]:
    """The properties of a memory or of one of the engine's nodes in which it is."""
    return _names_with(row, _given_away(row, terms))


def _names_with(row: Mapping[str, Any], gives_away: Given) -> list[str]:
    return [name for name in row["names"] if any(gives_away(name, text) for text in texts(row["stored"][name]))]


def _names_scope(stored: Mapping[str, Any], name: str) -> bool:
    """Whether a property of a record or job holds bare names of scopes."""
    return name in _SCOPE_NAMES or (name in _WALKS and stored.get("name") == _WALKED_BY_SCOPE)


def _may_name(labels: set[str], name: str) -> bool:
    return name not in _VOCABULARY and not (name in ("id", "name", "target") and labels & _NAMED_BY_RUN)


def _free_text(labels: set[str], stored: Mapping[str, Any]) -> Given:
    """Whether a text in one of a node's properties (name, text) may be what somebody said."""
    if "CurationSnapshot" in labels:
        return lambda name, text: not is_our_word(name, text)
    if "CurationAudit" in labels:
        if isinstance(stored.get("keys"), list):
            return lambda name, text: False
        return lambda name, text: (
            name == "inputs"
            or (name.split("_", 1)[0] in ("before", "after") and not is_our_word(name.split("_", 1)[-1], text))
        )
    if "JochiSlot" in labels:
        return lambda name, text: name == "name"
    if "JochiTurn" in labels:
        return lambda name, text: name in ("line", "speaker")
    if "JochiAccess" in labels:
        return lambda name, text: name == "agent"
    if {"JochiAccessBatch", "JochiAction"} & labels:
        return lambda name, text: name == "id"
    if "JochiTopicIndex" in labels:
        return lambda name, text: name == "topics"
    return lambda name, text: name in ERRORS


def change(row: Mapping[str, Any], terms: SearchTerms) -> dict[str, Any] | None:
    """What is to be done to a node, as forget/scrub takes it: nothing to what an app wrote; one of the engine's goes, or loses
    what it says of it."""
    labels, stored = set(row["labels"]), row["stored"]
    if not {"Curated", "Tombstone"} & labels and not is_ours(labels):
        return None
    gives_away = _given_away(row, terms)
    names = _names_with(row, gives_away)
    if not names:
        return None
    if _goes(labels, stored, names):
        return {"id": row["id"], "delete": True, "new": {}}
    return {"id": row["id"], "delete": False, "new": _left(stored, names, gives_away)}


def marks_with(row: Mapping[str, Any], terms: SearchTerms) -> list[str]:
    """The marks of a relationship that name what is looked for."""
    stored = row["stored"]
    return [
        name
        for name in LINK_MARKS
        if _MARKED_TYPES.get(name, row["type"]) == row["type"]
        and any(terms.takes(_key_at(name, text)) for text in texts(stored.get(name)))
    ]


def change_of_link(row: Mapping[str, Any], terms: SearchTerms) -> dict[str, Any] | None:
    """What is to be done to a relationship, as forget/scrub_links takes it: it loses the mark."""
    names = marks_with(row, terms)
    if not names:
        return None
    left = {
        name: [each for each in row["stored"][name] if not (isinstance(each, str) and terms.takes(_key_at(name, each)))]
        or None
        for name in names
        if isinstance(row["stored"][name], list)
    }
    return {"id": row["id"], "new": {name: left.get(name) for name in names}}


def _goes(labels: set[str], stored: Mapping[str, Any], names: Sequence[str]) -> bool:
    if labels & _GO:
        return names != ["agent"]
    if "CurationAudit" in labels:
        return not isinstance(stored.get("keys"), list) and names != ["inputs"]
    if "JochiManifest" in labels:
        return "scope" in names
    return bool(labels & (frozenset(_SCOPED) | {"CurationSnapshot", "JochiSlot", "JochiAccessBatch"}))


def _left(stored: Mapping[str, Any], names: Sequence[str], gives_away: Given) -> dict[str, Any]:
    def out(name: str, each: Any) -> bool:
        return isinstance(each, str) and gives_away(name, each)

    new: dict[str, Any] = {}
    for name in names:
        value = stored[name]
        if not isinstance(value, list):
            new[name] = GONE if name == "id" else None
        elif name in _PLACES:
            new[name] = [GONE if out(name, each) else each for each in value]
        else:
            new[name] = [each for each in value if not out(name, each)]
    return new


def texts(value: Any) -> list[str]:
    """The texts of a property."""
    return [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, str)]
