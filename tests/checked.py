"""Has a server EXPLAIN what is installed, and writes down what passed: `python -m tests.checked`, after a change of a template, the
schema or a policy. What the shipped policies install compiles (`jochi.install.checked`), and nothing that the tests' policy
installs reads whole what grows. What passed before isn't asked again."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.faults.support import INSTALL
from tests.own_server import own_server
from tests.query_plans import fill, scans

import jochi
from jochi import Jochi
from jochi.compile.rendering import render_all
from jochi.database.server_facts import ServerFacts, read_facts
from jochi.database.statements import schema_folder
from jochi.install.checked import checked_file, hash_of
from jochi.install.install import can_be_explained
from jochi.policy import load_policy

POLICIES = [load_policy(path) for path in (None, Path(jochi.__file__).parent / "demo" / "policy.toml")]
"""The shipped ones: what is installed without a policy, and the demonstration's."""

TEST_POLICY = load_policy(Path(__file__).with_name("policy.toml"))

LOOKED_THROUGH = Path(__file__).with_name("looked_through.json")
"""The hashes of what the tests' policy installs that scans nothing, with the schema's: of other indexes there are other plans."""


def texts(facts: ServerFacts) -> list[str]:
    """The hashes of what the shipped policies render to on such a server, without what it can't EXPLAIN; sorted."""
    rendered = [each for policy in POLICIES for each in render_all(policy.policy, facts).values()]
    return sorted(
        {hash_of(text) for each in rendered for text in each.sections.values() if can_be_explained(text, facts)}
    )


def sections(facts: ServerFacts) -> dict[str, tuple[str, str, str]]:
    """(procedure, section, text) of what the tests' policy installs, by its hash."""
    return {
        hash_of(text): (name, section, text)
        for name, each in render_all(TEST_POLICY.policy, facts).items()
        for section, text in each.sections.items()
    }


def schema() -> str:
    """The hash of all migrations."""
    return hash_of("".join(path.read_text(encoding="utf-8") for path in sorted(schema_folder().glob("*.cypher"))))


def look_through(client: Jochi, facts: ServerFacts) -> None:
    """Ends the process where something reads whole what grows."""
    before = json.loads(LOOKED_THROUGH.read_text(encoding="utf-8"))
    known = before["texts"] if before["schema"] == schema() else []
    found = sections(facts)
    fill(client)
    if wrong := [each for hash in found.keys() - {*known} for each in scans(client, *found[hash])]:
        sys.exit("\n".join(wrong))
    told = {"schema": schema(), "texts": sorted(found)}
    LOOKED_THROUGH.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    with own_server("checked", policy=POLICIES[0]) as client:
        for policy in POLICIES[1:]:
            Jochi(client.database.driver, policy=policy).install(arm=False)
        facts = read_facts(client.database)
        told = {"version": facts.version, "apoc": facts.apoc, "callable": sorted(facts.callable), "texts": texts(facts)}
        checked_file(facts.version).write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
        INSTALL.explain_all = lambda *_: None  # that is done below
        tests = Jochi(client.database.driver, policy=TEST_POLICY)
        tests.install(arm=False)
        look_through(tests, facts)


if __name__ == "__main__":
    main()
