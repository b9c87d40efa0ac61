"""What each role of a database may do, as GRANT and DENY statements for Enterprise Edition (docs/reference/rights.md).

Nothing here lists what a role touches: that is read from the texts that the role runs (`rights.toml` says which), so that a
new procedure brings its rights along. Bodies run with the rights of who calls them, and so do jobs with those of who armed them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from typing import Any, Literal

from jochi.compile.quoting import any_name
from jochi.compile.rendering import render_all
from jochi.compile.writes import ENGINE_LABEL, OTHERS, LabelWrites, without_comments_and_strings, writes_by_label
from jochi.database.server_facts import NEEDED_FOR_JOBS, NEEDED_FOR_PIN, ServerFacts
from jochi.database.statements import procedures_folder
from jochi.forgetting.records import BOOKS, ENGINE, ERRORS
from jochi.graph.catalogue import MEMORY, OUR_WORDS
from jochi.policy import Policy
from jochi.toml import beside

Role = Literal["installer", "engine", "app", "auditor", "approver", "forgetter"]

ROLES: Mapping[str, Mapping[str, Any]] = beside(__file__, "rights.toml")

LIVE_AND_DEAD = ("Curated", "Tombstone")
"""What a memory carries beside its kind."""

ADMIN = "apoc.trigger."
"""Procedures that are marked so: calling them needs EXECUTE BOOSTED as well."""

APPROVED = ("JochiPump", "JochiJobRun", "JochiQuota")
"""Where it stands that a person said go. What only the role `approver` writes there nobody else may."""

RUN_BY_SERVER = ("JochiJob", "JochiPump")
"""Nodes that hold what the server runs, with its own rights after a restart: a role writes no property there but those that its
texts name."""

OF_TEXTS = frozenset(
    (
        "CurationSnapshot",
        "JochiTurn",
        "JochiBuffer",
        "JochiSlot",
        "JochiTopicIndex",
        "JochiGuidelines",
        "JochiForgotten",
    )
)
"""The engine's nodes that hold what somebody said, or what tells of it."""

_EVERYTHING = frozenset((*NEEDED_FOR_JOBS, NEEDED_FOR_PIN, "db.index.vector.queryNodes", "dbms.queryJmx"))
_FACTS = ServerFacts("5.26.0", "enterprise", "5.26.0", _EVERYTHING, "CYPHER_5", None, False, True)
"""A server on which the templates leave nothing out."""

_CALL = re.compile(r"\bCALL\s+((?:apoc|db|dbms|tx)(?:\.\w+)+)")
_FUNCTION = re.compile(r"(?<![\w.])(?<!CALL )(apoc(?:\.\w+)+)\s*\(")
_CHANGED = re.compile(r"(?:before|after)_(\w+)")
_DYNAMIC = re.compile(r"\b(SET|REMOVE)\s+(?:[\w.]+\s*=[^,]+,\s*)*\w+:\$\(")
_SHOWS = (
    (re.compile(r"\bSHOW\s+(?:\w+\s+)?INDEX(?:ES)?\b"), "SHOW INDEX ON DATABASE {database}"),
    (re.compile(r"\bSHOW\s+(?:\w+\s+)?CONSTRAINTS?\b"), "SHOW CONSTRAINT ON DATABASE {database}"),
    (re.compile(r"\bSHOW\s+TRANSACTIONS?\b"), "SHOW TRANSACTION (*) ON DATABASE {database}"),
    (re.compile(r"\bTERMINATE\s+TRANSACTIONS?\b"), "TERMINATE TRANSACTION (*) ON DATABASE {database}"),
    (re.compile(r"\bSHOW\s+SETTINGS?\b"), "SHOW SETTING * ON DBMS"),
)
"""What only a privilege of its own lets one see: without it, only one's own is there, or nothing."""


@dataclass
class Touches:
    """What the texts of a role touch beside memories. ``any_label``: labels that are known only when it runs are set or removed."""

    labels: dict[str, LabelWrites] = field(default_factory=dict)
    procedures: set[str] = field(default_factory=set)
    functions: set[str] = field(default_factory=set)
    shows: set[str] = field(default_factory=set)
    any_label: bool = False

    def read(self, text: str) -> None:
        """Adds what ``text`` touches."""
        for label, writes in writes_by_label(text).items():
            self.labels.setdefault(label, LabelWrites()).add(writes)
        bare = without_comments_and_strings(text)
        called = set(_CALL.findall(bare))
        self.procedures |= called
        self.functions |= set(_FUNCTION.findall(bare)) - called
        self.shows |= {privilege for pattern, privilege in _SHOWS if pattern.search(bare)}
        self.any_label |= _DYNAMIC.search(bare) is not None


def names_of(role: str, names: Iterable[str], jobs: Iterable[str] = ()) -> list[str]:
    """Of ``names`` those that the role runs; ``jobs``: names that the scheduler runs."""
    patterns = ROLES[role]["runs"]
    out = [pattern[1:] for pattern in patterns if pattern.startswith("!")]

    def runs(name: str) -> bool:
        wanted = any(fnmatchcase(name, pattern) for pattern in patterns)
        return wanted and not any(fnmatchcase(name, pattern) for pattern in out)

    by_scheduler = frozenset(jobs) if ROLES[role].get("jobs") else frozenset()
    return sorted(name for name in names if runs(name) or name in by_scheduler)


@cache
def statements() -> Mapping[str, str]:
    """The statements that only a client runs, by name, but those of the demonstration and those made for one label."""
    root = procedures_folder()
    files = {file.relative_to(root).with_suffix("").as_posix(): file for file in root.rglob("*.cypher")}
    return {
        name: file.read_text(encoding="utf-8") for name, file in sorted(files.items()) if not name.startswith("demo/")
    }


def texts(policy: Policy) -> tuple[dict[str, list[str]], frozenset[str]]:
    """By name the texts of every procedure and statement, those of the stages that it runs among them; and which the scheduler
    runs."""
    rendered = render_all(policy, _FACTS)

    def whole(name: str, seen: frozenset[str] = frozenset()) -> list[str]:
        procedure = rendered[name]
        inner = [call for call in procedure.calls if call in rendered and call not in seen]
        return [*procedure.sections.values(), *(text for call in inner for text in whole(call, seen | {name}))]

    by_scheduler = frozenset(name for name, each in rendered.items() if each.kind in ("job", "engine", "stage"))
    return {
        **{name: whole(name) for name in rendered},
        **{name: [text] for name, text in statements().items()},
    }, by_scheduler


class Rights:
    """The roles under a policy: its kinds are labels of memories, and its texts are what is run."""

    def __init__(self, policy: Policy) -> None:
        self.memories = (*LIVE_AND_DEAD, *policy.labels())
        self._texts, self._by_scheduler = texts(policy)
        everything = Touches()
        for each in self._texts.values():
            for text in each:
                everything.read(text)
        self._touched = {"installer": everything}
        self.engine_labels = sorted(
            ENGINE | BOOKS | {label for label in everything.labels if ENGINE_LABEL.fullmatch(label)}
        )

    @property
    def names(self) -> list[str]:
        """All procedures and statements."""
        return sorted(self._texts)

    def runs(self, role: str) -> list[str]:
        """What the role runs, by name."""
        return names_of(role, self._texts, self._by_scheduler - {"memory/forget", "memory/forget_clause"})

    def touched(self, role: str) -> Touches:
        """What the role's texts touch."""
        if role not in self._touched:
            touches = Touches()
            for name in self.runs(role):
                for text in self._texts[name]:
                    touches.read(text)
            if role == "forgetter":
                # `forget/scrub` takes what was said out of whatever keeps it.
                for label in ENGINE | BOOKS:
                    writes = LabelWrites(deletes=True, properties={"*"})
                    if label in RUN_BY_SERVER:
                        # These stay, and only a job puts there what may be said of a memory.
                        writes = LabelWrites(properties={*self.touched("engine").labels[label].properties})
                    touches.labels.setdefault(label, LabelWrites()).add(writes)
            # One node may have two of these labels: what is done to it is done to both.
            for label, writes in self._touched["installer"].labels.items():
                for other in writes.beside & touches.labels.keys():
                    both = touches.labels[other]
                    same = LabelWrites(deletes=both.deletes, properties={*both.properties})
                    touches.labels.setdefault(label, LabelWrites()).add(same)
            self._touched[role] = touches
        return self._touched[role]

    def reserved(self, role: str) -> dict[str, list[str]]:
        """By label the properties that say that a person said go, and that the role may not write: only `approver` does."""
        if role == "approver":
            return {}
        found = {}
        for label in APPROVED:
            own, theirs = (self.touched(one).labels.get(label, LabelWrites()) for one in ("engine", "approver"))
            if only := sorted(theirs.properties - own.properties - {"*"}):
                found[label] = only
        return found

    def statements(self, role: str, *, database: str, name: str | None = None) -> list[str]:
        """The statements that make the role, without semicolons; again they change nothing. ``name``: the role's own."""
        to = any_name(name or f"jochi_{role}")
        where = any_name(database)
        made = [f"CREATE ROLE {to} IF NOT EXISTS"]
        made += [f"{privilege} TO {to}" for privilege in self._privileges(role, where)]
        return made

    def revocations(self, role: str, *, database: str, name: str | None = None) -> list[str]:
        """The way back, the last one first. A role with a ``name`` of its own stays."""
        back = [
            re.sub(r"^(GRANT|DENY) (.*) TO (`[^`]+`)$", r"REVOKE \1 \2 FROM \3", text)
            for text in reversed(self.statements(role, database=database, name=name)[1:])
        ]
        return [*back, *([] if name else [f"DROP ROLE {any_name(f'jochi_{role}')} IF EXISTS"])]

    def _privileges(self, role: str, database: str) -> list[str]:
        graph, touched = f"ON GRAPH {database}", self.touched(role)
        found = [f"GRANT ACCESS ON DATABASE {database}"]
        match ROLES[role]["memories"]:
            case "all":
                found[0] = f"GRANT ALL DATABASE PRIVILEGES ON DATABASE {database}"
                found.append(f"GRANT ALL GRAPH PRIVILEGES {graph}")
            case "records":
                found += self._reads_of_records(graph)
            case _:
                found += [f"GRANT MATCH {{*}} {graph} ELEMENTS *", *self._writes(role, graph, database)]
        found += [f"GRANT {show.format(database=database)}" for show in sorted(touched.shows)]
        for names, what in ((touched.procedures, "PROCEDURE"), (touched.functions, "FUNCTION")):
            if names:
                found.append(f"GRANT EXECUTE {what} {', '.join(sorted(names))} ON DBMS")
        if admin := sorted(each for each in touched.procedures if each.startswith(ADMIN)):
            found.append(f"GRANT EXECUTE BOOSTED PROCEDURE {', '.join(admin)} ON DBMS")
        return found

    def _writes(self, role: str, graph: str, database: str) -> list[str]:
        labels = self.touched(role).labels
        others = {label for label in labels if label not in (OTHERS, *self.memories, *self.engine_labels)}

        def of(does: Iterable[str], *, memories: bool = True) -> str:
            named = {*does} - {OTHERS}
            return ", ".join(map(any_name, dict.fromkeys((*(self.memories if memories else ()), *sorted(named)))))

        creates = {label for label, writes in labels.items() if writes.creates}
        deletes = {label for label, writes in labels.items() if writes.deletes}
        sets = {label for label, writes in labels.items() if writes.properties} | others
        put_on = {label for label, writes in labels.items() if writes.is_set and label in self.engine_labels}
        any_label = self.touched(role).any_label
        found = [
            f"GRANT NAME MANAGEMENT ON DATABASE {database}",
            f"GRANT CREATE {graph} NODES {of(creates)}",
            f"GRANT DELETE {graph} NODES {of(deletes, memories=OTHERS in deletes)}",
            f"GRANT SET PROPERTY {{*}} {graph} NODES {of(sets - {*RUN_BY_SERVER})}",
            *(
                f"GRANT SET PROPERTY {{{_listed(labels[label].properties - {'*'})}}} {graph} NODES {any_name(label)}"
                for label in RUN_BY_SERVER
                if label in sets
            ),
            f"GRANT SET LABEL {'*' if any_label else of(put_on)} {graph}",
            f"GRANT REMOVE LABEL {'*' if any_label else of(())} {graph}",
            *(f"GRANT {what} {graph} RELATIONSHIPS *" for what in ("CREATE", "DELETE", "SET PROPERTY {*}")),
        ]
        # A memory's label on a node of the engine's would open it: SET LABEL can't be limited to some nodes.
        for what, may in (("CREATE", creates), ("DELETE", deletes), ("SET PROPERTY {*}", sets)):
            found.append(f"DENY {what} {graph} NODES {self._but(may)}")
        found.append(f"DENY SET LABEL {self._but(put_on)} {graph}")
        found.append(f"DENY REMOVE LABEL {self._but(())} {graph}")
        for label, properties in self.reserved(role).items():
            if label in sets:
                found.append(f"DENY SET PROPERTY {{{_listed(properties)}}} {graph} NODES {any_name(label)}")
        return found

    def _but(self, may: Iterable[str]) -> str:
        return _listed({*self.engine_labels} - {*may})

    def _reads_of_records(self, graph: str) -> list[str]:
        """Everything is found; of memories what is no text is read, of records what isn't quoted from memories."""
        plain = sorted(each.name for each in MEMORY if _says_nothing(each.name, each.type))
        readable = [label for label in self.engine_labels if label not in OF_TEXTS]
        # A record says what stood in a property before and after, under `before_` and `after_` with its name.
        changed = {name for writes in self.touched("installer").labels.values() for name in writes.properties}
        quoted = {"before", "after", *ERRORS} | {
            name for name in changed if (of := _CHANGED.match(name)) and of[1] not in plain
        }
        quoted |= {each.name for each in MEMORY if _tells_of_text(each.name, each.type)} & changed
        return [
            f"GRANT TRAVERSE {graph} ELEMENTS *",
            f"GRANT READ {{{_listed(plain)}}} {graph} NODES {', '.join(map(any_name, self.memories))}",
            f"GRANT READ {{*}} {graph} NODES {_listed(readable)}",
            f"DENY READ {{{_listed(quoted)}}} {graph} NODES {_listed(readable)}",
            f"DENY READ {{*}} {graph} NODES {_listed(OF_TEXTS)}",
        ]


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(any_name, sorted(names)))


def _says_nothing(name: str, type: str) -> bool:
    if _tells_of_text(name, type):
        return False
    return (
        name in ("key", "id", "scope")
        or name in OUR_WORDS
        or type in ("share", "flag", "number", "count", "counts", "moment", "date")
    )


_HASHES = re.compile(r"content_key|\w+_hash(es)?")


def _tells_of_text(name: str, type: str) -> bool:
    """A text can be guessed from its vector, and a guess be proved by its hash."""
    return type == "vector" or _HASHES.fullmatch(name) is not None
