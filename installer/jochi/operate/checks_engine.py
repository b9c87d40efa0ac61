"""What must hold of the installed engine, each a function over what was read; none of them asks the server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jochi.compile.registry import ProcedureStatus, Status
from jochi.install.preview import job_differences
from jochi.jobs.results import BROKEN_FROM, JobState
from jochi.operate.check import Check, fail, ok, some, unknown, warn
from jochi.policy import LoadedPolicy
from jochi.schema.migrations import Outcome, Validation


def check_installed(pump: Mapping[str, Any] | None, version: str) -> Check:
    """Whether Jochi is installed, and by this version."""
    if pump is None:
        return warn("installed", "jochi is not installed in this database", "run `jochi install`")
    if pump["version"] != version:
        return warn("installed", f"installed by jochi {pump['version']}; this is {version}", "run `jochi install`")
    return ok("installed", f"jochi {version}, policy {pump['policy']}")


def check_policy(policy: LoadedPolicy) -> Check:
    """Whether all that the stored policy says is read, and what it lacks that this version has."""
    lacks = f"; {some(list(policy.added))} as in the shipped policy" if policy.added else ""
    if policy.dropped:
        fix = "run `jochi install`; what your own policy file says of it, take out"
        return warn("policy", f"ignored: {'; '.join(policy.dropped)}{lacks}", fix)
    return ok("policy", f"{policy.label}{lacks}")


def check_migrations(found: Validation) -> Check:
    """Valid, in the words of `jochi engine migrations validate`."""
    if found.outcome is Outcome.VALID:
        if found.warnings:
            return warn("migrations", "; ".join(found.warnings), "see docs/reference/migrations.md")
        return ok("migrations", "VALID")
    fix = (
        "run `jochi engine migrations apply`"
        if found.outcome is Outcome.INCOMPLETE_DATABASE
        else "see `jochi engine migrations ls` and docs/reference/migrations.md, Outcomes"
    )
    return fail("migrations", f"{found.outcome.value}: {'; '.join(found.messages)}", fix)


def check_indexes(wanted: Mapping[str, str], states: Mapping[str, str]) -> Check:
    """``wanted``: name to the command that makes it; ``states``: name to ONLINE, POPULATING or FAILED."""
    missing = [name for name in wanted if name not in states]
    failed = [name for name in wanted if states.get(name) == "FAILED"]
    filling = [name for name in wanted if states.get(name) == "POPULATING"]
    if missing:
        return fail("indexes", f"gone: {some(missing)}", "; ".join(wanted[name] for name in missing) + ";")
    if failed:
        again = "; ".join(wanted[name] for name in failed)
        return fail("indexes", f"FAILED: {some(failed)}", f"drop it and make it again: {again};")
    if filling:
        return warn("indexes", f"POPULATING: {some(filling)}", "wait: jobs are slow until it is ONLINE")
    return ok("indexes", f"all {len(wanted)} ONLINE")


def check_procedures(rows: Sequence[ProcedureStatus]) -> Check:
    """Every procedure as this version and policy render it."""
    by: dict[Status, list[str]] = {status: [row.name for row in rows if row.status is status] for status in Status}
    if by[Status.MODIFIED]:
        return fail(
            "procedures",
            f"MODIFIED in the database: {some(by[Status.MODIFIED])}",
            "`jochi engine procedures diff` shows what; `jochi install` puts it right",
        )
    if by[Status.MISSING]:
        return fail("procedures", f"MISSING: {some(by[Status.MISSING])}", "run `jochi install`")
    if by[Status.OUTDATED]:
        return warn(
            "procedures",
            f"OUTDATED, from another version or policy: {some(by[Status.OUTDATED])}",
            "run `jochi install`",
        )
    if by[Status.PRUNE]:
        return warn("procedures", f"no longer shipped: {some(by[Status.PRUNE])}", "run `jochi engine procedures prune`")
    return ok("procedures", f"all {len(rows)} INSTALLED")


def check_pump_texts(
    wanted: Sequence[Mapping[str, Any]], stored: Mapping[str, Mapping[str, Any]], prefix: str = ""
) -> Check:
    """``wanted``: rows of {name, body, every_s, texts}, as install writes them. The pump runs the texts on its own node.

    ``prefix``: what bodies begin with on this server; those of an older one don't, which is the check language's to say.
    """
    if any(not str(row.get("body", prefix)).startswith(prefix) for row in stored.values()):
        return unknown("pump texts", "stored for an older server: see the check language", "run `jochi install`")
    wrong = []
    for row in wanted:
        have = stored.get(row["name"], {})
        parts = {"body": row["body"], "every_s": row["every_s"], **row["texts"]}
        wrong += [f"{row['name']}.{part}" for part, value in parts.items() if have.get(part) != value]
    if wrong:
        return fail("pump texts", f"not as install writes them: {some(wrong)}", "run `jochi install`")
    return ok("pump texts", "the pump and the watch carry the shipped texts")


def check_jobs(wanted: Sequence[Mapping[str, Any]], stored: Sequence[Mapping[str, Any]]) -> Check:
    """``wanted``: rows as install writes them, from the policy; ``stored``: properties of the jobs' nodes."""
    have = {row["name"]: row for row in stored}
    want = {row["name"]: row for row in wanted}
    wrong = [f"{name} is missing" for name in want if name not in have]
    wrong += [f"{name} is not in the policy" for name in have if name not in want]
    wrong += [
        f"{name}.{key} is {there!r}, the policy says {expected!r}"
        for name in sorted(want.keys() & have.keys())
        for key, there, expected in job_differences(want[name], have[name])
    ]
    if wrong:
        return fail("jobs", f"not as the policy says: {some(wrong)}", "run `jochi install`: the policy is the source")
    return ok("jobs", f"all {len(want)} as the policy says")


def check_gate(pump: Mapping[str, Any]) -> Check:
    """Whether destructive jobs may run: somebody said go, and the gap guard is open."""
    if pump.get("guard") is not None:
        return fail(
            "gate",
            f"the guard has stopped destructive jobs: {pump['guard']}",
            "find out why; if all is well, run `jochi approve`",
        )
    if pump.get("applied_at") is None:
        return warn("gate", "nobody has said go: nothing is pruned yet", "look at `jochi plan`, then run `jochi apply`")
    return ok("gate", f"open: applied by {pump.get('applied_by') or 'somebody'}")


def check_breaker(jobs: Sequence[JobState]) -> Check:
    """Jobs that stand still because the circuit breaker stopped a run."""
    stopped = [job for job in jobs if job.stopped_run is not None]
    if not stopped:
        return ok("breaker", "it has stopped no job")
    explanation = "; ".join(
        f"{job.name} stands still since {job.stopped_run}: "
        + ("; ".join(stop.words for stop in job.stops) or "too much at once")
        for job in stopped
    )
    commands = ", ".join(f"`jochi approve {job.stopped_run}`" for job in stopped)
    return fail(
        "breaker",
        explanation,
        f"look at `jochi runs show {stopped[0].stopped_run}` and `jochi plan`; if all is well: {commands}",
    )


def check_failing(jobs: Sequence[JobState]) -> Check:
    """Jobs that fail in a row and back off."""
    failing = [job for job in jobs if job.failures]
    if not failing:
        return ok("failures", "no job is failing")
    found = "; ".join(
        f"{job.name}: {job.failures} in a row, last error: {job.last_error or 'none kept'}" for job in failing
    )
    fix = f"see `jochi jobs history {failing[0].name}`; it goes on by itself after its back-off"
    if any(job.failures >= BROKEN_FROM for job in failing):
        return fail("failures", found, fix)
    return warn("failures", found, fix)
