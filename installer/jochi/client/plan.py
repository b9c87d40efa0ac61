"""Verbs that plan what curation would do, decide of near duplicates, and say go."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from jochi import clock
from jochi.client.base import on_engine
from jochi.client.look import LookVerbs
from jochi.curate import saved_plans
from jochi.curate.budgets import plan_budgets
from jochi.curate.duplicates import (
    Decided,
    Decision,
    DuplicateCounts,
    PairToDecide,
    count_due_merges,
    count_pairs,
    decide_pairs,
    list_pairs,
)
from jochi.curate.plan import Applied, Plan, due, orphans
from jochi.curate.saved_plans import Excluded, PlanApplied, SavedPlan
from jochi.errors import Refused
from jochi.operate.approvals import Approval, approve_run
from jochi.users import operating_system_user


class PlanVerbs(LookVerbs):
    def plan(self, at: datetime | None = None) -> Plan:
        """What would be pruned at ``at`` (default: now), by rule and kind, with samples; edges and merges that are due.
        Writes nothing.

        Memories that hang on nothing are found by their keys, page by page: that reads every memory once.
        """
        when = self._at(at, "plan")
        state = self.engine.state()
        sha256 = str(self._installed(state.pump)["policy_sha256"])
        samples = int((state.policy_data or {}).get("plan_samples", 0))
        edges = {found.type: found.due for found in self.edges(when, samples=0).types if found.due}
        merges = count_due_merges(self.engine, when)
        return Plan.of(when, sha256, due(self.engine, when), orphans(self.engine, when), merges, edges, samples)

    def save_plan(self, plan: Plan | None = None) -> SavedPlan:
        """Keeps a plan (default: that of now) with every memory it names, until it expires (policy, `limits.plan_keep`).

        Reads every memory once, in pages of 2,000, each a transaction that writes two nodes at most.
        """
        return saved_plans.save(self.engine, plan or self.plan(), by=operating_system_user())

    plans = on_engine(saved_plans.plans)

    show_plan = on_engine(saved_plans.show)

    plan_entries = on_engine(saved_plans.memories)

    plan_budgets = on_engine(plan_budgets)

    def apply(self, plan: Plan | None = None) -> Applied:
        """Says go: destructive jobs run from now on, and the breaker lets through what the plan counted."""
        agreed = plan or self.plan()
        parameters = {
            "now": clock.now(),
            "pump": self.engine.pump,
            "policy_sha256": agreed.policy_sha256,
            "plan": f"plan-{uuid.uuid4()}",
            "at": agreed.at,
            "quotas": [quota.__dict__ for quota in agreed.quotas],
            "by": operating_system_user(),
        }
        row = self.engine.call("curate/apply", parameters)
        if not row["applied"]:
            raise Refused(row["reason"], where=f"database {self.database.name}", fix="look at `jochi plan` again")
        return Applied(agreed.prunes, agreed.at)

    def exclude(self, plan: str, keys: Sequence[str], *, now: datetime | None = None) -> list[Excluded]:
        """Leaves memories (`scope/id`) out of a saved plan, and holds them for 30 days (policy, `rails.hold`) against the jobs.

        Raises `UsageError` where there is no such plan, `Refused` once it is being applied.
        """
        when = self._at(now, "exclude", "now")
        policy = str(self._installed(self.engine.state().pump)["policy"])
        return saved_plans.exclude(self.engine, plan, keys, now=when, policy=policy)

    def apply_plan(
        self, plan: str, *, now: datetime | None = None, on_page: Callable[[int], None] | None = None
    ) -> PlanApplied:
        """Does what a saved plan names, and nothing else: the go for these memories only (`apply` is the go for the policy).

        Each is locked and judged again at ``now`` (default: now), by the same rules and rails; what isn't due any more by the
        same rule stays, and `planned(…, drifted=True)` says why. 500 memories a transaction; one that was cut off goes on when it
        is called again. `Refused` where it was applied, has expired, or was made under another policy.
        """
        who = operating_system_user()
        return saved_plans.apply(self.engine, plan, now=self._at(now, "apply_plan", "now"), by=who, on_page=on_page)

    def approve(self) -> str | None:
        """Opens the gap guard; returns what it said, or None if it was open."""
        who = {"now": self._server_now(), "pump": self.engine.pump, "by": operating_system_user()}
        was: str | None = self.engine.call("curate/approve", {**who, "run": None, "lifts": []})["was"]
        return was

    def approve_run(self, run: str, *, now: datetime | None = None) -> Approval:
        """Lets the job of a run go on that the circuit breaker stopped.

        The breaker lets through, of the kinds and scopes that stopped it, as many memories as are due at ``now`` (default: now).

        On record with who and when. `UsageError` for a run that is unknown, wasn't stopped or was approved already.
        """
        return approve_run(self.engine, run, now=self._now(now, "approve_run"), by=operating_system_user())

    duplicates = on_engine(list_pairs)

    def count_duplicates(self, *, scope: str | None = None, kind: str | None = None) -> DuplicateCounts:
        """How many such pairs there are, by where they stand and why. Reads every flag."""
        return count_pairs(self.engine, self._server_now(), scope=scope, kind=kind)

    def decide_duplicates(
        self, pairs: Iterable[PairToDecide | Sequence[str]], decision: Decision, *, by: str | None = None
    ) -> list[Decided]:
        """Says of near duplicates that they may merge ('approved') or never do ('rejected'), whatever was judged.

        ``pairs``: two keys each, or `PairToDecide`, which has the hashes that were seen; results come in their order.
        Remembered for as long as both contents stay what they are. `UsageError` for what is no pair.
        """
        return decide_pairs(self.engine, pairs, decision, now=self._server_now(), by=by or operating_system_user())
