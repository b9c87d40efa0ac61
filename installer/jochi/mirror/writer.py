"""Brings a folder and the graph together: takes in what people wrote, then writes and deletes files (docs/reference/mirror.md).

What is killed in between loses nothing: each file is the old one or the new one, and the next write mends the rest. The order is:
edits into the graph; new files; what is known of them; files that have to go.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import NamedTuple, Protocol, cast

from jochi.context.edits import Completion, Strike
from jochi.context.writer import EditTarget, Outcome, apply_edit, taking_in
from jochi.errors import JochiError, Refused
from jochi.files import EditedMeanwhileError, mend, read_text
from jochi.mirror import folder as disk
from jochi.mirror.document import Document, digest, parse
from jochi.mirror.edits import edits_of
from jochi.mirror.index import Entry, FileStamp, Index, index_of
from jochi.mirror.kinds import FOLDERS, Memory, base_of, text_of
from jochi.mirror.names import APART

ENDING = ".md"
OVERLAP = timedelta(minutes=10)
"""A write looks at what changed since so long before the last one: what was under way then may have been stored since."""
AT_ONCE = 50
"""Memories that are read and written together."""


Pages = Mapping[str, str | None]
NO_PAGES: Pages = {}


class Changes(NamedTuple):
    """What may have changed since a moment. ``keys``: None where that isn't known; ``marks``: where they differ from those of the
    last write, everything may have (something was forgotten, another policy)."""

    keys: Sequence[str] | None
    marks: tuple[str, ...]


class Source(Protocol):
    """The graph, as the folder sees it: one scope."""

    @property
    def scope(self) -> str: ...

    @property
    def include_sensitive(self) -> bool: ...

    @property
    def now(self) -> datetime: ...

    def changes(self, since: datetime) -> Changes:
        """What may say something else than at ``since``."""

    def pages(self) -> Iterator[Sequence[str]]:
        """The keys of all memories that may have a file."""

    def memories(self, keys: Sequence[str]) -> list[Memory]:
        """Those of them that have a file now."""

    def edit_target(self, document: Document, memory: Memory | None) -> EditTarget:
        """Who takes in what was written into the file of ``memory``; None: it has none any more."""


@dataclass
class WriteResult:
    """``written``, ``removed``: paths of files; ``left``: of files that couldn't be brought up to date, with the reason and what
    to do; ``foreign``: of files that aren't Jochi's; ``whole``: whether all memories were looked at."""

    written: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    taken_in: list[Outcome] = field(default_factory=list)
    left: dict[str, str] = field(default_factory=dict)
    foreign: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    whole: bool = False


@dataclass(frozen=True)
class Difference:
    """What `check` found, as paths. ``missing``: should be there; ``edited``: by people, not yet taken in; ``stale``: not what the
    graph says now; ``foreign``: not Jochi's."""

    files: int
    missing: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()

    @property
    def is_none(self) -> bool:
        """Whether the folder says what the graph says. What is foreign is nobody's business."""
        return not (self.missing or self.edited or self.stale)


def write_mirror(
    folder: Path, source: Source, *, whole: bool = False, strike_many: bool = False, pages: Pages = NO_PAGES
) -> WriteResult:
    """Takes in the edits in ``folder`` and makes its files what the graph says. ``whole``: look at all memories and read all
    files, not what changed.

    `JochiError` where the folder can't be read or written: what is there stays whole, and the next write goes on. `Refused` where
    it holds another scope. ``pages``: files that nobody edits, by path, which are made as a whole; None: there is none.
    """
    root = disk.open_folder(folder, make=True)
    with index_of(root) as index:
        return _Writer(root, source, index, strike_many, whole, pages).run()


def check_mirror(folder: Path, source: Source, *, pages: Pages = NO_PAGES) -> Difference:
    """What differs between the folder and the graph. Writes nothing."""
    root = disk.open_folder(folder, make=False)
    wanted = _wanted(source) | {path: disk.sha256(text) for path, text in pages.items() if text is not None}
    found: dict[str, list[str]] = {"edited": [], "stale": [], "foreign": []}
    ours = 0
    for path, lies in disk.files_in(root, FOLDERS):
        text, document = "", None
        if path in pages:
            if lies is None or path not in wanted or disk.sha256((root / path).read_bytes()) != wanted[path]:
                found["stale"].append(path)
            ours += path in wanted
            wanted.pop(path, None)
            continue
        if lies is not None and path.endswith(ENDING):
            with suppress(JochiError):
                text = read_text(root / path) or ""
                document = parse(text)
        key = document.front.get("key") if document else None
        if document is None or not isinstance(key, str) or "digest" not in document.front:
            found["foreign" if path not in wanted else "edited"].append(path)
        elif document.front["digest"] != digest(document.body):
            found["edited"].append(path)
        elif wanted.get(path) != disk.sha256(text):
            found["stale"].append(path)
        ours += path in wanted
        wanted.pop(path, None)
    lists = {name: tuple(sorted(paths)) for name, paths in found.items()}
    return Difference(files=ours + len(wanted), missing=tuple(sorted(wanted)), **lists)


def _wanted(source: Source) -> dict[str, str]:
    """The paths of all files that there should be, with the hash of each."""
    hashes: dict[str, str] = {}
    members: dict[str, set[str]] = defaultdict(set)
    for page in source.pages():
        for start in range(0, len(page), AT_ONCE):
            for memory in source.memories(page[start : start + AT_ONCE]):
                text = text_of(memory)
                if text is not None:
                    hashes[memory.key] = disk.sha256(text)
                    members[base_of(memory)].add(memory.key)
    return {path: hashes[key] for base, keys in members.items() for key, path in named(base, keys).items()}


def named(base: str, keys: Iterable[str]) -> dict[str, str]:
    """The paths of files that would have one name: one has it, the others besides a part of a hash of their keys."""
    hashes = sorted((disk.sha256(key), key) for key in keys)
    return {key: f"{base}{f'{APART}{hash[-16:]}' if n else ''}{ENDING}" for n, (hash, key) in enumerate(hashes)}


class _File(NamedTuple):
    """A file of ours that was read: its front matter says so."""

    path: str
    document: Document


class _Page(NamedTuple):
    """What should stand in a file. ``base``: its path without its ending where no other has that name."""

    base: str
    text: str


@dataclass
class _Writer:
    root: Path
    source: Source
    index: Index
    strike_many: bool
    thorough: bool
    """Look at all memories and read all files."""
    pages: Pages
    done: WriteResult = field(default_factory=WriteResult)
    again: set[str] = field(default_factory=set)
    """Memories to be looked at, whatever the graph says of them."""
    held: set[str] = field(default_factory=set)
    """Memories whose file is left as it is."""
    lies: dict[str, FileStamp | None] = field(default_factory=dict)
    """All files, and how they lay there when they were looked at."""
    fronts: set[str] = field(default_factory=set)
    """Files of which something else than the text was changed."""
    strays: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Files of ours by key, at paths that the index doesn't have."""
    foreign: dict[str, str] = field(default_factory=dict)
    """Paths of files that aren't ours, by how a file system compares them."""

    def run(self) -> WriteResult:
        scope = self.index.get_value("scope")
        if scope not in (None, self.source.scope):
            self.refuse_scope(scope)
        self.look_at_files()
        marks = [str(self.source.include_sensitive)]
        since = self.index.get_value("since")
        news = self.source.changes(datetime.fromisoformat(since) if since else self.source.now)
        marks += news.marks
        self.done.whole = self.thorough or not since or news.keys is None or self.index.get_value("marks") != marks
        self.index.set_values(scope=self.source.scope)
        self.index.keep()
        if self.done.whole:
            there: set[str] = set()
            for page in self.source.pages():
                there.update(page)
                self.bring(page)
            self.bring([entry.key for entry in self.memories() if entry.key not in there])
            self.bring(sorted(self.strays.keys() - there))
        else:
            self.bring(sorted({*self.again, *(news.keys or ()), *(self.index.get_value("pending") or ())}))
        for path, text in self.pages.items():
            self.page(path, text)
        moment = (self.source.now - OVERLAP).isoformat()
        self.index.set_values(since=moment, marks=marks, pending=sorted(self.held))
        self.index.keep()
        self.done.foreign = sorted(self.foreign.values())
        return self.done

    # ---- What lies there ---------------------------------------------------------------------------------------------

    def look_at_files(self) -> None:
        edited: list[_File] = []
        for path, lies in disk.files_in(self.root, FOLDERS):
            self.lies[path] = lies
            known = self.index.at(path)
            if path in self.pages:
                continue
            if known and known.seen == lies and not self.thorough:
                continue
            file = self.look(path, known)
            if file is not None and file.document.front.get("digest") != digest(file.document.body):
                edited.append(file)
        self.again.update(entry.key for entry in self.memories() if self.lies.get(entry.path) is None)
        for start in range(0, len(edited), AT_ONCE):
            page = edited[start : start + AT_ONCE]
            now = {each.key: each for each in self.source.memories([_key(file) for file in page])}
            for file in page:
                self.take(file, now.get(_key(file)))

    def look(self, path: str, known: Entry | None) -> _File | None:
        """A file that was changed or is new; None for one that isn't ours."""
        if not path.endswith(ENDING) or self.lies[path] is None:
            self.is_foreign(path, known, "it is no plain file any more")
            return None
        try:
            mend(self.root / path)
            self.lies[path] = disk.stamp_of(self.root / path)
            text = read_text(self.root / path) or ""
        except JochiError as error:
            self.is_foreign(path, known, error.what)
            return None
        document = parse(text)
        key = document.front.get("key") if document else None
        if not isinstance(key, str) or "digest" not in (document.front if document else ()):
            if known and not text.strip():  # emptied as a whole, as if it were deleted
                self.again.add(known.key)
                return None
            self.is_foreign(path, known, "its front matter is gone")
            return None
        assert document is not None
        if known is None and key.partition("/")[0] != self.source.scope:
            if self.index.get_value("scope") is None:  # nobody knows whose folder it is but its files
                self.refuse_scope(key.partition("/")[0])
            self.is_foreign(path, known, "")
            return None
        untouched = digest(document.body) == document.front["digest"]
        if known is not None and known.key != key and not untouched:
            self.is_foreign(path, known, f"its front matter speaks of {key}")
            return None
        if known is None or known.key != key:  # what is known is older than the file: the write before was killed
            self.strays[key].add(path)
        if known is not None and untouched and disk.sha256(text) != known.sha256:
            self.fronts.add(path)
        self.again |= {key, known.key if known else key}
        return _File(path, document)

    def is_foreign(self, path: str, known: Entry | None, why: str) -> None:
        self.foreign[disk.folded(path)] = path
        if known is not None:
            self.leave(known.key, path, f"{why}: put it back, or delete the file, which is then made again")

    def take(self, file: _File, memory: Memory | None) -> None:
        """Its edits, if it can be told what they mean; else the file stays as it is."""
        where = str(self.root / file.path)
        try:
            taker = self.source.edit_target(file.document, memory)
            for edit in edits_of(file.document, memory, where, strike_many=self.strike_many):
                subject = edit.key if isinstance(edit, Strike | Completion) else edit.text
                with taking_in(subject, where, "change it, or delete the file: it is made again"):
                    outcome = apply_edit(edit, taker)
                self.done.taken_in.append(outcome)
                self.again.add(outcome.key)
        except Refused as error:
            self.leave(_key(file), file.path, f"{error.what}{f' → {error.fix}' if error.fix else ''}")

    def leave(self, key: str, path: str, why: str) -> None:
        self.held.add(key)
        self.done.left[path] = why

    def refuse_scope(self, scope: str) -> None:
        raise Refused(
            f"the folder holds the files of scope {scope}, not of {self.source.scope}",
            where=str(self.root),
            fix="name another folder: each scope has one of its own",
        )

    # ---- What should lie there -----------------------------------------------------------------------------------------

    def bring(self, keys: Iterable[str]) -> None:
        """The files of these memories, and of others where their names tell them apart."""
        rest = iter(keys)
        while page := list(islice(rest, AT_ONCE)):
            self.bring_page(page)

    def bring_page(self, page: Iterable[str]) -> None:
        made: dict[str, _Page | None] = {}
        further = set(page) - self.held
        # Of memories whose files have one name the others may have to move; and so may those that have the name where they go.
        while further:
            made |= dict.fromkeys(further) | self.made(sorted(further))
            paths = self.paths(made)
            known = (entry for key in paths.keys() - made.keys() if (entry := self.index.of(key)))
            further = {entry.key for entry in known if entry.path != paths[entry.key]} - self.held

        was = {key: entry for key in made if (entry := self.index.of(key))}
        taken = {
            key: (owner := self.index.at(paths[key])) is not None and owner.key != key
            for key, now in made.items()
            if now
        }
        # Whoever leaves a name comes first: its old file is there until its new one is.
        for key in sorted(taken, key=lambda key: (taken[key], key)):
            self.write(key, cast(_Page, made[key]), paths[key])
        self.index.drop(key for key, now in made.items() if now is None)
        self.index.keep()
        for key in made:
            for path in sorted({*([was[key].path] if key in was else []), *self.strays.pop(key, ())}):
                if self.index.at(path) is None and key not in self.held:
                    self.remove(key, path)

    def memories(self) -> list[Entry]:
        """What is known of files of memories: pages have a slash for a key and no scope before it."""
        return [entry for entry in self.index if not entry.key.startswith("/")]

    def page(self, path: str, text: str | None) -> None:
        """One of the pages. It is made anew, whoever changed it."""
        key = f"/{path}"
        known = self.index.of(key)
        if text is None:
            self.index.drop([key])
            if known is not None:
                self.remove(key, path)
            return
        if known is not None and self.lies.get(path) not in (None, known.seen):
            self.fronts.add(path)
        self.write(key, _Page(path, text), path)

    def made(self, keys: list[str]) -> dict[str, _Page | None]:
        """What should stand in their files, of those that have one."""
        found = ((memory, text_of(memory)) for memory in self.source.memories(keys))
        return {memory.key: _Page(base_of(memory), text) for memory, text in found if text is not None}

    def paths(self, made: Mapping[str, _Page | None]) -> dict[str, str]:
        """Of these and of all whose files would have the same name."""
        bases = {now.base for now in made.values() if now}
        bases |= {entry.base for key in made if (entry := self.index.of(key))}
        paths: dict[str, str] = {}
        for base in bases:
            members = {entry.key for entry in self.index.like(base)} - made.keys()
            members |= {key for key, now in made.items() if now and now.base == base}
            paths |= named(base, members)
        return paths

    def write(self, key: str, made: _Page, path: str) -> None:
        """A file, unless it says that already."""
        lies, sha256 = self.lies.get(path), disk.sha256(made.text)
        owner = self.index.at(path)
        if disk.folded(path) in self.foreign or not disk.is_free(self.root, path):
            self.leave(key, path, "something that isn't Jochi's has the name of its file: give that another name")
            return
        if owner is not None and owner.key in self.held:
            self.leave(key, path, f"the file of {owner.key}, which is left as it is, has its name")
            return
        same = (
            owner is not None
            and owner.key == key
            and owner.sha256 == sha256
            and owner.seen == lies
            and not self.thorough
        )
        if not same and lies is not None and lies.size == len(made.text.encode()):
            same = read_text(self.root / path) == made.text
        try:
            if not same:
                lies = disk.put(self.root, path, made.text, lies)
                self.lies[path] = lies
                self.done.written.append(path)
                if path in self.fronts:
                    self.done.notes.append(
                        f"{path}: what was changed there is Jochi's, so it was written anew. Change it in the graph"
                    )
        except EditedMeanwhileError:
            self.leave(key, path, _MEANWHILE)
            return
        assert lies is not None
        self.index.put([Entry(key, made.base, path, lies, sha256)])

    def remove(self, key: str, path: str) -> None:
        """A file that no memory has any more."""
        try:
            if self.lies.get(path) is not None:
                disk.remove(self.root, path, self.lies[path])
                self.lies[path] = None
                self.done.removed.append(path)
        except EditedMeanwhileError:
            self.leave(key, path, _MEANWHILE)


def _key(file: _File) -> str:
    return str(file.document.front["key"])


_MEANWHILE = "somebody changed it while it was to be written: the next write looks at it"
