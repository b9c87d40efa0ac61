"""Reads a policy file and says where exactly it is wrong: file, line and key."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from jochi.errors import UsageError
from jochi.policy.model import Policy
from jochi.toml import tomllib

DEFAULT = Path(__file__).with_name("default.toml")
"""The policy that Jochi ships."""


@dataclass(frozen=True)
class LoadedPolicy:
    """A checked policy, the file it came from and the hash of what it means (comments and spelling don't count)."""

    policy: Policy
    path: Path
    sha256: str

    @property
    def verdict_sha256(self) -> str:
        """The hash of what decides over memories (`Policy.verdict_parts`)."""
        return hashlib.sha256(json.dumps(self.policy.verdict_parts()).encode()).hexdigest()

    @property
    def label(self) -> str:
        """Name and short hash, as runs and audits carry it."""
        return f"{self.policy.policy.name}@{self.sha256[:12]}"

    @property
    def canonical(self) -> str:
        """The whole policy, defaults filled in, as JSON: what the hash is taken of and what the database keeps.

        The order of kinds and rules is part of it: the first kind and the first rule that fit decide.
        """
        return _canonical(self.policy)


def load_policy(path: Path | None = None) -> LoadedPolicy:
    """The policy in ``path`` (default: the one Jochi ships); `UsageError` with file, line and key if it is wrong.

    A file that says `extends = "default"` is laid over the shipped one: tables are merged, values and lists replaced.
    """
    source = path or DEFAULT
    text = _read(source)
    data = _parse(text, source)
    about = data.get("policy")
    extends = isinstance(about, dict) and about.get("extends") == "default"
    if extends:
        data = _laid_over(tomllib.loads(DEFAULT.read_text(encoding="utf-8")), data)
    try:
        policy = Policy.model_validate(data)
    except ValidationError as error:
        missing = any(problem["type"] == "missing" for problem in error.errors())
        fix = "`jochi policy check FILE` reads a policy again" if extends or not missing else _BEGIN
        raise UsageError(_explain(error, text, source), fix=fix) from None
    return LoadedPolicy(policy, source, hashlib.sha256(_canonical(policy).encode()).hexdigest())


def stored_policy(text: str) -> LoadedPolicy:
    """The policy that a database holds as canonical JSON; `UsageError` if this version can't read it."""
    source = Path("(the policy in the database)")
    try:
        policy = Policy.model_validate(json.loads(text))
    except (ValidationError, ValueError) as error:
        raise UsageError(
            f"this version of jochi can't read the policy in the database: {error}",
            fix="name a policy file: --policy FILE",
        ) from None
    return LoadedPolicy(policy, source, hashlib.sha256(_canonical(policy).encode()).hexdigest())


def _canonical(policy: Policy) -> str:
    return json.dumps(policy.model_dump(mode="json", by_alias=True), ensure_ascii=False)


_BEGIN = (
    '`jochi policy show` prints the shipped one; one of your own begins with [policy], name = "…", extends = "default"'
)


def _read(source: Path) -> str:
    try:
        return source.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UsageError(
            "there is no such policy file", where=str(source), fix=f"name another file; {_BEGIN}"
        ) from None
    except UnicodeDecodeError as error:
        what = f"the policy can't be read: byte {error.start} is no UTF-8"
        raise UsageError(what, where=str(source), fix="save the file as UTF-8") from None
    except OSError as error:
        what = f"the policy can't be read: {error.strerror or error}"
        fix = "name the file in it" if source.is_dir() else "name a file that you may read"
        raise UsageError(what, where=str(source), fix=fix) from None


def _parse(text: str, source: Path) -> dict[str, Any]:
    try:
        data: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        fix = "put that place right; `jochi policy check FILE` reads the policy again"
        raise UsageError(f"not valid TOML: {error}", where=str(source), fix=fix) from None
    if not data:
        raise UsageError("the policy is empty", where=str(source), fix=_BEGIN)
    if "policy" not in data:
        raise UsageError("the policy has no table [policy]", where=str(source), fix=_BEGIN)
    return data


def _laid_over(base: dict[str, Any], top: dict[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in top.items():
        below = merged.get(key)
        merged[key] = _laid_over(below, value) if isinstance(below, dict) and isinstance(value, dict) else value
    for one, other in (("every", "at"), ("at", "every")):
        if one in top and other not in top and other in base and "procedure" in base:
            del merged[other]  # a job's slot takes the place of its interval, and the other way round
    return merged


def _explain(error: ValidationError, text: str, source: Path) -> str:
    lines = []
    for problem in error.errors(include_url=False):
        keys = [part for part in problem["loc"] if isinstance(part, str | int)]
        line = line_of(text, keys)
        where = f"{source}:{line}" if line else str(source)
        message = str(problem["msg"]).removeprefix("Value error, ")
        if problem["type"] == "extra_forbidden":
            message = "there is no such key"
        lines.append(f"{where}: {'.'.join(str(key) for key in keys) or 'policy'}: {message}")
    return "\n".join(lines)


_HEADER = re.compile(r"\s*(\[\[?)\s*([^\]]+?)\s*\]\]?")
_KEY = re.compile(r"\s*(?:\"([^\"]+)\"|([A-Za-z0-9_-]+))\s*=")


def line_of(text: str, keys: list[str | int]) -> int | None:
    """The line (from 1) on which the value at ``keys`` stands, or else its closest table; None if it isn't there.

    tomllib gives no positions. This reads table headers and the first key of each line, which is how policies are
    written; a key inside an inline table is reported at the line of that table, and a table that only headers of
    tables in it name at the first of these.
    """
    table: list[str | int] = []
    arrays: dict[str, int] = {}
    best: tuple[int, int] | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        header = _HEADER.match(line)
        if header:
            name = header[2].replace('"', "").replace(" ", "")
            table = list(name.split("."))
            if header[1] == "[[":
                arrays[name] = arrays.get(name, -1) + 1
                table.append(arrays[name])
            path = table
        else:
            key = _KEY.match(line)
            if not key:
                continue
            path = [*table, key[1] or key[2]]
        shared = min(len(path), len(keys))
        if path[:shared] == keys[:shared] and shared > (best[0] if best else 0):
            best = (shared, number)
    return best[1] if best else None
