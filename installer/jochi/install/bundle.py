"""`jochi bundle`: what an install brings, as plain files for those who don't let Python near the database (DESIGN §3).

The statements are those of `jochi install`, with their parameters written out. Nothing asks a server: what it can do is given.
Each statement commits by itself, and all can be run again, so that a file that stopped half way is run again from its beginning.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jochi.compile.quoting import At, readable
from jochi.compile.rendering import Procedure, render_for_label, render_statement
from jochi.database.installed import pump_name, watch_name
from jochi.database.server_facts import NEEDED_FOR_JOBS, NEEDED_FOR_PIN, OLDEST_SERVER, ServerFacts
from jochi.database.statements import schema_folder, statement
from jochi.errors import JochiError, UsageError
from jochi.files import write_atomically
from jochi.graph.catalogue import EARLIER, ON_EDGES, RELEASED, named
from jochi.install.holding import HOLD_PUMP
from jochi.install.install import compiled, job_rows, procedure_row, pump_rows, render_checked
from jochi.policy import LoadedPolicy
from jochi.schema.indexes import WAIT_SECONDS, wanted_indexes
from jochi.schema.migrations.chain import node_of
from jochi.schema.migrations.file_text import without_comments
from jochi.schema.migrations.files import MigrationFile, read_folder
from jochi.schema.migrations.lock import lock_name
from jochi.schema.migrations.removing import CHAIN_CONSTRAINTS, CHAIN_INDEX
from jochi.schema.migrations.schema_objects import created_by
from jochi.version import __version__, minor_of

NEWEST = "2026.09"
"""The newest Neo4j that the statements were tried on."""

_LANGUAGE_CHANGED = (2025, 6)
"""From this release on a text says in which Cypher it is (`ServerFacts.language_prefix`)."""
_AWAIT = f"CALL db.awaitIndexes({int(WAIT_SECONDS)})"
_PAGE = 5_000
_NAME = re.compile(r"\$(?:in\.)?([A-Za-z_]\w*)(?:\.(\w+))?")
_BY = "jochi bundle"
_NOW = At("datetime()")


@dataclass(frozen=True)
class Part:
    """One file: ``title`` says what it does; ``notes`` are lines for its head; each of ``statements`` commits by itself."""

    name: str
    title: str
    statements: tuple[str, ...]
    notes: tuple[str, ...] = ()
    schema: bool = False
    """Schema commands: they share no transaction with data."""

    @property
    def body(self) -> str:
        """The statements as the file has them below its head."""
        return "".join(f"\n{text};\n" for text in self.statements)

    @property
    def sha256(self) -> str:
        """Of the statements as they stand there."""
        return hashlib.sha256(self.body.encode()).hexdigest()


@dataclass(frozen=True)
class Bundle:
    """The files of an install, those of an uninstall, and what stands at the head of each."""

    install: tuple[Part, ...]
    uninstall: tuple[Part, ...]
    migrations: tuple[MigrationFile, ...]
    policy: LoadedPolicy
    database: str
    target: str

    @property
    def origin(self) -> str:
        """What made it, and for what, in a sentence."""
        fits = f"{self.target} and the database {self.database}"
        return f"Made by jochi {__version__} with the policy {self.policy.label}, for {fits}."

    def text(self, part: Part) -> str:
        """The file, with its head. The hash is that of the statements."""
        head = (
            f"{part.name}: {part.title}",
            self.origin,
            f"SHA-256 of what follows this head: {part.sha256}",
            *part.notes,
        )
        return "".join(f"// {line}\n" for line in head) + part.body


_RUN_IT = (
    "Run it with cypher-shell, which stops at the first error:",
    "  cypher-shell -a ADDRESS -u USER -d {database} --format plain -f {name}",
    "(it asks for the password), or open it in Neo4j Browser with the multi statement editor on. The file is UTF-8.",
    "If it stops half way, run it again from its beginning: what is done already stays as it is.",
)


def target_facts(release: str, *, apoc: bool = True) -> ServerFacts:
    """What a server of ``release`` (`5.26`, `2025`, `2026.09`) can do that has APOC Core with all that jochi needs, or none.

    Of a year its last release counts. `UsageError` for what is no release, or one before 5.26.
    """
    numbers = [int(part) for part in release.split(".")] if re.fullmatch(r"\d+(\.\d+){0,2}", release) else []
    if numbers and numbers[0] >= 2025 and len(numbers) == 1:
        numbers.append(9 if release == NEWEST.partition(".")[0] else 12)
    if len(numbers) < 2 or (numbers[0], numbers[1]) < OLDEST_SERVER:
        raise UsageError(f"--for {release}: there is no such release, or it is too old", fix="name 5.26, 2025 or 2026")
    callable_names = {"db.index.vector.queryNodes", "dbms.queryJmx"}
    if apoc:
        callable_names |= {*NEEDED_FOR_JOBS, NEEDED_FOR_PIN}
    version = f"{numbers[0]}.{numbers[1]:02d}.0"
    return ServerFacts(
        version,
        "community",
        "of the server" if apoc else None,
        frozenset(callable_names),
        "CYPHER_5",
        None,
        False,
        True,
    )


def bundle(policy: LoadedPolicy, facts: ServerFacts, database: str = "neo4j") -> Bundle:
    """The files for one database on a server that can do ``facts``. `UsageError` or `Refused` for a policy as of an install."""
    procedures = render_checked(policy, facts)
    repeat = _RepeatJobs(database)
    files = read_folder(schema_folder()).files
    new = facts.release >= _LANGUAGE_CHANGED
    return Bundle(
        _install(policy, facts, procedures, repeat, files),
        _uninstall(policy, facts, repeat, files),
        files,
        policy,
        database,
        f"Neo4j {'2025.06 and newer' if new else '5.26 up to 2025.05'} {'with' if facts.can_run_jobs else 'without'} APOC Core",
    )


@dataclass(frozen=True)
class _RepeatJobs:
    database: str

    @property
    def pump(self) -> str:
        return pump_name(self.database)

    @property
    def watch(self) -> str:
        return watch_name(self.database)


def _install(
    policy: LoadedPolicy,
    facts: ServerFacts,
    procedures: dict[str, Procedure],
    repeat: _RepeatJobs,
    files: Sequence[MigrationFile],
) -> tuple[Part, ...]:
    fit = _fit(facts, repeat)
    indexes = wanted_indexes(policy.policy)
    hold = filled(
        statement("install/hold_pump"), {"pump": repeat.pump, "clock": _NOW, "until": At(f"datetime() + {_held()}")}
    )
    engine = [
        fit,
        hold,
        filled(statement("install/no_open_runs"), {"clock": _NOW}),
        *(_stored(procedure_row(each, procedures), about=first) for first, each in _with_first(procedures.values())),
        filled(statement("install/delete_other_procedures"), {"names": sorted(procedures), "version": __version__}),
        filled(
            statement("install/store_policy"),
            {
                "sha256": policy.sha256,
                "name": policy.policy.policy.name,
                "text": policy.text,
                "compiled": compiled(policy),
                "clock": _NOW,
                "off": [name for name, each in policy.policy.derive.items() if not each.deriving],
            },
        ),
        filled(statement("install/store_jobs"), {"jobs": job_rows(policy), "clock": _NOW}),
        filled(render_statement("_jobs/start_slots", policy.policy), {"clock": _NOW}),
        filled(
            statement("install/store_pumps"),
            {
                "pumps": pump_rows(repeat, policy, procedures),
                "pump": repeat.pump,
                "watch": repeat.watch,
                # As it was: the next file arms.
                "armed": At("EXISTS { MATCH (there:JochiPump) WHERE there.armed }"),
                "pinned": None,
                "version": __version__,
                "policy": policy.label,
                "policy_sha256": policy.sha256,
                "verdict_sha256": policy.verdict_sha256,
                "clock": _NOW,
            },
        ),
        filled(statement("install/hold_pump"), {"pump": repeat.pump, "clock": _NOW, "until": None}),
    ]
    parts = [
        Part(
            "01_schema.cypher",
            "constraints and indexes.",
            (
                fit,
                *files_of(files),
                *(
                    filled(index.command, {"options": {"indexConfig": At(_quoted_map(index.config))}})
                    for index in indexes
                ),
                filled(statement("migrations/chain_constraint"), {}),
                filled(statement("migrations/chain_index"), {}),
                filled(statement("migrations/lock_constraint_id"), {}),
                filled(statement("migrations/lock_constraint_name"), {}),
                _AWAIT,
            ),
            (
                "It needs the rights to create constraints, indexes, labels and property names (the role architect has them).",
                "An index that is there under one of these names stays as it is: `jochi doctor` says where it should be another.",
                *_how("01_schema.cypher", repeat),
            ),
            schema=True,
        ),
        Part(
            "02_engine.cypher",
            "procedures, policy, jobs and pumps, as nodes. Nothing runs yet, and nothing is pruned before `jochi apply`.",
            (
                filled(
                    statement("migrations/record_files"),
                    {
                        "lock": {"id": _BY, "name": lock_name(repeat.database)},
                        "migrations": [node_of(file) for file in files],
                        "clock": _NOW,
                        "by": _BY,
                    },
                ),
                *engine,
            ),
            (
                "It needs the right to write (the role publisher has it; the first time it makes new names).",
                "The pump is on hold while it runs, for five minutes at most; of a file that stopped, too.",
                *_how("02_engine.cypher", repeat),
            ),
        ),
    ]
    if facts.can_run_jobs:
        parts.append(
            Part(
                "03_arm.cypher",
                "arms the pump and the watch: from here on the database runs its jobs by itself.",
                (
                    fit,
                    filled(statement("install/arm_wanted"), {"names": [repeat.pump, repeat.watch]}),
                    filled(statement("install/take_off_list"), {"names": [repeat.watch, repeat.pump]}),
                    filled(
                        procedures["scheduler/arm"].sections["body"],
                        {"clock": _NOW, "pump": repeat.pump, "watch": repeat.watch, "pin": None, "ticked": None},
                    ),
                ),
                (
                    "Repeat jobs live in the server's memory and run with the rights of who armed them: run this as the user for",
                    "the engine, again after each change by 02_engine.cypher, and after a restart without the line in",
                    "apoc.conf that docs/how-to/install-on-your-server.md names. Leave it out where `jochi jobs run --due` does",
                    "their work.",
                    *_how("03_arm.cypher", repeat),
                ),
            )
        )
    return tuple(parts)


def _uninstall(
    policy: LoadedPolicy, facts: ServerFacts, repeat: _RepeatJobs, files: Sequence[MigrationFile]
) -> tuple[Part, ...]:
    nodes = At("COLLECT { " + filled(statement("install/release_each"), {"limit": _PAGE}) + "\n}")
    disarm = [filled(statement("install/disarm"), {"names": [repeat.watch, repeat.pump]})] if facts.can_run_jobs else []
    objects = created_by(*files)
    names = [(True, each.name) for each in objects if each.is_constraint]
    names += [(False, each.name) for each in objects if not each.is_constraint]
    names += [(False, index.name) for index in wanted_indexes(policy.policy)]
    return (
        Part(
            "80_uninstall.cypher",
            "brings tombstones back and takes everything of the engine out of the database; the memories stay.",
            (
                _fit(facts, repeat),
                filled(statement("install/may_uninstall"), {}),
                filled(statement("install/stop_pump"), {"pump": repeat.pump, "clock": _NOW}),
                filled(statement("install/no_open_runs"), {"clock": _NOW}),
                *disarm,
                filled(
                    statement("enrol/release"),
                    {"nodes": nodes, "released": RELEASED + EARLIER, "stays": named(mark="stays"), "aside": False},
                ),
                filled(statement("install/released_all"), {}),
                *(
                    filled(render_for_label("_indexes/edge_forget", entry.type), {"names": ON_EDGES})
                    for entry in policy.policy.edges.types
                ),
                filled(statement("install/delete_engine_page"), {"limit": 4 * _PAGE, "none_left": False}),
                filled(statement("install/delete_engine_page"), {"limit": 1, "none_left": True}),
                filled(statement("migrations/delete_recorded"), {"migrations": [node_of(file) for file in files]}),
            ),
            (
                "Back up the database first. Of many memories it takes some thousands a run and then says: run this file again.",
                "Triggers of intake (`jochi engine intake install`) it doesn't know: `jochi engine intake remove` comes before it.",
                "It stops where memories were merged, or a constraint forbids what would come back: `jochi uninstall` can do that.",
                *_how("80_uninstall.cypher", repeat),
            ),
        ),
        Part(
            "81_drop_schema.cypher",
            "drops constraints and indexes, after 80_uninstall.cypher has come to its end.",
            tuple(
                filled(
                    statement(f"migrations/drop_{'constraint' if is_constraint else 'index'}"),
                    {"name": At(f"`{name}`")},
                )
                for is_constraint, name in names
            ),
            _how("81_drop_schema.cypher", repeat),
            schema=True,
        ),
        Part(
            "82_drop_bookkeeping.cypher",
            "drops what neo4j-migrations' bookkeeping needs. Leave it out where an application uses neo4j-migrations here.",
            (
                filled(statement("migrations/no_chain_left"), {}),
                *(
                    filled(statement("migrations/drop_constraint"), {"name": At(f"`{name}`")})
                    for name in CHAIN_CONSTRAINTS
                ),
                filled(statement("migrations/drop_index"), {"name": At(f"`{CHAIN_INDEX}`")}),
            ),
            _how("82_drop_bookkeeping.cypher", repeat),
            schema=True,
        ),
    )


def filled(text: str, parameters: Mapping[str, Any]) -> str:
    """``text`` with values in the place of its parameters, `$name`, `$in.name` or `$map.key`; comments stay as they are.

    ValueError where it asks for one that isn't given.
    """

    def value(found: re.Match[str]) -> str:
        if found[1] not in parameters:
            raise ValueError(f"there is no value for {found[0]} in {text.splitlines()[0]}")
        given = parameters[found[1]]
        if found[2] and isinstance(given, Mapping):
            return readable(given[found[2]])
        return readable(given) + (f".{found[2]}" if found[2] else "")

    lines = text.rstrip().splitlines()
    return "\n".join(line if line.lstrip().startswith("//") else _NAME.sub(value, line) for line in lines)


def _with_first(procedures: Iterable[Procedure]) -> Iterator[tuple[bool, Procedure]]:
    return ((at == 0, each) for at, each in enumerate(procedures))


def _stored(row: Mapping[str, Any], *, about: bool) -> str:
    """Stores one procedure: a statement each, so that none is too long for a server or a reader. ``about``: with the comment."""
    given = {"procedures": [{**row, "checked_on": None}], "version": __version__, "clock": _NOW}
    text = statement("install/store_procedures")
    return filled(text if about else without_comments(text).strip(), given)


def _fit(facts: ServerFacts, repeat: _RepeatJobs) -> str:
    changed = _LANGUAGE_CHANGED[0] * 100 + _LANGUAGE_CHANGED[1]
    oldest = OLDEST_SERVER[0] * 100 + OLDEST_SERVER[1]
    release = (changed, 999_999) if facts.release >= _LANGUAGE_CHANGED else (oldest, changed)
    minor = ".".join(map(str, minor_of(__version__))) + "."
    return filled(
        statement("install/fit_for_files"),
        {
            "database": repeat.database,
            "pump": repeat.pump,
            "minor": minor,
            "release": dict(zip(("from", "below"), release, strict=True)),
        },
    )


def _how(name: str, repeat: _RepeatJobs) -> tuple[str, ...]:
    return tuple(line.format(database=repeat.database, name=name) for line in _RUN_IT)


def _held() -> str:
    return readable(HOLD_PUMP)


def _quoted_map(config: Mapping[str, Any]) -> str:
    """Keys of the server's own, which have dots in them."""
    return "{" + ", ".join(f"`{key}`: {readable(value)}" for key, value in config.items()) + "}"


def _without_end(text: str) -> str:
    return text.rstrip().removesuffix(";")


def plain_files(made: Bundle) -> dict[str, str]:
    """Name and text of each file for cypher-shell and Browser, in the order in which they are run."""
    return {part.name: made.text(part) for part in (*made.install, *made.uninstall)}


def migration_files(made: Bundle) -> dict[str, str]:
    """A folder for neo4j-migrations: Jochi's own migrations as they are, and the rest as callbacks that run after each `migrate`.

    What follows the policy isn't in the chain: a repeatable migration would have to stand behind the schema's, and the next version
    of the schema couldn't come after it any more. So the chain is the one that `jochi install` keeps.
    """
    files = {file.source: file.text for file in made.migrations}
    schema = {*files_of(made.migrations), _AWAIT}
    for part in made.install:
        # The tool keeps its chain and makes its own constraints. A callback is one transaction, and would wait for its own indexes.
        kept = tuple(text for text in part.statements if text not in schema and "__Neo4jMigration" not in text)
        name = f"afterMigrate__{part.name}"
        notes = ("neo4j-migrations runs it after each `migrate`, in a transaction of its own.",)
        files[name] = made.text(Part(name, part.title, kept if part.schema else (_AWAIT, *kept), notes))
    return files


def files_of(migrations: Sequence[MigrationFile]) -> list[str]:
    """The statements of migrations as a bundle has them."""
    return [_without_end(text) for file in migrations for text in file.executable]


def write(folder: Path, files: Mapping[str, str]) -> list[str]:
    """Writes each file whole; the names, in their order. `JochiError` where that can't be done."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise JochiError(
            f"the folder can't be made: {error.strerror}", where=str(folder), fix="name another one"
        ) from None
    for name, text in files.items():
        write_atomically(folder / name, text)
    return list(files)
