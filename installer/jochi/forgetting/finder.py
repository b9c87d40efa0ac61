"""What a request to forget would take: memories, what was merged with them, what was made of them, what repeats them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from jochi.database.engine import Engine
from jochi.database.statements import statement
from jochi.errors import UsageError
from jochi.forgetting import messages
from jochi.forgetting.borders import may_go_on
from jochi.forgetting.clauses import UNSURE, remove_clauses
from jochi.forgetting.equivalents import find_equivalents
from jochi.forgetting.parts import part_named
from jochi.forgetting.requests import Resolution, needles, resolve
from jochi.forgetting.romanizations import romanized_needles
from jochi.forgetting.sole_statement import is_about_alone, is_parsed
from jochi.forgetting.spelling import Spelling, pattern
from jochi.forgetting.statements import Statement, parse_statements, remove_statement
from jochi.forgetting.words import as_the_server_folds, folded_needle, phrase, says
from jochi.graph.catalogue import CONTENT_HASH, is_our_word
from jochi.policy.model import Policy
from jochi.text.forms import LONGEST

PAGE = 500
SEARCH_PAGE = 2_000
"""Memories that one statement looks at for what they say."""
_BEHIND_SLASH = chr(ord("/") + 1)
_BEHIND_ALL = "\U0010ffff" * 1_001
"""Behind every key: a scope, with which a key begins, has at most 1,000 characters."""
_PHRASES = 100
"""Phrases that one look through a scope is for."""
_SPELLINGS = 50
"""Spellings of one thing that are looked for."""

MORE = "it says more, and which of its words say what can't be told"
"""Why a person has to say what becomes of a memory."""
LONGER = "what is found may be a part of a longer name"
"""Why one, in a script without blanks: `jochi.forgetting.borders`."""
BY_ID = "its id says it"
NO_MORE = "it states nothing else"
ANEW = "it is made anew of what stays"
"""Why an output goes as a whole."""

_KEPT_NAMES = ("key", "id")
_HASH = re.compile(CONTENT_HASH)

Why = Literal["asked", "scope", "hash", "match", "merged", "same", "derived", "repeats"]


@dataclass(frozen=True)
class Request:
    """What is to be forgotten: one of ``keys`` ('scope/id'), a whole ``scope`` alone, a content ``hash``, or a ``phrase``.

    ``statements``: of these of the ``keys`` only one statement, in its own words there (`Candidate.statement`).

    ``about``: what is to be forgotten in a person's words, in one ``scope``: `Jochi.read_request` tells what of these it means.
    ``also``: other spellings of the ``phrase``, each with the key of the memory that says that it is one, or None.
    ``everything``: all of what the phrase names is meant, so a memory that states nothing of anybody else goes, also where its
    words can't be taken apart; one that may, doesn't go as a whole.

    With ``phrase`` and ``hash``, ``scope`` says where; None: everywhere. ``clauses``: of a memory that says more than the
    phrase only the statements go that say it; where they can't be told from what else it says, it is left as it is for a
    person to decide, or goes as a whole: ``unsure``.
    """

    keys: tuple[str, ...] = ()
    scope: str | None = None
    hash: str | None = None
    phrase: str | None = None
    clauses: bool = True
    unsure: Literal["ask", "whole"] = "ask"
    statements: tuple[tuple[str, str], ...] = ()
    about: str | None = None
    also: tuple[tuple[str, str | None], ...] = ()
    everything: bool = False

    def __post_init__(self) -> None:
        if sum((bool(self.keys), *(each is not None for each in (self.hash, self.phrase, self.about)))) > 1:
            raise UsageError(
                "keys, a hash, a phrase and a request in words don't go together", fix="forget one after the other"
            )
        if not (self.keys or any(each is not None for each in (self.scope, self.hash, self.phrase, self.about))):
            raise UsageError(
                "nothing is named that is to be forgotten",
                fix="name keys, a scope, a hash, a phrase, or say it in words",
            )
        if self.about is not None and not phrase(self.about):
            raise UsageError("there is no word in what is to be forgotten", fix="say what is to be forgotten")
        if self.about is not None and self.scope is None:
            raise UsageError("a request in words is of one scope", fix="name it: scope")
        if self.also and self.phrase is None:
            raise UsageError("other spellings are those of a phrase", fix="give the phrase as well")
        for key, whole_keys in self.statements:
            if key not in self.keys or not phrase(whole_keys):
                raise UsageError(
                    f"{whole_keys!r} is no statement of one of the keys", fix="name its words, and its memory"
                )
        for key in self.keys:
            if "/" not in key:
                raise UsageError(f"{key!r} is no key", fix="a key is scope/id, such as default/m1")
        if self.scope is not None and (not self.scope.strip() or "/" in self.scope):
            raise UsageError(f"{self.scope!r} is no scope", fix="a scope is a name without a slash")
        if self.hash is not None and not _HASH.fullmatch(self.hash):
            raise UsageError(
                f"{self.hash!r} is no hash of a content",
                fix="it looks like v2: and 64 hex digits: property content_hash",
            )
        if self.phrase is not None and not phrase(self.phrase):
            raise UsageError("there is no word in what is to be forgotten", fix="name a word, a name, an address")

    @property
    def form(self) -> str:
        """What it names: keys, hash, phrase, about, or scope."""
        named = (name for name in ("keys", "hash", "phrase", "about") if getattr(self, name))
        return next(named, "scope")


@dataclass(frozen=True)
class Target:
    """One memory that a request takes, or marks.

    ``outcome``: forget (it goes) | cut (``left`` is what stays of the properties that say it) | ask (it says more, and what
    of it can't be told: nothing is done) | mark (it rests on others as well, and is to be derived anew). ``why``: asked, scope,
    hash, match; merged (with one that goes), same (as one), derived (from one), repeats (it says word for word what goes).
    ``reason``: why a memory that says more goes as a whole; None where it doesn't say more. ``dead``: only tombstones have this
    key.
    """

    key: str
    kind: str | None
    why: Why
    outcome: Literal["forget", "cut", "ask", "mark"]
    content: str | None = None
    dead: bool = False
    revision: int | None = None
    was: Mapping[str, Any] = field(default_factory=dict)
    left: Mapping[str, Any] = field(default_factory=dict)
    reason: str | None = None
    content_name: str | None = None


@dataclass
class Matches:
    """All targets by key, what is known of each (for its seals), and which texts have the phrase only as part of other words.

    ``spellings`` are all that were looked for, ``equivalents`` those that memories say to be the same, ``international`` the
    numbers with a country that one without may be. ``statements``: those that were asked for, whole, with the keys of their
    memories.
    """

    targets: dict[str, Target] = field(default_factory=dict)
    stored: dict[str, list[Mapping[str, Any]]] = field(default_factory=dict)
    contents: dict[str, list[str]] = field(default_factory=dict)
    merged: dict[str, list[str]] = field(default_factory=dict)
    same: dict[str, list[str]] = field(default_factory=dict)
    near: dict[str, None] = field(default_factory=dict)
    spellings: list[Spelling] = field(default_factory=list)
    equivalents: list[Spelling] = field(default_factory=list)
    international: set[str] = field(default_factory=set)
    statements: list[tuple[str, str]] = field(default_factory=list)

    def is_output(self, key: str) -> bool:
        """Whether a derivation of the engine's made it."""
        return any(stored.get("derived_by") is not None for stored in self.stored.get(key, ()))

    def rederivation(self, key: str) -> dict[str, str] | None:
        """Of an output that a job wants and no memory, such as the profile of a scope, what has a worker make it anew."""
        stored = next(iter(self.stored.get(key, ())), {})
        own = stored.get("derived_by") is not None and stored.get("derived_for") == key
        return {"key": key, "scope": key.partition("/")[0], "wants": stored["derived_by"]} if own else None


class Finder:
    """Finds what a request takes, in one database. Writes nothing."""

    def __init__(self, engine: Engine, policy: Policy) -> None:
        self._engine = engine
        self._policy = policy
        self._kinds = tuple(policy.labels())

    def find(self, request: Request, spellings: Sequence[Spelling] = ()) -> Matches:
        """Everything that goes, is cut or is marked, to the end of all derivations. ``spellings`` were told of earlier, by memories
        that may be gone by now."""
        matches = Matches()
        if request.phrase is not None:
            asked = [Spelling(request.phrase), *(Spelling(text, told_by) for text, told_by in request.also)]
            matches, new = self._take_spellings(request, spellings or asked)
        else:
            whole_keys = [
                key for key, words in request.statements if self._take_statement(matches, key, words, request)
            ]
            new = whole_keys + self._take(matches, self._named(request), _WHY[request.form])
        followed: set[str] = set()
        while new or _cut_keys(matches) - followed:
            self._read(matches, new)
            more = self._take(matches, _of(matches.merged, new), "merged")
            more += self._take(matches, _of(matches.same, new), "same")
            more += self._take_derived(matches, new)
            # What is left of a clause's memory stands, and what was made of the whole of it may still tell of the clause.
            cut = _cut_keys(matches) - followed
            followed |= cut
            more += self._take_derived(matches, sorted(cut), outputs_alone=True)
            # A whole scope goes anyway, and what repeats one that says the phrase says it itself.
            if request.form not in ("scope", "phrase"):
                more += self._take_repetitions(matches, new, request)
            new = more
        return matches

    def resolve(self, about: str, scope: str) -> Resolution:
        """What a request in words names in a scope. Reads until no further name is told of; writes nothing."""
        texts: dict[str, str] = {}
        wanted, spellings = needles(about), [Spelling(about)] if len(about) <= LONGEST else []
        while True:
            known = len(texts)
            folded = sorted({as_the_server_folds(each) for each in wanted})
            for row in self._search(_prefix(scope), folded, spellings) if folded or spellings else ():
                content = self.content_of(row)
                if content is not None and not row["dead"]:
                    texts[row["key"]] = content
            found = resolve(about, texts.items())
            if not found.spellings or len(texts) == known:
                return found
            spellings = list(found.spellings)
            wanted = [folded_needle(each.words) for each in spellings]
            wanted += [needle for each in spellings for needle in romanized_needles(each.text)]

    def _take_statement(self, matches: Matches, key: str, statement: str, request: Request) -> bool:
        """Takes one statement out of one memory; nothing where it doesn't make it (any more). Whether it goes as a whole."""
        known = self.read([key])
        target, stored = known.targets[key], next(iter(known.stored.get(key, ())), {})
        one, rest = statement_of(target.content or "", statement)
        if one is None or target.dead:
            return False
        matches.statements.append((key, one.full_text))
        name = self.content_name(target.kind)
        rest = UNSURE if isinstance(stored.get(messages.RAW), list) else rest
        if rest is UNSURE and request.unsure == "ask":
            matches.targets[key] = replace(target, outcome="ask", reason=MORE)
        elif not rest:
            matches.targets[key] = replace(target, reason=MORE if rest is UNSURE else None)
            return True
        else:
            left = {other: rest_without(other, value, one, rest) for other, value in stored.items() if other != name}
            left = {other: value for other, value in left.items() if value != stored[other]} | {name: rest}
            was = {other: stored[other] for other in left}
            matches.targets[key] = replace(target, outcome="cut", was=was, left=left, content_name=name)
        return False

    def read(self, keys: Sequence[str]) -> Matches:
        """What is known of memories, whatever becomes of them."""
        matches = Matches()
        self._read(matches, self._take(matches, keys, "asked"))
        return matches

    def made_of(self, keys: Sequence[str]) -> tuple[list[str], list[str]]:
        """What derivations of the engine's made of memories, to the end of them, and what else was made of that: it is to be
        marked."""
        matches = Matches()
        new = self._take_derived(matches, keys, outputs_alone=True)
        while new:
            self._read(matches, new)
            new = self._take_derived(matches, new)
        going = [key for key, target in matches.targets.items() if target.outcome == "forget"]
        outputs = [key for key in going if matches.is_output(key)]
        return outputs, [key for key in matches.targets if key not in outputs]

    def _named(self, request: Request) -> list[str]:
        if request.keys:
            whole = [key for key in request.keys if key not in dict(request.statements)]
            parts = (
                self._engine.call("ingest/look", {"keys": whole, "whole": False}, write=False)["sources"]
                if whole
                else []
            )
            return list(dict.fromkeys([*whole, *(part["key"] for source in parts for part in source)]))
        if request.hash is not None:
            row = self._engine.database.run(
                statement("forget/by_hash"), {"hash": request.hash, "scope": request.scope}, write=False
            )[0]
            return sorted(row["keys"])
        assert request.scope is not None
        return [row["key"] for row in self._search(_prefix(request.scope), [""])]

    def _take_spellings(self, request: Request, spellings: Sequence[Spelling]) -> tuple[Matches, list[str]]:
        """Takes what says one of the spellings, and one of those that what is found says to be the same, to the end of them. With
        the keys of those that go as a whole."""
        matches = Matches()
        gone: list[str] = []
        open_ = list(spellings)
        while open_:
            matches.spellings += open_
            gone += self._take_matches(
                matches, _prefix(request.scope), [(one, None) for one in open_], "match", request
            )
            known = {one.words for one in matches.spellings}
            equivalents = {one.words: one for one in matches.equivalents if one.words and one.words not in known}
            open_ = list(equivalents.values())[: max(0, _SPELLINGS - len(matches.spellings))]
        if len(matches.international) > 1 and not all(one.national_only for one in spellings):
            # Whose number it is nobody can tell: only what is written as asked goes, or as a memory says that it is.
            return self._take_spellings(request, [replace(one, national_only=True) for one in spellings])
        return matches, list(dict.fromkeys(gone))

    def _search(self, prefix: str, needles: Sequence[str], phrases: Sequence[Phrase] = ()) -> Iterator[dict[str, Any]]:
        given = {
            "from": prefix,
            "before": f"{prefix[:-1]}{_BEHIND_SLASH}" if prefix else _BEHIND_ALL,
            "needles": list(needles),
            "limit": SEARCH_PAGE,
            "pattern": pattern(
                [each for each in phrases if isinstance(each, Spelling)],
                [each for each in phrases if not isinstance(each, Spelling)],
            ),
        }
        last: str | None = ""
        while last is not None:
            row = self._engine.database.run(statement("forget/search"), given, write=False)[0]
            yield from row["found"]
            last = row["last"]
            given["from"] = f"{last}\0"  # the least text behind it

    def _take_matches(
        self,
        matches: Matches,
        prefix: str,
        phrases: Sequence[tuple[Phrase, str | None]],
        why: Why,
        request: Request,
    ) -> list[str]:
        """Takes all memories under ``prefix`` that say one of the phrases, each given with the key that it is from.

        Returns the keys of those that go as a whole and are new.
        """
        gone: list[str] = []
        needles = sorted({folded_needle(_words(wanted)) for wanted, _ in phrases})
        for row in self._search(prefix, needles, [wanted for wanted, _ in phrases]):
            key = row["key"]
            found = not _has(row, needles)  # only a pattern found it: nobody would take it for the phrase
            for wanted, source in phrases:
                if isinstance(wanted, Spelling):
                    matches.equivalents += _equivalents(row, wanted)
                    international = {form for text in _found_in(row) for form in wanted.international_numbers(text)}
                    matches.international |= international
                    found = found and not international
                known = matches.targets.get(key)
                if key == source or (known is not None and known.outcome == "forget"):
                    found = True
                    continue
                names = [n for n in row["names"] if _says(n, row["stored"][n], wanted)]
                if names:
                    found = True
                    target = self._cut(row, names, wanted, why, request, known, matches.spellings)
                    if known is not None and known.outcome == "ask" and target.outcome == "cut":
                        continue  # in another spelling it can't be told what stays
                    matches.targets[key] = target
                    if target.outcome == "forget":
                        gone.append(key)
            if not found and why == "match":
                matches.near[key] = None
        return gone

    def _cut(
        self,
        row: Mapping[str, Any],
        names: Sequence[str],
        wanted: Phrase,
        why: Why,
        request: Request,
        known: Target | None,
        spellings: Sequence[Spelling],
    ) -> Target:
        stored = row["stored"]
        if stored.get("derived_by") is not None:
            why = "derived"
        kind = self._kind(row["labels"] + (stored.get("tombstone_labels") or []))
        content_name = self.content_name(kind)
        content = stored.get(content_name)
        basis = Target(
            row["key"], kind, why, "forget", content if isinstance(content, str) else None, row["dead"], row["revision"]
        )
        if request.unsure == "ask" and isinstance(wanted, Spelling) and _may_be_longer(names, stored, wanted):
            return replace(basis, outcome="ask", reason=LONGER)
        if row["dead"] or not request.clauses:
            return basis
        if why == "derived":
            return replace(basis, reason=ANEW)
        before = known.left if known is not None and known.outcome == "cut" else {}
        left: dict[str, Any] = dict(before)
        for name in names:
            if name in _KEPT_NAMES:
                return replace(basis, reason=BY_ID)
            value = before.get(name, stored[name])
            if name == messages.RAW and (
                gone := messages.find_messages({**stored, **before}, lambda text: _is_in(text, wanted))
            ):
                left |= messages.remove_messages({**stored, **before}, gone)
            elif name != content_name or isinstance(value, list):
                left[name] = rest_of(value, wanted)
            elif value is not None:
                of_messages = isinstance(stored.get(messages.RAW), list)
                rest = messages.remove_from_text(value, lambda text: _is_in(text, wanted)) if of_messages else UNSURE
                rest = _rest(value, wanted) if rest is UNSURE else rest
                if request.everything and not rest and request.unsure == "ask" and not of_messages:
                    alone = is_about_alone(value, spellings)
                    if alone or rest is UNSURE or not is_parsed(value):
                        return basis if alone else replace(basis, outcome="ask", reason=MORE)
                if rest is UNSURE and request.unsure == "ask":
                    return replace(basis, outcome="ask", reason=MORE)
                if not rest:
                    is_all = phrase(value) in (wanted.rows(value) if isinstance(wanted, Spelling) else [wanted])
                    return basis if is_all else replace(basis, reason=MORE if rest is UNSURE else NO_MORE)
                left[name] = rest
        was = {name: stored[name] for name in left}
        cut_content = content_name if content_name in left else None
        return replace(basis, outcome="cut", was=was, left=left, content_name=cut_content)

    def _take(self, matches: Matches, keys: Iterable[str], why: Why) -> list[str]:
        new = []
        for key in keys:
            known = matches.targets.get(key)
            if known is None or known.outcome != "forget":
                matches.targets[key] = Target(key, None, why, "forget")
                new.append(key)
        return new

    def content_of(self, row: Mapping[str, Any]) -> str | None:
        """What a memory says, live or dead, as `forget/read` returns it."""
        name = self.content_name(self._kind(row["labels"] + (row["stored"].get("tombstone_labels") or [])))
        value = row["stored"].get(name)
        return value if isinstance(value, str) else None

    def _read(self, matches: Matches, keys: Sequence[str]) -> None:
        """Fills in what is known of targets that go: kind, content, revision, earlier contents. Drops what isn't there."""
        rows: dict[str, list[dict[str, Any]]] = {}
        names = sorted({"content", *(source.property for source in self._policy.sources().get("content", ()))})
        for at in range(0, len(keys), PAGE):
            given = {"keys": list(keys[at : at + PAGE]), "content_names": names}
            for row in self._engine.database.run(statement("forget/read"), given, write=False)[0]["found"]:
                rows.setdefault(row["key"], []).append(row)
        for key in keys:
            mine = rows.get(key, [])
            if not mine:
                # What the engine keeps of it still goes.
                matches.targets[key] = replace(matches.targets[key], reason="there is no such memory")
                continue
            live = next((row for row in mine if not row["dead"]), mine[0])
            kind = self._kind(live["labels"] + (live["stored"].get("tombstone_labels") or []))
            contents: list[str] = []
            for row in mine:
                content = self.content_of(row)
                contents += [] if content is None else [content]
                contents += row["earlier"]
            matches.targets[key] = replace(
                matches.targets[key],
                kind=kind,
                content=contents[0] if contents else None,
                dead=all(row["dead"] for row in mine),
                revision=live["revision"],
            )
            matches.stored[key] = [row["stored"] for row in mine]
            matches.contents[key] = list(dict.fromkeys(contents))
            matches.merged[key] = [other for row in mine for other in row["with"]]
            matches.same[key] = [other for row in mine for other in row["same"]]

    def _take_derived(self, matches: Matches, keys: Sequence[str], *, outputs_alone: bool = False) -> list[str]:
        """What was made of them, one step. ``outputs_alone``: only what derivations of the engine's make anew."""
        going = [key for key, target in matches.targets.items() if target.outcome == "forget"]
        derived: dict[str, tuple[bool, bool]] = {}
        for at in range(0, len(keys), PAGE):
            after: str | None = ""
            while after is not None:
                given = {"keys": list(keys[at : at + PAGE]), "going": going, "after": after, "limit": PAGE}
                row = self._engine.call("memory/derived_from", given, write=False)
                derived |= {each["key"]: (each["others"], each["output"]) for each in row["derived"]}
                after = row["last"]
        more: list[str] = []
        for key, (others, output) in derived.items():
            known = matches.targets.get(key)
            if key in going or (known is not None and known.outcome == "cut"):
                continue
            if outputs_alone and not output:
                continue
            if others and not output:
                matches.targets[key] = Target(key, known.kind if known else None, "derived", "mark")
                continue
            more += self._take(matches, [key], "derived")
            if others:
                matches.targets[key] = replace(matches.targets[key], reason=ANEW)
        return more

    def _take_repetitions(self, matches: Matches, keys: Sequence[str], request: Request) -> list[str]:
        """What says word for word what the memories say, in their scopes."""
        by_scope: dict[str, dict[tuple[str, ...], str]] = {}
        for key in keys:
            # An output has the words of all its inputs, also of those that stay.
            if matches.is_output(key):
                continue
            for content in matches.contents.get(key, ()):
                words = phrase(content)
                if len(words) >= self._policy.forgetting.repeated_words:
                    by_scope.setdefault(key.split("/", 1)[0], {}).setdefault(words, key)
        more: list[str] = []
        for scope, source_keys in by_scope.items():
            phrases = list(source_keys.items())
            for at in range(0, len(phrases), _PHRASES):
                more += self._take_matches(matches, _prefix(scope), phrases[at : at + _PHRASES], "repeats", request)
        return more

    def content_name(self, kind: str | None) -> str:
        """The property in which a kind keeps its content."""
        own = (source.property for source in self._policy.sources().get("content", ()) if source.label == kind)
        return next(own, "content")

    def _kind(self, labels: Sequence[str]) -> str | None:
        return next((kind for kind in self._kinds if kind in labels), None)


def rest_of(value: Any, wanted: Phrase) -> Any:
    """What stays of a property that isn't the content: None where nothing does, or it can't be told; of a list of each."""
    if isinstance(value, list):
        return [rest for rest in (rest_of(each, wanted) for each in value) if rest is not None]
    return (_rest(value, wanted) or None) if isinstance(value, str) and _is_in(value, wanted) else value


def statement_of(content: str, words: str) -> tuple[Statement | None, str | None]:
    """The statement of a content that has these words, and what is left without it. Who asks has chosen it, so where that can't be
    told for sure it is taken out as one of the `parts_of` the content. None where it says no such thing (any more)."""
    one = next((each for each in parse_statements(content) if phrase(each.text) == phrase(words)), None)
    rest = remove_statement(content, one) if one is not None else None
    if rest is None and (part := part_named(content, words)) is not None:
        return one or part.as_statement(), part.rest
    return one, rest


def rest_without(name: str, value: Any, one: Statement, rest: str) -> Any:
    """What stays of a property that isn't the content without a statement, and without what is nothing but its value, such as a
    tag; ``rest``: what stays of the content."""
    own = phrase(one.text)
    values = {phrase(each) for each in (one.value, *one.surface_names) if each and not says(rest, phrase(each))}

    def left(text: Any) -> Any:
        if not isinstance(text, str) or name in _KEPT_NAMES or is_our_word(name, text):
            return text
        return None if phrase(text) in values else rest_of(text, own)

    if isinstance(value, list):
        return [each for each in map(left, value) if each is not None]
    return left(value)


def _of(others: Mapping[str, Sequence[str]], keys: Sequence[str]) -> list[str]:
    """What was merged with these, or is the same by a relationship: copies of one thing, whichever of them survived."""
    return list(dict.fromkeys(other for key in keys for other in others.get(key, ())))


def _cut_keys(matches: Matches) -> set[str]:
    return {key for key, target in matches.targets.items() if target.outcome == "cut"}


_WHY: Mapping[str, Why] = {"keys": "asked", "hash": "hash", "scope": "scope"}


def _prefix(scope: str | None) -> str:
    return "" if scope is None else f"{scope}/"


Phrase = Spelling | tuple[str, ...]
"""A spelling, in all of its forms; or words in a row alone."""


def _words(wanted: Phrase) -> tuple[str, ...]:
    return wanted.words if isinstance(wanted, Spelling) else wanted


def _is_in(text: str, wanted: Phrase) -> bool:
    if isinstance(wanted, Spelling):
        return wanted.says(text)
    return says(text, wanted)


def _rest(text: str, wanted: Phrase) -> str | None:
    """``text`` without the statements that say it, as it is spelled there: as `remove_clauses` says."""
    rest: str | None = text
    for row in wanted.rows(text) if isinstance(wanted, Spelling) else [wanted]:
        if rest and says(rest, row):
            rest = remove_clauses(rest, row)
    return UNSURE if rest and _is_in(rest, wanted) else rest


def _texts(name: str, value: Any) -> list[str]:
    each = value if isinstance(value, list) else [value]
    return [text for text in each if isinstance(text, str) and not is_our_word(name, text)]


def _says(name: str, value: Any, wanted: Phrase) -> bool:
    return any(_is_in(text, wanted) for text in _texts(name, value))


def _may_be_longer(names: Sequence[str], stored: Mapping[str, Any], wanted: Spelling) -> bool:
    return any(may_go_on(text, wanted.places(text)) for name in names for text in _texts(name, stored[name]))


def _found_in(row: Mapping[str, Any]) -> list[str]:
    """The texts of a row for which the database found it."""
    return [text for name in row["names"] for text in _texts(name, row["stored"][name])]


def _has(row: Mapping[str, Any], needles: Sequence[str]) -> bool:
    texts = [as_the_server_folds(text) for text in _found_in(row)]
    return any(needle in text for text in texts for needle in needles)


def _equivalents(row: Mapping[str, Any], wanted: Spelling) -> list[Spelling]:
    """The other spellings that a memory says to be the same, or that are its name by a relationship."""
    texts = _found_in(row)
    named = any(phrase(text) in wanted.rows(text) for text in texts)
    return [Spelling(other, row["key"]) for other in row["same"] if named] + [
        Spelling(other, row["key"])
        for text in texts
        for start, stop in wanted.places(text)
        for other in find_equivalents(unicodedata.normalize("NFC", text), start, stop)
    ]
