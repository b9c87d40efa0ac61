"""The demonstration's lock file is a part of the whole one: `make test` after `make demo` changes no version."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
_PIN = re.compile(r"^([a-z][\w.-]*)==(\S+)((?: ;.*?)?) \\$", re.MULTILINE)


def test_the_demonstrations_packages_are_the_tests() -> None:
    every, some = (
        set(_PIN.findall((ROOT / name).read_text())) for name in ("requirements.lock", "requirements-demo.lock")
    )
    assert {(name, version) for name, version, _ in some} <= {(name, version) for name, version, _ in every}
    names = {name for name, _, _ in some}
    assert {"neo4j", "jgo", "matplotlib", "onnxruntime", "hatchling"} <= names
    assert not {"spacy", "babel", "pytest", "openai"} & names
