"""The archive of Java's classes: written once, named for what it was made with, never half a file."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tripline_engine.spark.query.jvm_class_cache import ClassCache, class_cache_for


@pytest.fixture
def jars(tmp_path: Path) -> Path:
    """A folder with one jar."""
    folder = tmp_path / "jars"
    folder.mkdir()
    (folder / "a.jar").write_bytes(b"1")
    return folder


def archive(tmp_path: Path, jars: Path) -> ClassCache:
    """For a Java that isn't there."""
    return class_cache_for(tmp_path / "cache", jars, {"JAVA_HOME": str(tmp_path / "jdk")})


def a_jvm(archive: ClassCache, text: str) -> subprocess.Popen[bytes]:
    """A process that writes the archive once its standard input is closed."""
    code = f"import sys, pathlib; sys.stdin.read(); pathlib.Path({str(archive.fresh)!r}).write_text({text!r})"
    return subprocess.Popen([sys.executable, "-c", code if text else "pass"], stdin=subprocess.PIPE)


@dataclass
class Gateway:
    """As py4j's: the process is the JVM's."""

    proc: subprocess.Popen[bytes]
    calls: list[str] = field(default_factory=list)

    def shutdown(self) -> None:
        self.calls.append("shutdown")


def test_the_first_start_writes_and_the_next_one_reads(tmp_path: Path, jars: Path) -> None:
    first = archive(tmp_path, jars)
    assert f"-XX:ArchiveClassesAtExit={first.fresh}" in first.options
    gateway = Gateway(a_jvm(first, "classes"))
    first.keep(gateway)
    assert gateway.calls == ["shutdown"]
    assert first.file.read_text() == "classes"
    assert [path.name for path in (tmp_path / "cache").iterdir()] == [first.file.name]
    assert f"-XX:SharedArchiveFile={first.file}" in archive(tmp_path, jars).options


def test_another_jar_makes_another_archive_and_the_old_one_goes(tmp_path: Path, jars: Path) -> None:
    old = archive(tmp_path, jars)
    assert old.options
    old.keep(Gateway(a_jvm(old, "old")))
    (jars / "a.jar").write_bytes(b"12")
    new = archive(tmp_path, jars)
    assert new.file != old.file
    assert "ArchiveClassesAtExit" in new.options
    new.keep(Gateway(a_jvm(new, "new")))
    assert [path.read_text() for path in (tmp_path / "cache").iterdir()] == ["new"]


def test_a_java_that_writes_none_is_no_error(tmp_path: Path, jars: Path) -> None:
    archive_path = archive(tmp_path, jars)
    assert archive_path.options
    archive_path.keep(Gateway(a_jvm(archive_path, "")))
    assert not archive_path.file.exists()
