"""Class data sharing (CDS) of Kafka's JVM: an archive of loaded classes, half of the processor time of a start.

`make jars` writes it (broker_classes.py); without one Kafka starts as it ever did. A JVM ignores an archive that does
not match its version or class path.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from tripline_demo.embedded.java import Java


def file_for(java: Java, jars: Path) -> Path:
    """Where the archive for this Java and these jars is, or would be: beside the folder of all jars."""
    files = [java.executable, *sorted(jars.resolve().glob("*.jar"))]
    states = [(file, file.stat()) for file in files if file.exists()]
    prints = [f"{file} {state.st_size} {state.st_mtime_ns}" for file, state in states]
    digest = hashlib.sha256("\n".join(prints).encode())
    return jars.resolve().parent.parent / "classes" / f"broker-{digest.hexdigest()[:16]}.jsa"


def options(java: Java, jars: Path) -> list[str]:
    """JVM options: nothing where there is no archive. One that does not fit is no reason for a word in the log."""
    file = file_for(java, jars)
    return (
        [f"-XX:SharedArchiveFile={file}", "-Xlog:cds*=error", "-Xlog:class*=error"] if file.exists() else []
    )
