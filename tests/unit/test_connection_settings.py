"""Which server, as whom: options, environment, the local server."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from pydantic import SecretStr

from jochi.cli import settings as connection
from jochi.cli.settings import ENVIRONMENT, find_settings
from jochi.errors import ConnectionFailed, UsageError

LOCAL = SimpleNamespace(uri="bolt://127.0.0.1:17687", user="neo4j", password=SecretStr("its own"))


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ENVIRONMENT.values():
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(connection, "_local_server", lambda: LOCAL)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "password"
    path.write_text("of the file\n")
    return path


def found(**given: object) -> tuple[str, str, str, bool]:
    settings = find_settings(**given, prompt=False)  # type: ignore[arg-type]
    return settings.uri, settings.user, settings.password.get_secret_value(), settings.from_local_server


def test_the_local_server_with_its_own_user(file: Path) -> None:
    assert found() == (LOCAL.uri, "neo4j", "its own", True)
    assert found(user="neo4j") == (LOCAL.uri, "neo4j", "its own", True)


def test_user_and_password_count_for_the_local_server(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert found(user="ann", password_file=file) == (LOCAL.uri, "ann", "of the file", True)
    assert found(password_file=file) == (LOCAL.uri, "neo4j", "of the file", True)
    with pytest.raises(UsageError, match="the password file can't be read"):
        found(password_file=file.with_name("none"))
    with pytest.raises(UsageError, match=r"no password for ann at bolt://127\.0\.0\.1:17687"):
        found(user="ann")
    monkeypatch.setenv("JOCHI_PASSWORD_FILE", str(file))
    assert found() == (LOCAL.uri, "neo4j", "of the file", True)
    monkeypatch.setenv("JOCHI_USER", "bob")
    assert found() == (LOCAL.uri, "bob", "of the file", True)


def test_an_empty_variable_is_not_set(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ENVIRONMENT.values():
        monkeypatch.setenv(name, "")
    assert found() == (LOCAL.uri, "neo4j", "its own", True)
    monkeypatch.setattr(connection, "_local_server", lambda: None)
    with pytest.raises(ConnectionFailed, match="no database named"):
        found()


@pytest.mark.parametrize(
    "address", ["localhost:7687", "http://localhost:7474", "localhost", "bolt://", "bolt://h:x", "bolt://[h"]
)
def test_what_is_no_address_is_told_before_the_password_is_asked_for(address: str) -> None:
    with pytest.raises(UsageError, match="is not an address of a Neo4j server"):
        found(uri=address)


@pytest.mark.parametrize(
    "address", ["bolt://h", "neo4j://h:7687", "neo4j+s://x.io", "bolt+ssc://[::1]:7687", "NEO4J://h"]
)
def test_an_address(address: str, file: Path) -> None:
    assert found(uri=address, password_file=file) == (address, "neo4j", "of the file", False)
