"""The files in `ops/`: who copies them gets what Jochi asks for."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from jochi.jobs.rearm import rearm_key, rearm_line
from jochi.toml import tomllib

yaml = pytest.importorskip("yaml")

OPS = Path(__file__).parents[2] / "ops"
WANTED = {
    rearm_key(): rearm_line(),
    "apoc.jobs.scheduled.num_threads": "4",
    "db.lock.acquisition.timeout": "5s",
}
"""What `jochi doctor` asks of a server's files."""
_SECRET = re.compile(r"password|secret|token|key", re.IGNORECASE)


def _setting(variable: str) -> str:
    """The setting that Neo4j's image makes of a variable: `_` is a dot, `__` an underscore."""
    return variable.removeprefix("NEO4J_").replace("_", ".").replace("..", "_")


def _pods() -> list[tuple[str, dict[str, Any]]]:
    found = []
    for file in sorted((OPS / "kubernetes").glob("*.yaml")):
        for document in yaml.safe_load_all(file.read_text(encoding="utf-8")):
            spec = document.get("spec", {})
            spec = spec.get("jobTemplate", {}).get("spec", spec)
            if "template" in spec:
                found.append((document["metadata"]["name"], spec["template"]["spec"]))
    return found


def test_compose_sets_what_jochi_asks_for_and_holds_no_secret() -> None:
    compose = yaml.safe_load((OPS / "docker" / "compose.yaml").read_text(encoding="utf-8"))
    services = compose["services"]
    variables = services["neo4j"]["environment"]
    made = {_setting(name): value for name, value in variables.items() if re.match(r"NEO4J_(apoc|db)_", name)}
    assert made == WANTED
    assert "$" not in rearm_line(), "compose would read it as a variable"
    assert json.loads(variables["NEO4J_PLUGINS"]) == ["apoc"]
    for name, service in services.items():
        for variable, value in service.get("environment", {}).items():
            assert not _SECRET.search(variable) or value.startswith("/run/secrets/"), (name, variable)
        assert not _SECRET.search(" ".join(service.get("command", []))), name
        assert set(service.get("secrets", [])) <= compose["secrets"].keys()
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", [])), name
        assert set(service.get("depends_on", {})) <= services.keys()


def test_the_values_of_the_chart_set_the_same() -> None:
    values = yaml.safe_load((OPS / "kubernetes" / "neo4j-values.yaml").read_text(encoding="utf-8"))
    assert {
        **values["apoc_config"],
        "db.lock.acquisition.timeout": values["config"]["db.lock.acquisition.timeout"],
    } == WANTED
    assert all(isinstance(value, str) for table in ("config", "apoc_config") for value in values[table].values())


def test_pods_run_with_few_rights_and_a_password_in_a_file() -> None:
    pods = _pods()
    assert [name for name, _ in pods] == ["jochi-install", "jochi-jobs", "jochi-metrics", "jochi-worker"]
    for name, pod in pods:
        (container,) = pod["containers"]
        assert pod["securityContext"]["runAsNonRoot"] is True, name
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert "env" not in container, name
        assert container["resources"]["limits"]["memory"]
    probes = {name: pod["containers"][0].get("readinessProbe", {}).get("httpGet") for name, pod in pods}
    assert probes["jochi-worker"] == {"path": "/readyz", "port": "metrics"}
    # Prometheus must have it while the pump stands still.
    assert probes["jochi-metrics"] == {"path": "/healthz", "port": "metrics"}


def test_the_kustomization_names_files_that_are_there() -> None:
    kustomization = (OPS / "kubernetes" / "kustomization.yaml").read_text(encoding="utf-8")
    names = re.findall(r"^ +(?:# )?- ([\w-]+\.yaml)$", kustomization, re.MULTILINE)
    files = {path.name for path in (OPS / "kubernetes").glob("*.yaml")} - {"kustomization.yaml", "neo4j-values.yaml"}
    assert set(names) == files


def test_an_image_gets_no_secret_and_what_a_wheel_is_made_of() -> None:
    root = OPS.parent
    lines = (root / ".dockerignore").read_text(encoding="utf-8").splitlines()
    first, *rest = [line for line in lines if line and not line.startswith("#")]
    let_in = {line.removeprefix("!") for line in rest if line.startswith("!")}
    assert first == "*"
    assert not {"ops", ".git", ".venv", ".jochi"} & let_in
    dockerfile = (OPS / "docker" / "Dockerfile").read_text(encoding="utf-8")
    copies = re.findall(r"^COPY (?!--from=build )(.+) \S+$", dockerfile, re.MULTILINE)
    assert {name for line in copies for name in line.split()} == let_in
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    needed = {Path(name).parts[0] for name in (*wheel["packages"], *wheel["force-include"])}
    assert let_in == needed | {"pyproject.toml", project["project"]["readme"], *project["project"]["license-files"]}
