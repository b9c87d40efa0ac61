"""What roles are granted: derived from what they run, printed for Enterprise Edition, and compared with what a user has."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from tests.pages import says, table
from typer.testing import CliRunner

from jochi.cli import grants as command
from jochi.cli.app import app
from jochi.database.statements import procedures_folder
from jochi.errors import UsageError
from jochi.install.install import PUMP_TEXTS
from jochi.operate.check import Level
from jochi.operate.checks_server import check_privileges
from jochi.operate.privileges import Privilege, Privileges
from jochi.operate.rights import ROLES, Rights
from jochi.policy import load_policy

ENGINE = re.compile(r":((?:Jochi|Curation)\w+)")


@pytest.fixture(scope="module")
def rights() -> Rights:
    return Rights(load_policy().policy)


@pytest.fixture(scope="module")
def granted(rights: Rights) -> dict[str, Privileges]:
    return {role: Privileges.of(rights.statements(role, database="neo4j")) for role in ROLES}


def node(action: str, label: str, property: str | None = None) -> Privilege:
    return Privilege(action, "neo4j", "NODE", label, property)


def test_no_procedure_is_in_no_role(rights: Rights) -> None:
    """A new one goes into installer/jochi/operate/rights.toml; what it touches is read from its text."""
    assert sorted(set(rights.names) - {name for role in ROLES for name in rights.runs(role)}) == []


@pytest.mark.parametrize("role", ["engine", "app", "approver", "forgetter"])
def test_what_the_head_of_a_template_says_it_writes_is_granted(rights: Rights, role: str) -> None:
    """Heads are written by people, and grants are read from the texts: neither knows of the other."""
    labels, wanted, deleted = rights.touched(role).labels, set(), set()
    for name in rights.runs(role):
        file = procedures_folder() / f"{name}.cypher.j2"
        if file.exists():
            head = " ".join(line.lstrip("/ ") for line in file.read_text().splitlines() if line.startswith("//"))
            writes = head.partition("Writes: ")[2].partition("====")[0]
            wanted |= set(ENGINE.findall(writes))
            for clause in re.findall(r"deletes ([^;.]*)", writes):
                deleted |= set(ENGINE.findall(clause))
    assert len(wanted) > 5
    assert wanted - labels.keys() == set()
    assert {label for label in deleted if not labels[label].deletes} == set()


def test_a_text_that_touches_more_brings_its_rights_along(rights: Rights) -> None:
    """The pump reads and never writes :JochiPolicy; a body that did would be granted it."""
    before = rights.statements("engine", database="neo4j")
    touched = rights.touched("engine")
    try:
        touched.read(
            "MATCH (p:JochiPolicy) SET p.sha256 = 'x' WITH p CALL apoc.util.sleep(1) CALL apoc.do.more(p) SHOW SETTINGS"
        )
        after = Privileges.of(rights.statements("engine", database="neo4j"))
        assert after.allow(node("SET PROPERTY", "JochiPolicy", "sha256"))
        assert after.allow(Privilege("EXECUTE PROCEDURE", "dbms", name="apoc.do.more"))
        assert not Privileges.of(before).allow(node("SET PROPERTY", "JochiPolicy", "sha256"))
    finally:
        del touched.labels["JochiPolicy"]
        touched.procedures.discard("apoc.do.more")


MAY: tuple[tuple[Privilege, set[str]], ...] = (
    (node("CREATE", "Curated"), {"installer", "engine", "app", "approver", "forgetter"}),
    (node("SET PROPERTY", "Belief", "content"), {"installer", "engine", "app", "approver", "forgetter"}),
    (node("READ", "Belief", "tier"), set(ROLES)),
    (node("READ", "Belief", "content"), set(ROLES) - {"auditor"}),
    (node("READ", "CurationSnapshot", "content"), set(ROLES) - {"auditor"}),
    # A text can be guessed from its vector, and a guess be proved by its hash.
    *(
        (node("READ", "Belief", name), set(ROLES) - {"auditor"})
        for name in ("embedding", "content_hash", "content_key")
    ),
    (node("READ", "CurationAudit", "rule"), set(ROLES)),
    (node("READ", "CurationAudit", "before_content"), set(ROLES) - {"auditor"}),
    (node("READ", "JochiReceipt", "body"), set(ROLES)),
    # The code, and what it works by.
    (node("SET PROPERTY", "JochiProcedure", "body"), {"installer"}),
    (node("CREATE", "JochiProcedure"), {"installer"}),
    (node("SET PROPERTY", "JochiPolicy", "compiled"), {"installer"}),
    (node("DELETE", "JochiPolicy"), {"installer"}),
    (node("CREATE", "JochiPump"), {"installer"}),
    # After a restart the server runs the body with its own rights, and the body runs the other texts.
    *((node("SET PROPERTY", "JochiPump", name), {"installer"}) for name in ("body", "every_s", *PUMP_TEXTS)),
    *((node("SET PROPERTY", "JochiJob", name), {"installer"}) for name in ("procedure", "destructive", "name")),
    *((node("DELETE", label), {"installer"}) for label in ("JochiPump", "JochiJob")),
    (node("SET PROPERTY", "JochiJob", "cursor"), {"installer", "engine", "forgetter"}),
    # Records stay.
    (node("DELETE", "CurationAudit"), {"installer", "engine", "forgetter"}),
    (node("DELETE", "JochiReceipt"), {"installer", "forgetter"}),
    # Forgetting is a right of its own: without a seal and a receipt nothing is forgotten.
    (node("CREATE", "JochiForgotten"), {"installer", "forgetter"}),
    (node("DELETE", "JochiForgotten"), {"installer", "forgetter"}),
    (node("CREATE", "JochiReceipt"), {"installer", "forgetter"}),
    # So is saying go.
    (node("SET PROPERTY", "JochiPump", "applied_at"), {"installer", "approver"}),
    (node("SET PROPERTY", "JochiPump", "last_tick"), {"installer", "engine", "approver", "forgetter"}),
    (node("SET PROPERTY", "JochiJobRun", "approved_at"), {"installer", "approver"}),
    (node("SET PROPERTY", "JochiQuota", "lift_due"), {"installer", "approver"}),
    (node("CREATE", "JochiPause"), {"installer", "engine", "approver"}),
    # Under a label of its own a node could be made into another one.
    (node("SET LABEL", "JochiForgotten"), {"installer"}),
    (Privilege("CREATE CONSTRAINT", "neo4j"), {"installer"}),
    (Privilege("EXECUTE PROCEDURE", "dbms", name="apoc.periodic.repeat"), {"installer", "engine"}),
    (Privilege("EXECUTE BOOSTED PROCEDURE", "dbms", name="apoc.trigger.install"), {"installer"}),
    (Privilege("ACCESS", "other"), set()),
)


@pytest.mark.parametrize(("privilege", "roles"), MAY, ids=lambda each: str(each) if isinstance(each, Privilege) else "")
def test_each_role_has_its_own_and_no_more(
    granted: dict[str, Privileges], privilege: Privilege, roles: set[str]
) -> None:
    if privilege.action == "SET LABEL":
        privilege = Privilege("SET LABEL", "neo4j", name=privilege.name)
    assert {role for role, has in granted.items() if has.allow(privilege)} == roles


def test_the_page_says_what_each_role_does_to_which_nodes(rights: Rights) -> None:
    columns = [role for role in ROLES if role not in ("installer", "auditor")]

    def does(role: str, label: str) -> str:
        writes = rights.touched(role).labels.get(label)
        if writes is None:
            return ""
        return ("c" if writes.creates else "") + ("s" if writes.properties else "") + ("d" if writes.deletes else "")

    rows = [[f"`:{label}`", *(does(role, label) for role in columns)] for label in rights.engine_labels]
    says("rights.md", {"labels": table(["", *columns], [row for row in rows if any(row[1:])])})


def test_an_auditor_writes_nothing(rights: Rights, granted: dict[str, Privileges]) -> None:
    writes = ("CREATE", "DELETE", "SET LABEL", "REMOVE LABEL", "SET PROPERTY", "NAME MANAGEMENT")
    assert not [each for each in granted["auditor"].granted if each.action in writes]
    assert not [
        label
        for label, does in rights.touched("auditor").labels.items()
        if does.creates or does.deletes or does.properties
    ]


def test_a_label_that_stands_on_a_node_of_another_one_forbids_nothing_there(granted: dict[str, Privileges]) -> None:
    """A run of curation has two labels; what is done to a run is done to both."""
    labels = ["JochiJobRun", "CurationCycleSummary"]
    for role in ("engine", "approver"):
        assert granted[role].allow_on_node(node("SET PROPERTY", "", "finished_at"), labels)
    assert not granted["app"].allow_on_node(node("SET PROPERTY", "", "applied_at"), ["JochiPump", "Curated"])


@pytest.mark.parametrize("role", ROLES)
def test_the_statements_are_read_as_they_are_written(rights: Rights, role: str) -> None:
    made = rights.statements(role, database="neo4j")
    wanted = Privileges.of(made)
    assert all(Privileges.of([text]).granted or Privileges.of([text]).denied for text in made[1:])
    assert wanted.lacks(wanted) == []
    without = Privileges.of(text for text in made if " RELATIONSHIPS " not in text and " NODES " not in text)
    assert {each.element for each in without.lacks(wanted)} <= {"NODE", "RELATIONSHIP"}
    assert role == "installer" or without.lacks(wanted)


ADMIN = [
    "GRANT ACCESS ON DATABASE * TO `admin`",
    "GRANT ALL DBMS PRIVILEGES ON DBMS TO `admin`",
    "GRANT CONSTRAINT MANAGEMENT ON DATABASE * TO `admin`",
    "GRANT INDEX MANAGEMENT ON DATABASE * TO `admin`",
    "GRANT LOAD ON ALL DATA TO `admin`",
    "GRANT MATCH {*} ON GRAPH * NODE * TO `admin`",
    "GRANT MATCH {*} ON GRAPH * RELATIONSHIP * TO `admin`",
    "GRANT NAME MANAGEMENT ON DATABASE * TO `admin`",
    "GRANT TRANSACTION MANAGEMENT (*) ON DATABASE * TO `admin`",
    "GRANT WRITE ON GRAPH * TO `admin`",
]
"""As a server prints what its built-in roles may (operations manual, Built-in roles)."""
PUBLIC = [
    "GRANT ACCESS ON HOME DATABASE TO `PUBLIC`",
    "GRANT EXECUTE FUNCTION * ON DBMS TO `PUBLIC`",
    "GRANT EXECUTE PROCEDURE * ON DBMS TO `PUBLIC`",
]
PUBLISHER = [text for text in ADMIN if any(word in text for word in ("ACCESS", "MATCH", "NAME", "WRITE"))] + [
    "GRANT SHOW CONSTRAINT ON DATABASE * TO `publisher`",
    "GRANT SHOW INDEX ON DATABASE * TO `publisher`",
]


@pytest.mark.parametrize(
    ("has", "role", "lacks"),
    [
        ([*ADMIN, *PUBLIC], "installer", []),
        ([*ADMIN, *PUBLIC], "engine", []),
        ([*PUBLISHER, *PUBLIC], "engine", ["SHOW SETTING *", "SHOW TRANSACTION"]),
        ([*PUBLISHER, *PUBLIC], "app", []),
        ([*PUBLISHER, "DENY SET PROPERTY {next_due} ON GRAPH * NODE Curated TO `r`", *PUBLIC], "app", []),
        ([*PUBLISHER, "DENY CREATE ON GRAPH neo4j NODE Curated TO `r`", *PUBLIC], "app", ["CREATE on nodes Curated"]),
        ([*PUBLISHER, "DENY EXECUTE PROCEDURE apoc.* ON DBMS TO `r`"], "auditor", None),
        ([], "auditor", None),
    ],
)
def test_what_a_user_lacks_is_named(rights: Rights, has: Sequence[str], role: str, lacks: list[str] | None) -> None:
    wanted = Privileges.of(rights.statements(role, database="neo4j"))
    found = [str(each) for each in Privileges.of(has).lacks(wanted)]
    assert found if lacks is None else sorted(found) == lacks


def test_the_doctor_says_what_is_missing() -> None:
    assert check_privileges("community", "engine", None, ()).level is Level.OK
    assert check_privileges("enterprise", "engine", None, ()).level is Level.UNKNOWN
    assert check_privileges("enterprise", "engine", ["GRANT …"], ()).level is Level.OK
    missing = check_privileges("enterprise", "engine", ["GRANT …"], ["CREATE on nodes JochiJobRun"])
    assert missing.level is Level.FAIL
    assert "CREATE on nodes JochiJobRun" in missing.found
    assert missing.fix is not None
    assert "jochi grants --role engine" in missing.fix


def test_the_command_prints_statements_and_nothing_else(rights: Rights, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "Rights", lambda policy: rights)  # renders all once
    run = CliRunner().invoke
    there = run(app, ["--database", "Mine", "grants", "--role", "app", "--role", "auditor"])
    assert there.exit_code == 0
    lines = there.stdout.splitlines()
    assert all(line.endswith(";") and line.split()[0] in ("CREATE", "GRANT", "DENY") for line in lines)
    assert "GRANT ACCESS ON DATABASE `Mine` TO `jochi_auditor`;" in lines
    back = run(app, ["grants", "--role", "app", "--name", "bots", "--revoke"]).stdout.splitlines()
    forth = run(app, ["grants", "--role", "app", "--name", "bots"]).stdout.splitlines()
    assert {line.removeprefix("REVOKE ").replace(" FROM `bots`", " TO `bots`") for line in back} == set(forth[1:])
    assert (
        run(app, ["grants", "--role", "app", "--revoke"]).stdout.splitlines()[-1] == "DROP ROLE `jochi_app` IF EXISTS;"
    )
    for wrong in (["--role", "king"], ["--role", "all", "--name", "x"], ["--role", "app", "--name", "a`b"]):
        assert isinstance(run(app, ["grants", *wrong]).exception, UsageError)
