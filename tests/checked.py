"""Has a server EXPLAIN what the shipped policies install, and writes down that it passed: `python -m tests.checked`, after a change
of a template or a shipped policy. What passed before on this version isn't asked again (`jochi.install.checked`)."""

from __future__ import annotations

import json
from pathlib import Path

from tests.own_server import own_server

import jochi
from jochi.compile.rendering import render_all
from jochi.database.server_facts import ServerFacts, read_facts
from jochi.install.checked import checked_file, hash_of
from jochi.install.install import can_be_explained
from jochi.policy import load_policy

POLICIES = [load_policy(path) for path in (None, Path(jochi.__file__).parent / "demo" / "policy.toml")]
"""The shipped ones: what is installed without a policy, and the demonstration's."""


def texts(facts: ServerFacts) -> list[str]:
    """The hashes of what they render to on such a server, without what it can't EXPLAIN; sorted."""
    rendered = [each for policy in POLICIES for each in render_all(policy.policy, facts).values()]
    return sorted(
        {hash_of(text) for each in rendered for text in each.sections.values() if can_be_explained(text, facts)}
    )


def main() -> None:
    with own_server("checked", policy=POLICIES[0]) as client:
        for policy in POLICIES[1:]:
            jochi.Jochi(client.database.driver, policy=policy).install(arm=False)
        facts = read_facts(client.database)
    told = {"version": facts.version, "apoc": facts.apoc, "callable": sorted(facts.callable), "texts": texts(facts)}
    checked_file(facts.version).write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
