"""What the migration verbs answer: plain typed objects; the command line prints them or writes them as JSON."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from enum import Enum

from pydantic import BaseModel, ConfigDict


class _Result(BaseModel):
    model_config = ConfigDict(frozen=True)


class ChainName(str, Enum):
    """A chain by the name that people give it."""

    DEFAULT = "default"
    """The one that neo4j-migrations keeps when it runs with its defaults."""
    JOCHI = "jochi"
    """Jochi's own, beside the default one of an application."""

    @property
    def migration_target(self) -> str | None:
        """The property that its nodes carry; None: they have none."""
        return None if self is ChainName.DEFAULT else self.value


class State(str, Enum):
    """How one migration stands."""

    APPLIED = "APPLIED"
    PENDING = "PENDING"
    CHANGED = "CHANGED"
    """Applied, but the file has another checksum now. For a repeatable one: it runs again."""
    UNKNOWN = "UNKNOWN"
    """Only in the database."""


class Outcome(str, Enum):
    """How the folder and the chain in the database fit together. The first five are neo4j-migrations' words."""

    VALID = "VALID"
    INCOMPLETE_DATABASE = "INCOMPLETE_DATABASE"
    """Some migrations are pending; `apply` is the cure."""
    DIFFERENT_CONTENT = "DIFFERENT_CONTENT"
    """A file was edited after it was applied, or the order does not fit."""
    DUPLICATE_VERSION = "DUPLICATE_VERSION"
    UNDEFINED = "UNDEFINED"
    """The chain is broken: it forks, has several roots or loose ends."""
    FOREIGN_CHAIN = "FOREIGN_CHAIN"
    """The chain belongs to somebody else."""
    NEWER_DATABASE = "NEWER_DATABASE"
    """A newer jochi has migrated this database."""


class Migration(_Result):
    """One migration in a listing: from the file, from the database, or both."""

    version: str
    description: str | None
    source: str
    state: State
    repeatable: bool = False
    file_checksum: str | None = None
    database_checksum: str | None = None
    package: str | None = None
    applied_at: datetime | None = None
    applied_by: str | None = None
    connected_as: str | None = None
    milliseconds: int | None = None


class Lock(_Result):
    """The lock node of neo4j-migrations in this database, as far as its holder wrote down who it is."""

    id: str
    name: str
    package: str | None = None
    host: str | None = None
    user: str | None = None
    pid: int | None = None
    pid_space: str | None = None
    process_start: str | None = None
    at: datetime | None = None


class Listing(_Result):
    """All migrations with their states; ``messages`` say what is wrong and what to do, ``warnings`` what to look at."""

    database: str
    outcome: Outcome
    migrations: tuple[Migration, ...]
    chain: ChainName = ChainName.DEFAULT
    messages: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    lock: Lock | None = None


class Validation(_Result):
    """Whether the database is exactly as the files say."""

    database: str
    outcome: Outcome
    chain: ChainName = ChainName.DEFAULT
    messages: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def valid(self) -> bool:
        """Whether nothing is to be done."""
        return self.outcome is Outcome.VALID


class ApplyOutcome(str, Enum):
    """What `apply` did."""

    APPLIED = "APPLIED"
    NOTHING_TO_DO = "NOTHING_TO_DO"


class AppliedNow(_Result):
    """One migration that this run applied."""

    version: str
    source: str
    statements: int
    milliseconds: int


class ApplyResult(_Result):
    """What `apply` did, and what it noticed."""

    database: str
    outcome: ApplyOutcome
    chain: ChainName = ChainName.DEFAULT
    applied: tuple[AppliedNow, ...] = ()
    messages: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


class RepairOutcome(str, Enum):
    """What `repair` did."""

    REPAIRED = "REPAIRED"
    PLANNED = "PLANNED"
    """Nothing was written: these steps are what it would do."""
    NOTHING_TO_DO = "NOTHING_TO_DO"


class RepairAction(str, Enum):
    """What happens to one node of the chain."""

    REWRITE = "REWRITE"
    """It gets the checksum (and the name and kind) of the file as it is now."""
    REMOVE = "REMOVE"
    """There is no such file."""
    REMOVE_DUPLICATE = "REMOVE_DUPLICATE"
    """The version is recorded more than once; this record goes."""
    INSERT = "INSERT"
    """There is a file and no record, before the last applied one. The file is not run."""
    RELINK = "RELINK"
    """The node stands at a wrong place of the line, or at several."""


class RepairStep(_Result):
    """One step of a repair; ``detail`` says it in words."""

    action: RepairAction
    version: str
    source: str
    detail: str


class RepairResult(_Result):
    """The steps of a repair, done or planned; ``pending`` are the files behind the chain's end, which stay pending."""

    database: str
    outcome: RepairOutcome
    chain: ChainName = ChainName.DEFAULT
    steps: tuple[RepairStep, ...] = ()
    pending: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


class RemoveResult(_Result):
    """What `remove_chain` took away, and what it left with the reason."""

    database: str
    chain: ChainName = ChainName.DEFAULT
    constraints: tuple[str, ...] = ()
    indexes: tuple[str, ...] = ()
    chain_nodes: int = 0
    kept: tuple[str, ...] = ()


class Step(str, Enum):
    """Where a run of `apply` is, for ``on_progress``."""

    WAITING = "WAITING"
    """Somebody else holds the lock."""
    LOCKED = "LOCKED"
    RUNNING = "RUNNING"
    """The statements of a file are about to run."""
    DONE = "DONE"
    """They are committed and not yet recorded."""
    RECORDED = "RECORDED"


class Progress(_Result):
    """One step; ``source`` is the file's name where there is one."""

    step: Step
    source: str | None = None
    message: str = ""


OnProgress = Callable[[Progress], None]
"""Is told each step."""
