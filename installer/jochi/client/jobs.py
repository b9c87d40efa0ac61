"""Verbs that look at jobs and their runs, run, pause and pin them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, get_args

from jochi.client.look import LookVerbs
from jochi.database.questions import answer
from jochi.errors import UsageError
from jochi.graph.driver_values import read_as, zoned
from jochi.jobs.results import JobState, Mode, ModeName, Switch
from jochi.jobs.runner import DueJob, Run, no_such_job, run_due, run_job
from jochi.jobs.runs import AuditSize, RunSummary, run_rows
from jochi.operate.inbox import Inbox, inbox
from jochi.users import operating_system_user


class JobVerbs(LookVerbs):
    def jobs(self) -> list[JobState]:
        """Every job: desired state, what it last did, when it starts next, what it waits for."""
        row = self._read("jobs/list", clock=self._server_now(), pump=self.engine.pump)
        return [JobState.from_row(entry) for entry in row["jobs"]]

    def inbox(self, *, limit: int = 20, kinds: Sequence[str] | None = None) -> Inbox:
        """All that waits for a person, each with the commands that decide it; ``limit`` of each kind (0: only counts), the oldest.

        ``kinds``: only these. `UsageError` for a kind that there is none of. Writes nothing.
        """
        return inbox(self, limit=limit, kinds=kinds)

    def dismiss(self, *ids: str) -> int:
        """Takes questions out of the inbox whose answer is that all stays as it is; how many there were. An item's last command
        has its id."""
        return answer(self.database, ids)

    def history(self, job: str | None = None, *, limit: int = 20, changed_only: bool = False) -> list[dict[str, Any]]:
        """The last runs, newest first, as the properties of their nodes; `UsageError` where there is no such job."""
        runs = [row["run"] for row in run_rows(self.engine, job=job, limit=limit, changed_only=changed_only)]
        # A job that another policy took away may still have runs.
        if job is not None and not runs and job not in (jobs := sorted(each.name for each in self.jobs())):
            raise no_such_job(job, jobs)
        return runs

    def runs(
        self, run: str | None = None, *, limit: int = 20, samples: int = 5, changed_only: bool = False
    ) -> list[RunSummary]:
        """What runs of curation and undos did, newest first; with ``run`` that one, and what it did by action and rule.

        ``changed_only``: without those that found nothing to do.
        """
        asked = {"run": run, "summaries": True, "changed_only": changed_only, "limit": limit, "samples": samples}
        return [RunSummary.from_row(row) for row in run_rows(self.engine, **asked)]

    def audit_size(self, *, samples: int = 1_000) -> AuditSize:
        """How much is on record against the data, estimated from samples."""
        return read_as(AuditSize, self._read("report/audit", samples=samples, actions=False, since=None))

    def run(self, job: str, *, drain: bool = False, now: datetime | None = None) -> list[Run]:
        """Runs a job from here: the same texts, leases and rails as in the database."""
        if now is not None:
            zoned(now, "now", where="run")
        return run_job(self.engine, job, now=now, drain=drain)

    def run_due(self, *, now: datetime | None = None, on_job: Callable[[DueJob], object] | None = None) -> list[DueJob]:
        """Runs each job that is due once, as the database itself would: for a server without APOC.

        What waits, is paused or fails is said, and the others go on; a job that has more to do is due again at the next call.
        ``now`` (zoned): what is due by then, and what the rules see; default: the time it is. ``on_job`` hears of each in turn.
        """
        if now is not None:
            zoned(now, "now", where="run_due")
        return run_due(self.engine, now=now, on_job=on_job)

    def pause(self, switch: Switch) -> None:
        """Pauses a job, a kind, a scope or everything; a run in progress ends after its batch."""
        row = self.engine.call("jobs/pause", {**self._switch(switch), "by": operating_system_user()})
        if not row["paused"]:
            known = sorted(self.policy.policy.labels()) if switch.what == "kind" else [job.name for job in self.jobs()]
            raise UsageError(f"there is no {switch.what} {switch.name!r}", fix=f"there are: {', '.join(known)}")

    def resume(self, switch: Switch) -> bool:
        """Takes a pause back; False if there was none."""
        return bool(self.engine.call("jobs/resume", self._switch(switch))["resumed"])

    def metrics(self, by_scope: int = 0) -> str:
        """What is to be watched from outside, as OpenMetrics text (docs/reference/metrics.md).

        ``by_scope``: also the memories and tokens of so many of the largest scopes. Raises `ConnectionFailed` where there is
        no answer."""
        from jochi.operate.metrics import openmetrics  # brings Prometheus' client along, which no other verb needs

        return openmetrics(self, by_scope=by_scope)

    def mode(self) -> Mode:
        """How busy the engine is, and why."""
        return Mode.from_pump(self._installed(self.status().pump))

    def pin_mode(self, mode: ModeName | None) -> Mode:
        """Keeps the engine in ``mode`` whatever applications do; None lets it choose again, at the job's next look."""
        parameters = {
            "clock": self._server_now(),
            "pump": self.engine.pump,
            "mode": mode,
            "by": operating_system_user(),
        }
        row = self.engine.call("scheduler/pin_mode", parameters)
        if row["pinned"] is None:
            raise UsageError(f"there is no mode {mode!r}", fix=f"there are: {', '.join(get_args(ModeName))}")
        return self.mode()

    def _switch(self, switch: Switch) -> dict[str, Any]:
        return {"what": switch.what, "name": switch.name, "clock": self._server_now(), "pump": self.engine.pump}
