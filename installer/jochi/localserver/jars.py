"""The jars of one Neo4j version: found, fetched once for all instances, and checked before every start.

A manifest per version lists path, size and SHA-256 of each jar. The pinned version's manifest ships with Jochi, so its
files are the ones Jochi was tested with; another version is resolved once with jgo's pure-Python Maven resolver and its
manifest is kept beside the jars. jgo's `build()` isn't used: it writes unfinished downloads under their final name,
swallows network errors below the first level, and fetches a whole JDK to sort jars into modules, which Neo4j does
not need.
"""

from __future__ import annotations

import hashlib
import json
import logging
import shutil
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from jochi.localserver import versions
from jochi.localserver.errors import (
    BrokenDownload,
    Busy,
    DiskFull,
    RegistryUnreachable,
    UnknownVersion,
    disk_full_reported,
    missing_extra,
)
from jochi.localserver.locks import locked
from jochi.localserver.paths import cache_folder
from jochi.localserver.report import Report

if TYPE_CHECKING:
    from jgo.maven import Artifact

    from jochi.localserver.fetch import Repository

DOWNLOAD_BYTES = 300_000_000
"""Free space asked for before a download: the jars are 145 MB, POMs 5 MB, and as much again as a margin."""
_LOCK_SECONDS = 900.0
"""As long as another process may take to download everything over a slow line."""
_PARALLEL = 6
_ENTRY_POINT = "META-INF/services/org.neo4j.server.startup.EntryPoint"


@dataclass(frozen=True)
class Jar:
    """One jar: its path in the repository, its size in bytes, its SHA-256 in hex."""

    path: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """All jars of one version, in class path order, and the class to start."""

    version: str
    apoc: str | None
    main_class: str
    jars: tuple[Jar, ...]


@dataclass(frozen=True)
class Distribution:
    """A version that is complete on disk."""

    version: str
    apoc: str | None
    main_class: str
    class_path: tuple[Path, ...]

    @property
    def plugins(self) -> tuple[Path, ...]:
        """The jars that also belong into the plugins folder."""
        return tuple(path for path in self.class_path if path.name.startswith(("apoc-core-", "apoc-common-")))


def provide(version: str, report: Report, *, free_bytes: Callable[[Path], int] | None = None) -> Distribution:
    """Makes ``version`` complete on disk and returns it; broken or missing jars are fetched again, the rest is kept.

    Needs the network only for what is missing. One process downloads at a time; others wait for it.
    """
    roots = versions.coordinates(version)
    store = cache_folder() / "jars"
    busy = Busy(
        "another process has been downloading Neo4j for a quarter of an hour",
        where=str(store),
        fix="wait for it or end it, then run the same command again",
    )
    waiting = "waiting for another process that downloads Neo4j"
    lock = locked(store / "download.lock", report, _LOCK_SECONDS, waiting=waiting, busy=busy)
    with disk_full_reported(store), lock:
        manifest = _known(store, version)
        if manifest is None:
            _expect_space(store, free_bytes)
            manifest = _resolve(store, version, roots, report)
            _write(store, manifest)
        _repair(store, manifest, report, free_bytes)
    return Distribution(
        manifest.version, manifest.apoc, manifest.main_class, tuple(store / jar.path for jar in manifest.jars)
    )


def broken(store: Path, manifest: Manifest) -> list[tuple[Jar, str]]:
    """The jars of ``manifest`` that are missing or not the listed ones, each with what is wrong. Reads every byte
    (145 MB: 0.1–0.3 s), because a damaged file of the right size fails much later and far away."""
    found = []
    for jar in manifest.jars:
        path = store / jar.path
        if not path.is_file():
            found.append((jar, "missing"))
        elif path.stat().st_size != jar.size:
            found.append((jar, f"{path.stat().st_size} bytes instead of {jar.size}"))
        elif _sha256(path) != jar.sha256:
            found.append((jar, "other content than when it was downloaded"))
    return found


def _repair(store: Path, manifest: Manifest, report: Report, free_bytes: Callable[[Path], int] | None) -> None:
    bad = broken(store, manifest)
    if not bad:
        return
    for jar, why in bad:
        if why != "missing":
            report.say(f"{Path(jar.path).name} is broken ({why}): fetching it again")
            (store / jar.path).unlink()
    if len(bad) > len(manifest.jars) // 2:
        _expect_space(store, free_bytes)
    _fetch_all(_repository(store), [jar.path for jar, _ in bad], report)
    still = broken(store, manifest)
    if still:
        jar, why = still[0]
        raise BrokenDownload(
            f"{Path(jar.path).name} is still not the expected file after a fresh download: {why}",
            where=str(store / jar.path),
            fix="the repository or a proxy serves another file here; name another one in JOCHI_MAVEN_REPOSITORY",
        )


def _known(store: Path, version: str) -> Manifest | None:
    """The manifest that ships with Jochi, else the one kept from an earlier resolution, else None."""
    for path in (Path(__file__).with_name(f"jars-{version}.json"), store / f"jars-{version}.json"):
        try:
            raw = json.loads(path.read_text(encoding="utf-8"))
            jars = tuple(Jar(**jar) for jar in raw.pop("jars"))
            return Manifest(jars=jars, **raw)
        except FileNotFoundError:
            continue
        except (ValueError, TypeError, KeyError):
            # A kept manifest that is unreadable is only a cache: resolve again.
            continue
    return None


def _write(store: Path, manifest: Manifest) -> None:
    path = store / f"jars-{manifest.version}.json"
    part = path.with_suffix(".part")
    part.write_text(json.dumps(asdict(manifest), indent=1) + "\n", encoding="utf-8")
    part.replace(path)


def _repository(store: Path) -> Repository:
    try:
        from jochi.localserver.fetch import Repository
    except ImportError as error:
        raise missing_extra(error) from error
    return Repository(store)


def _resolve(store: Path, version: str, roots: list[tuple[str, str, str]], report: Report) -> Manifest:
    """Walks the dependency graph from ``roots``, fetches all jars and describes them."""
    repository = _repository(store)
    report.doing(f"finding the parts of Neo4j {version} in the Maven repository")
    from jochi.localserver.fetch import NotInRepository

    group, artifact, number = roots[0]
    try:
        repository.fetch(f"{group.replace('.', '/')}/{artifact}/{number}/{artifact}-{number}.pom")
    except NotInRepository:
        raise UnknownVersion(
            f"the Maven repository has no Neo4j {version}",
            where=repository.shown,
            fix=f"try the tested version {versions.NEO4J}, or look up which versions there are",
        ) from None
    try:
        artifacts = _artifacts(repository, roots)
    except ElementTree.ParseError:
        # A damaged POM of an earlier download: remove what doesn't parse and ask again, once.
        _remove_broken_poms(store)
        artifacts = _artifacts(repository, roots)
    paths = list(dict.fromkeys(f"{item.component.path_prefix.as_posix()}/{item.filename}" for item in artifacts))
    _fetch_all(repository, paths, report)
    files = [store / path for path in paths]
    return Manifest(
        version,
        versions.apoc_for(version),
        _main_class(files, version),
        tuple(Jar(path, file.stat().st_size, _sha256(file)) for path, file in zip(paths, files, strict=True)),
    )


def _artifacts(repository: Repository, roots: list[tuple[str, str, str]]) -> list[Artifact]:
    from jgo.maven import MavenContext, PythonResolver
    from jgo.parse import Coordinate

    # jgo tells of optional branches it leaves out through logging; without a handler Python prints that to stderr.
    logging.getLogger("jgo").addHandler(logging.NullHandler())

    class Resolver(PythonResolver):
        """jgo's resolver with whole-or-nothing downloads that report network trouble instead of leaving parts out."""

        def download(self, artifact: Artifact) -> Path | None:
            return repository.fetch(f"{artifact.component.path_prefix.as_posix()}/{artifact.filename}")

    context = MavenContext(
        resolver=Resolver(), repo_cache=repository.folder, local_repos=[], remote_repos={"maven": repository.shown}
    )
    inputs, transitive = context.resolver.resolve(
        [context.create_dependency(Coordinate(*root, scope="compile")) for root in roots]
    )
    return [item.artifact for item in (*inputs, *(t for t in transitive if t.scope in ("compile", "runtime")))]


def _fetch_all(repository: Repository, paths: list[str], report: Report) -> None:
    from jochi.localserver.fetch import NotInRepository

    try:
        with ThreadPoolExecutor(_PARALLEL) as pool:
            for count, _ in enumerate(pool.map(repository.fetch, paths), start=1):
                report.doing(f"downloading Neo4j: {count} of {len(paths)} files")
    except NotInRepository as error:
        raise RegistryUnreachable(
            f"the Maven repository lacks a part of Neo4j: {error}",
            fix="a mirror that is still being filled? try again later or name another one in JOCHI_MAVEN_REPOSITORY",
        ) from None
    finally:
        repository.close()


def _main_class(files: list[Path], version: str) -> str:
    """The class named by the jars themselves: it changed between 5.x and 2026.x (DESIGN §2)."""
    for file in files:
        try:
            with zipfile.ZipFile(file) as jar:
                if _ENTRY_POINT in jar.namelist():
                    text = jar.read(_ENTRY_POINT).decode()
                    return next(line.strip() for line in text.splitlines() if line.strip() and line[0] != "#")
        except zipfile.BadZipFile as error:
            file.unlink()
            raise BrokenDownload(
                "this file is no jar", where=str(file), fix="it was removed: run the same command again"
            ) from error
    raise BrokenDownload(
        f"none of the jars of Neo4j {version} names a class to start",
        fix=f"Jochi can't start this version; use {versions.NEO4J}",
    )


def _remove_broken_poms(store: Path) -> None:
    for pom in store.rglob("*.pom"):
        try:
            ElementTree.parse(pom)
        except ElementTree.ParseError:
            pom.unlink()


def _expect_space(store: Path, free_bytes: Callable[[Path], int] | None) -> None:
    free = (free_bytes or free_space)(store)
    if free < DOWNLOAD_BYTES:
        raise DiskFull(
            f"{free // 1_000_000} MB free, the download needs {DOWNLOAD_BYTES // 1_000_000} MB",
            where=str(store),
            fix="free some space, or name another folder in JOCHI_CACHE",
        )


def free_space(folder: Path) -> int:
    """Free bytes on the disk of ``folder`` (or of its nearest parent that exists)."""
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()
