"""The jars are exactly those of the committed list, or they are refused."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tripline_demo.embedded import checksums, jars
from tripline_demo.embedded.java import Java
from tripline_demo.errors import JarsUnavailable


def write_jar(folder: Path, name: str, content: bytes) -> str:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)
    return hashlib.sha256(content).hexdigest()


def test_what_is_written_is_what_is_read(tmp_path: Path) -> None:
    checksums_ = {"engine/b.jar": "b" * 64, "broker/a.jar": "a" * 64}
    checksums.save(tmp_path / "list", checksums_)
    assert checksums.load(tmp_path / "list") == checksums_
    assert (tmp_path / "list").read_text().splitlines()[0] == f"{'a' * 64}  broker/a.jar"


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    (tmp_path / "list").write_text(f"{'a' * 64}  broker/a.jar\nnonsense\n")
    with pytest.raises(JarsUnavailable, match="line 2"):
        checksums.load(tmp_path / "list")


def test_every_kind_of_difference_is_found(tmp_path: Path) -> None:
    same = write_jar(tmp_path, "engine/same.jar", b"same")
    write_jar(tmp_path, "engine/changed.jar", b"changed")
    write_jar(tmp_path, "broker/extra.jar", b"extra")
    expected = {"engine/same.jar": same, "engine/changed.jar": "0" * 64, "broker/gone.jar": "1" * 64}
    problems = checksums.differences(expected, checksums.compute(tmp_path))
    assert [problem.split()[0] for problem in problems] == [
        "broker/gone.jar",
        "broker/extra.jar",
        "engine/changed.jar",
    ]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout whose list names one jar."""
    root = tmp_path / "checkout"
    root.mkdir()
    checksums.save(root / "jars.sha256", {"engine/one.jar": hashlib.sha256(b"one").hexdigest()})
    return root


NO_JAVA = Java(Path("/nowhere"), 17, "test")


def test_right_jars_need_no_resolver(tmp_path: Path, checkout: Path) -> None:
    write_jar(tmp_path / "var" / "jars", "engine/one.jar", b"one")
    classpath = jars.ensure(checkout, tmp_path / "var", NO_JAVA)  # that Java could not run anything
    assert classpath.engine == tmp_path / "var" / "jars" / "engine"


def test_fetched_jars_with_other_bytes_are_refused(
    tmp_path: Path, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fetch(_ivy: Path, var: Path, _java: Java, _report: object) -> Path:
        write_jar(var / "jars.new", "engine/one.jar", b"tampered with")
        return var / "jars.new"

    monkeypatch.setattr(jars, "fetch", fetch)
    with pytest.raises(JarsUnavailable, match=r"not those of jars\.sha256: engine/one\.jar has SHA-256"):
        jars.ensure(checkout, tmp_path / "var", NO_JAVA)
    assert not (tmp_path / "var" / "jars").exists()


def test_a_damaged_jar_is_fetched_again(
    tmp_path: Path, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_jar(tmp_path / "var" / "jars", "engine/one.jar", b"dam")

    def fetch(_ivy: Path, var: Path, _java: Java, _report: object) -> Path:
        write_jar(var / "jars.new", "engine/one.jar", b"one")
        return var / "jars.new"

    monkeypatch.setattr(jars, "fetch", fetch)
    classpath = jars.ensure(checkout, tmp_path / "var", NO_JAVA)
    assert (classpath.engine / "one.jar").read_bytes() == b"one"


def test_the_committed_list_names_engine_and_broker_jars() -> None:
    root = Path(__file__).parents[3]
    names = checksums.load(root / "jars.sha256")
    assert any(name.startswith("engine/spark-sql-kafka") for name in names)
    assert any(name.startswith("broker/kafka_2.13") for name in names)
    # pyspark brings these; a second copy would shadow them.
    assert not [
        name for name in names if name.startswith(("engine/scala-library", "engine/slf4j", "engine/hadoop-c"))
    ]
