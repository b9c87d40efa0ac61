"""The password of a local server, and the question whether it is ready: a real query with a real login."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from pathlib import Path

import neo4j
from neo4j.exceptions import AuthError, ClientError, DriverError, Neo4jError, TransientError
from pydantic import SecretStr

from jochi.database.statements import statement
from jochi.localserver.errors import OtherInstance, disk_full_reported
from jochi.localserver.running import USER

_FRESH = SecretStr("neo4j")
"""What a fresh server takes once, for nothing but setting the real password."""


@dataclass(frozen=True)
class Ready:
    """What the ready server says about itself."""

    version: str
    apoc: str | None


def ensure_password(path: Path) -> SecretStr:
    """Reads the password file, or generates one that only this user can read (0600)."""
    try:
        return read_password(path)
    except FileNotFoundError:
        pass
    password = secrets.token_urlsafe(24)
    # Written beside and renamed: a start that is killed here leaves no empty password file.
    part = path.with_suffix(".part")
    part.unlink(missing_ok=True)
    with disk_full_reported(path), os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(password + "\n")
    part.replace(path)
    return SecretStr(password)


def read_password(path: Path) -> SecretStr:
    """The password; FileNotFoundError when there is none. An empty file counts as none."""
    text = path.read_text(encoding="utf-8").strip()
    if not text:
        path.unlink()
        raise FileNotFoundError(path)
    return SecretStr(text)


def try_ready(uri: str, password: SecretStr, *, fresh_first: bool, with_apoc: bool, where: str) -> Ready | None:
    """What the server answers, or None while it isn't ready. Sets the password on a server that is fresh.

    ``fresh_first`` says which password to try first: three wrong logins lock the user for five seconds, so the order
    matters. `OtherInstance` when the server takes neither: its data folder knows another password.
    """
    order = (_FRESH, password) if fresh_first else (password, _FRESH)
    for candidate in order:
        try:
            if candidate is _FRESH:
                _set_password(uri, password)
            return _ask(uri, password, with_apoc)
        except AuthError as error:
            if error.code == "Neo.ClientError.Security.AuthenticationRateLimit":
                return None
            continue
        except (DriverError, TransientError):
            return None
        except ClientError as error:
            if error.code == "Neo.ClientError.Statement.SyntaxError" or "ProcedureNotFound" in str(error.code):
                # APOC registers a moment after the port opens.
                return None
            raise
        except Neo4jError:
            return None
    raise OtherInstance(
        "the server refuses the password of this instance: its data was made with another one",
        where=where,
        fix="put the right password into the file named `password` there, or `jochi server reset` deletes the data",
    )


def _set_password(uri: str, password: SecretStr) -> None:
    with _driver(uri, _FRESH) as driver, driver.session(database="system") as session:
        session.run(statement("server/set_first_password"), {"new": password.get_secret_value()}).consume()


def _ask(uri: str, password: SecretStr, with_apoc: bool) -> Ready:
    with _driver(uri, password) as driver, driver.session() as session:
        version = session.run(statement("server/ready")).single(strict=True)["version"]
        apoc = session.run(statement("server/ready_apoc")).single(strict=True)["apoc"] if with_apoc else None
        return Ready(version, apoc)


def _driver(uri: str, password: SecretStr) -> neo4j.Driver:
    return neo4j.GraphDatabase.driver(
        uri,
        auth=(USER, password.get_secret_value()),
        connection_timeout=5,
        connection_acquisition_timeout=5,
        max_transaction_retry_time=0,
    )
