"""How many bytes a merge and a compression leave on record, against what they were made of, and when these go again
(docs/reference/audit-and-undo.md)."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from tests import merge_graph
from tests.conftest import say_go
from tests.integration.test_compression import TEXT
from tests.integration.test_compression import put as put_long
from tests.integration.test_compression import work as compress
from tests.oracle.memory import Memory
from tests.oracle.merging import Graph, Rel

from jochi import Jochi
from jochi.jobs.runner import run_job
from jochi.jobs.runs import AuditSize
from jochi.text.content import content_hash

pytestmark = pytest.mark.server

NOW = datetime(2026, 6, 15, 12, tzinfo=timezone.utc)
DAY = timedelta(days=1)
PAIRS = 40
NOTE = "n" * 300
LISTS = ("tags", "keywords", "topics", "aliases")


@pytest.fixture
def client(jochi: Jochi) -> Jochi:
    say_go(jochi)
    return jochi


def run(client: Jochi, job: str, now: datetime) -> int:
    runs = run_job(client.engine, job, now=now, drain=True)
    assert [one.error for one in runs if one.error] == []
    return sum(one.changed for one in runs)


def measured(client: Jochi) -> AuditSize:
    """Of all nodes: a sample as large as the store."""
    return client.audit_size(samples=1_000_000)


def weight(properties: dict[str, Any]) -> int:
    """Counted as `jochi status` counts, in Python."""

    def of(value: Any) -> int:
        if isinstance(value, str):
            return len(value)
        if isinstance(value, list):
            return sum(len(each) + 1 if isinstance(each, str) else 8 for each in value)
        return 8

    return sum(len(name) + of(value) for name, value in properties.items())


def weigh(client: Jochi, match: str) -> int:
    rows = client.database.run(f"MATCH {match} RETURN properties(n) AS p", write=False)
    return sum(weight(row["p"]) for row in rows)


def memory(id: str, content: str, words: int = 8) -> Memory:
    held: dict[str, Any] = {
        **{"created_at": NOW - 40 * DAY, "content": content, "content_hash": content_hash(content), "token_count": 100},
        **{"embedding": [0.5] * 384, "embedding_model": "m", "tier": "COLD"},
        **{name: [f"{name} {n} of {id}" for n in range(words)] for name in LISTS},
    }
    return Memory(id, ("MemoryEntry",), held)


def pairs_merged(client: Jochi, length: int) -> AuditSize:
    """Pairs of one text of so many characters, with long lists and two relationships with long notes each."""
    merge_graph.clear(client.database)
    text = "x" * length
    memories = [memory(f"{side}{n:02}", text) for n in range(PAIRS) for side in "ab"]
    rels = [
        Rel(f"{one.key}/{end}", "TOLD", *((one.key, "thing/t") if end else ("thing/t", one.key)), {"note": NOTE})
        for one in memories
        for end in (0, 1)
    ]
    merge_graph.write(client.database, Graph({one.key: one for one in memories}, {rel.id: rel for rel in rels}))
    for n in range(PAIRS):
        merge_graph.flag(client.database, f"default/a{n:02}", f"default/b{n:02}", NOW)
    assert run(client, "merge_duplicates", NOW) == PAIRS
    return measured(client)


@pytest.mark.slow
def test_what_a_merge_keeps_does_not_grow_with_the_contents(client: Jochi) -> None:
    short, long = pairs_merged(client, 100), pairs_merged(client, 20_000)
    assert long.audit_bytes == weigh(client, "(n:CurationAudit|CurationSnapshot)")
    assert long.data_bytes == weigh(client, "(n:Curated|Tombstone)")
    assert long.data_bytes - short.data_bytes == 2 * PAIRS * 19_900
    assert long.audit_bytes == short.audit_bytes, "no content is kept: the tombstone has it"
    # Lists of the survivor as they were and became, of relationships each, and the record.
    lists = 2 * weight({name: [f"{name} {n} of a00" for n in range(8)] for name in LISTS})
    assert long.audit_bytes / PAIRS <= 2 * lists + 2 * weight({"note": NOTE}) + 2_000
    assert long.ratio is not None
    assert long.ratio <= 0.1


@pytest.mark.parametrize("length", [pytest.param(100, marks=pytest.mark.exhaustive), 20_000])
def test_what_a_group_leaves_is_bounded_by_its_flags(client: Jochi, length: int) -> None:
    """Each flag of one that goes is kept, without the contents that it was judged on; a group is of ten at most."""
    merge_graph.clear(client.database)
    text = "x" * length
    memories = [memory(f"m{n:02}", text) for n in range(14)]
    merge_graph.write(client.database, Graph({one.key: one for one in memories}, {}))
    for n, one in enumerate(memories):
        for other in memories[n + 1 :]:
            merge_graph.flag(client.database, one.key, other.key, NOW)
    for hours in range(20):
        run(client, "merge_duplicates", NOW + timedelta(hours=hours))
    rows = client.database.run(
        "MATCH (m:Curated) RETURN size(coalesce(m.merged_from, [])) AS n ORDER BY n DESC", write=False
    )
    most = client.policy.policy.duplicates.most
    assert rows[0]["n"] == most - 1
    merges = len(merge_graph.merge_audits(client.database))
    size = measured(client)
    each = size.audit_bytes / merges
    lists = weight({name: [f"{name} {n} of m00" for n in range(8)] for name in LISTS})
    assert each <= 2 * most * lists + (len(memories) - 1) * 1_000 + 2_000


@pytest.mark.exhaustive
def test_records_of_merges_go_with_the_tombstones(client: Jochi) -> None:
    size = pairs_merged(client, 2_000)
    for days in (30, 31):
        # Nothing of it expires while there is something to take back.
        assert run(client, "expire_audit", NOW + days * DAY) == 0
    assert measured(client).audit_bytes == size.audit_bytes
    run(client, "purge_tombstones", NOW + 31 * DAY)
    assert run(client, "expire_audit", NOW + 31 * DAY) == PAIRS
    purged = measured(client)
    assert weigh(client, "(n:CurationSnapshot)") == 0
    assert purged.audit_bytes <= PAIRS * 500 < size.audit_bytes / 5
    run(client, "expire_audit", NOW + 62 * DAY)
    assert (measured(client).records, measured(client).audit_bytes) == (0, 0)


@pytest.mark.slow
@pytest.mark.parametrize("times", [1, 20])
def test_a_compression_keeps_what_it_replaced_once(client: Jochi, times: int) -> None:
    """The long content, its vector, the summary; not again when it is compressed again; nothing once it came back."""
    text = "\n".join([TEXT] * times)
    keys = [
        put_long(client, f"m{n}", content=text, content_hash=content_hash(text), token_count=len(text) // 4)
        for n in range(5)
    ]
    before = weigh(client, "(n:Curated)")
    assert compress(client)["done"] == 5
    size = measured(client)
    summaries = sum(
        row["n"] for row in client.database.run("MATCH (m:Curated) RETURN size(m.content) AS n", write=False)
    )
    assert size.audit_bytes == weigh(client, "(n:CurationAudit|CurationSnapshot)")
    assert before - 5 * 400 <= size.audit_bytes <= before + summaries + 5 * 1_000
    # The app writes it again and it is compressed again: the first copies go.
    client.database.run(
        "MATCH (m:Curated) SET m.content = $text, m.content_hash = $hash, m.token_count = $n, m.compression_level = 'full', "
        "m.embedding = $vector",
        {"text": text, "hash": content_hash(text), "n": len(text) // 4, "vector": [0.5] * 384},
    )
    assert compress(client, now=NOW + timedelta(minutes=10))["done"] == 5
    twice = measured(client)
    assert (twice.records, twice.audit_bytes <= size.audit_bytes + 5 * 1_000) == (10, True)
    # The last ones stay as long as the memory does: nobody else has the long content …
    run(client, "expire_audit", NOW + 400 * DAY)
    assert (measured(client).records, measured(client).audit_bytes >= before - 5 * 400) == (5, True)
    # … and goes as soon as it came back.
    assert len(client.decompress(keys, now=NOW + DAY)) == 5
    assert weigh(client, "(n:CurationSnapshot)") == 0
    run(client, "expire_audit", NOW + 400 * DAY)
    assert measured(client).records == 0
