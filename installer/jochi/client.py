"""`Jochi`: every verb of the engine as a method with a typed result. The command line is thin over it.

>>> from neo4j import GraphDatabase
>>> from jochi import Jochi
>>> with GraphDatabase.driver(uri, auth=(user, password)) as driver:  # doctest: +SKIP
...     print(Jochi(driver).plan().prunes)
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

import neo4j

from jochi import clock
from jochi.database import Database
from jochi.engine import NOT_INSTALLED, Engine
from jochi.errors import Refused, UsageError
from jochi.install import InstallResult, UninstallResult, install, uninstall
from jochi.operate.explain import Explanation
from jochi.operate.plan import Plan
from jochi.operate.results import Applied, JobState, Restored, Status, Switch, TierReport
from jochi.policy import LoadedPolicy, load_policy, stored_policy
from jochi.scheduler.arming import armed_jobs, ensure_jobs
from jochi.scheduler.runner import Run, run_job
from jochi.scheduler.server_clock import ServerClock
from jochi.users import operating_system_user


class Jochi:
    """Memory curation in one database.

    ``policy`` is what install stores and what the database is compared with; without one it is the policy that the database
    has, or on a fresh one the shipped policy. So an upgrade never puts a custom policy back to the default.
    """

    def __init__(self, driver: neo4j.Driver, database: str = "neo4j", *, policy: LoadedPolicy | None = None) -> None:
        self.database = Database(driver, database)
        self.engine = Engine(self.database)
        self._policy = policy

    @property
    def policy(self) -> LoadedPolicy:
        """The policy that was given, else the installed one, else the shipped one."""
        if self._policy is None:
            stored = self.engine.state().policy_text
            self._policy = load_policy() if stored is None else stored_policy(stored)
        return self._policy

    # -- install ---------------------------------------------------------------------------------------------------

    def install(self, *, arm: bool = True, on_progress: Callable[[str], None] | None = None) -> InstallResult:
        """Installs or upgrades the engine. Idempotent; see `jochi.install`. ``arm=False``: jobs are run from outside only."""
        result = install(self.database, self.policy, arm=arm, on_progress=on_progress)
        self.engine.forget()
        return result

    def uninstall(self, *, on_progress: Callable[[str], None] | None = None) -> UninstallResult:
        """Brings tombstones back and leaves no object of Jochi's. Can be stopped and run again."""
        result = uninstall(self.database, on_progress=on_progress)
        self.engine.forget()
        return result

    def ensure_jobs(self) -> list[str]:
        """Arms the pump and the watch where they are missing; returns what was armed."""
        return ensure_jobs(self.engine)

    def armed(self) -> list[str]:
        """Which of the two repeat jobs are on the server's list."""
        return armed_jobs(self.engine)

    # -- look ------------------------------------------------------------------------------------------------------

    def status(self) -> Status:
        """Pump, guard, queue, tombstones, kill switches, the breaker."""
        return Status.from_row(self._read("report/status", now=clock.now(), pump=self.engine.pump))

    def tiers(self) -> TierReport:
        """Memories and tokens by kind and tier. Reads every memory."""
        return TierReport.from_row(self._read("report/tiers"))

    def pruned(self, since: datetime | None = None) -> list[dict[str, Any]]:
        """What was done to memories and why: {action, kind, rule, n}."""
        return list(self._read("report/pruned", since=since)["actions"])

    def plan(self, at: datetime | None = None) -> Plan:
        """What would be pruned at ``at`` (default: now), by rule and kind, with samples. Writes nothing."""
        when = at or clock.now()
        return Plan.from_row(self._read("curate/plan", now=when), when, self._policy_sha256())

    def explain(self, memory: str, *, scope: str = "default", at: datetime | None = None) -> Explanation:
        """Every rule and rail for one memory; ``memory`` is `scope/id`, or an id in ``scope``."""
        key = memory if "/" in memory else f"{scope}/{memory}"
        when = at or clock.now()
        return Explanation.from_row(key, when, self._read("curate/explain", now=when, key=key))

    # -- decide ----------------------------------------------------------------------------------------------------

    def apply(self, plan: Plan | None = None) -> Applied:
        """Says go: destructive jobs run from now on, and the breaker lets through what the plan counted."""
        agreed = plan or self.plan()
        row = self.engine.call(
            "curate/apply",
            {
                "now": clock.now(),
                "pump": self.engine.pump,
                "policy_sha256": agreed.policy_sha256,
                "plan": f"plan-{uuid.uuid4()}",
                "at": agreed.at,
                "quotas": [quota.__dict__ for quota in agreed.quotas],
                "by": operating_system_user(),
            },
        )
        if not row["applied"]:
            raise Refused(row["reason"], where=f"database {self.database.name}", fix="look at `jochi plan` again")
        return Applied(agreed.prunes, agreed.at)

    def approve(self) -> str | None:
        """Opens the gap guard; returns what it said, or None if it was open."""
        row = self.engine.call(
            "curate/approve", {"now": self._server_now(), "pump": self.engine.pump, "by": operating_system_user()}
        )
        was: str | None = row["was"]
        return was

    def restore(self, keys: Sequence[str], *, audit: str | None = None) -> list[Restored]:
        """Brings pruned memories (`scope/id`) back; ``audit`` names one of several tombstones of a key."""
        if not keys:
            raise UsageError("no memory named", fix="give one or more keys such as default/m1")
        row = self.engine.call(
            "memory/restore",
            {"now": clock.now(), "keys": list(keys), "audit": audit, "run": f"restore/{uuid.uuid4()}"},
        )
        return [Restored(entry["key"], entry["outcome"]) for entry in row["results"]]

    # -- jobs ------------------------------------------------------------------------------------------------------

    def jobs(self) -> list[JobState]:
        """Every job: desired state, what it last did, when it starts next, what it waits for."""
        row = self._read("jobs/list", clock=self._server_now(), pump=self.engine.pump)
        return [JobState.from_row(entry) for entry in row["jobs"]]

    def history(self, job: str | None = None, *, limit: int = 20, changed_only: bool = False) -> list[dict[str, Any]]:
        """The last runs, newest first, as the properties of their nodes."""
        return list(self._read("jobs/history", job=job, limit=limit, changed_only=changed_only)["runs"])

    def run(self, job: str, *, drain: bool = False, now: datetime | None = None) -> list[Run]:
        """Runs a job from here: the same texts, leases and rails as in the database."""
        return run_job(self.engine, job, now=now, drain=drain)

    def pause(self, switch: Switch) -> None:
        """Pauses a job, a kind, a scope or everything; a run in progress ends after its batch."""
        row = self.engine.call("jobs/pause", {**self._switch(switch), "by": operating_system_user()})
        if not row["paused"]:
            known = ", ".join(state.name for state in self.jobs())
            raise UsageError(f"there is no job {switch.name!r}", fix=f"there are: {known}")

    def resume(self, switch: Switch) -> bool:
        """Takes a pause back; False if there was none."""
        return bool(self.engine.call("jobs/resume", self._switch(switch))["resumed"])

    # -- inner -----------------------------------------------------------------------------------------------------

    def _switch(self, switch: Switch) -> dict[str, Any]:
        return {"what": switch.what, "name": switch.name, "clock": self._server_now(), "pump": self.engine.pump}

    def _server_now(self) -> datetime:
        return ServerClock(self.database).now()

    def _read(self, name: str, **parameters: Any) -> dict[str, Any]:
        return self.engine.call(name, parameters, write=False)

    def _policy_sha256(self) -> str:
        pump = self.engine.state().pump
        if pump is None:
            raise Refused("jochi is not installed", where=f"database {self.database.name}", fix=NOT_INSTALLED)
        return str(pump["policy_sha256"])
