"""Downloads against a small real Maven repository over HTTP: whole, broken, missing, unreachable."""

from __future__ import annotations

import hashlib
import io
import json
import threading
import zipfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from jochi.localserver import jars
from jochi.localserver.errors import BrokenDownload, DiskFull, RegistryUnreachable, UnknownVersion
from jochi.localserver.fetch import NotInRepository, Repository

VERSION = "5.26.99"
ROOT = f"org/neo4j/neo4j/{VERSION}/neo4j-{VERSION}"
APOC = "org/neo4j/procedure/apoc-core/5.26.19/apoc-core-5.26.19"
PART = "org/example/part/1.0/part-1.0"
DEEP = "org/example/deep/2.0/deep-2.0"


def pom(group: str, artifact: str, version: str, *needs: tuple[str, str, str]) -> bytes:
    dependencies = "".join(
        f"<dependency><groupId>{g}</groupId><artifactId>{a}</artifactId><version>{v}</version></dependency>"
        for g, a, v in needs
    )
    return (
        f"<project><modelVersion>4.0.0</modelVersion><groupId>{group}</groupId><artifactId>{artifact}</artifactId>"
        f"<version>{version}</version><dependencies>{dependencies}</dependencies></project>"
    ).encode()


def jar(**files: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return buffer.getvalue()


class Maven:
    """A Maven repository with a fault per path: a status, or `truncate`, or `wrong sha1`."""

    def __init__(self) -> None:
        entry = {"META-INF/services/org.neo4j.server.startup.EntryPoint": "# who\norg.example.Main\n"}
        self.files = {
            f"{ROOT}.pom": pom("org.neo4j", "neo4j", VERSION, ("org.example", "part", "1.0")),
            f"{ROOT}.jar": jar(**entry),
            f"{PART}.pom": pom("org.example", "part", "1.0", ("org.example", "deep", "2.0")),
            f"{PART}.jar": jar(part="p" * 999),
            f"{DEEP}.pom": pom("org.example", "deep", "2.0"),
            f"{DEEP}.jar": jar(deep="d" * 999),
        }
        for name in ("apoc-core", "apoc-common"):
            path = f"org/neo4j/procedure/{name}/5.26.19/{name}-5.26.19"
            self.files[f"{path}.pom"] = pom("org.neo4j.procedure", name, "5.26.19")
            self.files[f"{path}.jar"] = jar(name=name)
        self.faults: dict[str, int | str] = {}
        self.asked: Counter[str] = Counter()
        maven = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                path = self.path.lstrip("/")
                maven.asked[path] += 1
                body = maven.body(path)
                fault = maven.faults.get(path)
                if isinstance(fault, int):
                    self.send_error(fault)
                elif body is None:
                    self.send_error(404)
                else:
                    self.send_response(200)
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body[: len(body) // 2] if fault == "truncate" else body)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    def body(self, path: str) -> bytes | None:
        if path.endswith(".sha1"):
            of = self.files.get(path.removesuffix(".sha1"))
            if of is None:
                return None
            digest = hashlib.sha1(of).hexdigest()
            return (digest[::-1] if self.faults.get(path) == "wrong sha1" else digest + "  x.jar").encode()
        return self.files.get(path)

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


class Notes:
    def __init__(self) -> None:
        self.said: list[str] = []

    def say(self, text: str) -> None:
        self.said.append(text)

    def doing(self, text: str) -> None:
        pass


@pytest.fixture
def maven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Maven]:
    repository = Maven()
    monkeypatch.setenv("JOCHI_MAVEN_REPOSITORY", repository.url)
    monkeypatch.setenv("JOCHI_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    yield repository
    repository.close()


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "jars"


@pytest.fixture
def repository(maven: Maven, tmp_path: Path) -> Iterator[Repository]:
    made = Repository(tmp_path / "files")
    yield made
    made.close()


def test_a_whole_file_arrives_and_is_not_fetched_twice(maven: Maven, repository: Repository) -> None:
    assert repository.fetch(f"{PART}.jar").read_bytes() == maven.files[f"{PART}.jar"]
    repository.fetch(f"{PART}.jar")
    assert maven.asked[f"{PART}.jar"] == 1


@pytest.mark.parametrize(
    ("path", "fault", "error"),
    [
        (f"{PART}.jar", "truncate", BrokenDownload),
        (f"{PART}.jar.sha1", "wrong sha1", BrokenDownload),
        (f"{PART}.jar", 404, NotInRepository),
        (f"{PART}.jar", 403, RegistryUnreachable),
        (f"{PART}.jar.sha1", 407, RegistryUnreachable),
    ],
)
def test_a_faulty_download_is_an_error_and_leaves_no_file(
    maven: Maven, repository: Repository, path: str, fault: int | str, error: type[Exception]
) -> None:
    maven.faults[path] = fault
    with pytest.raises(error):
        repository.fetch(f"{PART}.jar")
    assert not [file for file in repository.folder.rglob("*") if file.is_file()]
    maven.faults.clear()
    assert repository.fetch(f"{PART}.jar").is_file()


def test_a_mirror_without_checksums_is_accepted(maven: Maven, repository: Repository) -> None:
    maven.faults[f"{PART}.jar.sha1"] = 404
    assert repository.fetch(f"{PART}.jar").is_file()


def test_a_login_page_instead_of_a_pom_is_refused(maven: Maven, repository: Repository) -> None:
    maven.files[f"{PART}.pom"] = b"<html><br>Please log in"
    with pytest.raises(BrokenDownload, match="is no XML"):
        repository.fetch(f"{PART}.pom")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_disk_that_runs_full_while_writing_is_named(repository: Repository) -> None:
    part = repository.folder / f"{PART}.jar.part"
    part.parent.mkdir(parents=True)
    part.symlink_to("/dev/full")
    with pytest.raises(DiskFull, match="no space left"):
        repository.fetch(f"{PART}.jar")
    assert not part.is_symlink()


def test_an_unreachable_repository_is_named_without_its_password(tmp_path: Path) -> None:
    repository = Repository(tmp_path, "http://user:s3cret@127.0.0.1:9/maven")
    with pytest.raises(RegistryUnreachable, match=r"http://127\.0\.0\.1:9/maven") as caught:
        repository.fetch("x/y")
    repository.close()
    chain = [caught.value, caught.value.__cause__]
    assert "s3cret" not in "".join(f"{error}{error!r}" for error in chain)
    assert caught.value.__suppress_context__
    assert caught.value.fix is not None
    assert "HTTPS_PROXY" in caught.value.fix


def test_a_version_is_resolved_to_all_its_jars(maven: Maven, store: Path) -> None:
    found = jars.provide(VERSION, Notes())
    assert found.main_class == "org.example.Main"
    assert found.apoc == "5.26.19"
    assert {path.name for path in found.class_path} == {
        Path(name).name for name in maven.files if name.endswith(".jar")
    }
    assert {path.name for path in found.plugins} == {"apoc-core-5.26.19.jar", "apoc-common-5.26.19.jar"}
    maven.close()
    assert jars.provide(VERSION, Notes()) == found


@pytest.mark.parametrize("damage", ["truncated", "same size", "gone"])
def test_a_damaged_jar_is_named_and_fetched_again_and_only_that_one(maven: Maven, store: Path, damage: str) -> None:
    jars.provide(VERSION, Notes())
    path = store / f"{PART}.jar"
    good = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(good[:99] if damage == "truncated" else bytes(reversed(good)))
    maven.asked.clear()
    notes = Notes()
    jars.provide(VERSION, notes)
    assert path.read_bytes() == good
    assert set(maven.asked) == {f"{PART}.jar", f"{PART}.jar.sha1"}
    assert ["part-1.0.jar is broken" in line for line in notes.said] == ([] if damage == "gone" else [True])


def test_a_jar_that_comes_back_different_is_refused(maven: Maven, store: Path) -> None:
    jars.provide(VERSION, Notes())
    (store / f"{PART}.jar").unlink()
    maven.files[f"{PART}.jar"] = jar(part="something else")
    with pytest.raises(BrokenDownload, match=r"part-1\.0\.jar is still not the expected file"):
        jars.provide(VERSION, Notes())


def test_a_download_broken_off_in_the_middle_goes_on_where_it_was(maven: Maven) -> None:
    maven.faults[f"{DEEP}.jar"] = "truncate"
    with pytest.raises(BrokenDownload):
        jars.provide(VERSION, Notes())
    maven.faults.clear()
    maven.asked.clear()
    jars.provide(VERSION, Notes())
    assert maven.asked[f"{DEEP}.jar"] == 1
    assert maven.asked[f"{ROOT}.jar"] == 0


def test_trouble_below_the_first_level_is_an_error_and_not_a_shorter_class_path(maven: Maven) -> None:
    maven.faults[f"{DEEP}.pom"] = 403
    with pytest.raises(RegistryUnreachable, match="403"):
        jars.provide(VERSION, Notes())


def test_a_damaged_pom_of_an_earlier_download_is_replaced(maven: Maven, store: Path) -> None:
    jars.provide(VERSION, Notes())
    (store / f"jars-{VERSION}.json").unlink()
    (store / f"{PART}.pom").write_text("<project><half")
    assert len(jars.provide(VERSION, Notes()).class_path) == 5


def test_an_unreadable_manifest_is_made_again(maven: Maven, store: Path) -> None:
    jars.provide(VERSION, Notes())
    (store / f"jars-{VERSION}.json").write_text("{")
    jars.provide(VERSION, Notes())
    assert json.loads((store / f"jars-{VERSION}.json").read_text())["version"] == VERSION


def test_an_unknown_version_is_named(maven: Maven) -> None:
    with pytest.raises(UnknownVersion, match=r"no Neo4j 5\.26\.98"):
        jars.provide("5.26.98", Notes())


def test_too_little_space_is_noticed_before_the_download(maven: Maven) -> None:
    with pytest.raises(DiskFull, match="299 MB free, the download needs 300 MB"):
        jars.provide(VERSION, Notes(), free_bytes=lambda _: jars.DOWNLOAD_BYTES - 1_000_000)
    assert not maven.asked
    jars.provide(VERSION, Notes(), free_bytes=lambda _: jars.DOWNLOAD_BYTES)


def test_two_downloads_at_once_fetch_everything_once(maven: Maven) -> None:
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda _: jars.provide(VERSION, Notes()), range(2))
    assert first == second
    assert {path: count for path, count in maven.asked.items() if count != 1} == {}


def test_the_pinned_manifest_ships_with_the_package() -> None:
    shipped = json.loads((Path(jars.__file__).with_name("jars-5.26.30.json")).read_text())
    assert shipped["main_class"] == "org.neo4j.server.CommunityEntryPoint"
    assert len(shipped["jars"]) == len({jar["path"] for jar in shipped["jars"]}) > 200
    assert all(len(jar["sha256"]) == 64 and jar["size"] > 0 for jar in shipped["jars"])
