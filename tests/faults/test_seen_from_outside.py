"""What whoever runs Jochi sees of it: a real Prometheus scrapes a real week, and what breaks is in metrics, alerts and inbox.

Prometheus looks every five seconds, and the rules' `for`, ranges and offsets are twenty times shorter; their thresholds are the
shipped ones. A week passes because the engine is told what time it is; what has to be old is dated back in the graph.
"""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families
from tests.conftest import say_go
from tests.faults.support import within, write_policy
from tests.prometheus import ALERTS, OPS, Prometheus, prometheus, promtool, quicker

from jochi import Jochi
from jochi.jobs.arming import take_off_list
from jochi.localserver import LocalServer, ports

pytestmark = [pytest.mark.server, pytest.mark.timeout(1200)]

MARKER = "Zanzibarquux"
"""Said by somebody, in each memory of the week."""
SCOPE = "secretive-tenant"
QUICKER = 20
SEEN = 120
"""Seconds until an alert comes or goes: what waits for a person is counted once a minute."""

EMPTY = {
    "Jobs that wait",
    "Held by rails",
    "Failures in a row",
    "Jobs that are off",
    "Inbox by kind",
    "Work put aside",
    "Work done",
    "Line in apoc.conf",
    "Work that waits",
    "Tokens of models",
    "Cost of models",
    "Scopes above a budget",
    "Alerts",
    "Oldest due",
    "Changed by job",
}
"""Panels that have nothing to show where all is well, nothing is due, no model is asked, tokens are estimated (such work is not
done) and the server never started anew; and what grew before the first scrape is no increase."""


@dataclass
class Program:
    """A command of Jochi's that goes on until it is stopped; ``said`` is what it writes."""

    process: subprocess.Popen[str]
    said: list[str] = field(default_factory=list)

    def follow(self) -> Program:
        """Reads what it writes. A pipe, because a full disk doesn't end what goes through it."""

        def read() -> None:
            assert self.process.stdout is not None
            self.said.extend(self.process.stdout)

        self.reader = threading.Thread(target=read, daemon=True)
        self.reader.start()
        return self

    def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        """Sends a signal and waits; nothing where it has ended."""
        self.process.send_signal(how)
        self.process.wait(60)
        self.reader.join(60)
        assert self.process.stdout is not None
        self.process.stdout.close()


@dataclass
class Watched:
    """A database with its worker, its metrics and a Prometheus. ``read`` is all that was scraped by the test itself."""

    client: Jochi
    local: LocalServer
    environment: Mapping[str, str]
    folder: Path
    serve: int
    metrics_of_worker: int
    prometheus: Prometheus
    programs: list[Program] = field(default_factory=list)
    """The metrics, and each worker that was started; the last is the one that lives."""
    read: list[str] = field(default_factory=list)

    def run(self, *words: str, codes: tuple[int, ...] = (0,)) -> str:
        """What a command prints."""
        done = subprocess.run(
            [*JOCHI, *words], env=self.environment, capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode in codes, done.stdout + done.stderr
        return done.stdout

    def start(self, *words: str) -> Program:
        """A command that goes on."""
        process = subprocess.Popen(
            [*JOCHI, *words],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.programs.append(Program(process).follow())
        return self.programs[-1]

    def start_worker(self) -> Program:
        """With a `MEMORY.md` that it looks at each second."""
        table = self.folder / "contexts.toml"
        file = self.folder / "MEMORY.md"
        table.write_text(f'[[files]]\nscope = "{SCOPE}"\nfile = "{file}"\nevery = "1s"\n', encoding="utf-8")
        port = str(self.metrics_of_worker)
        return self.start("worker", "--metrics", port, "--contexts", str(table), "--interval", "0.5")

    def get(self, path: str = "metrics", port: int | None = None) -> tuple[int, str]:
        """What one of the two addresses answers now."""
        address = f"http://127.0.0.1:{port or self.serve}/{path}"
        try:
            with urllib.request.urlopen(address, timeout=60) as answer:
                said = answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                said = error.code, error.read().decode()
        except OSError as error:
            return 0, str(error)
        self.read.append(said[1])
        return said

    def value(self, metric: str, /, **labels: str) -> float | None:
        """Of a metric, as a scrape sees it at this moment. None: it isn't there."""
        code, text = self.get()
        assert code == 200, text
        for sample in samples(text):
            if sample.name == metric and labels.items() <= sample.labels.items():
                return sample.value
        return None

    def expect(self, look: Callable[[], object], wanted: object, what: str) -> None:
        """Of something that has changed already: the first read of the database that begins after it says so, however long.

        That is at the latest the second one from now on; each is known by how long it took.
        """
        took = [self.value("jochi_scrape_duration_seconds")]

        def said() -> bool:
            seconds = self.value("jochi_scrape_duration_seconds")
            if seconds != took[-1]:
                took.append(seconds)
            return len(took) > 2 or look() == wanted

        within(SEEN, said, f"{what}: two reads of the database")
        assert (found := look()) == wanted, f"{what} is {found} after {len(took) - 1} reads"

    def inbox(self) -> set[str]:
        """The kinds of what waits for a person, as `jochi inbox --json` says."""
        found = json.loads(self.run("inbox", "--json", codes=(0, 3, 5)))
        assert {item["kind"] for item in found["items"]} == {kind for kind, n in found["counts"].items() if n}
        assert all(item["commands"] for item in found["items"])
        return {item["kind"] for item in found["items"]}

    def pump(self, **values: object) -> None:
        """Sets properties of the pump."""
        self.client.database.run("MATCH (p:JochiPump {enabled: true}) SET p += $values", {"values": values})


JOCHI = [sys.executable, "-c", "import sys; sys.argv[0] = 'jochi'; from jochi.cli import main; main()"]


def samples(text: str) -> Iterator[Any]:
    """Of what an address answers."""
    return (sample for family in text_string_to_metric_families(text) for sample in family.samples)


def config(watched: Mapping[str, int], rules: Path) -> str:
    """The shipped example with addresses and pace of its own."""
    made = yaml.safe_load((OPS / "prometheus/prometheus.yml").read_text(encoding="utf-8"))
    made["global"] = {"scrape_interval": "5s", "scrape_timeout": "5s", "evaluation_interval": "1s"}
    made["rule_files"] = [str(rules)]
    for job in made["scrape_configs"]:
        job["static_configs"][0]["targets"] = [f"127.0.0.1:{watched[job['job_name']]}"]
    return yaml.safe_dump(made)


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    folder = tmp_path_factory.mktemp("watched")
    local = LocalServer("watched", home=folder / "home")
    running = local.start()
    password = folder / "password"
    password.write_text(running.password.get_secret_value(), encoding="utf-8")
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("JOCHI_")},
        **{"JOCHI_URI": running.uri, "JOCHI_USER": "neo4j", "JOCHI_PASSWORD_FILE": str(password), "COLUMNS": "200"},
        "PYTHONUNBUFFERED": "1",
    }
    rules = folder / "alerts.yml"
    rules.write_text(quicker(ALERTS.read_text(encoding="utf-8"), QUICKER), encoding="utf-8")
    addresses = {"jochi": ports.any_free(), "jochi-worker": ports.any_free()}
    with ExitStack() as stack:
        stack.callback(local.reset)
        driver = stack.enter_context(running.driver())
        client = Jochi(driver, policy=write_policy(folder, "[embedding]\nenabled = false\n"))
        client.install(arm=False)
        made = stack.enter_context(prometheus(folder, config(addresses, rules)))
        scene = Watched(client, local, environment, folder, addresses["jochi"], addresses["jochi-worker"], made)
        stack.callback(lambda: [program.end() for program in scene.programs if program.process.poll() is None])
        scene.start("metrics", "--serve", f"127.0.0.1:{scene.serve}")
        scene.start_worker()
        within(60, lambda: scene.get()[0] == 200, "the address of the metrics")
        within(60, lambda: scene.get(port=scene.metrics_of_worker)[0] == 200, "the address of the worker's metrics")
        yield scene


def remember(watched: Watched, n: int, at: datetime, *, kind: str = "Notification", **properties: object) -> None:
    rows = [
        {
            "kind": kind,
            "id": f"{kind}-{at:%d%H%M%S%f}-{i}",
            "scope": SCOPE,
            "content": f"{MARKER} said that number {i} of {at:%A %H:%M:%S} will do",
            "properties": properties,
        }
        for i in range(n)
    ]
    done = watched.client.remember(rows, now=at)
    assert {each.outcome for each in done.results} == {"written"}, done


def let_a_week_pass(watched: Watched) -> None:
    """Each day brings messages that were read; what is older than their time to live goes. The last of these days is today."""
    today = datetime.now(timezone.utc)
    for days in range(16, -1, -1):
        at = today - timedelta(days=days)
        if days > 7:
            remember(watched, 3, at, read=True, priority="low")
        else:
            watched.client.run("curate_due", now=at, drain=True)
    remember(watched, 2, today, kind="Fact", category="preference")
    watched.client.run("hygiene", now=today, drain=True)
    # As an app writes that counts no tokens: work for a worker.
    watched.client.database.run(
        "UNWIND range(1, 5) AS i CREATE (:Curated:MemoryEntry {key: $scope + '/m' + i, scope: $scope, id: 'm' + i, "
        "content: $said + ' ' + i, created_at: $now, token_count: 2, token_counter: 'estimate:chars/4', prepare_due: $now})",
        {"scope": SCOPE, "said": MARKER, "now": today},
    )
    watched.pump(armed=True, last_tick=datetime.now(timezone.utc))
    watched.run("jobs", "arm")


def test_the_files_are_what_the_tools_want() -> None:
    for words in (("check", "rules", ALERTS), ("check", "config", OPS / "prometheus/prometheus.yml")):
        done = promtool(*words)
        assert done.returncode == 0, done.stdout + done.stderr
    done = promtool("test", "rules", OPS / "prometheus/alerts_test.yml")
    assert done.returncode == 0, done.stdout + done.stderr


def test_who_waits_for_a_go_for_a_day_is_told(watched: Watched) -> None:
    """Since an install it is in the metrics and in the inbox; after a day it is an alert. The week begins when somebody says go."""
    assert watched.value("jochi_waiting_for_go") == 1
    assert "go" in watched.inbox()
    assert "JochiJobWaitsForGo" not in watched.prometheus.firing()
    watched.pump(waits_since=datetime.now(timezone.utc) - timedelta(days=2))
    within(30, lambda: "JochiJobWaitsForGo" in watched.prometheus.firing(), "JochiJobWaitsForGo")
    say_go(watched.client)
    watched.expect(lambda: watched.value("jochi_waiting_for_go"), 0, "jochi_waiting_for_go")
    within(30, lambda: "JochiJobWaitsForGo" not in watched.prometheus.firing(), "JochiJobWaitsForGo is over")
    assert "go" not in watched.inbox()
    let_a_week_pass(watched)


def test_after_a_week_all_is_well_and_each_panel_is_answered(watched: Watched) -> None:
    code, text = watched.get()
    checked = promtool("check", "metrics", given=text)
    assert (code, checked.returncode, checked.stdout + checked.stderr) == (200, 0, "")
    assert watched.get("healthz")[0] == 200
    within(30, lambda: watched.get("readyz")[0] == 200, "a tick")
    within(30, lambda: not watched.prometheus.firing(), "nothing fires")
    within(30, lambda: watched.inbox() == set(), "an empty inbox")
    assert watched.value("jochi_memories_pruned_total", rule="notification.read", kind="Notification") == 27
    within(30, lambda: watched.prometheus.samples("jochi_worker_items_total"), "the worker's own metrics")

    panels = json.loads((OPS / "grafana/jochi.json").read_text(encoding="utf-8"))["panels"]
    asked = {
        (panel["title"], target["expr"])
        for panel in panels
        for target in panel.get("targets", [])
        if panel["title"] not in EMPTY
    }

    def shown() -> bool:
        """Whether each has had something to show: a scrape that comes too late on a busy machine leaves a gap in all of them."""
        asked.difference_update({one for one in asked if watched.prometheus.samples(_as_grafana_asks(one[1]))})
        return not asked

    for panel in panels:
        for target in panel.get("targets", []):
            watched.prometheus.samples(_as_grafana_asks(target["expr"]))
    for rule in (
        rule for group in yaml.safe_load(ALERTS.read_text(encoding="utf-8"))["groups"] for rule in group["rules"]
    ):
        watched.prometheus.samples(rule["expr"])
    try:
        within(30, shown, "something to show in each panel")
    except AssertionError as error:
        raise AssertionError(f"nothing to show in {sorted(asked)}") from error


def test_the_gap_guard(watched: Watched) -> None:
    own = watched.client.database.run("MATCH (p:JochiPump {enabled: true}) RETURN p.server_id AS id")[0]["id"]

    def copy_the_store() -> None:
        watched.pump(server_id="another server")
        guard = "MATCH (p:JochiPump {enabled: true}) RETURN p.guard AS guard"
        within(30, lambda: watched.client.database.run(guard)[0]["guard"], "a tick that notices")

    with broken(
        watched, "JochiGuardClosed", "guard", copy_the_store, lambda: watched.value("jochi_guard_closed"), 1, 0
    ):
        watched.run("approve")
    assert watched.client.database.run("MATCH (p:JochiPump {enabled: true}) RETURN p.server_id AS id")[0]["id"] == own


def test_a_full_disk(watched: Watched) -> None:
    worker = watched.programs[-1].process
    file = watched.folder / "MEMORY.md"
    within(30, lambda: file.exists(), "the worker's file")
    _, most = resource.prlimit(worker.pid, resource.RLIMIT_FSIZE)

    def errors() -> float:
        text = watched.get(port=watched.metrics_of_worker)[1]
        return sum(one.value for one in samples(text) if one.name == "jochi_worker_disk_errors_total")

    before = file.read_text(encoding="utf-8")

    def fill_the_disk() -> None:
        resource.prlimit(worker.pid, resource.RLIMIT_FSIZE, (0, most))
        remember(watched, 1, datetime.now(timezone.utc), kind="Fact", category="preference")
        within(30, errors, "an error")

    with broken(watched, "JochiWorkerCannotWrite", "worker", fill_the_disk, lambda: errors() > 0, True, None):
        assert file.read_text(encoding="utf-8") == before
        resource.prlimit(worker.pid, resource.RLIMIT_FSIZE, (most, most))
        within(30, lambda: file.read_text(encoding="utf-8") != before, "the file")


def test_a_killed_worker(watched: Watched) -> None:
    def kill() -> None:
        watched.programs[-1].end(signal.SIGKILL)
        back = {"back": timedelta(minutes=10)}
        watched.client.database.run("MATCH (w:JochiWorker) SET w.seen_at = w.seen_at - $back", back)

    def old() -> bool:
        seen = watched.value("jochi_worker_last_seen_timestamp_seconds")
        return seen is not None and datetime.now(timezone.utc).timestamp() - seen > 300

    with broken(watched, "JochiWorkerGone", "worker", kill, old, True, False):
        within(30, lambda: "JochiWorkerDown" in watched.prometheus.firing(), "JochiWorkerDown")
        watched.start_worker()
        within(60, lambda: watched.get(port=watched.metrics_of_worker)[0] == 200, "the new worker")
        lives = "MATCH (w:JochiWorker) RETURN max(w.seen_at) > datetime.realtime() - duration('PT5M') AS lives"
        within(30, lambda: watched.client.database.run(lives)[0]["lives"], "its first sign of life")
    within(SEEN, lambda: not watched.prometheus.firing(), "nothing fires")


def test_cancelled_repeat_jobs(watched: Watched) -> None:
    watched.programs[-1].end()  # it would arm them again

    def armed() -> float:
        return sum(watched.value("jochi_repeat_job_armed", name=name) or 0 for name in ("pump", "watch"))

    def cancel() -> None:
        def gone() -> bool:
            take_off_list(watched.client.engine)
            return not watched.client.armed()

        within(30, gone, "a list without them, which a tick in flight may write once more")

    with broken(watched, "JochiRepeatJobMissing", "pump", cancel, armed, 0, 2):
        watched.run("jobs", "arm")


def test_nothing_secret_and_nothing_said_is_written(watched: Watched) -> None:
    """In all that was scraped and logged so far, by whichever of these tests ran."""
    series = json.dumps(watched.prometheus.ask("series", **{"match[]": '{__name__=~".+"}'}))
    logs = ["".join(program.said) for program in watched.programs]
    kept = [(watched.folder / "prometheus.log").read_text(encoding="utf-8"), series, *logs, *watched.read]
    password = (watched.folder / "password").read_text(encoding="utf-8")
    assert any("jochi_up" in text for text in kept)
    for secret in (MARKER, SCOPE, password):
        assert [text[:200] for text in kept if secret in text] == []


def test_a_database_that_is_away(watched: Watched) -> None:
    watched.local.kill()
    watched.expect(lambda: watched.value("jochi_up"), 0, "jochi_up")
    code, why = watched.get("readyz")
    assert (code, len(why.splitlines())) == (503, 1)
    assert watched.get("healthz")[0] == 200
    within(30, lambda: "JochiDown" in watched.prometheus.firing(), "JochiDown")


@contextmanager
def broken(
    watched: Watched,
    alert: str,
    kind: str,
    break_it: Callable[[], object],
    look: Callable[[], object],
    while_broken: object,
    when_mended: object,
) -> Iterator[None]:
    """Breaks something. The next read sees it, `jochi inbox` says it, and the alert fires as soon as its `for` is over. The block
    mends it; then all three are as before. ``when_mended`` None: a counter, which stays."""
    assert alert not in watched.prometheus.firing()
    within(
        30, lambda: kind not in watched.inbox(), f"an inbox without {kind}"
    )  # a busy machine's pump is late at times
    break_it()
    watched.expect(look, while_broken, f"{alert}: its metric")
    assert kind in watched.inbox()
    fired = within(SEEN, lambda: watched.prometheus.firing().get(alert), alert)
    assert all("error" not in text and "<no value>" not in text for text in fired.values()), fired
    yield
    if when_mended is not None:
        watched.expect(look, when_mended, f"{alert}: its metric, mended")
    within(SEEN, lambda: alert not in watched.prometheus.firing(), f"{alert} is over")
    within(30, lambda: kind not in watched.inbox(), f"an inbox without {kind}")


def _as_grafana_asks(expression: str) -> str:
    put = {"$database": ".*", "$instance": ".*", "$__rate_interval": "1m", "$__range": "1h"}
    return re.sub(r"\$\w+", lambda found: put[found[0]], expression)
