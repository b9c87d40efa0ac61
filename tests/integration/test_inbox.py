"""`jochi inbox` on a real server: each kind of what waits, and that its commands, pasted into a shell, decide it."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import TestServer, say_go
from tests.faults.support import within
from tests.query_plans import operators
from typer.testing import CliRunner, Result

from jochi import Jochi
from jochi.cli.app import app
from jochi.database.database import Database
from jochi.database.server_facts import read_facts
from jochi.database.statements import statement
from jochi.errors import JochiError, Refused, UsageError
from jochi.forgetting import VARIABLE, Request
from jochi.heartbeat import NewTask
from jochi.jobs.results import Switch
from jochi.operate.inbox import KINDS, MOST, STOPPING, Item, inbox, line
from jochi.operate.restart import KEEP_ARMED

pytestmark = pytest.mark.server

ODD = '-it\'s "a" $(b)\n\x1b[2J'
"""An id with all that a shell and a terminal could take for something else."""


@pytest.fixture
def run(server: TestServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Result]:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "forget.key"))
    environment = {"JOCHI_URI": server.uri, "JOCHI_USER": server.user, "JOCHI_PASSWORD": server.password}
    return lambda *words, said="y\n": CliRunner().invoke(app, list(words), env=environment, input=said)


def put(jochi: Jochi, statement: str, **given: Any) -> None:
    jochi.database.run(statement, given)


TWO = """
UNWIND $ids AS id
CREATE (m:Curated:Fact {key: 'ann/' + id, scope: 'ann', id: id, content: 'says ' + id, content_hash: 'v2:' + id, created_at: $now,
  next_due: $now + duration('P9D'), tier: 'HOT', state: 'active'})
WITH collect(m) AS both WITH both[0] AS a, both[1] AS b
"""
FLAG = """
CREATE (a)-[r:SIMILAR_TO {found_at: $now, judged_at: $now, start_hash: a.content_hash, end_hash: b.content_hash}]->(b)
SET r += $flag
"""


def pair(jochi: Jochi, now: datetime, ids: tuple[str, str], **flag: Any) -> None:
    """Two facts with a flag between them; without one the second may replace the first."""
    between = FLAG if flag else "CREATE (b)-[:MAY_REPLACE]->(a)"
    put(jochi, TWO + between, ids=list(ids), now=now, flag=flag)


ENGINE = """
MATCH (p:JochiPump {name: $pump})
SET p.guard = 'the clock went back', p.guard_at = $now
WITH p
MATCH (stopped:JochiJob {name: 'curate_due'}), (failing:JochiJob {name: 'requeue'}), (walker:JochiJob {name: 'hygiene'})
SET stopped.stopped_run = 'curate_due/7', failing.failures = 3, failing.last_finished_at = $old,
  walker.walked_at = $old, walker.found_names = ['found_next_due_wrong', 'repaired_tier'], walker.found_counts = [2, 5],
  walker.found_samples = ['found_next_due_wrong ann/z', 'repaired_tier ann/y']
CREATE (a:JochiJobRun {id: 'curate_due/7', job: 'curate_due', procedure: 'curate/curate_due', status: 'breaker', stopped_at: $old,
  stopped_scopes: ['ann'], stopped_kinds: ['Task'], stopped_windows: ['day'], stopped_counted: [100], stopped_limits: [100],
  stopped_waiting: [3], stopped_hours: 24})
CREATE (b:JochiJobRun {id: 'requeue/put-aside', job: 'requeue', procedure: 'curate/requeue', status: 'partial',
  quarantined: ['ann/c'], error: 'out of luck'})
SET a += $run, b += $run
CREATE (:JochiWorker {id: 'host/1', started_at: $old, seen_at: $old, every_s: 60, derivations: ['prepare']})
CREATE (:JochiBudget {scope: 'ann', at: $old, held: [900, 0, 0], above: [300, -5, 0]})
CREATE (:JochiForgetting {id: 'forget/x/0', run: 'forget/x', at: $old, by: 'ann', keys: ['ann/m']})
"""

ARMED = """
MATCH (p:JochiPump)
SET p.armed = true, p.installed_at = datetime('2020-01-01T00:00:00Z'), p.server_started_at = null, p.pin_refused_at = null,
  p.rearmed_at = null
"""
"""The repeat jobs are to be there and aren't, and the server was restarted since the install."""

WORK = """
MATCH (m:Curated {key: 'ann/c'}) SET m.quarantined_until = $now + duration('PT1H'), m.curation_failures = 2
WITH m
UNWIND ['mail', 'chat'] AS id
CREATE (s:Curated:Source {key: 'ann/' + id, scope: 'ann', id: id, content: 'Hi', created_at: $old,
  next_due: $now + duration('P9D')})
WITH count(*) AS sources
UNWIND [['extract', 'mail', 'no connection'], ['embed', 'a', 'too long'], ['prepare', 'chat', null]] AS w
CREATE (x:JochiWork {id: w[0] + '/ann/' + w[1], derivation: w[0], key: 'ann/' + w[1], scope: 'ann', wanted_at: $old, error: w[2]})
SET x.put_aside_at = CASE WHEN w[2] IS NOT NULL THEN $old END, x.ready = CASE WHEN w[2] IS NULL THEN 0 END
"""


def fill(jochi: Jochi, now: datetime) -> None:
    """Something of each kind waits."""
    day = timedelta(days=1)
    seen = {"read": True, "created_at": now - 90 * day}
    jochi.remember([{"kind": "Notification", "scope": "bob", "id": "n", "content": "disk full", "properties": seen}])
    jochi.save_plan(jochi.plan(now))
    judged = {"verdict": "flag", "guard": "guard 9"}
    pair(jochi, now, ("a", ODD), **judged, reasons=["number"])
    pair(jochi, now, ("c", "d"), **judged, reasons=["time"])
    pair(jochi, now, ("e", "f"), verdict="merge", guard="guard 9", merge_due=now + day, held_by=["pinned", "dense"])
    pair(jochi, now, ("g", "h"), verdict="flag", reasons=["name:alias"])
    pair(jochi, now, ("i", "j"))
    pair(jochi, now, ("k", "l"))
    # Of these nobody is asked.
    pair(jochi, now, ("m", "n"), verdict="flag", reasons=["below_merge_threshold"])
    pair(jochi, now, ("o", "p"), verdict="veto", guard="guard 9", reasons=["number"])
    pair(jochi, now, ("q", "r"), **judged, decision="rejected")
    old = now - 2 * day
    run = {
        "runner": "pump",
        "started_at": old,
        "finished_at": old,
        "selected": 1,
        "changed": 0,
        "batches": 1,
        "failed_batches": 0,
    }
    put(jochi, ENGINE, now=now, old=old, pump=jochi.engine.pump, run=run)
    put(jochi, WORK, now=now, old=old)
    jochi.heartbeat.add(NewTask("t1", "Look at the disk.", "every 1h"), scope="ann")
    put(jochi, "MATCH (t:HeartbeatTask {key: 'ann/t1'}) SET t.error_streak = 4, t.last_error = 'no answer'")
    for switch in (Switch("scope", ODD), Switch("job", "choose_mode"), Switch("all")):
        jochi.pause(switch)


def pasted(text: str) -> list[str]:
    """The words of a line as a shell reads them."""
    read = subprocess.run(["bash", "-c", f"printf '%s\\0' {text}"], capture_output=True, check=True).stdout.decode()
    return read.split("\0")[:-1]


LOOK_ONLY = {"restart", "quarantined", "budget", "worker"}
"""What no command of ours decides at once: a file on the server, time, an application, a worker that goes on."""


def test_all_that_waits_is_in_it(jochi: Jochi, now: datetime, run: Callable[..., Result]) -> None:
    fill(jochi, now)
    put(jochi, ARMED)
    found = inbox(jochi)
    missing = set(KINDS) - {"edit"} - {item.kind for item in found.items}
    assert missing == set()
    assert found.counts == {
        **dict.fromkeys(set(KINDS) - {"edit"}, 1),
        "pause": 3,
        "duplicate": 3,
        "replacement": 2,
        "source": 2,
    }
    assert found.sentence == "25 things wait for you"
    ranks = [
        (item.kind not in STOPPING, item.since is not None, item.since and item.since.timestamp())
        for item in found.items
    ]
    assert ranks == sorted(ranks)
    (first, *_) = (item for item in found.items if item.kind == "names")
    assert (first.key, first.other, first.texts) == ("ann/g", "ann/h", ("says g", "says h"))
    assert first.what == "ann/g and ann/h may be two names of one: name:alias"

    printed = run("inbox", "--limit", "1")
    assert printed.exit_code == 3
    assert "\x1b" not in printed.stdout
    assert "… 2 more of pause: jochi inbox --kind pause --limit 100" in printed.stdout
    assert "25 things wait for you" in printed.stdout
    plain = run("--database", "neo4j", "inbox", "--json", "--kind", "guard")
    assert (plain.exit_code, json.loads(plain.stdout)["items"][0]["commands"][1]) == (
        3,
        {"does": "go on", "line": "jochi --database=neo4j approve"},
    )
    unknown = run("inbox", "--kind", "nonsense").exception
    assert isinstance(unknown, UsageError)
    assert "guard" in str(unknown.fix)


@pytest.mark.slow
def test_its_commands_decide_all_that_waits(jochi: Jochi, now: datetime, run: Callable[..., Result]) -> None:
    fill(jochi, now)
    taken: dict[str, int] = {}
    # While all is paused nothing else can be done.
    for item in sorted(inbox(jochi).items, key=lambda item: item.kind != "pause"):
        decide(item, run, taken)
    # Last of all, as the database does by itself from now on what was decided.
    put(jochi, ARMED)
    for item in inbox(jochi, kinds=["pump", "restart"]).items:
        decide(item, run, taken)
    assert taken.keys() >= set(KINDS) - {"edit"}
    left = inbox(jochi, limit=0).counts
    assert left.keys() == LOOK_ONLY
    put(jochi, "MATCH (p:JochiPump) SET p.server_started_at = datetime.realtime()")
    put(jochi, "MATCH (m:Curated {key: 'ann/c'}) SET m.quarantined_until = $now - duration('PT1S')", now=now)
    put(jochi, "MATCH (b:JochiBudget {scope: 'ann'}) SET b.above = null")
    again = "CREATE (:JochiWorker {id: 'host/2', started_at: $now, seen_at: $now, every_s: 60, derivations: ['prepare', 'judge']})"
    put(jochi, again, now=now)
    over = run("inbox")
    assert (over.exit_code, over.stdout) == (0, "nothing waits for you\n")


def decide(item: Item, run: Callable[..., Result], taken: dict[str, int]) -> None:
    """Looks, and then takes the next of its decisions: of several items of a kind each takes another."""
    look, *decisions = item.commands
    assert look.does == "look"
    if item.kind == "worker":  # it would work for ever
        assert [pasted(each.line) for each in decisions] == [["jochi", "worker"]]
        decisions = []
    chosen = decisions[taken.get(item.kind, 0) % len(decisions)] if decisions else None
    taken[item.kind] = taken.get(item.kind, 0) + 1
    for command in filter(None, (look, chosen)):
        words = pasted(command.line)
        assert words[0] == "jochi"
        if words[1] == "doctor" and "doctor" in taken:
            continue
        taken |= {"doctor": 1} if words[1] == "doctor" else {}
        ended = run(*words[1:])
        # The doctor finds what waits, a forgetting that nothing is left of.
        code = ended.exception.exit_code if isinstance(ended.exception, JochiError) else ended.exit_code
        assert code == 0 or (words[1], code) in {("doctor", 5), ("forget", 3)}, (
            command.line,
            ended.output,
            ended.exception,
        )


MANY = """
UNWIND range(1, $n) AS i
CREATE (a:Curated {key: 's/a' + i, scope: 's', content_hash: 'x'}), (b:Curated {key: 's/b' + i, scope: 's', content_hash: 'x'})
CREATE (a)-[:SIMILAR_TO {found_at: $now, judged_at: $now + duration({seconds: i}), verdict: 'flag', guard: 'guard 9',
  reasons: ['number'], start_hash: 'x', end_hash: 'x'}]->(b)
"""


def test_counts_stop_and_say_so(jochi: Jochi, now: datetime) -> None:
    put(jochi, MANY, n=MOST + 5, now=now)
    found = inbox(jochi, kinds=["duplicate"], limit=2)
    assert (found.counts, found.more, found.sentence) == (
        {"duplicate": MOST},
        {"duplicate"},
        "1,000+ things wait for you",
    )
    assert len(found.items) == 2
    further = inbox(jochi, kinds=["duplicate"], limit=MOST + 100)
    assert (len(further.items), further.counts, further.more) == (MOST + 5, {"duplicate": MOST + 5}, frozenset())
    # No memory is looked for by its label.
    for name in ("report/inbox", "report/inbox_pairs", "report/inbox_work"):
        scans = [
            details
            for operator, details in operators(jochi, jochi.engine.text(name))
            if operator in ("AllNodesScan", "NodeByLabelScan", "NodeIndexScan")
        ]
        assert [each for each in scans if ":Jochi" not in each or ":JochiBudget" in each] == []


def test_it_says_what_the_doctor_says_of_a_server_that_is_another(jochi: Jochi, now: datetime) -> None:
    here, later = read_facts(jochi.database), now + timedelta(hours=1)
    put(jochi, ARMED + "SET p.applied_at = null, p.waits_since = $later", later=later)
    (pump,) = inbox(jochi, kinds=["pump"], facts=replace(here, read_only=True)).items
    assert "this server may not write" in pump.what
    assert [command for command in pump.commands if "arm" in command.line] == [], "it would be refused"
    (restart,) = inbox(jochi, kinds=["restart"], facts=replace(here, aura=True)).items
    assert restart.what == f"the server was restarted and nobody armed the jobs again; {KEEP_ARMED}"
    (go,) = inbox(jochi, kinds=["go"]).items
    assert go.since == later, "a new policy asks anew"


@pytest.mark.parametrize(
    "word", ["plain/key", "-a", "a b", "it's", 'a"b', "$(x)", "a\nb", "\x1b[2J'\\", "é ü", "Ann\u202e"]
)
def test_a_word_comes_through_a_shell_as_it_was(word: str) -> None:
    assert pasted(line(word)) == ["jochi", word]
    assert line(word).isprintable()
    if word.isprintable():
        assert shlex.split(line(word)) == ["jochi", word]


UNSURE = "If Ann moves to Lyon she buys a boat, which nobody likes"
"""Of this it can't be told what is said of Lyon alone."""


def test_a_forgetting_that_asked_waits_until_it_is_answered(jochi: Jochi, run: Callable[..., Result]) -> None:
    """What is kept of it is the key: after the memory was forgotten nothing is."""
    say_go(jochi)
    rows = [
        {"kind": "MemoryEntry", "scope": "s", "id": id, "content": f"{UNSURE} {id}."} for id in ("x", "y", "z", "w")
    ]
    jochi.remember(rows)
    done = jochi.forget(Request(phrase="Lyon", scope="s"))
    assert {target.key for target in done.asked} == {"s/x", "s/y", "s/z", "s/w"}
    kept = jochi.database.run("MATCH (q:JochiQuestion) RETURN collect(properties(q)) AS all")[0]["all"]
    assert "Lyon" not in str(kept)
    waiting = {item.key: item for item in inbox(jochi, kinds=["forgetting"]).items}
    assert waiting.keys() == {"s/x", "s/y", "s/z", "s/w"}
    assert waiting["s/x"].texts == (f"{UNSURE} x.",)
    lines = {
        key: {command.does: pasted(command.line)[1:] for command in item.commands} for key, item in waiting.items()
    }
    assert run(*lines["s/x"]["look"]).exit_code == 0
    assert run(*lines["s/x"]["forget it"]).exit_code == 0
    assert run(*lines["s/y"]["it stays"]).exit_code == 0
    assert isinstance(run(*lines["s/y"]["it stays"]).exception, UsageError)
    # Written anew without that, which is an answer as well.
    jochi.database.run("MATCH (m:Curated {key: 's/z'}) SET m.content = 'Ann likes tea.', m.revision = m.revision + 1")
    assert [item.key for item in inbox(jochi, kinds=["forgetting"]).items] == ["s/w"]
    assert "s/x" not in str(jochi.database.run("MATCH (q:JochiQuestion) RETURN collect(properties(q)) AS all"))
    # Whoever answers no at once isn't asked again.
    jochi.dismiss("forgetting/s/w")
    again = run("forget", "--match", "Lyon", "--scope", "s", said="y\nn\n")
    assert "as a whole, too?" in again.output
    assert inbox(jochi, kinds=["forgetting"]).counts == {}


@pytest.mark.parametrize(("renew_every", "n"), [(0.05, 0), (1e6, 1)])
def test_a_forgetting_that_takes_long_is_told_from_one_that_was_cut_off(
    jochi: Jochi, monkeypatch: pytest.MonkeyPatch, renew_every: float, n: int
) -> None:
    """By whether it is heard of. What never says anything again stands for the latter."""
    say_go(jochi)
    jochi.remember([{"kind": "MemoryEntry", "scope": "s", "id": "x", "content": "Ann lives in Lyon."}])
    monkeypatch.setattr(import_module("jochi.forgetting.forget"), "_RENEW_EVERY", renew_every)
    seen: list[str] = []

    def look(_n: int) -> None:
        jochi.database.run("MATCH (f:JochiForgetting) WHERE f.run IS NOT NULL SET f.at = f.at - duration('PT11M')")
        within(10, lambda: inbox(jochi, kinds=["forgetting"]).size == n, f"{n} in the inbox")
        seen.extend(item.what for item in inbox(jochi, kinds=["forgetting"]).items)

    jochi.forget(Request(keys=("s/x",)), on_page=look)
    assert len(seen) == n
    assert all("was cut off" in what for what in seen)
    assert inbox(jochi, kinds=["forgetting"]).size == 0


def test_edits_that_could_not_be_taken_in_wait_until_they_can(
    jochi: Jochi, now: datetime, run: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jochi.remember(
        [{"kind": "Belief", "scope": "ann", "id": "b", "content": "Tea is best.", "properties": {"confidence": 0.9}}]
    )
    jochi.remember(
        [
            {
                "kind": "Fact",
                "scope": "ann",
                "id": "f",
                "content": "Ann drives a van.",
                "properties": {"category": "preference"},
            }
        ]
    )
    file, folder = tmp_path / "MEMORY.md", tmp_path / "memory of ann"
    jochi.write_context(file, "ann")
    sent: list[str] = []
    send = Database.run
    with monkeypatch.context() as patch:
        patch.setattr(Database, "run", lambda self, text, *a, **how: sent.append(text) or send(self, text, *a, **how))
        jochi.write_context(file, "ann")
        jochi.write_mirror(folder, "ann")
    assert statement("questions/answer") not in sent, "a server that may not write would refuse it"
    assert inbox(jochi, kinds=["edit"]).counts == {}
    whole = file.read_text()
    file.write_text(whole + "<<<<<<< HEAD\n- x\n")
    with pytest.raises(Refused):
        jochi.write_context(file, "ann")
    (page,) = folder.rglob("*.md")
    good = page.read_text()
    page.write_text("Ann drives a bus.\n")
    assert jochi.write_mirror(folder, "ann").left
    context, mirror = inbox(jochi, kinds=["edit"]).items
    assert (context.key, mirror.key) == (str(file), str(folder))
    for item, path, text, code in ((context, file, whole, 0), (mirror, page, good, 5)):
        look, again, stays = (pasted(command.line)[1:] for command in item.commands)
        ended = run(*look)
        assert (ended.exception.exit_code if isinstance(ended.exception, JochiError) else ended.exit_code) == code
        assert isinstance(run(*again).exception, JochiError)
        assert inbox(jochi, kinds=["edit"], limit=0).counts == {"edit": 1 if item is mirror else 2}
        path.write_text(text)
        assert run(*again).exit_code == 0
    assert inbox(jochi, kinds=["edit"]).counts == {}
    assert isinstance(run(*stays).exception, UsageError)
