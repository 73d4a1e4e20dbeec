"""The archive of the broker's classes: named for what it was made with, written once, used once it is there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from tripline_demo.embedded import broker_classes, class_archive, kafka
from tripline_demo.embedded.java import Java
from tripline_demo.embedded.kafka import Broker

JAVA = Java(Path("/jdk"), 17, "test")


@pytest.fixture
def jars(tmp_path: Path) -> Path:
    """A folder with one jar."""
    folder = tmp_path / "jars" / "broker"
    folder.mkdir(parents=True)
    (folder / "a.jar").write_bytes(b"1")
    return folder


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What each broker was told, which writes no more than the archive that it was asked for."""
    told = []

    @contextmanager
    def running(
        _java: Java, _jars: Path, _home: Path, *, environment: Mapping[str, str], stop_seconds: float
    ) -> Iterator[None]:
        assert stop_seconds > 0
        yield
        told.append(environment["JAVA_TOOL_OPTIONS"])
        Path(told[-1].rpartition("=")[2]).write_text("classes")

    monkeypatch.setattr(kafka, "running", running)
    return told


def test_a_broker_starts_with_the_archive_once_there_is_one(jars: Path, starts: list[str]) -> None:
    broker = Broker(JAVA, jars, jars.parent / "home", 1, 2)
    assert not any("SharedArchive" in word for word in broker.command())
    file = broker_classes.make(JAVA, jars, {"JAVA_TOOL_OPTIONS": "-Xint"})
    assert file.read_text() == "classes"
    assert starts == [f"-Xint -XX:ArchiveClassesAtExit={file}.new"]
    assert f"-XX:SharedArchiveFile={file}" in broker.command()
    assert broker_classes.make(JAVA, jars, {}) == file
    assert len(starts) == 1


@pytest.mark.usefixtures("starts")
def test_another_jar_makes_another_archive_and_the_old_one_goes(jars: Path) -> None:
    old = broker_classes.make(JAVA, jars, {})
    (jars / "a.jar").write_bytes(b"12")
    assert class_archive.options(JAVA, jars) == []
    new = broker_classes.make(JAVA, jars, {})
    assert new != old
    assert [*new.parent.glob("*.jsa*")] == [new]


def test_a_link_to_the_jars_leads_to_the_same_archive(jars: Path, tmp_path: Path) -> None:
    """As the folders of tests' stacks have one."""
    link = tmp_path / "var" / "jars"
    link.parent.mkdir()
    link.symlink_to(jars.parent, target_is_directory=True)
    assert class_archive.file_for(JAVA, link / "broker") == class_archive.file_for(JAVA, jars)
