"""Writes the archive of classes that Kafka's JVM starts with, once for each Java and set of jars.

`python -m tripline_demo.embedded.broker_classes`, after the jars: a broker starts and ends. A Java that writes no
archive is none the worse.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tripline_demo import paths
from tripline_demo.embedded import class_archive, kafka
from tripline_demo.embedded.java import Java, find_java
from tripline_demo.processes.file_lock import file_lock

STOP_SECONDS = 120


def make(java: Java, jars: Path, environ: Mapping[str, str] = os.environ) -> Path:
    """The archive, written if it is not there yet; those for other jars are deleted. Raises KafkaFailed."""
    file = class_archive.file_for(java, jars)
    with file_lock(file.parent / "broker.lock"):
        if file.exists():
            return file
        with tempfile.TemporaryDirectory() as home:
            _write(file, java, jars, Path(home), environ)
    for other in file.parent.glob("broker-*.jsa*"):
        if other != file:
            other.unlink()
    return file


def _write(file: Path, java: Java, jars: Path, home: Path, environ: Mapping[str, str]) -> None:
    fresh = file.with_suffix(".jsa.new")
    others = environ.get("JAVA_TOOL_OPTIONS", "")
    environment = {**environ, "JAVA_TOOL_OPTIONS": f"{others} -XX:ArchiveClassesAtExit={fresh}"}
    with kafka.running(java, jars, home, environment=environment, stop_seconds=STOP_SECONDS):
        pass
    if fresh.exists():
        fresh.replace(file)


if __name__ == "__main__":
    make(find_java(os.environ, paths.var_folder() / "java"), paths.var_folder() / "jars" / "broker")
