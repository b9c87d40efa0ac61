"""Jochi itself, as a user has it: turns are observed, a worker learns, questions are recalled, MEMORY.md is read.

Each conversation has a scope of its own, and its moments are the clock: sessions are flushed where they end, the jobs and the
worker run then, and the questions are asked two days after the last turn.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import neo4j
from tests.agent_set.conversation import Conversation
from tests.agent_set.conversation import Turn as Said
from tests.agent_set.score import HITS, Remembered
from tests.conftest import make_tokens, say_go, start_anew
from tests.exit_criteria.observing import InTheirTime
from tests.own_server import own_server

from jochi import Jochi, Turn, clock
from jochi.cli.worker import making
from jochi.context import as_prompt
from jochi.graph.driver_values import to_python
from jochi.policy import LoadedPolicy, load_policy
from jochi.text.tokens import best_counter
from jochi_workers.embeddings import Provider, embed_question
from jochi_workers.embeddings.handler import EmbedHandler
from jochi_workers.handler import Handler
from jochi_workers.judge import JudgeHandler
from jochi_workers.prepare import PrepareHandler
from jochi_workers.resolve import ResolveHandler
from jochi_workers.worker import Stop

MODELS: dict[str, list[str]] = {
    "minilm": [],
    "e5": ['[embedding]\nmodel = "multilingual-e5-small-q4-passage"', "[duplicates]\nflag = 0.94\nmerge = 0.97"],
}
"""By provider what the policy needs for it (docs/how-to/embeddings.md)."""
JOBS = (
    *(
        "flush_buffers",
        "settle_slots",
        "find_duplicates",
        "merge_duplicates",
        "consolidate_scopes",
        "consolidate_profiles",
    ),
    "curate_due",
)
"""What the database does by itself, in this order, besides what a worker does: after each session, and before it is asked."""
LAG = timedelta(minutes=5)
"""So long after the end of a session the worker looks."""
LATER = timedelta(days=2)
"""So long after the last turn the questions are asked."""
_QUESTIONS = -1
"""Stands for a session where the questions are asked."""
_FACTS = (
    "MATCH (f:Curated:Fact) WHERE f.key STARTS WITH $prefix "
    "RETURN f.content AS content, f.state AS state, f.status AS status ORDER BY f.created_at, f.key"
)


def policy_of(provider: str) -> LoadedPolicy:
    """The shipped policy with the model of ``provider``."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "policy.toml"
        file.write_text(
            "\n".join(['[policy]\nname = "agent set"\nextends = "default"', *MODELS[provider]]), encoding="utf-8"
        )
        return load_policy(file)


@contextmanager
def installed(policy: LoadedPolicy) -> Iterator[Jochi]:
    """Jochi on the server of JOCHI_TEST_URI, whose memories are wiped; else on a local one that is gone afterwards."""
    uri = os.environ.get("JOCHI_TEST_URI")
    if uri is None:
        with own_server("agent-set", policy=policy) as client:
            say_go(client)
            yield client
        return
    auth = (os.environ.get("JOCHI_TEST_USER", "neo4j"), os.environ.get("JOCHI_TEST_PASSWORD", ""))
    with neo4j.GraphDatabase.driver(uri, auth=auth, notifications_min_severity="OFF") as driver:
        client = Jochi(driver, policy=policy)
        # First, for an install waits for the runs of whoever was stopped in the midst of one.
        jobs = client.database.run("MATCH (j:JochiJob) RETURN properties(j) AS job", write=False)
        start_anew(client.database, [row["job"] for row in jobs])
        client.install(arm=False)
        make_tokens(client.database, policy)
        say_go(client)
        yield client


class Product:
    """Learns conversations and answers questions about them; ``provider`` is that of the policy that is installed."""

    def __init__(self, client: Jochi, provider: Provider) -> None:
        self.client = client
        self.provider = provider
        policy = client.policy.policy
        handlers: list[Handler] = [PrepareHandler(), JudgeHandler(), EmbedHandler(provider, policy.embedding)]
        if policy.resolved_labels():
            handlers.append(ResolveHandler())
        self.worker = InTheirTime(client.engine, [*handlers, *making(client, Stop(), "extractive", {})])

    def remembered(self, conversations: Sequence[Conversation]) -> list[Remembered]:
        """Tells it the conversations and asks it their questions, all in the order of time: its clock never goes back."""
        when: list[tuple[datetime, int, int]] = []
        for n, conversation in enumerate(conversations):
            when += [(session[-1].at, n, m) for m, session in enumerate(conversation.sessions)]
            when.append((conversation.turns[-1].at + LATER, n, _QUESTIONS))
        found: dict[int, Remembered] = {}
        for at, n, m in sorted(when):
            conversation = conversations[n]
            if m == _QUESTIONS:
                found[n] = self.asked(conversation, at)
                continue
            scope, name = scope_of(conversation), f"session-{m + 1}"
            self.learn([Turn(said.text, name, scope, speaker_of(said), said.at) for said in conversation.sessions[m]])
        return [found[n] for n in range(len(conversations))]

    def learn(self, session: Sequence[Turn]) -> None:
        """Hands the turns of one session over as they are said, flushes it, and works off what is due then."""
        now = session[-1].at or clock.now()
        for turn in session:
            now = turn.at or now
            self.client.observe(turn, now=now)
        self.client.flush(session[-1].session, scope=session[-1].scope, now=now)
        self.work(now + LAG)

    def work(self, now: datetime) -> None:
        """The jobs and the worker, until neither has more to do."""
        self.worker.at = now
        for job in JOBS:
            for run in self.client.run(job, drain=True, now=now):
                assert run.status == "ok", run
            self.worker.run(once=True)
        for queue, progress in self.worker.progress.items():
            assert not progress.failed, (queue, progress.reasons)

    def asked(self, conversation: Conversation, at: datetime) -> Remembered:
        """What it hands over, holds, holds no longer, and writes into MEMORY.md at ``at``."""
        scope = scope_of(conversation)
        self.work(at)
        asks = [question.ask for question in conversation.questions]
        found = [
            self.client.recall(ask, vector=embed_question(self.provider, ask), scope=scope, k=HITS) for ask in asks
        ]
        facts = self.facts(scope)
        manifest = self.client.context(scope, at=at)
        prompt = as_prompt(manifest, best_counter().count, include_sensitive=False)
        return Remembered(
            hits=tuple(tuple(hit.text for hit in hits) for hits in found),
            statements=tuple(text for text, live in facts if live),
            replaced=tuple(text for text, live in facts if not live),
            entries=tuple(line[2:] for line in prompt.text.splitlines() if line.startswith("- ")),
        )

    def facts(self, scope: str) -> list[tuple[str, bool]]:
        """The text of each fact, and whether it holds: pruned ones are gone, and superseded ones don't."""
        rows = [to_python(row) for row in self.client.database.run(_FACTS, {"prefix": f"{scope}/"}, write=False)]
        return [
            (row["content"], "superseded" not in (row["state"], row["status"])) for row in map(dict[str, Any], rows)
        ]


def speaker_of(said: Said) -> str:
    """The name of a person; the assistant is called that."""
    return "assistant" if said.speaker == "assistant" else said.name


def scope_of(conversation: Conversation) -> str:
    """Where its memories lie."""
    return f"agent-{conversation.number}"
