"""What a model says that a new statement changes of what was known (DESIGN §16), weighed: a number alone replaces nothing. Pure: no
model, no database. Offline the words decide (`changes`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jochi.text.slot_names import slot_name
from jochi_workers.derive.learn.changes import Sentence
from jochi_workers.derive.learn.output import Fact
from jochi_workers.guard import judge
from jochi_workers.handler import Row
from jochi_workers.language.sentences import sentences


def model_reads(row: Row) -> list[str]:
    """The known statements by their numbers, where there are any, then the turns."""
    turns = [each["content"] for each in row["inputs"]]
    return ["\n".join(" ".join(line.split()) for line in row["beside"]), *turns] if row["beside"] else turns


def confirmed(fact: Fact, row: Row, language: str) -> Mapping[str, Any] | None:
    """The known statement that it says again, where nothing tells the two apart. What fills a slot stands for itself: there the
    same value confirms the one before it."""
    if fact.change != "confirms" or fact.of is None or fact.subject is not None:
        return None
    old: Mapping[str, Any] = row["statements"][fact.of - 1]
    same = _speak_of_one(fact, old, language) and judge(fact.text, old["content"], cosine=None).verdict != "veto"
    return old if same else None


def against(id: str, fact: Fact, row: Row, language: str) -> list[dict[str, Any]]:
    """The known statement that the new one of that ``id`` replaces, may replace, or contradicts, as `derive/learn/store` takes it.

    It is replaced where both speak of one thing or fill one slot, the model is sure (the second tier, implied as shipped), and
    nothing else stands there that may still hold; else it may be. Of two of one slot and of what holds from later on time decides.
    """
    if fact.change not in ("replaces", "contradicts") or fact.of is None:
        return []
    old: Mapping[str, Any] = row["statements"][fact.of - 1]
    if _one_slot(fact, old) or (old["at"] is not None and old["at"] > row["moments"][fact.turn - 1]):
        return []
    replaces = fact.change == "replaces"
    sure = (
        fact.confidence >= _least_sure(row["tiers"])
        and len(list(sentences(old["content"]))) == 1
        and _speak_of_one(fact, old, language)
    )
    return [{"id": id, "key": old["key"], "replaces": replaces and sure, "unsure": replaces and not sure}]


def _least_sure(tiers: Sequence[Mapping[str, Any]]) -> float:
    least = tiers[1]["least"] if tiers[1]["least"] is not None else tiers[0]["least"]
    return float(least)


def _speak_of_one(fact: Fact, old: Mapping[str, Any], language: str) -> bool:
    return not Sentence(fact.text, language).stems.isdisjoint(Sentence(old["content"], language).stems)


def _one_slot(fact: Fact, old: Mapping[str, Any]) -> bool:
    name = slot_name(fact.subject, fact.attribute)
    return name is not None and name == slot_name(old["subject"], old["attribute"])
