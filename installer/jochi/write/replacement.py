"""Puts a statement in the place of another one in the memories that make it (docs/reference/forgetting.md, Statements that are
replaced)."""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from jochi.database.engine import Engine
from jochi.database.statements import statement
from jochi.errors import JochiError, Refused, UsageError
from jochi.forgetting import messages
from jochi.forgetting.candidates import (
    Candidate,
    mismatches,
    names_attribute,
    rank_candidates,
    says_more,
    says_other,
    short_list,
    unambiguous,
    with_margins,
)
from jochi.forgetting.checker import Screen, check_item
from jochi.forgetting.clauses import forget_readings
from jochi.forgetting.finder import BY_ID, MORE, Finder, Matches, Request, Target, rest_of, rest_without, statement_of
from jochi.forgetting.retrieval import Embed, cosine_to, memories_about
from jochi.forgetting.statements import Statement, in_place_of, parse_statements, remove_statement, same_slot
from jochi.forgetting.words import phrase, says, spots, words
from jochi.graph.catalogue import is_our_word
from jochi.policy.model import Policy
from jochi.text.content import content_hash
from jochi.use.recall import RecallResult
from jochi.write import remembering
from jochi.write.scope_graph import WORDS

_A_CALL = 100
"""Memories in one transaction."""
_TRIES = 3
_SHOWN = 5
_RULE = "statement.replaced"

_IN_A_SLOT = "it is a fact in a slot: remember the new value as a fact, and time decides"
_CHANGED = "somebody changed it meanwhile: ask again"
_A_SOURCE = "it is a source, which keeps what was said"
_ARTICLE = re.compile(r"^(?:an?|the|my|his|her|their|our)\s+", re.IGNORECASE)


@dataclass(frozen=True)
class ReplaceResult:
    """What was done, or would be (``run`` is None then, and where nothing was).

    ``replaced``: key to what each memory says now. ``superseded``: facts in slots, each with the key of the fact that holds from
    now on (None in a plan). ``asked``: memories that say it and are as they were, each with its reason. ``candidates``: what may
    be meant, where nobody said it word for word and no one of them is meant without doubt; nothing was done then. ``already``:
    memories that say the new statement as it is. ``remade``: outputs of derivations that said it; they are made anew. ``run``:
    what `undo` takes.
    """

    replaced: Mapping[str, str] = field(default_factory=dict)
    asked: tuple[Target, ...] = ()
    remade: tuple[str, ...] = ()
    superseded: Mapping[str, str | None] = field(default_factory=dict)
    candidates: tuple[Candidate, ...] = ()
    already: tuple[str, ...] = ()
    run: str | None = None

    @property
    def unsure(self) -> bool:
        """Whether a person has to say something: also where nobody was found to say the old or the new."""
        done = self.replaced or self.superseded or self.remade or self.already
        return bool(self.asked or self.candidates or not done)


@dataclass
class _Change:
    """What becomes of one memory: its texts as they were, and as they will be."""

    target: Target
    name: str
    was: dict[str, Any]
    new: dict[str, Any]


def replace_statement(
    engine: Engine,
    policy: Policy,
    old: str,
    new: str,
    *,
    scope: str,
    now: datetime,
    recall: Callable[..., RecallResult],
    key: str | None = None,
    statement: str | None = None,
    embed: Embed | None = None,
    dry_run: bool = False,
) -> ReplaceResult:
    """See `jochi.Jochi.supersede`. ``recall``: of the client."""
    work = _Replacement(engine, policy, old, new, scope, now, key)
    version = _checked(engine, work)
    if statement is not None:
        work.take_part(statement)
        return work.result((), ()) if dry_run else work.act(version, (), ())
    try:
        work.word_for_word()
        memories = memories_about(f"{old} {new}", recall, policy.forgetting, scope=scope, embed=embed, key=key)
        known = work.read([memory.key for memory in memories] or ([key] if key else []))
        memories = [memory for memory in memories if memory.key in known]
        candidates: list[Candidate] = []
        if not work.olds and not work.asked:
            about = cosine_to(old, embed) if embed else None
            candidates = work.by_meaning(rank_candidates(old, memories, new=new, cosine_of=about), known)
        else:
            work.take_equivalents(
                [(memory.key, one) for memory in memories for one in parse_statements(memory.content or "")], known
            )
        already = tuple(
            memory.key for memory in memories if any(work.is_new(one) for one in parse_statements(memory.content or ""))
        )
        if already and not any(work.may_be_left(one) for one in candidates):
            candidates = []  # it was replaced before
        if dry_run:
            return work.result(candidates, already)
        return work.act(version, candidates, already)
    finally:
        forget_readings()


def _checked(engine: Engine, work: _Replacement) -> int | None:
    """`UsageError` and `Refused` where the new statement can't be said; else as of which version of what is forgotten it was
    compared."""
    if not phrase(work.new):
        raise UsageError("there is no word in what is to be said now", where="supersede", fix="give a sentence")
    if not phrase(work.old):
        raise UsageError(
            "there is no word in what is to be replaced", where="supersede", fix="name what is said until now"
        )
    if work.key is not None and not work.key.startswith(f"{work.scope}/"):
        raise UsageError(f"{work.key!r} is not of the scope {work.scope!r}", where="supersede", fix="a key is scope/id")
    screened = Screen(engine.database).split([work.new], lambda text: check_item(work.scope, None, text, {}))
    if screened.forgotten:
        raise Refused(
            "what is to be said now was forgotten on request",
            where="supersede",
            fix="allow it again first: jochi forget --lift",
        )
    return screened.version if screened.compared else None


class _Replacement:
    """One replacement: first found, then made."""

    def __init__(
        self, engine: Engine, policy: Policy, old: str, new: str, scope: str, now: datetime, key: str | None
    ) -> None:
        self.old, self.new, self.scope, self.key = old, new, scope, key
        self.olds: list[Statement] = []
        self.asked: list[Target] = []
        self._engine, self._policy, self._now = engine, policy, now
        self._then = parse_statements(new)
        self._finder = Finder(engine, policy)
        self._slots = policy.slot_labels()
        self._others: list[Target] = []
        self._changes: dict[str, _Change] = {}
        self._facts: dict[str, tuple[Target, Mapping[str, Any], str]] = {}
        self._outputs: set[str] = set()
        self._marks: set[str] = set()

    def is_new(self, one: Statement) -> bool:
        """Whether a statement says the new one."""
        return any(same_slot(one, each) for each in self._then)

    def may_be_left(self, one: Candidate) -> bool:
        """Whether a candidate may say the old of the same one, where the new is said already."""
        same = one.parsed is None or not mismatches(self._then, one.parsed, attribute_named=True)
        return same and one.score >= self._policy.forgetting.sure / 2

    # Finding ----------------------------------------------------------------------------------------------------------

    def word_for_word(self) -> None:
        """Takes all memories that have the old words, where these say what the new statement changes."""
        if says(self.new, phrase(self.old)):
            return  # a description of what changes, such as `Ann's home`
        matches = self._finder.find(Request(phrase=self.old, scope=self.scope))
        attribute_named = names_attribute(self.old)
        for target in matches.targets.values():
            if target.dead or (self.key is not None and target.key != self.key):
                continue
            if target.why == "derived":
                is_output = target.outcome == "forget" and matches.is_output(target.key)
                (self._outputs if is_output else self._marks).add(target.key)
            elif target.outcome == "ask" or target.content is None:
                if self.key is None or target.content is None or target.reason not in (None, MORE):
                    self._ask(target, target.reason or MORE)
            elif says(target.key.partition("/")[2], phrase(self.old)):
                self._ask(target, BY_ID)
            else:
                self._word_for_word(target, matches, attribute_named=attribute_named)
        self._ask_which()

    def _ask_which(self) -> None:
        """Asks where what was taken is of two things by its names: `earns 20 euros at Acme` and `at Zeta`."""
        apart = any(one.names - other.names and other.names - one.names for one in self.olds for other in self.olds)
        if self.key is not None or not apart:
            return
        for change in self._changes.values():
            self._ask(change.target, "several say it, each of another thing")
        self._changes.clear()
        self.olds.clear()

    def _word_for_word(self, target: Target, matches: Matches, *, attribute_named: bool) -> None:
        assert target.content is not None
        stored = dict((matches.stored.get(target.key) or [{}])[0]) or dict(target.was)
        spoken = parse_statements(target.content)
        here = spots(words(target.content), phrase(self.old))
        touched = [one for one in spoken if any(a < d and c < b for a, b in one.spans for c, d in here)]
        # Who names the memory has said that it is meant.
        picked = self.key is not None
        others = {
            one: ()
            if picked
            else (
                *mismatches(self._then, one, attribute_named=attribute_named),
                *self._denied(one),
                *says_more(self.old, self.new, one),
                *says_other(self.old, one),
            )
            for one in touched
        }
        mine = [one for one in touched if not others[one]]
        if touched and not mine:
            self._others.append(replace(target, outcome="ask", reason=f"it {others[touched[0]][0]}"))
            return
        if target.kind in self._slots and stored.get("slot_name"):
            self._fact(target, stored, mine[0] if mine else None)
            return
        self.olds += mine
        name = self._finder.content_name(target.kind)
        if len(mine) < len(touched):
            for one in mine:
                self._take(target, stored, one)
            return
        kept = {**target.left}.get(name, "" if target.outcome == "forget" else target.content) or ""
        change = _Change(
            target, name, {**target.was, name: target.content}, {**target.left, name: _joined(kept, self.new)}
        )
        self._changes[target.key] = change
        for other, value in stored.items():
            texts = value if isinstance(value, list) else [value]
            if other not in change.new and any(
                isinstance(each, str) and says(each, phrase(self.old)) and not is_our_word(other, each)
                for each in texts
            ):
                change.was[other], change.new[other] = value, rest_of(value, phrase(self.old))

    def _denied(self, one: Statement) -> tuple[str, ...]:
        """Why a statement that has the old words doesn't say the old: `живёт в Омске` stands in `не живёт в Омске`."""
        if any(each.mood[0] for each in (*parse_statements(self.old), *self._then)):
            return ()
        return ("says that it isn't so",) if one.mood[0] else ()

    def take_part(self, words: str) -> None:
        """Takes what a person has chosen of one memory. UsageError where it doesn't say that."""
        target, stored = self.read([self.key or ""]).get(self.key or "", (None, {}))
        one, rest = statement_of(target.content or "", words) if target else (None, None)
        if target is None or one is None:
            raise UsageError(
                f"{self.key} doesn't say that, or says it twice" if self.key else "a statement is one of a memory",
                where="supersede",
                fix="give the key of a memory, and the words of one of its candidate's `parts`",
            )
        if target.kind in self._slots and stored.get("slot_name"):
            self._fact(target, stored, one)
        elif isinstance(stored.get(messages.RAW), list) or rest is None:
            self._ask(target, MORE if rest is None else _A_SOURCE)
        else:
            said = in_place_of(str(target.content), one, self.new) or _joined(rest, self.new)
            self._cut(target, stored, one, rest, said)

    def read(self, keys: Sequence[str]) -> dict[str, tuple[Target, Mapping[str, Any]]]:
        """What is stored of them, but for what is made anew anyway."""
        matches = self._finder.read(keys)
        known = {}
        for each, target in matches.targets.items():
            stored = next(iter(matches.stored.get(each, ())), None)
            output = matches.is_output(each) and target.kind not in self._slots
            if stored is not None and not target.dead and not output:
                known[each] = (target, stored)
        return known

    def by_meaning(
        self, matches: Sequence[Candidate], known: Mapping[str, tuple[Target, Mapping[str, Any]]]
    ) -> list[Candidate]:
        """Takes what is meant without doubt; else returns what a person may choose from."""
        left = with_margins([one for one in matches if not (one.parsed and self.is_new(one.parsed))])
        if self.key is not None:
            left = with_margins([one for one in left if one.key == self.key])
            first = next(iter(left), None)
            # Who names the memory has said that something of it is meant: what is nearer than the rest of it.
            chosen = left[:1] if first is not None and first.margin > 0 else []
        else:
            chosen = unambiguous(left, self._policy.forgetting)
        chosen = [one for one in chosen if one.parsed is not None]
        if not chosen and self.key is not None:
            self._whole(*known[self.key]) if self.key in known else None
            return []
        if not chosen:
            return short_list(left, _SHOWN)
        self.olds += [one.parsed for one in chosen if one.parsed]
        self.take_equivalents([(one.key, one.parsed) for one in left if one.parsed], known)
        return []

    def take_equivalents(
        self, statements: Iterable[tuple[str, Statement]], known: Mapping[str, tuple[Target, Mapping[str, Any]]]
    ) -> None:
        """Takes all statements that say what is replaced, in whatever words."""
        for key, one in statements:
            if (self.key is not None and key != self.key) or (one.ambiguous and one not in self.olds):
                continue
            if key not in known or not any(one == old or same_slot(one, old) for old in self.olds):
                continue
            target, stored = known[key]
            if target.kind in self._slots and stored.get("slot_name"):
                self._fact(target, stored, one)
            else:
                self._take(target, stored, one)

    def _ask(self, target: Target, reason: str) -> None:
        if all(target.key != each.key for each in self.asked):
            self.asked.append(replace(target, outcome="ask", reason=reason))

    def _fact(self, target: Target, stored: Mapping[str, Any], one: Statement | None) -> None:
        """A fact in a slot is history once another one holds there; what the new one's value is must be plain."""
        if stored.get("status") == "superseded" or stored.get("slot_key") is None:
            return
        value = self._then[0].value if len(self._then) == 1 and not self._then[0].mood[0] else None
        if value is None or one is None or mismatches(self._then, one):
            self._ask(target, _IN_A_SLOT)
            return
        self.olds.append(one)
        self._facts[target.key] = (target, stored, _ARTICLE.sub("", value))

    def _take(self, target: Target, stored: Mapping[str, Any], one: Statement) -> None:
        """Takes one statement out, and says the new one behind what stays."""
        change = self._changes.get(target.key)
        name = self._finder.content_name(target.kind)
        content = str(stored.get(name) or "")
        before = content if change is None else str(change.new[name]).replace(self.new, "", 1).strip()
        own = next((each for each in parse_statements(before) if each == one or same_slot(each, one)), None)
        if own is None:
            return
        source = isinstance(stored.get(messages.RAW), list)
        rest = None if source else remove_statement(before, own)
        said = None if rest is None else _joined(rest, self.new)
        if said is None and not source and (said := in_place_of(before, own, self.new)) is not None:
            rest = said.replace(self.new, "", 1).strip()
        if said is None and not source and self.key is not None:
            self._whole(target, stored)
            return
        if rest is None or said is None:
            self._changes.pop(target.key, None)
            self._ask(target, _A_SOURCE if source else MORE)
            return
        self._cut(target, stored, own, rest, said)

    def _cut(self, target: Target, stored: Mapping[str, Any], own: Statement, rest: str, said: str) -> None:
        """Has a memory say ``said`` in place of one statement, of which ``rest`` is what it says besides."""
        name = self._finder.content_name(target.kind)
        change = self._changes.setdefault(target.key, _Change(target, name, {name: str(stored.get(name) or "")}, {}))
        change.new[name] = said
        for other, value in stored.items():
            left = rest_without(other, change.new.get(other, value), own, rest)
            if other != name and left != value:
                change.was[other], change.new[other] = value, left

    def _whole(self, target: Target, stored: Mapping[str, Any]) -> None:
        """Says the new one in place of all that the memory says: a person has named it, and nothing can be cut out of it."""
        name = self._finder.content_name(target.kind)
        if target.kind in self._slots and stored.get("slot_name"):
            self._fact(target, stored, None)
        elif isinstance(stored.get(messages.RAW), list):
            self._ask(target, _A_SOURCE)
        else:
            self._changes[target.key] = _Change(target, name, {name: stored.get(name)}, {name: self.new})

    # Doing ------------------------------------------------------------------------------------------------------------

    def result(
        self, candidates: Sequence[Candidate], already: tuple[str, ...], run: str | None = None
    ) -> ReplaceResult:
        """As it stands. Who has the old words and says something else is asked about where nothing else is known."""
        known = self._changes or self._facts or candidates or already
        return ReplaceResult(
            {key: change.new[change.name] for key, change in self._changes.items()},
            tuple(self.asked if known else [*self.asked, *self._others]),
            tuple(sorted(self._outputs)),
            dict.fromkeys(self._facts),
            tuple(candidates),
            already,
            run,
        )

    def act(self, version: int | None, candidates: Sequence[Candidate], already: tuple[str, ...]) -> ReplaceResult:
        """Makes the changes, page by page."""
        run = f"replace/{uuid.uuid4()}"
        changes = list(self._changes.values())
        for at in range(0, len(changes), _A_CALL):
            for change, reason in self._write(changes[at : at + _A_CALL], run, version):
                if reason is not None:
                    del self._changes[change.target.key]
                    self._ask(change.target, reason)
        following = {key: self._remember(*fact) for key, fact in self._facts.items()}
        changed = [*self._changes, *self._facts]
        if changed:
            outputs, marks = self._finder.made_of(changed)
            self._outputs |= set(outputs)
            self._marks |= set(marks)
            self._rederive()
        else:
            self._outputs.clear()
        on_record = self._changes and self._policy.forgetting.replaced == "keep"
        return replace(self.result(candidates, already, run if on_record else None), superseded=following)

    def _write(self, changes: Sequence[_Change], run: str, version: int | None) -> list[tuple[_Change, str | None]]:
        """Each with the reason why it stays as it was."""
        if self._policy.forgetting.replaced == "drop":
            rows = [
                {"key": each.target.key, "revision": None, "was": each.was, "new": each.new, "content": each.name}
                for each in changes
            ]
            results = self._engine.call("memory/forget_clause", {"now": self._now, "rows": rows})["results"]
            outcomes = {each["key"]: each["outcome"] for each in results}
            return [(each, None if outcomes[each.target.key] == "cut" else _CHANGED) for each in changes]
        edits = [
            {
                "key": each.target.key,
                "way": "change",
                "rule": _RULE,
                "text": each.new[each.name],
                "content_hash": content_hash(each.new[each.name]),
                "was": None,
                "said": each.was[each.name],
                "also": {name: value for name, value in each.new.items() if name != each.name},
                "were": {name: value for name, value in each.was.items() if name != each.name},
                "forgotten_as_of": version,
            }
            for each in changes
        ]
        for _ in range(_TRIES):
            results = self._engine.call("context/edit", {"now": self._now, "run": run, "edits": edits})["results"]
            if all(each["outcome"] != "forgetting_changed" for each in results):
                break
            version = _checked(self._engine, self)
            edits = [{**each, "forgotten_as_of": version} for each in edits]
        else:
            raise JochiError(
                "more was forgotten each time that the statement had been compared",
                where="supersede",
                fix="ask again when nobody forgets anything",
            )
        reasons = {"changed": _CHANGED, "slot": _IN_A_SLOT}
        return [
            (change, None if (got := each["outcome"]) == "done" else reasons.get(got) or f"it {WORDS.get(got, got)}")
            for change, each in zip(changes, results, strict=True)
        ]

    def _remember(self, target: Target, stored: Mapping[str, Any], value: str) -> str:
        """The fact that holds from now on; its id tells it from one that said the same before."""
        name = hashlib.sha256(f"{target.key}\n{self.new}\n{self._now.isoformat()}".encode()).hexdigest()[:16]
        row = {
            "kind": target.kind,
            "scope": self.scope,
            "id": f"said-{name}",
            "content": self.new,
            "properties": {
                **{each: stored[each] for each in ("category", "access_tier", "sensitivity") if stored.get(each)},
                "subject": stored["subject"],
                "attribute": stored["attribute"],
                "value": value,
                "valid_from": self._now,
            },
        }
        done = remembering.remember(self._engine, [row], now=self._now)
        if done.refused:
            raise remembering.SomeRefused(done)
        return str(done.results[0].key)

    def _rederive(self) -> None:
        """Outputs that tell of the old go; they are made anew of what is said now, and what an app made is marked."""
        outputs = sorted(self._outputs)
        matches = self._finder.read(outputs)
        for at in range(0, len(outputs), _A_CALL):
            gone = [{"key": key, "revision": None} for key in outputs[at : at + _A_CALL]]
            while gone:
                results = self._engine.call("memory/forget", {"now": self._now, "rows": gone, "remake": True})[
                    "results"
                ]
                gone = [{"key": each["key"], "revision": None} for each in results if each["outcome"] == "more"]
        if wanted := [row for key in outputs if (row := matches.rederivation(key))]:
            self._engine.database.run(statement("forget/want"), {"now": self._now, "outputs": wanted})
        if self._marks:
            self._engine.database.run(statement("forget/mark"), {"now": self._now, "keys": sorted(self._marks)})


def _joined(kept: str, new: str) -> str:
    if not kept.strip():
        return new
    return f"{kept}{' ' if kept.rstrip()[-1:] in ('', *'.!?。！？') else '. '}{new}"
