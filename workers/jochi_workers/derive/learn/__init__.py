"""Facts out of turns of a conversation (seed 003, Write Path): one extraction a batch. What is remembered goes through
`memory/remember`, as everything does that is remembered; what else is known of it is `procedures/derive/learn`'s."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime, time, timedelta
from pathlib import Path
from typing import Any

from jochi.deprecation import old_names
from jochi.graph.driver_values import to_python
from jochi.text.content import text_hash
from jochi.text.content_properties import content_properties
from jochi.text.tokens import TokenCounter
from jochi_workers.derive.derivation import Derivation
from jochi_workers.derive.extract.messages import Message, messages
from jochi_workers.derive.extract.names import words
from jochi_workers.derive.learn.changes import Sentence, changes
from jochi_workers.derive.learn.checks import faults
from jochi_workers.derive.learn.commitments import commitments
from jochi_workers.derive.learn.importance import importance
from jochi_workers.derive.learn.kinds import memory_kind
from jochi_workers.derive.learn.model_changes import against as against_known
from jochi_workers.derive.learn.model_changes import confirmed, model_reads
from jochi_workers.derive.learn.offline import offline
from jochi_workers.derive.learn.output import Fact, LearningOutput
from jochi_workers.derive.learn.topics import topics
from jochi_workers.guard import judge
from jochi_workers.handler import Row
from jochi_workers.language.reader import language_of
from jochi_workers.language.sentences import sentences

__all__ = ["DERIVATION", "Fact", "LearningOutput", "importance", "memory_kind", "tier_of"]

VERBATIM = frozenset({"decision", "commitment", "correction", "principle"})
"""Facts of these categories that are explicit keep the very words of their turn, as an Artifact (seed 003, Verbatim artifact)."""
_ALIKE = 0.6
"""Share of their words from which on two facts speak of one thing, so that a difference which the guard sees is a contradiction."""


def tier_of(confidence: float, tiers: list[dict[str, Any]]) -> str:
    """The first of the tiers (the highest first, the lowest without a limit) that it reaches."""
    return next(str(tier["name"]) for tier in tiers if tier["least"] is None or confidence >= tier["least"])


def _made(row: Row, output: LearningOutput, counter: TokenCounter) -> Mapping[str, Any]:
    """What is remembered (``memories``: rows as `memory/remember` takes them), what the turns are about, which known facts new ones
    contradict (``against``), and which are said again (``confirmed``)."""
    batch, scope = row["key"], row["scope"]
    turns = [message for message in messages(row["inputs"][0]["content"]) if message.text]
    memories: dict[str, dict[str, Any]] = {}
    against: list[dict[str, Any]] = []
    again: dict[str, str] = {}
    judged: set[str] = set()
    language = language_of(row["inputs"][0]["content"])
    for fact in output.facts:
        if (same := confirmed(fact, row, language)) is not None:
            again[same["key"]] = same["content"]
            continue
        tier = tier_of(fact.confidence, row["tiers"])
        kind = memory_kind(fact.text, fact.category, fact.tags)
        turn = row["turns"][fact.turn - 1]
        one = _memory("Fact", batch, fact.text, scope, counter) | {
            "properties": {
                **{
                    "category": fact.category,
                    "confidence": fact.confidence,
                    "confidence_tier": tier,
                    "memory_kind": kind,
                },
                **{"importance": importance(fact.text, fact.category, fact.tags), "state": "candidate"},
                **{"verification_state": "unverified", "tags": list(fact.tags), "entities": list(fact.entities)},
                **{
                    "added_by": "learn",
                    "source_id": batch,
                    "message_ids": [turn],
                    "valid_from": row["moments"][fact.turn - 1],
                },
            }
        }
        if fact.answers is not None:
            one["properties"]["answers"] = fact.answers
        if fact.subject is not None:
            one["properties"] |= {"subject": fact.subject, "attribute": fact.attribute, "value": fact.value}
        if fact.category in VERBATIM and tier == row["tiers"][0]["name"] and fact.turn <= len(turns):
            source = turns[fact.turn - 1]
            exact = _memory(
                "Artifact", batch, f"{source.speaker}: {source.text}" if source.speaker else source.text, scope, counter
            )
            exact["properties"] = {
                "artifact_type": "verbatim",
                "added_by": "learn",
                "source_id": batch,
                "message_ids": [turn],
            }
            memories.setdefault(exact["id"], exact)
            one["relationships"] = [{"type": "QUOTES", "to": exact["id"]}]
        if fact.change is not None:
            judged.add(one["id"])
            against += against_known(one["id"], fact, row, language)
        elif one["id"] not in memories and fact.subject is None:
            against += _against(one["id"], fact.text, kind, _earlier(row["known"], row["moments"][fact.turn - 1]))
        memories.setdefault(one["id"], one)
    against += _changed(memories, row, judged, language)
    for task in _tasks(turns, row, language, counter):
        # A fact of no other words is what the task rests on, and the task stands for it.
        rests_on = [one["id"] for one in memories.values() if _says_no_more(one, task)]
        memories.setdefault(task["id"], task | {"relationships": [{"type": "EVIDENCE", "to": id} for id in rests_on]})
    about = topics(row["inputs"][0]["content"], row["before"], context=row["context"], most=row["topics"])
    said_again = [{"key": key, "content": content} for key, content in again.items()]
    return {"memories": list(memories.values()), "topics": about, "against": against, "confirmed": said_again}


def _tasks(turns: list[Message], row: Row, language: str, counter: TokenCounter) -> Iterator[dict[str, Any]]:
    """What people say they will do, each with the day by which: at the end of it, in their own time zone, it is due. What is over
    for long is none any more."""
    moments, now = to_python(row["moments"]), to_python(row["now"])
    for one in commitments(turns, moments, language):
        said = moments[one.turn - 1]
        text = f"{one.speaker}: {one.text}"
        due = one.due and datetime.combine(one.due + timedelta(days=1), time(), said.tzinfo)
        ends = due + timedelta(days=row["task_days"]) if due else said + timedelta(days=row["undated_days"])
        if ends <= now:
            continue
        task = _memory("Task", row["key"], f"{text} ({one.due})" if one.due else text, row["scope"], counter)
        task["properties"] = {
            **{"status": "pending", "author": one.speaker, "expires_at": ends, "added_by": "learn"},
            **{"source_id": row["key"], "message_ids": [row["turns"][one.turn - 1]]},
            **({"due_at": due} if due else {}),
        }
        yield task


def _says_no_more(fact: Mapping[str, Any], task: Mapping[str, Any]) -> bool:
    """Whether it is a fact of the task's turn, without a word that the task doesn't have."""
    same_turn = fact["properties"]["message_ids"] == task["properties"]["message_ids"]
    return fact["kind"] == "Fact" and same_turn and set(words(fact["content"])) <= set(words(task["content"]))


def _memory(kind: str, batch: str, text: str, scope: str, counter: TokenCounter) -> dict[str, Any]:
    """The same text of the same turns has the same id: made again it is known."""
    name = hashlib.sha256(f"{batch}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()[:24]
    counted = {"token_count": counter.count(text), "token_counter": counter.name}
    known = {"kind": kind, "id": f"{kind.lower()}-{name}", "scope": scope, "content": text}
    return known | content_properties(text) | counted


def _against(id: str, text: str, kind: str, known: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of known facts those that say nearly the same, but for a difference that rules a merge out. Of two notes the newer stands
    (seed 003, Episode/Note Reconsolidation)."""
    own = set(words(text))
    return [
        {"id": id, "key": each["key"], "replaces": kind == "note" and each["memory_kind"] == "note", "unsure": False}
        for each in known
        if len(own & (other := set(words(each["content"])))) >= _ALIKE * len(own | other)
        and text_hash(each["content"]) != text_hash(text)
        and judge(text, each["content"], cosine=None).verdict == "veto"
    ]


def _changed(
    memories: Mapping[str, dict[str, Any]], row: Row, judged: Collection[str], language: str
) -> list[dict[str, Any]]:
    """What new statements change of known ones, and of those that stand before them in the same turns, by their words: but for
    those that a model has ``judged``."""
    older = [(each["key"], _sentences(each["content"], language), each["at"]) for each in row["known"]]
    found: list[dict[str, Any]] = []
    for id, memory in memories.items():
        if memory["kind"] == "Fact":
            new, moment = _sentences(memory["content"], language), memory["properties"]["valid_from"]
            known = [(key, old) for key, old, at in older if old != new and (at is None or at <= moment)]
            for change in changes(new, [old for _, old in known]) if id not in judged else ():
                found.append(
                    {"id": id, "key": known[change.old][0], "replaces": change.sure, "unsure": not change.sure}
                )
            older.append((f"{row['scope']}/{id}", new, moment))
    return found


def _tell(made: Mapping[str, Any], later: Row) -> None:
    """Facts of turns that were leased together are known to the later ones."""
    for one in made["memories"]:
        if one["kind"] == "Fact":
            kind = one["properties"].get("memory_kind")
            at = one["properties"]["valid_from"]
            later["known"].append(
                {"key": f"{one['scope']}/{one['id']}", "content": one["content"], "memory_kind": kind, "at": at}
            )


def _earlier(known: list[dict[str, Any]], moment: Any) -> list[dict[str, Any]]:
    """Of known facts those that held before: what is learned late changes nothing of what was said since."""
    return [each for each in known if each["at"] is None or each["at"] <= moment]


def _sentences(text: str, language: str) -> list[Sentence]:
    return [Sentence(one.text, language) for one in sentences(text)]


def _words(row: Row) -> Mapping[str, Any]:
    return {"most": row["most"]}


DERIVATION = Derivation(
    name="learn",
    folder=Path(__file__).parent,
    output=LearningOutput,
    offline=offline,
    faults=faults,
    example={"most": 50},
    words=_words,
    texts=model_reads,
    parts=2,
    made=_made,
    tell=_tell,
)

__getattr__ = old_names(__name__)
