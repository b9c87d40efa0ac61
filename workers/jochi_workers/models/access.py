"""Addresses and keys of providers, and the silence of the packages that speak to them."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import SecretStr

from jochi.errors import UsageError

OPENAI = "https://api.openai.com/v1"
OPENAI_KEY = "OPENAI_API_KEY"
ANTHROPIC = "https://api.anthropic.com"
ANTHROPIC_KEY = "ANTHROPIC_API_KEY"
HOMES = {"anthropic": (ANTHROPIC, ANTHROPIC_KEY), "openai": (OPENAI, OPENAI_KEY)}
"""By provider: its own endpoint, and the environment variable that its key usually stands in."""


def key_for(url: str, home: str, usual: str, *, variable: str | None, file: Path | None) -> SecretStr | None:
    """The key in an environment variable or a file. Where neither is named, only the provider's own endpoint gets its usual
    variable; any other goes without. `UsageError` if what is named holds none."""
    if variable is None and file is None and at_home(url, home):
        variable = usual
    if file is not None:
        try:
            text = file.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(
                "the key file can't be read", where=str(file), fix="name a text file with the key"
            ) from error
        where = str(file)
    elif variable is not None:
        text, where = os.environ.get(variable, "").strip(), f"environment variable {variable}"
    else:
        return None
    if not text or not text.isascii() or not text.isprintable() or " " in text:
        raise UsageError(
            "there is no key in it" if not text else "what is in it is no key", where=where, fix="put the key there"
        )
    return SecretStr(text)


def at_home(url: str, home: str) -> bool:
    return urlsplit(url).hostname == urlsplit(home).hostname


def checked_url(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError("the endpoint's address must begin with http:// or https://", fix=f"for example {OPENAI}")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise UsageError(
            "the endpoint's address holds a login or a query, which would show up in logs",
            where=parts.hostname,
            fix="give the address alone; the key comes from an environment variable or a file",
        )
    return url.rstrip("/")


def silence(*loggers: str) -> None:
    """At the level DEBUG the vendors' packages log whole requests, and so the memories in them."""
    for name in loggers:
        logging.getLogger(name).setLevel(logging.WARNING)
