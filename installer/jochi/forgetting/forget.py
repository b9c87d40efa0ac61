"""Forgets on request and for good: seals what was said, deletes, cuts, marks, looks through the store, writes the receipt."""

from __future__ import annotations

import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import InitVar, dataclass, field, replace
from datetime import datetime, timedelta
from threading import Event, Thread
from typing import Any

from neo4j.exceptions import DriverError, Neo4jError

from jochi.database import questions
from jochi.database.engine import Engine
from jochi.database.server_clock import ServerClock
from jochi.database.statements import statement
from jochi.errors import JochiError, Refused
from jochi.forgetting import messages, receipts
from jochi.forgetting.candidates import Candidate
from jochi.forgetting.checker import ANYWHERE, Seal, Sealer, in_reading, own_key, read_gate
from jochi.forgetting.clauses import forget_readings
from jochi.forgetting.finder import Finder, Matches, Request, Target
from jochi.forgetting.forget_key import ForgetKey, make_key
from jochi.forgetting.mentions import Mention, Store
from jochi.forgetting.records import SearchTerms
from jochi.forgetting.sound_alikes import SoundAlike, find_sound_alikes
from jochi.forgetting.spelling import Spelling, count_kinds
from jochi.forgetting.words import READING, phrase
from jochi.policy.model import Policy

_ROUNDS = 10
"""So often a request is looked for again after it was done; what is written meanwhile says the same again only so long."""

_KEYS_A_PART = 2_000
_TEXTS = 200
"""So many contents are looked for word for word afterwards; of more the keys only, and the receipt says so."""

_CUT_OFF = timedelta(minutes=10)
"""Who hasn't said for so long that it is at work was cut off (`report/inbox` has the same)."""
_RENEW_EVERY = 60.0
"""Seconds."""
WAIT = 30.0
"""Seconds for transactions that began before the seals; the receipt says how many were left."""


@dataclass(frozen=True)
class ForgettingPlan:
    """What a request would take. ``near``: keys of memories that have the phrase only as a part of other words: they stay.
    ``records``: how many records and copies of the engine say the phrase and go with it; what they kept can't be brought back.

    ``alike``: names that sound like the phrase: they stay, too. ``request``: what one in words means; where that isn't sure it is
    as it was, ``candidates`` are what it may mean, nothing would be done, and ``reason`` says why. ``new_key``: this
    machine would make the key of forgetting; every client that writes memories needs it then.
    """

    request: Request
    targets: tuple[Target, ...]
    near: tuple[str, ...]
    new_key: bool
    records: int = 0
    spellings: tuple[Spelling, ...] = ()
    alike: tuple[SoundAlike, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    reason: str | None = None

    def counts(self) -> dict[str, int]:
        """By outcome."""
        return dict(Counter(target.outcome for target in self.targets))


@dataclass(frozen=True)
class ForgetResult:
    """What was done. ``held``: key to the rails that stop it (agent_identity, agent_key, migration, system_config, hold).

    ``left``: where it still is, where somebody looked (``verify``): in what an app keeps beside memories, for instance.
    ``elsewhere``: open transactions that began before; what they write was not looked at. ``asked``: memories that say more, and
    what of it can't be told: they are as they were, for a person to decide. ``candidates``: what a request in words may mean;
    nothing was done, there is no ``receipt``, and ``reason`` says why.
    """

    receipt: receipts.Receipt | None
    counts: Mapping[str, int]
    held: Mapping[str, tuple[str, ...]]
    left: Sequence[Mention] = field(default_factory=tuple)
    elsewhere: int = 0
    key_made: bool = False
    asked: Sequence[Target] = field(default_factory=tuple)
    candidates: Sequence[Candidate] = field(default_factory=tuple)
    reason: str | None = None


def plan_forgetting(engine: Engine, policy: Policy, request: Request) -> ForgettingPlan:
    """What `forget` would take now. Writes nothing."""
    gate = read_gate(engine.database)
    key = own_key(engine.database, gate)
    matches = Finder(engine, policy).find(request)
    records = 0 if request.phrase is None else Store(engine).records(_spelling_terms(request, matches.spellings))
    spellings = tuple(matches.spellings)
    alike: tuple[SoundAlike, ...] = ()
    if request.phrase is not None:
        sound_alikes = find_sound_alikes(engine, Spelling(request.phrase), request.scope)
        alike = tuple(each for each in sound_alikes if not any(one.says(each.text) for one in spellings))
    targets, near = tuple(matches.targets.values()), tuple(matches.near)
    return ForgettingPlan(request, targets, near, key is None, records, spellings, alike)


def forget(
    engine: Engine,
    policy: Policy,
    request: Request,
    *,
    now: datetime,
    by: str,
    verify: bool = False,
    on_page: Callable[[int], None] | None = None,
    wait: float = WAIT,
) -> ForgetResult:
    """See `jochi.Jochi.forget`."""
    database = engine.database
    gate = read_gate(database)
    key = own_key(engine.database, gate)
    key_made = key is None
    work = _Forgetting(engine, policy, key or make_key(), now, by, on_page)
    work.finish_others()
    with work.renewing():
        work.seal_words(request)
        matches = Finder(engine, policy).find(request)
        terms, going = _search_terms(request, matches), _going(matches)
        work.seal(request, matches)
        elsewhere = work.wait_for_others(wait)
        for _ in range(_ROUNDS):
            work.act(matches)
            spellings = matches.spellings
            matches = Finder(engine, policy).find(request, spellings)
            if not any(work.is_retryable(target, matches) for target in matches.targets.values()):
                break
            terms, going = _merge_terms(terms, _search_terms(request, matches)), going | _going(matches)
            work.seal(request, matches)
        else:
            raise JochiError(
                "something writes what is to be forgotten again and again",
                fix="stop that writer (it has not the key, or isn't ours), and forget the same again",
            )
        forget_readings()
        undecided = tuple(target for target in matches.targets.values() if target.outcome == "ask")
        store = Store(engine)
        if work.held:
            # Of a scope in which something stays only what went is looked for, key by key.
            keys = terms.keys | going if terms.scopes else terms.keys
            terms = replace(terms, keys=keys - work.held.keys(), scopes=frozenset())
        deleted, scrubbed = store.scrub(terms)
        left = store.mentions(terms) if verify else []
        body = work.body(request, matches) | {"open_transactions": elsewhere, "asked_about": len(undecided)}
        body["counts"] |= {"records_of_others": scrubbed, "records_deleted": deleted}
        if verify:
            body["verified"] = work.verification(request, terms, left)
        receipt = receipts.append(database, body, runs=[work.run], at=now)
        questions.ask(database, map(_question, undecided), now=now)
        work.rederive(going)
        return ForgetResult(receipt, dict(work.counts), work.held, tuple(left), elsewhere, key_made, undecided)


def verify(engine: Engine, policy: Policy, request: Request) -> list[Mention]:
    """Where the whole store still says it: a phrase in all spellings, keys, or a scope's keys. Writes nothing."""
    scope = frozenset(() if request.scope is None else (request.scope,))
    if request.phrase is not None:
        return Store(engine).mentions(_spelling_terms(request, Finder(engine, policy).find(request).spellings))
    return Store(engine).mentions(SearchTerms(frozenset(request.keys), scope))


def lift(engine: Engine, request: Request) -> int:
    """Lets a phrase, a scope, a content or keys be learned again; returns how many seals were taken off."""
    gate = read_gate(engine.database)
    key = own_key(engine.database, gate)
    if key is None:
        return 0
    sealer = Sealer(key)
    seals: list[Seal] = []
    if request.phrase is not None:
        for reading in range(1, READING + 1):
            words = phrase(request.phrase, reading)
            seals.append(sealer.phrase(request.scope or ANYWHERE, words, reading))
        if request.scope is not None:
            seals.append(sealer.content(request.scope, request.phrase))
    elif request.keys:
        seals += [sealer.key_only(each) for each in request.keys]
    elif request.scope is not None:
        seals.append(sealer.scope(request.scope))
    row = engine.database.run(statement("forget/lift"), {"hashes": [seal.hash for seal in seals]})[0]
    return int(row["lifted"])


def _question(target: Target) -> dict[str, Any]:
    """For the inbox: whether it is to go as a whole."""
    id = questions.about_forgetting(target.key)
    return {"id": id, "kind": "forgetting", "key": target.key, "revision": target.revision}


def _named(request: Request) -> list[str]:
    stated = (each for pair in request.statements for each in pair)
    return [*request.keys, *stated, request.hash or "", *(phrase(request.phrase) if request.phrase else ())]


def _going(matches: Matches) -> frozenset[str]:
    return frozenset(key for key, target in matches.targets.items() if target.outcome == "forget")


def _search_terms(request: Request, matches: Matches) -> SearchTerms:
    going = _going(matches)
    if request.phrase is not None:
        return replace(_spelling_terms(request, matches.spellings), keys=going)
    if request.form == "scope":
        assert request.scope is not None
        elsewhere = frozenset(key for key in going if not key.startswith(f"{request.scope}/"))
        return SearchTerms(elsewhere, frozenset((request.scope,)))
    # What an output says its inputs say, also those that stay.
    own = [key for key in sorted(going) if not matches.is_output(key)]
    contents = {phrase(content): None for key in own for content in matches.contents.get(key, ())}
    long = [words for words in contents if len(words) >= 2]
    scopes = frozenset(key.split("/", 1)[0] for key in going)
    return SearchTerms(going, frozenset(), tuple(long[:_TEXTS]), within=scopes, exact=True)


def _spelling_terms(request: Request, spellings: Sequence[Spelling]) -> SearchTerms:
    within = None if request.scope is None else frozenset((request.scope,))
    return SearchTerms(spellings=tuple(spellings), within=within)


def _merge_terms(one: SearchTerms, other: SearchTerms) -> SearchTerms:
    within = None if one.within is None or other.within is None else one.within | other.within
    phrases = tuple(dict.fromkeys((*one.phrases, *other.phrases)))[:_TEXTS]
    spellings = tuple(dict.fromkeys((*one.spellings, *other.spellings)))
    return replace(
        one,
        keys=one.keys | other.keys,
        scopes=one.scopes | other.scopes,
        phrases=phrases,
        spellings=spellings,
        within=within,
    )


@dataclass
class _Forgetting:
    """One forgetting under way."""

    engine: Engine
    policy: Policy
    key: InitVar[ForgetKey]
    now: datetime
    by: str
    on_page: Callable[[int], None] | None
    run: str = field(default_factory=lambda: f"forget/{uuid.uuid4()}")
    counts: Counter[str] = field(default_factory=Counter)
    held: dict[str, tuple[str, ...]] = field(default_factory=dict)
    contents: int = 0
    parts: int = 0
    anew: dict[str, dict[str, str]] = field(default_factory=dict)

    def __post_init__(self, key: ForgetKey) -> None:
        self.sealer = Sealer(key)

    @contextmanager
    def renewing(self) -> Iterator[None]:
        """Says every minute that this is at work, also while one statement takes long."""
        database, over = self.engine.database, Event()
        clock = ServerClock(database)

        def renew() -> None:
            while not over.wait(_RENEW_EVERY):
                # Where it can't be said, whoever works here finds out as well, and the next word may come through.
                with suppress(JochiError, Neo4jError, DriverError):
                    database.run(statement("forget/renew"), {"now": clock.now(), "run": self.run})

        thread = Thread(target=renew, name="jochi-forget", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join(5)

    def finish_others(self) -> None:
        """What an earlier forgetting, cut off, had still to look for goes first: its memories may be gone, its records not."""
        given = {"before": self.now - _CUT_OFF}
        left = self.engine.database.run(statement("forget/open"), given, write=False)[0]["runs"]
        if not left:
            return
        keys = sorted({key for each in left for key in each["keys"]})
        self._delete(keys, {})
        # What a rail holds by now stays, with its records.
        Store(self.engine).scrub(SearchTerms(frozenset(keys) - self.held.keys()))
        body = {
            "form": "resumed",
            "by": self.by,
            "counts": {**self.counts, "keys": len(keys)},
            "protected": len(self.held),
            "out_of_reach": list(receipts.OUT_OF_REACH),
        }
        self.counts.clear()
        self.held.clear()
        receipts.append(self.engine.database, body, runs=sorted({each["run"] for each in left}), at=self.now)

    def seal_words(self, request: Request) -> None:
        """Before the first search, what can be sealed without one: who writes the same faster than it is read would keep it from
        ending."""
        if request.form in ("phrase", "scope"):
            self.seal(request, Matches())

    def seal(self, request: Request, matches: Matches) -> None:
        """Keeps everything from being learned again, before anything goes."""
        seals = {seal.hash: seal for seal in self._seals(request, matches)}
        rows = [
            {"hash": seal.hash, "words": seal.words, "of": seal.of, "reading": seal.reading} for seal in seals.values()
        ]
        keys = sorted(key for key, target in matches.targets.items() if target.outcome == "forget")
        kinds = sorted(
            {
                in_reading(kind)
                for each in matches.spellings
                if each.form_query
                for kind in each.form_query.sealed_kinds()
            }
        )
        size = _KEYS_A_PART
        for at in range(0, max(len(rows), len(keys), 1), size):
            part = keys[at : at + size]
            # Who had been left as it was is no exception any more.
            contents = ((key, matches.targets[key].content) for key in part)
            left = [self.sealer.exemption(key, content, "").hash for key, content in contents if content is not None]
            given = {
                "now": self.now,
                "run": self.run,
                "by": self.by,
                "key_id": self.sealer.key.id,
                "hashes": rows[at : at + size],
                "keys": part,
                "left": left,
                "kinds": kinds,
                "part": self.parts,
            }
            row = self.engine.database.run(statement("forget/seal"), given)[0]
            if row["foreign"]:
                raise Refused(
                    "another client has just forgotten the first value in this database, with a key of its own",
                    where=f"database {self.engine.database.name}",
                    fix="copy that key's file here, and forget the same again",
                )
            self.parts += 1
            self.counts["sealed"] += row["sealed"]

    def _seals(self, request: Request, matches: Matches) -> list[Seal]:
        if request.phrase is not None:
            scope = request.scope or ANYWHERE
            seal = self.sealer.phrase(scope, phrase(request.phrase))
            others = [
                *(self.sealer.phrase(scope, each.words) for each in matches.spellings),
                *(
                    self.sealer.form(scope, form)
                    for each in matches.spellings
                    if each.form_query
                    for form in each.form_query.forms
                ),
                *(
                    self.sealer.exemption(key, target.content, seal.hash)
                    for key, target in matches.targets.items()
                    if target.outcome == "ask" and target.content is not None
                ),
            ]
            message_seals = self._messages(
                matches, seal.hash, lambda text: any(each.says(text) for each in matches.spellings)
            )
            return [*(replace(each, of=seal.hash) for each in others), seal, *message_seals]
        if request.form == "scope":
            assert request.scope is not None
            return [self.sealer.scope(request.scope)]
        seals = list(self._messages(matches))
        seals += [self.sealer.content(key.split("/", 1)[0], whole) for key, whole in matches.statements]
        for key, target in matches.targets.items():
            # What was only derived can be derived anew from what stays.
            if target.outcome != "forget" or target.why == "derived" or key not in matches.stored:
                continue
            scope = key.split("/", 1)[0]
            contents = matches.contents.get(key, [])
            self.contents += len(contents)
            seals += [self.sealer.content(scope, content) for content in contents]
            if not contents:
                seals.append(self.sealer.key_only(key))
            if request.form == "keys":
                seals.append(self.sealer.forgotten_key(key))
            for stored in matches.stored.get(key, ()):
                seals += self.sealer.facts(scope, stored)
        return seals

    def _messages(
        self, matches: Matches, of: str | None = None, says: Callable[[str], bool] | None = None
    ) -> Iterator[Seal]:
        """Of sources that go the messages (those that say it, where ``says`` tells), of others those that are taken out."""
        for key, target in matches.targets.items():
            if target.outcome == "cut":
                left = set(target.left.get("message_ids", ()))
                gone = [at for at, id in enumerate(target.was.get("message_ids", ())) if id not in left]
                yield from messages.seals_of(self.sealer, key, target.was, gone, of)
            elif target.outcome == "forget" and target.why != "derived":
                for stored in matches.stored.get(key, ()):
                    places = None if says is None else messages.find_messages(stored, says)
                    yield from messages.seals_of(self.sealer, key, stored, places, of)

    def wait_for_others(self, seconds: float) -> int:
        """Waits for transactions that began before the seals: what they write was compared with less. How many are still open."""
        database = self.engine.database
        given = {"database": database.name, "moment": database.run(statement("server/clock"))[0]["clock"]}
        end = time.monotonic() + seconds
        while True:
            n = int(database.autocommit(statement("forget/older_transactions"), given)[0]["n"])
            if n == 0 or time.monotonic() >= end:
                return n
            time.sleep(0.05)

    def act(self, matches: Matches) -> None:
        """Deletes, cuts and marks, page by page."""
        forget = {key: target for key, target in matches.targets.items() if target.outcome == "forget"}
        derived = (key for key, target in forget.items() if target.why == "derived" and not target.dead)
        self.anew |= {key: wanted for key in derived if (wanted := matches.rederivation(key))}
        self._delete(sorted(forget), {key: target.revision for key, target in forget.items()})
        cuts = sorted((t for t in matches.targets.values() if t.outcome == "cut"), key=lambda t: t.key)
        for at in range(0, len(cuts), self.policy.forgetting.page):
            rows = [
                {"key": t.key, "revision": t.revision, "was": t.was, "new": t.left, "content": t.content_name}
                for t in cuts[at : at + self.policy.forgetting.page]
            ]
            for result in self.engine.call("memory/forget_clause", {"now": self.now, "rows": rows})["results"]:
                if result["outcome"] == "cut":
                    self.counts["cut"] += 1
                    self.counts["audits"] += result["audits"]
                    self.counts["snapshots"] += result["snapshots"]
        marks = sorted(key for key, target in matches.targets.items() if target.outcome == "mark")
        for at in range(0, len(marks), _KEYS_A_PART):
            given = {"now": self.now, "keys": marks[at : at + _KEYS_A_PART]}
            self.counts["to_derive_anew"] += self.engine.database.run(statement("forget/mark"), given)[0]["marked"]

    def rederive(self, going: Iterable[str]) -> None:
        """What stays is said by outputs that jobs want, such as the profile of a scope: but for those that are about, and named
        after, something that goes. Last of all, as they have the keys of what went."""
        ids = [f":{key.partition('/')[2]}:" for key in going if key not in self.anew]
        rows = [row for key, row in self.anew.items() if not any(id in f"{key}:" for id in ids)]
        if rows:
            self.engine.database.run(statement("forget/want"), {"now": self.now, "outputs": rows})

    def body(self, request: Request, matches: Matches) -> dict[str, Any]:
        """What the receipt says of what was asked and done."""
        body: dict[str, Any] = {
            "form": request.form,
            "everywhere": request.scope is None and request.form in ("hash", "phrase"),
            "request": self.sealer.key.seal("request", request.form, request.scope or "", *_named(request)),
            "key": self.sealer.key.id,
            "by": self.by,
            "counts": dict(self.counts),
            "protected": len(self.held),
            "out_of_reach": list(receipts.OUT_OF_REACH),
            "statements": len(request.statements),
        }
        return body | ({"forms": count_kinds(matches.spellings)} if matches.spellings else {})

    def verification(self, request: Request, terms: SearchTerms, left: Sequence[Mention]) -> dict[str, Any]:
        """What the receipt says of looking for it afterwards, through the whole store."""
        return {
            "properties": "all texts of nodes and relationships, but procedures, policies, migrations, words of the engine "
            "and who asked for something",
            "keys": len(terms.keys),
            "contents": len(terms.phrases) + len(terms.spellings),
            "forms": count_kinds(terms.spellings),
            "contents_not_looked_for": max(0, self.contents - len(terms.phrases)) if request.phrase is None else 0,
            "found": len(left),
            "places": dict(Counter("/".join(mention.place) for mention in left)),
        }

    def is_retryable(self, target: Target, matches: Matches) -> bool:
        """Whether another round could do anything about it: not where rails hold it, and not where nothing is there."""
        if target.outcome == "forget":
            return target.key in matches.stored and target.key not in self.held
        return target.outcome == "cut"

    def _delete(self, keys: Sequence[str], revisions: Mapping[str, int | None]) -> None:
        """Without a revision whatever is there goes."""
        size = self.policy.forgetting.page
        for at in range(0, len(keys), size):
            left = [{"key": key, "revision": revisions.get(key)} for key in keys[at : at + size]]
            while left:
                results = self.engine.call("memory/forget", {"now": self.now, "rows": left, "remake": True})["results"]
                for result in results:
                    for name in ("memories", "tombstones", "audits", "snapshots", "accesses", "relationships"):
                        self.counts[name] += result[name]
                    if result["outcome"] == "protected":
                        self.held[result["key"]] = tuple(result["rails"])
                if self.on_page:
                    self.on_page(self.counts["memories"] + self.counts["tombstones"])
                left = [
                    {"key": result["key"], "revision": revisions.get(result["key"])}
                    for result in results
                    if result["outcome"] == "more"
                ]
