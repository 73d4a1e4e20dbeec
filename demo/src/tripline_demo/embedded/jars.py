"""Gets the jars: those Spark needs beside pyspark's own, and a Kafka broker.

One committed ivy.xml says which, jars.sha256 says what bytes they are, and the Ivy inside pyspark fetches them. When
the files are there and right, nothing is started and nothing asks the network.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tripline_demo import paths
from tripline_demo.embedded import checksums, truststore
from tripline_demo.embedded.java import Java, find_java
from tripline_demo.errors import JarsUnavailable
from tripline_demo.processes.file_lock import file_lock

ATTEMPTS = 3
IVY_SECONDS = 900

Report = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Jars:
    """The folder of jars: `engine` for Spark, `broker` for the embedded Kafka."""

    folder: Path

    @property
    def engine(self) -> Path:
        """Jars that Spark needs beside its own."""
        return self.folder / "engine"

    @property
    def broker(self) -> Path:
        """Everything a Kafka broker needs."""
        return self.folder / "broker"


def ensure(root: Path, var: Path, java: Java, report: Report = lambda _: None) -> Jars:
    """The jars of the committed list, fetched if they are not there yet.

    Raises JarsUnavailable when they cannot be fetched, or differ from the list.
    """
    jars = Jars(var / "jars")
    expected = checksums.load(root / "jars.sha256")
    # two test workers, or a test and a demo, may want the jars at once: the second waits
    with file_lock(var / "jars.lock"):
        if not checksums.differences(expected, checksums.compute(jars.folder)):
            return jars
        fetched = fetch(
            root / "ivy.xml", var, java, lambda n: report(f"{min(n, len(expected))} of {len(expected)} jars")
        )
        problems = checksums.differences(expected, checksums.compute(fetched))
        if problems:
            raise JarsUnavailable(
                f"The fetched jars are not those of jars.sha256: {'; '.join(problems[:3])}. If ivy.xml was changed on "
                f"purpose, run `make lock`; otherwise delete {var / 'ivy'} and try again, and do not use these files."
            )
        shutil.rmtree(jars.folder, ignore_errors=True)
        fetched.rename(jars.folder)
    return jars


def fetch(ivy_file: Path, var: Path, java: Java, report: Callable[[int], None]) -> Path:
    """Resolves `ivy_file` into a fresh folder and returns it, unchecked. `report` is given the number of jars so far.

    Raises JarsUnavailable with the place of Ivy's own log after ATTEMPTS attempts.
    """
    target, cache, log = var / "jars.new", var / "ivy", var / "log" / "ivy.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    command = _ivy_command(ivy_file, var, java, target, cache)
    for _ in range(ATTEMPTS):
        shutil.rmtree(target, ignore_errors=True)
        if _run(
            command,
            log,
            lambda: report(len(list(cache.glob("*/*/jars/*.jar")) + list(cache.glob("*/*/bundles/*.jar")))),
        ):
            return target
    raise JarsUnavailable(
        f"The jars could not be fetched from Maven Central in {ATTEMPTS} attempts: check the network (behind a proxy "
        "with a certificate of its own, SSL_CERT_FILE must name the file with its authority) and run it again; "
        f"details: {log}"
    )


def _ivy_command(ivy_file: Path, var: Path, java: Java, target: Path, cache: Path) -> list[str]:
    authorities = truststore.authorities_file(os.environ)
    trust = truststore.write(authorities, var / "java" / "truststore.p12") if authorities else []
    pattern = f"{target}/[conf]/[artifact]-[revision].[ext]"
    return [
        str(java.executable), *trust, "-jar", str(_ivy_jar()), "-ivy", str(ivy_file), "-cache", str(cache),
        "-types", "jar", "bundle", "-retrieve", pattern,
    ]  # fmt: skip


def _ivy_jar() -> Path:
    spec = importlib.util.find_spec("pyspark")
    candidates = sorted((Path(spec.origin).parent / "jars").glob("ivy-*.jar")) if spec and spec.origin else []
    if not candidates:
        raise JarsUnavailable(
            "pyspark's jars folder holds no Ivy: run `make env` to set the Python environment right."
        )
    return candidates[-1]


def _run(command: list[str], log: Path, report: Callable[[], None]) -> bool:
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        deadline = time.monotonic() + IVY_SECONDS
        try:
            while process.poll() is None and time.monotonic() < deadline:
                report()
                time.sleep(0.5)
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()
    return process.returncode == 0


def main(arguments: list[str], environ: Mapping[str, str]) -> int:
    """`python -m tripline_demo.embedded.jars [--pin]`: get the jars; with --pin write jars.sha256 from what came."""
    root, var = paths.project_root(), paths.var_folder(environ)
    java = find_java(environ, var / "java")
    if "--pin" in arguments:
        fetched = fetch(root / "ivy.xml", var, java, lambda _: None)
        checksums.save(root / "jars.sha256", checksums.compute(fetched))
        shutil.rmtree(var / "jars", ignore_errors=True)
        fetched.rename(var / "jars")
    else:
        ensure(root, var, java, report=_print_once())
    return 0


def _print_once() -> Report:
    """A line for each new state, not for each look at it: this goes into the logs of build servers."""
    last = ""

    def report(line: str) -> None:
        nonlocal last
        if line != last:
            print(line, file=sys.stderr, flush=True)
        last = line

    return report


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
