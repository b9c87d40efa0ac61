"""Has servers EXPLAIN what is installed, and writes down what passed: `python -m tests.checked`, after a change of a template, the
schema or a policy. What the shipped policies install compiles (`jochi.install.checked`), and nothing that the tests' policy
installs reads whole what grows. What passed before isn't asked again.

Without arguments it asks the version that `jochi` ships jars of; `--all` asks all of `VERSIONS`, and names ask those.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from tests.faults.support import INSTALL
from tests.own_server import own_server
from tests.query_plans import fill, scans

import jochi
from jochi import Jochi
from jochi.compile.rendering import render_all
from jochi.database.database import Database
from jochi.database.server_facts import NEEDED_FOR_JOBS, NEEDED_FOR_PIN, ServerFacts, read_facts
from jochi.database.statements import schema_folder
from jochi.folders import cache_folder
from jochi.install.checked import Checked, Tried, hash_of
from jochi.install.install import can_be_explained, explain_each
from jochi.localserver import LocalServer, jars
from jochi.localserver.report import Silent
from jochi.localserver.versions import APOC, NEO4J, apoc_for
from jochi.policy import LoadedPolicy, load_policy

VERSIONS = (NEO4J, "2026.09.0")
"""The servers whose users needn't wait for an install: others are asked there."""

POLICIES = [load_policy(path) for path in (None, Path(jochi.__file__).parent / "demo" / "policy.toml")]
"""The shipped ones: what is installed without a policy, and the demonstration's."""


def _with_values(loaded: LoadedPolicy) -> LoadedPolicy:
    classification = loaded.policy.classification.model_copy(update={"classifying": True})
    return replace(loaded, policy=loaded.policy.model_copy(update={"classification": classification}))


TEST_POLICY = _with_values(load_policy(Path(__file__).with_name("policy.toml")))
"""With values, as the shipped ones are."""

LOOKED_THROUGH = Path(__file__).with_name("looked_through.json")
"""The hashes of what the tests' policy installs that scans nothing, with the schema's: of other indexes there are other plans."""

WITHOUT_APOC = frozenset({"db.index.vector.queryNodes", "dbms.queryJmx"})
WITH_APOC = WITHOUT_APOC | {*NEEDED_FOR_JOBS, NEEDED_FOR_PIN}

_CYPHER_25_SINCE = (2025, 6)


def facts_of(version: str) -> ServerFacts:
    """Of a server of that version with APOC."""
    return ServerFacts(version, "community", APOC, WITH_APOC, "CYPHER_5", 5.0, False, True)


def texts(facts: ServerFacts) -> dict[str, str]:
    """What the shipped policies render to on such a server, with APOC and without, by hash; without what it can't EXPLAIN."""
    bare = replace(facts, apoc=None, callable=facts.callable & WITHOUT_APOC)
    return _rendered(facts, facts.language_prefix) | _rendered(bare, facts.language_prefix)


_found: dict[tuple[frozenset[str], str], dict[str, str]] = {}


def _rendered(facts: ServerFacts, prefix: str) -> dict[str, str]:
    """By what templates ask of a server: all with the same answers have the same texts."""
    if (facts.callable, prefix) not in _found:
        _found[facts.callable, prefix] = {
            hash_of(text): text
            for policy in POLICIES
            for each in render_all(policy.policy, facts).values()
            for text in each.sections.values()
            if can_be_explained(text, facts)
        }
    return _found[facts.callable, prefix]


def languages(facts: ServerFacts) -> tuple[str, ...]:
    """What may be the default language of a database there."""
    return ("CYPHER_5", "CYPHER_25") if facts.release >= _CYPHER_25_SINCE else ("CYPHER_5",)


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


@contextmanager
def apoc_besides(version: str) -> Iterator[None]:
    """Servers of ``version`` have an APOC as long as this lasts, also where the registry has none for it.

    It wouldn't run there, yet it tells the server what its procedures take and give, and EXPLAIN asks no more.
    """
    if apoc_for(version) is not None:
        yield
        return
    for each in (version, NEO4J):
        jars.provide(each, Silent())
    store, before = cache_folder() / "jars", os.environ.get("JOCHI_CACHE")
    manifest, ours = (
        json.loads((place / f"jars-{each}.json").read_text(encoding="utf-8"))
        for place, each in ((store, version), (Path(jars.__file__).parent, NEO4J))
    )
    there = {Path(jar["path"]).parts[:-2] for jar in manifest["jars"]}
    manifest["jars"] += [
        jar
        for jar in ours["jars"]
        if Path(jar["path"]).parts[:-2] not in there
        and (not jar["path"].startswith("org/neo4j/") or "/procedure/" in jar["path"])
    ]
    with tempfile.TemporaryDirectory() as folder:
        mixed = Path(folder) / "jars"
        mixed.mkdir()
        for each in store.iterdir():
            if each.is_dir():
                (mixed / each.name).symlink_to(each)
        (mixed / f"jars-{version}.json").write_text(json.dumps({**manifest, "apoc": APOC}), encoding="utf-8")
        os.environ["JOCHI_CACHE"] = folder
        try:
            yield
        finally:
            del os.environ["JOCHI_CACHE"]
            if before is not None:
                os.environ["JOCHI_CACHE"] = before


def ask(database: Database, checked: Checked) -> None:
    """Has one server EXPLAIN what it doesn't have to its name in ``checked``, in each language, and writes it down."""
    facts = read_facts(database)
    wanted, tried = texts(facts), Tried(APOC, languages(facts))
    known = checked.passed if checked.tried.get(facts.version) == tried else {}
    left = {hash: text for hash, text in wanted.items() if facts.version not in known.get(hash, ())}
    for language in tried.languages:
        prefix = f"CYPHER {language.rpartition('_')[2]}\n" if len(tried.languages) > 1 else ""
        asked = [(hash, "", text) for hash, text in left.items()]
        for done, _name in enumerate(explain_each(database, asked, prefix), 1):
            if done % 50 == 0 or done == len(asked):
                sys.stderr.write(f"{facts.version} {language}: {done} of {len(asked)}\n")
    checked.tried[facts.version] = tried
    for hash in checked.passed.keys() | wanted.keys():
        on = checked.passed.get(hash, frozenset()) - {facts.version}
        checked.passed[hash] = on | {facts.version} if hash in wanted else on


def main(arguments: list[str]) -> None:
    checked = Checked.read()
    INSTALL.explain_all = lambda *_: None  # that is done here
    for version in VERSIONS if arguments == ["--all"] else arguments or [NEO4J]:
        with apoc_besides(version), tempfile.TemporaryDirectory() as folder:
            local = LocalServer("checked", home=Path(folder))
            try:
                with local.start(version=version).driver() as driver:
                    ask(Database(driver), checked)
            finally:
                local.reset()
        # What no version renders any more goes, and so does a version that isn't on the list.
        tried = {version: tried for version, tried in checked.tried.items() if version in VERSIONS}
        passed = {hash: on & tried.keys() for hash, on in checked.passed.items() if on & tried.keys()}
        Checked(tried, passed).write()
    if not arguments:
        with own_server("checked", policy=TEST_POLICY) as client:
            look_through(client, read_facts(client.database))


if __name__ == "__main__":
    main(sys.argv[1:])
