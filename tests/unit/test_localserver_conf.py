"""The configuration a local server starts with."""

from __future__ import annotations

from pathlib import Path

import pytest

from jochi.errors import UsageError
from jochi.jobs.rearm import rearm_key, rearm_line
from jochi.localserver import versions
from jochi.localserver.conf import MB, Configuration, Memory, machine_memory, memory_for, parse_settings
from jochi.localserver.paths import Layout

SMALL = Memory(512 * MB, 256 * MB)


def configuration(settings: dict[str, str] | None = None, *, apoc: bool = True) -> Configuration:
    return Configuration.of(7687, SMALL, apoc=apoc, settings=settings)


@pytest.mark.parametrize(
    ("total_mb", "heap_mb", "cache_mb"),
    [(1024, 512, 256), (4096, 1024, 491), (8192, 2048, 983), (65536, 2048, 1024)],
)
def test_memory_is_a_share_of_the_machine_between_two_limits(total_mb: int, heap_mb: int, cache_mb: int) -> None:
    assert memory_for(total_mb * MB) == Memory(heap_mb * MB, cache_mb * MB)


def test_a_container_limit_below_the_machine_counts(tmp_path: Path) -> None:
    limit = tmp_path / "memory.max"
    limit.write_text(f"{64 * MB}\n")
    assert machine_memory(limit) == 64 * MB
    limit.write_text("max\n")
    assert machine_memory(limit) > 64 * MB
    assert machine_memory(tmp_path / "absent") == machine_memory(limit)


def test_the_defaults_are_loopback_authenticated_and_silent() -> None:
    lines = configuration().neo4j_conf().splitlines()
    assert "server.bolt.listen_address=127.0.0.1:7687" in lines
    assert "server.default_listen_address=127.0.0.1" in lines
    assert "dbms.security.auth_enabled=true" in lines
    assert "server.http.enabled=false" in lines
    assert "dbms.usage_report.enabled=false" in lines
    assert "db.lock.acquisition.timeout=5s" in lines
    assert not [line for line in lines if "unrestricted" in line]


def test_the_apoc_conf_has_the_threads_and_the_rearming_line() -> None:
    lines = configuration().apoc_conf().splitlines()
    assert "apoc.jobs.scheduled.num_threads=4" in lines
    assert f"apoc.initializer.neo4j.01={rearm_line()}" in lines
    assert configuration(apoc=False).apoc == {}


def test_the_rearming_line_is_one_line_that_apoc_conf_takes_literally() -> None:
    assert rearm_line().startswith("MATCH (p:JochiPump) ")
    assert rearm_line().endswith("RETURN count(name) AS armed")
    for taboo in ("\n", "//", "${", "$(", "\\"):
        assert taboo not in rearm_line()
    assert rearm_key("other") == "apoc.initializer.other.01"


def test_settings_replace_add_and_remove() -> None:
    changed = configuration(
        {
            "db.lock.acquisition.timeout": "2s",
            "server.databases.default_to_read_only": "true",
            "apoc.trigger.enabled": "true",
            rearm_key(): "",
        }
    )
    assert changed.neo4j["db.lock.acquisition.timeout"] == "2s"
    assert changed.neo4j["server.databases.default_to_read_only"] == "true"
    assert changed.apoc == {"apoc.jobs.scheduled.num_threads": "4", "apoc.trigger.enabled": "true"}


@pytest.mark.parametrize(
    "key",
    [
        "dbms.security.auth_enabled",
        "server.bolt.listen_address",
        "server.default_listen_address",
        "server.http.enabled",
        "server.directories.data",
    ],
)
def test_what_keeps_it_local_cannot_be_changed(key: str) -> None:
    with pytest.raises(UsageError, match="is fixed"):
        configuration({key: "x"})


@pytest.mark.parametrize(("key", "value"), [("a", "1\nserver.bolt.enabled=x"), ("", "1"), ("a b", "1"), ("a=b", "1")])
def test_a_setting_cannot_smuggle_in_a_second_line(key: str, value: str) -> None:
    with pytest.raises(UsageError, match="can't be a setting"):
        configuration({key: value})


def test_key_value_texts() -> None:
    assert parse_settings(["a=1", " b = x=y ", "c="]) == {"a": "1", "b": "x=y", "c": ""}
    with pytest.raises(UsageError, match="is no setting"):
        parse_settings(["a"])


def test_the_heap_of_the_settings_reaches_the_jvm() -> None:
    def arguments(**settings: str) -> list[str]:
        heap = {f"server.memory.heap.{key}": value for key, value in settings.items()}
        return configuration(heap).java_arguments([Path("/a b/x.jar"), Path("/y.jar")], Path("/logs")).splitlines()

    assert {'"-Xmx512m"', '"-Xms512m"'} <= set(arguments())
    small = arguments(max_size="300m")
    assert '"-Xmx300m"' in small
    assert not [line for line in small if "-Xms" in line]
    assert arguments()[-2:] == ['"-cp"', '"/a b/x.jar:/y.jar"']


def test_apoc_goes_with_the_5_26_line_only() -> None:
    assert versions.apoc_for("5.26.3") == versions.APOC
    assert versions.apoc_for("2026.09.0") is None
    assert len(versions.coordinates("5.26.30")) == 3
    assert len(versions.coordinates("2026.09.0")) == 1


@pytest.mark.parametrize("version", ["5.25.1", "4.4.0", "5.26", "latest", "5.26.30/../x"])
def test_a_version_that_cannot_be_used_is_refused(version: str) -> None:
    with pytest.raises(UsageError):
        versions.parse(version)


@pytest.mark.parametrize("name", ["", "..", "a/b", "A", "-a", "a" * 41])
def test_an_instance_name_cannot_leave_its_folder(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="can't name an instance"):
        Layout.of(name, tmp_path)


def test_the_home_comes_from_the_argument_then_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JOCHI_HOME", str(tmp_path / "env"))
    assert Layout.of("x", tmp_path / "given").root == (tmp_path / "given/servers/x").resolve()
    assert Layout.of("x", None).root == (tmp_path / "env/servers/x").resolve()
