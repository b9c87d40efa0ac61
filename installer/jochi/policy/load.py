"""Reads policies: a file, which must be right to the last key, and what a database keeps, which any earlier version wrote.

A database keeps what the author wrote, as TOML; of the shipped policy that is its base alone (DESIGN §17). All else comes from the
code that reads it. Databases of versions before 0.2.0 keep canonical JSON with every default of their version instead.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from jochi.errors import UsageError
from jochi.policy import history
from jochi.policy.model import Policy
from jochi.toml import to_toml, tomllib

DEFAULT = Path(__file__).with_name("default.toml")
"""The policy that Jochi ships."""

SHIPPED = {"default": DEFAULT, "rules": Path(__file__).with_name("rules.toml")}
"""By name the policies that are shipped: what `extends` and `--policy` may name. `rules` is `default` without derivations."""

STORED = Path("(the policy in the database)")

SHIPPED_TEXT = '[policy]\nextends = "default"\n'
"""What a database keeps of the shipped policy: its author wrote nothing but the base. Of `rules` the same with that name."""


@dataclass(frozen=True)
class LoadedPolicy:
    """A checked policy, the file it came from and the hash of what it means (comments and spelling don't count)."""

    policy: Policy
    path: Path
    sha256: str
    """Two texts of one meaning have one hash, and one text has another where a version brings other defaults."""
    text: str = SHIPPED_TEXT
    """What its author wrote, as TOML: what the database keeps."""
    added: tuple[str, ...] = ()
    """Keys, with dots, that the stored policy lacks and this version has: they are as in the shipped one."""
    dropped: tuple[str, ...] = ()
    """Keys of the stored policy that this version doesn't have, each with what to write now: they are ignored."""

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
        """The whole policy, defaults filled in, as JSON: what the hash is taken of.

        The order of kinds and rules is part of it: the first kind and the first rule that fit decide.
        """
        return _canonical(self.policy)


def load_policy(path: Path | None = None) -> LoadedPolicy:
    """The policy in ``path`` (default: the one Jochi ships); `UsageError` with file, line and key if it is wrong.

    A file that says `extends = "default"`, or `"rules"`, is laid over that one: tables are merged, values and lists replaced.
    ``path`` may also be a name of `SHIPPED`, unless there is a file of that name.
    """
    shipped = "default" if path is None else str(path)
    own = shipped not in SHIPPED or (path is not None and path.is_file())
    source = path if own and path is not None else SHIPPED[shipped]
    text = _read(source)
    data = _parse(text, source)
    extends = _extends(data)
    if gone := history.removed_keys(data):
        lines = [f"{_place(source, text, keys)}: {'.'.join(keys)}: {entry.words}" for keys, entry in gone]
        raise UsageError("\n".join(lines), fix=_CHECK)
    try:
        policy = Policy.model_validate(_on_base(data, extends) if extends else data)
    except ValidationError as error:
        missing = any(problem["type"] == "missing" for problem in error.errors())
        raise UsageError(_explain(error, text, source), fix=_CHECK if extends or not missing else _BEGIN) from None
    return _loaded(policy, source, text if own else SHIPPED_TEXT.replace("default", shipped))


def stored_policy(text: str) -> LoadedPolicy:
    """The policy that a database keeps, as this version reads it; `UsageError` if it can't.

    ``text``: TOML, or the canonical JSON of a version before 0.2.0. What this version doesn't have is ignored, and what the author
    of a whole policy couldn't know of is as in the shipped one; `LoadedPolicy.dropped` and `.added` name them.
    """
    if not text.lstrip().startswith("{"):
        return _read_leniently(_parse(text, STORED, "jochi install --policy FILE stores one of yours"), text)
    try:
        data = without_null(json.loads(text))
    except ValueError as error:
        raise UsageError(f"{_UNREADABLE}: {error}", fix=_NAME_ONE) from None
    if not isinstance(data, dict) or not isinstance(data.get("policy"), dict):
        raise UsageError(f"{_UNREADABLE}: it has no table policy", fix=_NAME_ONE)
    shipped = without_null(json.loads(load_policy().canonical))
    own = history.without_removed(history.without_defaults(data, shipped))
    about = data["policy"]
    if _extends(data):
        written = {"policy": {**own.pop("policy", {}), "name": about.get("name"), "extends": "default"}, **own}
    elif about.get("name") == shipped["policy"]["name"] and not own:
        written = _parse(SHIPPED_TEXT, STORED)
    else:
        written = history.without_removed(data)
    found = _read_leniently(written, to_toml(written))
    now = without_null(json.loads(found.canonical))
    gone = {key: f"{key}: {_NO_LONGER_SHIPPED}" for key in _lacking(now, data) if key != "policy.extends"}
    gone |= {".".join(keys): f"{'.'.join(keys)}: {entry.words}" for keys, entry in history.removed_keys(data)}
    return replace(found, added=_lacking(data, now), dropped=tuple(gone.values()))


def without_null(value: Any) -> Any:
    """The value without what is null in its tables: TOML has no word for it."""
    if isinstance(value, dict):
        return {key: without_null(each) for key, each in value.items() if each is not None}
    return [without_null(each) for each in value] if isinstance(value, list) else value


def _read_leniently(written: dict[str, Any], text: str) -> LoadedPolicy:
    """A stored policy: keys that are gone are left out, and settings that are missing taken from the shipped policy."""
    dropped = [f"{'.'.join(keys)}: {entry.words}" for keys, entry in history.removed_keys(written)]
    data = history.without_removed(written)
    if extends := _extends(data):
        data = _on_base(data, extends)
    shipped = _shipped()
    added: list[str] = []
    while True:
        try:
            policy = Policy.model_validate(data)
        except ValidationError as error:
            if not _mend(data, error, shipped, added, dropped):
                what = _explain(error, text, STORED)
                raise UsageError(f"{_UNREADABLE}:\n{what}", fix=_NAME_ONE) from None
        else:
            return replace(_loaded(policy, STORED, text), added=tuple(added), dropped=tuple(dropped))


def _mend(
    data: dict[str, Any], error: ValidationError, shipped: dict[str, Any], added: list[str], dropped: list[str]
) -> bool:
    """Takes unknown keys out of ``data`` and puts missing ones in, as far as they are; whether anything was done."""
    done = False
    for problem in error.errors(include_url=False):
        *way, last = problem["loc"] or ("",)
        table = _at(data, way)
        name = ".".join(str(key) for key in problem["loc"])
        if not isinstance(table, dict):
            continue
        if problem["type"] == "extra_forbidden" and last in table:
            del table[last]
            dropped.append(f"{name}: {_IN_NO_POLICY}")
            done = True
        elif problem["type"] == "missing" and (base := _at(shipped, way)) is not None and last in base:
            table[last] = base[last]
            added.append(name)
            done = True
    return done


def _at(data: Any, way: list[Any]) -> Any:
    for key in way:
        if (isinstance(data, dict) and key in data) or (
            isinstance(data, list) and isinstance(key, int) and key < len(data)
        ):
            data = data[key]
        else:
            return None
    return data


def _lacking(data: dict[str, Any], other: dict[str, Any], way: str = "") -> tuple[str, ...]:
    """The keys with dots that ``other`` has and ``data`` lacks, the widest ones."""
    found: list[str] = []
    for key, value in other.items():
        if key not in data:
            found.append(way + key)
        elif isinstance(value, dict) and isinstance(data[key], dict):
            found += _lacking(data[key], value, f"{way}{key}.")
    return tuple(found)


def _shipped(name: str = "default") -> dict[str, Any]:
    """A shipped policy, a copy of one's own."""
    shipped: dict[str, Any] = tomllib.loads(SHIPPED[name].read_text(encoding="utf-8"))
    base = _extends(shipped)
    return _on_base(shipped, base) if base else shipped


def _extends(data: dict[str, Any]) -> str | None:
    """The name of the shipped policy that ``data`` is to be laid over, if it is."""
    about = data.get("policy")
    name = about.get("extends") if isinstance(about, dict) else None
    return name if isinstance(name, str) and name in SHIPPED else None


def _on_base(data: dict[str, Any], name: str) -> dict[str, Any]:
    """``data`` laid over a shipped policy. What it is laid over is no part of what it means, so `extends` goes."""
    merged = _laid_over(_shipped(name), data)
    del merged["policy"]["extends"]
    return merged


def _loaded(policy: Policy, source: Path, text: str) -> LoadedPolicy:
    return LoadedPolicy(policy, source, hashlib.sha256(_canonical(policy).encode()).hexdigest(), text)


def _canonical(policy: Policy) -> str:
    return json.dumps(policy.model_dump(mode="json", by_alias=True), ensure_ascii=False)


_IN_NO_POLICY = "this version has no such key"
_NO_LONGER_SHIPPED = "the shipped policy no longer has it"
_CHECK = "`jochi policy check FILE` reads a policy again"
_NAME_ONE = "name a policy file: jochi --policy FILE install"
_UNREADABLE = "this version of jochi can't read the policy in the database"
_BEGIN = (
    '`jochi policy show` prints the shipped one; one of your own begins with [policy], name = "…", extends = "default"'
    ' (or "rules", which derives nothing)'
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


def _parse(text: str, source: Path, fix: str | None = None) -> dict[str, Any]:
    try:
        data: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        fix = fix or "put that place right; `jochi policy check FILE` reads the policy again"
        raise UsageError(f"not valid TOML: {error}", where=str(source), fix=fix) from None
    if not data:
        raise UsageError("the policy is empty", where=str(source), fix=fix or _BEGIN)
    if "policy" not in data:
        raise UsageError("the policy has no table [policy]", where=str(source), fix=fix or _BEGIN)
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
    problems = error.errors(include_url=False)
    # Of a base that isn't there nothing was taken: what is missing besides says nothing.
    for problem in [each for each in problems if each["loc"] == ("policy", "extends")] or problems:
        keys = [part for part in problem["loc"] if isinstance(part, str | int)]
        where = _place(source, text, keys)
        message = str(problem["msg"]).removeprefix("Value error, ")
        if problem["type"] == "extra_forbidden":
            message = "there is no such key"
        lines.append(f"{where}: {'.'.join(str(key) for key in keys) or 'policy'}: {message}")
    return "\n".join(lines)


def _place(source: Path, text: str, keys: Sequence[str | int]) -> str:
    line = line_of(text, keys)
    return f"{source}:{line}" if line else str(source)


_HEADER = re.compile(r"\s*(\[\[?)\s*([^\]]+?)\s*\]\]?")
_KEY = re.compile(r"\s*(?:\"([^\"]+)\"|([A-Za-z0-9_-]+))\s*=")


def line_of(text: str, keys: Sequence[str | int]) -> int | None:
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
        if path[:shared] == list(keys[:shared]) and shared > (best[0] if best else 0):
            best = (shared, number)
    return best[1] if best else None
