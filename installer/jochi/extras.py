"""Which extra of the distribution brings which module, by its own metadata: what is missing is named by one sentence."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import metadata

from jochi.errors import JochiError

_IMPORTED_AS = {
    "langgraph": ("langgraph", "langchain_core"),
    "mcp": ("mcp", "mcp_types"),
    "pydantic-ai-slim": ("pydantic_ai",),
    "pyyaml": ("yaml",),
    "requests": ("requests", "urllib3"),
    "text2num": ("text_to_num",),
    "webvtt-py": ("webvtt",),
}
"""Modules of distributions that aren't imported by their own name, or that bring one that we import."""

_REQUIREMENT = re.compile(r"(?P<name>[\w.-]+).*\bextra\s*==\s*['\"](?P<extra>[\w-]+)['\"]")


class MissingExtra(JochiError, ModuleNotFoundError):
    """A package of an extra is not installed."""


def not_installed(module: str, *, where: str | None = None) -> MissingExtra | None:
    """The error for a module of an extra; None for one that no extra brings."""
    extras = extras_of(module)
    if not extras:
        return None
    ways = " or ".join(f"pip install 'jochi[{extra}]'" for extra in extras)
    named = " or ".join(f"[{extra}]" for extra in extras)
    return MissingExtra(
        f"the package {module.partition('.')[0]} of the extra {named} is not installed", where=where, fix=ways
    )


@contextmanager
def extra_named() -> Iterator[None]:
    """Imports go in here: `MissingExtra` where a package of an extra isn't installed."""
    try:
        yield
    except MissingExtra:
        raise
    except ModuleNotFoundError as error:
        missing = not_installed(error.name or "")
        if missing is None:
            raise
        raise missing from error


def extras_of(module: str) -> tuple[str, ...]:
    """The extras that bring the package of ``module``, the smallest first; none for what isn't optional."""
    return modules().get(module.partition(".")[0], ())


@cache
def modules() -> dict[str, tuple[str, ...]]:
    """The top modules of all extras, each with the extras that bring it, the smallest first. Empty where nothing is installed."""
    try:
        requirements = metadata.requires("jochi") or []
    except metadata.PackageNotFoundError:
        return {}
    found = [match for line in requirements if (match := _REQUIREMENT.match(line))]
    size: dict[str, int] = defaultdict(int)
    extras: dict[str, set[str]] = defaultdict(set)
    for match in found:
        size[match["extra"]] += 1
        name = match["name"].lower().replace("_", "-").replace(".", "-")
        for module in _IMPORTED_AS.get(name, (name.replace("-", "_"),)):
            extras[module].add(match["extra"])
    return {module: tuple(sorted(of, key=lambda extra: (size[extra], extra))) for module, of in extras.items()}
