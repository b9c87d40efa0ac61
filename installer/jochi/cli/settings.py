"""Which database, and as whom: from options, environment or the local server; the password never from the command line."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pydantic import SecretStr

from jochi.database.connection import ConnectionSettings, no_address
from jochi.errors import ConnectionFailed, UsageError

if TYPE_CHECKING:
    from jochi.localserver import Running

ENVIRONMENT = {
    "uri": "JOCHI_URI",
    "user": "JOCHI_USER",
    "password": "JOCHI_PASSWORD",
    "password_file": "JOCHI_PASSWORD_FILE",
    "database": "JOCHI_DATABASE",
    "policy": "JOCHI_POLICY",
}

_SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")


def find_settings(
    uri: str | None = None,
    user: str | None = None,
    password_file: Path | None = None,
    database: str | None = None,
    *,
    prompt: bool = True,
) -> ConnectionSettings:
    """The settings: what is given, else the environment, else the local server if one runs.

    The password comes from ``password_file``, JOCHI_PASSWORD, JOCHI_PASSWORD_FILE or, at a terminal, a prompt; of the local
    server's own user it is known. An empty variable counts as not set.
    """
    name = database or _variable("database")
    address = uri or _variable("uri")
    named = user or _variable("user")
    if address is None:
        running = _local_server()
        if running is None:
            raise ConnectionFailed(
                "no database named, and no local server is running",
                fix="set JOCHI_URI (and JOCHI_USER, JOCHI_PASSWORD_FILE), or start one: `jochi server start`",
            )
        who, password = named or running.user, running.password
        if who != running.user or password_file or _variable("password") or _variable("password_file"):
            password = _password(password_file, who, running.uri, prompt=prompt)
        return ConnectionSettings(running.uri, who, password, name, from_local_server=True)
    _require_address(address)
    who = named or "neo4j"
    return ConnectionSettings(address, who, _password(password_file, who, address, prompt=prompt), name)


def _variable(name: str) -> str | None:
    return os.environ.get(ENVIRONMENT[name]) or None


def _require_address(uri: str) -> None:
    """Before a password is asked for: nobody should type one for an address that is none."""
    try:
        parts = urlsplit(uri)
        _ = parts.port
    except ValueError as error:
        raise no_address(uri, str(error)) from None
    if parts.scheme not in _SCHEMES:
        raise no_address(uri, f"it begins with none of {', '.join(f'{scheme}://' for scheme in _SCHEMES)}")
    if not parts.netloc:
        raise no_address(uri, "it names no host")


def _password(file: Path | None, user: str, address: str, *, prompt: bool) -> SecretStr:
    given = _variable("password")
    named = _variable("password_file")
    if file is None and given is not None:
        return SecretStr(given)
    source = file or (Path(named) if named else None)
    if source is not None:
        try:
            return SecretStr(source.read_text(encoding="utf-8").rstrip("\r\n"))
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"the password file can't be read: {error}", fix="check --password-file") from None
    if prompt and sys.stdin.isatty():
        import typer

        return SecretStr(typer.prompt(f"Password of {user} at {address}", hide_input=True, err=True))
    raise UsageError(
        f"no password for {user} at {address}",
        fix="set JOCHI_PASSWORD_FILE (or JOCHI_PASSWORD), or pass --password-file",
    )


def _local_server() -> Running | None:
    try:
        from jochi.localserver import LocalServer
    except ImportError:  # the extra [server] is not installed
        return None
    server = LocalServer()
    return server.running() if server.status().state == "running" else None
