"""What must hold of the server, each a function over facts; none of them asks the server."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from jochi.database.server_facts import NEEDED_FOR_JOBS, OLDEST_SERVER, ServerFacts
from jochi.operate.check import Check, Level, fail, ok, some, unknown, warn

BROKEN_RELEASES = {
    (2025, 6, 0): "2025.06.1 or newer: 2025.06.0 has deadlocks at checkpoints",
    (2026, 8, 0): "2026.08.1 or newer: 2026.08.0 was withdrawn because it could fail queries",
}

NEEDED_FROM_OUTSIDE = tuple(dict.fromkeys((*NEEDED_FOR_JOBS, "apoc.periodic.cancel")))
"""What install, the jobs and uninstall call."""

ROLES_THAT_INSTALL = frozenset({"admin", "architect", "jochi_installer"})
"""Enterprise: the built-in roles that may make indexes and constraints, and that of `jochi grants`."""

ENOUGH_THREADS = 3
"""Pump, watch and one for whatever else uses APOC's scheduler (DESIGN §2, Locks)."""

LONGEST_LOCK_TIMEOUT = 60.0
"""Seconds. While the pump waits for an agent's lock it does nothing else."""

TOLERATED_SKEW = timedelta(seconds=5)

_THREADS_FIX = (
    "see that apoc.conf has apoc.jobs.scheduled.num_threads=4 (default: a quarter of the cores; a restart makes it count); "
    "if it has, other jobs occupy APOC's scheduler: CALL apoc.periodic.list()"
)


def check_rights(refusal: str | None, edition: str, roles: Sequence[str] | None) -> Check:
    """``refusal``: what the server said to a write, None if it did it. ``roles``: None where there are none to know."""
    if refusal is not None:
        return fail(
            "rights", f"this user can't write: {refusal}", "connect as a user who may create nodes and labels here"
        )
    if edition != "community" and roles is not None and not ROLES_THAT_INSTALL & set(roles):
        return warn(
            "rights",
            f"this user has the roles {some(sorted(roles)) or '(none)'}: enough to run jobs, perhaps not to install",
            "install and upgrade as a user who may create indexes and constraints (role architect or admin)",
        )
    return ok("rights", "this user may read and write here")


def check_privileges(edition: str, role: str, commands: Sequence[str] | None, lacks: Sequence[str]) -> Check:
    """``commands``: what the user may, None where it can't be asked; ``lacks``: what ``role`` needs beside it."""
    if edition == "community":
        return ok("privileges", "Community Edition has no roles: every user may do everything")
    if commands is None:
        return unknown(
            "privileges", "this server doesn't tell what this user may", "ask an administrator for SHOW USER PRIVILEGES"
        )
    if lacks:
        return fail(
            "privileges",
            f"this user lacks {len(lacks)} of what the role {role} needs: {some(list(lacks), 5)}",
            f"an administrator runs: jochi grants --role {role} | cypher-shell -d system, and GRANT ROLE jochi_{role} TO this user",
        )
    return ok("privileges", f"this user may do all that the role {role} needs")


def check_version(facts: ServerFacts) -> Check:
    """5.26 or newer, and none of the releases that must not be used."""
    numbers = [int(number) for number in re.findall(r"\d+", facts.version)[:3]]
    broken = BROKEN_RELEASES.get((numbers[0], numbers[1], numbers[2])) if len(numbers) == 3 else None
    version = f"Neo4j {facts.version} {facts.edition}"
    if facts.release < OLDEST_SERVER:
        return fail("server", f"{version} is too old: Jochi needs 5.26 or newer", "upgrade the server to 5.26 LTS")
    if broken:
        return fail("server", f"{version} must not be used", f"upgrade the server to {broken}")
    return ok("server", version)


def check_database(facts: ServerFacts, name: str) -> Check:
    """Writable, and this server is its writer."""
    if facts.read_only:
        return fail(
            "database",
            f"{name} is read-only",
            "ALTER DATABASE … SET ACCESS READ WRITE, or server.databases.default_to_read_only=false",
        )
    if not facts.writer:
        return fail(
            "database",
            f"this server is not the writer of {name}",
            "connect to the cluster's leader, or use a neo4j:// address that routes to it",
        )
    return ok("database", f"{name} takes writes here")


def check_standstill(facts: ServerFacts, name: str) -> Check | None:
    """The check `pump` of a server that may not write: its jobs do nothing there, and arming is no remedy. None where it may."""
    found = check_database(facts, name)
    if found.level is Level.OK:
        return None
    return fail("pump", f"this server may not write, so nothing is curated: {found.found}", found.fix or "")


_ON_AURA = {
    "apoc": "on Aura nobody can change it: see that the checks procedures callable and pump are right",
    "procedures callable": "on Aura nobody can allow them: drive the jobs from outside with `jochi jobs run --due`",
    "threads": "on Aura nobody can set their number: keep `jochi worker --arm` running, which arms again what stands still",
    "lock time-out": "on Aura nobody can set it: give the transactions of your apps a time-out (`timeout` of the driver)",
    "transaction time-out": "on Aura nobody can set it: make the budgets in the policy shorter",
    "language": "run `jochi install`: it renders the jobs for this server",
}
"""By check: the remedy where there are no files and no settings."""


def as_on_aura(check: Check) -> Check:
    """The check as it is said on Aura: what nobody can set there is no failure, and isn't asked for."""
    fix = _ON_AURA.get(check.name)
    if fix is None or check.level is Level.OK:
        return check
    return replace(check, level=Level.WARN if check.level is Level.FAIL else check.level, fix=fix)


def check_apoc(facts: ServerFacts, *, armed: bool) -> Check:
    """There, and made for this server. ``armed``: jobs are meant to run in the database."""
    # As the server writes them: APOC's version for 2026.09.0 begins with 2026.09, not with 2026.9.
    release = ".".join(facts.version.split(".")[:2])
    fix = f"put APOC Core {release}.x into the plugins folder and restart the server"
    if facts.apoc is None:
        if armed:
            return fail("apoc", "APOC Core is gone, and the jobs need it", fix)
        return warn(
            "apoc",
            "APOC Core is not installed: the database can't run jobs by itself",
            f"{fix}; or drive the jobs from outside with `jochi jobs run --due`",
        )
    numbers = tuple(int(number) for number in re.findall(r"\d+", facts.apoc)[:2])
    if numbers != facts.release:
        return fail(
            "apoc", f"APOC {facts.apoc} is not made for Neo4j {facts.version}: the first two numbers must be equal", fix
        )
    return ok("apoc", f"APOC {facts.apoc}")


def check_callable(facts: ServerFacts) -> Check:
    """Every APOC procedure that Jochi calls may be called."""
    missing = [name for name in NEEDED_FROM_OUTSIDE if name not in facts.callable]
    if not missing:
        return ok("procedures callable", f"all {len(NEEDED_FROM_OUTSIDE)} that Jochi calls")
    if facts.apoc is None:
        return unknown("procedures callable", "there is no APOC to call", "see the check apoc")
    return fail(
        "procedures callable",
        f"not callable by this user: {some(missing, 10)}",
        "allow them in dbms.security.procedures.allowlist (and on Enterprise: GRANT EXECUTE PROCEDURE), then restart",
    )


def check_threads(at_once: int | None, why_not: str = "", fix: str = _THREADS_FIX) -> Check:
    """``at_once``: how many jobs of APOC's scheduler were seen at work at one moment; None if that wasn't tried: ``why_not``."""
    if at_once is None:
        return unknown("threads", f"not known: {why_not}", fix)
    if at_once >= ENOUGH_THREADS:
        return ok("threads", f"at least {at_once} jobs run at the same time")
    if at_once == 0:
        return fail("threads", "none of the probes was started: something occupies APOC's scheduler", _THREADS_FIX)
    found = f"{at_once} of {ENOUGH_THREADS} probes ran at the same time"
    if at_once == 1:
        return fail("threads", f"{found}: one slow job stops pump and watch alike", _THREADS_FIX)
    return warn("threads", found, _THREADS_FIX)


def check_lock_timeout(seconds: float | None) -> Check:
    """Set, above zero and not too long (DESIGN §2, Locks)."""
    fix = "set db.lock.acquisition.timeout=5s in neo4j.conf and restart the server"
    if seconds is None:
        return unknown("lock time-out", "this user may not read the server's settings", fix)
    if seconds == 0:
        return fail("lock time-out", "none: one agent's open transaction can stop the pump for good", fix)
    if seconds > LONGEST_LOCK_TIMEOUT:
        return warn("lock time-out", f"{seconds:g} s: the pump stands still that long for one held memory", fix)
    return ok("lock time-out", f"{seconds:g} s")


def check_transaction_timeout(seconds: float | None, budgets: Mapping[str, timedelta]) -> Check:
    """``budgets``: what each job may take. The transaction around a run lasts as long as the run."""
    if seconds is None:
        return unknown(
            "transaction time-out",
            "this user may not read the server's settings",
            "see that db.transaction.timeout is 0 or longer than the jobs' budgets",
        )
    if seconds == 0:
        return ok("transaction time-out", "none")
    short = [name for name, budget in sorted(budgets.items()) if seconds <= budget.total_seconds()]
    if short:
        return warn(
            "transaction time-out",
            f"{seconds:g} s cuts off jobs within their budget: {some(short)}",
            "set db.transaction.timeout longer than the longest budget, or the budgets in the policy shorter",
        )
    return ok("transaction time-out", f"{seconds:g} s, longer than every job's budget")


def check_language(default: str, prefix: str, without_prefix: Sequence[str]) -> Check:
    """``prefix``: what stored statements must begin with here; ``without_prefix``: the procedures that don't."""
    if prefix and without_prefix:
        return fail(
            "language",
            f"stored for an older server, without {prefix.strip()}: {some(list(without_prefix))}",
            "run `jochi install`: it renders them for this server",
        )
    if default != "CYPHER_5" and not prefix:
        return warn("language", f"the default language is {default}", "set db.query.default_language=CYPHER_5")
    return ok("language", f"default {default}" + (f", stored statements say {prefix.strip()}" if prefix else ""))


def check_clock(skew: timedelta, uncertainty: timedelta) -> Check:
    """``skew``: the server's clock less the client's; ``uncertainty``: half the time that asking took."""
    off = abs(skew) - uncertainty
    direction = "ahead of" if skew > timedelta(0) else "behind"
    if off > TOLERATED_SKEW:
        return warn(
            "clock",
            f"the server's clock is {abs(skew).total_seconds():.1f} s {direction} this machine's",
            "set both by NTP: rules count from times that apps write and jobs by the server's clock",
        )
    return ok("clock", f"the server's clock is within {TOLERATED_SKEW.total_seconds():g} s of this machine's")
