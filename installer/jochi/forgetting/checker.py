"""What was forgotten, as a client or a worker that has the key can tell it: before a memory is written, or after."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, TypeVar

from jochi.database.database import Database
from jochi.database.statements import statement
from jochi.errors import Refused
from jochi.forgetting.forget_key import VARIABLE, ForgetKey, key_file, read_key
from jochi.forgetting.words import READING, words
from jochi.graph.catalogue import is_our_word
from jochi.policy import stored_policy
from jochi.text.content import content_hash
from jochi.text.forms import find_forms
from jochi.text.messages import begun_alike

ANYWHERE = ""
"""Stands for all scopes in a seal; no scope is empty."""

T = TypeVar("T")


@dataclass(frozen=True)
class Seal:
    """A keyed hash. ``words``: how many a sealed phrase has; 0 for a whole content, a form, a fact or a scope. ``of``: the hash of
    another one, with which it is lifted. ``reading``: of a phrase or form, by which rules a text is read for it (`READING`)."""

    hash: str
    words: int
    of: str | None = None
    reading: int | None = None


class Sealer:
    """Makes the keyed hashes of one key: the only home of what they are made of."""

    def __init__(self, key: ForgetKey) -> None:
        self.key = key

    def content(self, scope: str, text: str) -> Seal:
        """Of a whole content, in the normal form by which contents are the same (`jochi.text.content`)."""
        return Seal(self.key.seal("content", scope, content_hash(text)), 0)

    def fact(self, scope: str, slot_name: str, slot_value: str) -> Seal:
        """Of what a fact says in its slot, however it is worded."""
        return Seal(self.key.seal("fact", scope, slot_name, slot_value), 0)

    def scope(self, scope: str) -> Seal:
        """Of all that could ever be in a scope."""
        return Seal(self.key.seal("scope", scope), 0)

    def key_only(self, key: str) -> Seal:
        """Of a memory that has no content: by its key."""
        return Seal(self.key.seal("key", key), 0)

    def forgotten_key(self, key: str) -> Seal:
        """Of a memory that was forgotten by its key. It keeps nothing from being learned: in a restored backup the memory may say
        what it said before it was changed (`jochi.forgetting.export_requests`)."""
        return Seal(self.key.seal("gone", key), 0, self.key_only(key).hash)

    def phrase(self, scope: str, words: Sequence[str], reading: int = READING) -> Seal:
        """Of words in a row, as this reading has them; ``scope`` ANYWHERE for all."""
        return Seal(self.key.seal(_name_in("phrase", reading), scope, *words), len(words), reading=reading)

    def exemption(self, key: str, content: str, of: str) -> Seal:
        """Of a memory that stays as it is though it says a phrase, until somebody decides; ``of``: the hash of the phrase."""
        return Seal(self.key.seal("left", key, content_hash(content)), 0, of)

    def form(self, scope: str, form: str, reading: int = READING) -> Seal:
        """Of a canonical form, however it is spelled; ``scope`` ANYWHERE for all."""
        return Seal(self.key.seal(_name_in("form", reading), scope, form), 0, reading=reading)

    def message(self, source: str, name: str) -> Seal:
        """Of a message in a source, whatever it says: by what it is known by (`jochi.text.messages`)."""
        return Seal(self.key.seal("message", begun_alike(source), name), 0)

    def source(self, key: str, second: str | None) -> Seal:
        """Of all that a source without an id could ever say: it began with the message of its key, and ``second`` came soon
        after; None: nothing did."""
        return Seal(self.key.seal("source", begun_alike(key), second or ""), 0)

    def message_seals(self, place: MessagePlace) -> list[Seal]:
        """The seals by which a message would be known, or all of its source."""
        found = [self.message(place.key, name) for name in place.names]
        if place.there:
            return found
        if place.begins is None:
            return [*found, self.key_only(place.key)]
        return [*found, *(self.source(place.key, second) for second in (None, *place.begins[1:]))]

    def memory_seals(
        self, scope: str, key: str | None, properties: Mapping[str, Any], content: str | None
    ) -> list[Seal]:
        """The seals by which a whole memory would be known: its scope, its content or its key, its fact."""
        found = [self.scope(scope)]
        if content is not None:
            found.append(self.content(scope, content))
        elif key is not None:
            found.append(self.key_only(key))
        return found + self.facts(scope, properties)

    def facts(self, scope: str, properties: Mapping[str, Any]) -> list[Seal]:
        """Of what a memory says in its slot, if it is in one."""
        name, value = properties.get("slot_name"), properties.get("slot_value")
        return [self.fact(scope, name, value)] if isinstance(name, str) and isinstance(value, str) else []

    def phrases(self, scope: str, texts: Iterable[str], lengths: tuple[str, ...]) -> set[str]:
        """The hashes of all rows of so many words in the texts, for this scope and for all. ``lengths`` as `Gate` has them."""
        return {hash for text in texts for hash, _, _ in self.placed_phrases(scope, text, lengths)}

    def placed_phrases(
        self, scope: str, text: str, lengths: tuple[str, ...]
    ) -> Iterator[tuple[str, str, tuple[int, int]]]:
        """The hash of each row of so many words, the scope that it is for, and where it stands in the composed (NFC) text."""
        for reading, sizes in _by_reading(lengths):
            found = words(text, reading)
            folded = [word.folded for word in found]
            for n in map(int, sizes):
                for at in range(len(folded) - n + 1):
                    place = found[at].start, found[at + n - 1].stop
                    for where in (scope, ANYWHERE):
                        yield self.phrase(where, folded[at : at + n], reading).hash, where, place

    def forms(self, scope: str, texts: Iterable[str], kinds: tuple[str, ...]) -> set[str]:
        """The hashes of all canonical forms of these kinds in the texts, for this scope and for all."""
        return {hash for text in texts for hash, _, _ in self.placed_forms(scope, text, kinds)}

    def placed_forms(self, scope: str, text: str, kinds: tuple[str, ...]) -> Iterator[tuple[str, str, tuple[int, int]]]:
        """As `placed_phrases`, of each canonical form of these kinds."""
        for reading, own in _by_reading(kinds):
            places = {one.form: (one.start, one.stop) for one in find_forms(text, own, first_reading=reading == 1)}
            for form, place in places.items():
                for where in (scope, ANYWHERE):
                    yield self.form(where, form, reading).hash, where, place


def _name_in(what: str, reading: int) -> str:
    return what if reading == 1 else f"{what}/{reading}"


def in_reading(what: str | int) -> str:
    """A length of phrases or a kind of forms, as what is sealed today is noted."""
    return f"{READING}/{what}"


@lru_cache(maxsize=64)
def _by_reading(noted: tuple[str, ...]) -> list[tuple[int, tuple[str, ...]]]:
    """Lengths or kinds by reading: those of the first are noted without a number ahead."""
    found: dict[int, list[str]] = {}
    for each in noted:
        number, _, rest = each.partition("/")
        reading, what = (int(number), rest) if number.isdecimal() and rest else (1, each)
        found.setdefault(reading, []).append(what)
    return [(reading, tuple(found[reading])) for reading in sorted(found)]


def texts_of(properties: Mapping[str, Any]) -> list[str]:
    """All that a memory says, in lists as well; not the engine's words, nor its scope."""
    found: list[str] = []
    for name, value in properties.items():
        each = value if isinstance(value, list | tuple) else [value]
        found.extend(text for text in each if isinstance(text, str) and not is_our_word(name, text))
    return found


@dataclass(frozen=True)
class MessagePlace:
    """A message's place: the ``key`` of its source, and by which ``names`` it is known there. ``begins``: the first messages of
    a source that has no id. ``there``: the source is in the database, so it wasn't forgotten as a whole."""

    key: str
    names: Sequence[str]
    begins: Sequence[str] | None
    there: bool = False


@dataclass(frozen=True)
class CheckItem:
    """A memory that is asked about, or a message of a source. ``texts``: all that it would say, its id as well."""

    scope: str
    key: str | None
    content: str | None
    properties: Mapping[str, Any]
    texts: Sequence[str]
    place: MessagePlace | None = None


@dataclass(frozen=True)
class Gate:
    """How it stands: ``version`` counts what was forgotten (0: nothing ever), ``lengths`` of sealed phrases in words, ``kinds``
    of sealed forms (`jochi.text.forms`): `2/3` is 3 by the second reading, `3` by the first."""

    version: int
    key_id: str | None
    lengths: tuple[str, ...]
    kinds: tuple[str, ...] = ()


def read_gate(database: Database) -> Gate:
    """The gate as it is now."""
    row = database.run(statement("forget/gate"), write=False)[0]
    lengths = (*map(str, row["lengths"]), *row["phrase_lengths"])
    return Gate(row["version"], row["key_id"], lengths, tuple(row["kinds"]))


def check_item(
    scope: str, key: str | None, content: str | None, properties: Mapping[str, Any], links: Iterable[Any] = ()
) -> CheckItem:
    """A memory as it would be written, or as it is stored; ``links``: the properties of each relationship that comes with it."""
    id = None if key is None else key.partition("/")[2]
    also = (text for text in (content, id) if text is not None)
    on_links = (text for link in links if isinstance(link, Mapping) for text in texts_of(link))
    return CheckItem(scope, key, content, properties, [*texts_of(properties), *also, *on_links])


class Checker:
    """Tells which memories are not to be learned again. Made by `open_checker`; None there means that nothing was ever
    forgotten."""

    def __init__(self, database: Database, sealer: Sealer, gate: Gate) -> None:
        self._database = database
        self._sealer = sealer
        self.gate = gate

    def check(self, items: Sequence[CheckItem]) -> tuple[list[bool], int]:
        """Which of them were forgotten, and the version as of which that is so. One read, whatever their number."""
        gate = self.gate  # another thread may be reading a newer one
        hashes: list[set[str]] = []
        phrases: list[set[str]] = []
        exemptions: list[str | None] = []
        for item in items:
            hashes_of_item = {
                seal.hash for seal in self._sealer.memory_seals(item.scope, item.key, item.properties, item.content)
            }
            if item.place is not None:
                hashes_of_item |= {seal.hash for seal in self._sealer.message_seals(item.place)}
            hashes.append(hashes_of_item)
            seals = self._sealer.phrases(item.scope, item.texts, gate.lengths) if gate.lengths else set()
            if gate.kinds:
                seals |= self._sealer.forms(item.scope, item.texts, gate.kinds)
            phrases.append(seals)
            nothing = not seals or item.key is None or item.content is None
            exemptions.append(None if nothing else self._sealer.exemption(str(item.key), str(item.content), "").hash)
        every = sorted(set().union(*hashes, *phrases, (each for each in exemptions if each)))
        row = self._database.run(statement("forget/known"), {"hashes": every}, write=False)[0]
        if row["version"] != gate.version:
            # A phrase of another length may have come in between.
            self.gate = read_gate(self._database)
            return self.check(items)
        known = set(row["known"])
        results = [
            bool(whole & known) or (exemption not in known and bool(parts & known))
            for whole, parts, exemption in zip(hashes, phrases, exemptions, strict=True)
        ]
        return results, gate.version


def open_checker(database: Database, gate: Gate) -> Checker | None:
    """Who tells, for this database as ``gate`` says it stands.

    None where nothing was ever forgotten, or where no key is here and the policy leaves it to a worker.

    `Refused` where values were forgotten and this machine has no key, or another one.
    """
    if gate.version == 0 or gate.key_id is None:
        return None
    key = read_key()
    if key is not None and key.id == gate.key_id:
        return Checker(database, Sealer(key), gate)
    policies = database.run(statement("models/policy"), write=False)
    if policies and stored_policy(policies[0]["text"]).policy.forgetting.without_key == "write":
        return None
    raise _no_key(database, gate, key)


@dataclass(frozen=True)
class ScreenResult(Generic[T]):
    """What may be written (``allowed``) and what may not (``forgotten``), compared with what was forgotten as of ``version``.

    ``compared``: False where nobody here can tell, and it is left to a worker.
    """

    allowed: list[T]
    forgotten: list[T]
    version: int
    compared: bool


class Screen:
    """Parts what may be written from what was forgotten, for a client that writes; several of its threads may ask at once."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.refresh()

    def refresh(self) -> None:
        """Reads anew how it stands. `Refused` where values were forgotten, and the key isn't here."""
        gate = read_gate(self._database)
        self._state = gate.version, open_checker(self._database, gate)

    def split(self, things: Sequence[T], item_of: Callable[[T], CheckItem]) -> ScreenResult[T]:
        """Parts ``things``; ``item_of`` says what each would write."""
        version, checker = self._state
        if checker is None:
            return ScreenResult(list(things), [], version, version == 0)
        results, version = checker.check([item_of(thing) for thing in things])
        parted = list(zip(things, results, strict=True))
        return ScreenResult([one for one, out in parted if not out], [one for one, out in parted if out], version, True)


def own_key(database: Database, gate: Gate) -> ForgetKey | None:
    """This machine's key, which must be the database's (else `Refused`); None where neither has one."""
    key = read_key()
    if gate.key_id is not None and (key is None or key.id != gate.key_id):
        raise _no_key(database, gate, key)
    return key


def _no_key(database: Database, gate: Gate, key: ForgetKey | None) -> Refused:
    """What is said where something must be compared with what was forgotten, and can't be."""
    have = "there is none here" if key is None else f"the one here is {key.id}"
    return Refused(
        f"values were forgotten in this database with the key {gate.key_id}, and {have}: "
        "what is written couldn't be kept from being learned again",
        where=f"database {database.name}",
        fix=f"copy the key's file to {key_file()}, or name it with {VARIABLE}",
    )
