"""Runs every command of `jochi` where no module of an extra can be imported, but those of the one that is named, and writes what
became of it as JSON."""

from __future__ import annotations

import io
import json
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module, metadata
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any

from jochi.extras import MissingExtra, modules


class Barred(MetaPathFinder):
    """Finds what extras bring, and doesn't have it."""

    def __init__(self, extra: str | None) -> None:
        self.names = modules().keys() - (brought_by(extra) if extra else set())

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name.partition(".")[0] in self.names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


_REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(?:\[(?P<extras>[^]]*)\])?(?:.*\bextra\s*==\s*['\"](?P<of>[\w-]+))?")


def brought_by(extra: str) -> set[str]:
    """The top modules of an extra, and of what its packages need in their turn."""
    found: set[str] = set()
    waiting = [("jochi", frozenset([extra]))]
    while waiting:
        name, extras = waiting.pop()
        try:
            lines = metadata.requires(name) or []
        except metadata.PackageNotFoundError:  # for another system or Python
            continue
        for line in lines:
            match = _REQUIREMENT.match(line)
            assert match
            one = canonical(match["name"])
            if (match["of"] is None or match["of"] in extras) and one not in found:
                found.add(one)
                waiting.append((one, frozenset((match["extras"] or "").split(","))))
    every = metadata.packages_distributions()
    return {module for module, names in every.items() if found & {canonical(name) for name in names}}


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


SERVER = "bolt://127.0.0.1:9"
"""Nobody answers there."""
ARGUMENTS = {
    "import": "PAGE",
    "remember": "text --kind MemoryEntry",
    "ingest": "PAGE",
    "observe": "hello",
    "worker": "--once",
    "memory touch": "default/a",
    "undo": "run/1",
    "forget": "--match text --scope default --yes",
    "recall": "text --provider minilm",
    "explore": "text --provider minilm",
    "memory history": "default user city",
    "supersede": "old new --yes",
    "memory levels": "default/a",
    "memory originals": "default/a",
    "demo": "--report report.html",
    "bundle": "files",
    "grants": "--role engine",
    "uninstall": "--yes",
    "enrol": "Ticket --yes",
    "disenrol": "Ticket --yes",
    "explain": "default/a",
    "memory score": "default/a",
    "approve": "run/1",
    "restore": "default/a",
    "unmerge": "default/a",
    "decompress": "default/a",
    "server start": "--version 1.0",
    "engine procedures show": "curate/plan",
    "jobs run": "curate_due",
    "jobs pause": "curate_due",
    "jobs resume": "curate_due",
    "runs show": "run/1",
    "plan show": "1",
    "plan exclude": "1 default/a",
    "plan apply": "1",
    "policy check": "POLICY",
    "tokens count": "PAGE",
    "derive want": "compress default/a",
    "derive show": "compress",
    "derive try": "compress default/a",
    "context migrate": "PAGE",
    "mirror write": "--out out",
    "mirror rebuild": "--out out",
    "mirror check": "--out out",
    "heartbeat add": "daily --definition text",
    "heartbeat due": "--agent ann",
    "heartbeat load": "a",
    "heartbeat done": "a --token t",
    "heartbeat failed": "a --token t",
    "heartbeat pause": "a",
    "heartbeat resume": "a",
    "heartbeat migrate": "PAGE",
    "sources show": "default/a",
    "sources take": "default/a --scope default",
    "actions add": "click done",
    "receipts export": "receipts.json",
    "receipts import": "PAGE",
}
"""What a command needs to come as far as it can; PAGE and POLICY are files."""
API = ("jochi_models", "jochi.store.langgraph", "jochi_workers.judge", "jochi_workers.worker")


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[str]:
    """Every command that does something by itself, each by its present name."""
    if command.hidden:
        return
    if not hasattr(command, "commands") or command.invoke_without_command:
        yield " ".join(path)
    for name, below in getattr(command, "commands", {}).items():
        yield from commands(below, (*path, name))


def extras_in(error: BaseException | None) -> list[str]:
    return re.findall(r"jochi\[(\w+)\]", str(error))


def run(tree: Any, *arguments: str) -> tuple[BaseException | None, str]:
    """What ended it, and what it wrote. The tree is built once: that is what takes long."""
    written = io.StringIO()
    try:
        with redirect_stdout(written), redirect_stderr(written):
            tree.main(list(arguments), prog_name="jochi")
    except BaseException as error:
        return error, written.getvalue()
    return None, written.getvalue()


def main() -> None:
    sys.meta_path.insert(0, Barred(sys.argv[1] if sys.argv[1:] else None))
    sys.stdin = io.StringIO()
    from neo4j.exceptions import DriverError, Neo4jError
    from typer.main import get_command

    from jochi.cli.app import app
    from jochi.errors import JochiError

    page, policy = Path("page.md"), Path("policy.toml")
    page.write_text("---\ntitle: a page\n---\n\nSome words.\n", encoding="utf-8")
    policy.write_text("", encoding="utf-8")
    tree = get_command(app)
    every = [name for name in commands(tree) if name]
    odd = dict.fromkeys(ARGUMENTS.keys() - set(every), "there is no such command")
    missing, api = {}, {}
    for name in every:
        ended, written = run(tree, *name.split(), "--help")
        if not isinstance(ended, SystemExit) or ended.code != 0:
            odd[name] = f"--help: {ended!r} {written}"
        given = ARGUMENTS.get(name, "").replace("PAGE", str(page)).replace("POLICY", str(policy)).split()
        ended, written = run(tree, "--uri", SERVER, *name.split(), *given)
        if extras := extras_in(ended):
            missing[name] = extras
        elif isinstance(ended, SystemExit) and ended.code == 2:
            odd[name] = written
        elif not isinstance(ended, (JochiError, DriverError, Neo4jError, SystemExit, type(None))):
            odd[name] = repr(ended)
    for name in API:
        try:
            import_module(name)
        except MissingExtra as error:
            api[name] = extras_in(error)
    sys.stdout.write(json.dumps({"commands": len(every), "odd": odd, "missing": missing, "api": api}))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
