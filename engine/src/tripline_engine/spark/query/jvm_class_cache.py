"""Class data sharing (CDS) of the driver's JVM: an archive of loaded classes for the next start.

Spark loads some twenty thousand classes before its first micro-batch, and reading and verifying them is half of the
processor time of a start. An engine without an archive writes one when it ends; later ones map it into memory.
It is a cache: a JVM ignores an archive that does not match its version or class path.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyspark
import structlog

_log = structlog.get_logger(__name__)
_SECONDS: Final = 45.0
_QUIET: Final = "-Xlog:cds*=error -Xlog:class*=error"


@dataclass(frozen=True, slots=True)
class ClassCache:
    """One archive file. `fresh` is the path at which this process writes it until it is complete."""

    file: Path
    fresh: Path

    @property
    def options(self) -> str:
        """JVM options."""
        if self.file.exists():
            return f'{_QUIET} "-XX:SharedArchiveFile={self.file}"'
        self.fresh.parent.mkdir(parents=True, exist_ok=True)
        return f'{_QUIET} "-XX:ArchiveClassesAtExit={self.fresh}"'

    def keep(self, gateway: Any) -> None:
        """Ends the JVM behind a py4j gateway, which writes the archive, and renames it for the next start."""
        if self.file.exists():
            return
        gateway.shutdown()
        gateway.proc.stdin.close()
        try:
            gateway.proc.wait(_SECONDS)
            self.fresh.replace(self.file)
        except (OSError, subprocess.TimeoutExpired) as error:
            _log.info("classes_not_archived", reason=type(error).__name__)
            gateway.proc.kill()
            return
        for other in self.file.parent.glob("engine-*.jsa*"):
            if other != self.file:  # outdated archives, and partial ones of killed engines
                other.unlink(missing_ok=True)


def class_cache_for(folder: Path, jars: Path, environ: Mapping[str, str] = os.environ) -> ClassCache:
    """The archive for this Java, this Spark and these jars."""
    java = Path(environ["JAVA_HOME"]) / "bin" / "java" if environ.get("JAVA_HOME") else shutil.which("java")
    files = [Path(java or "java").resolve(), *sorted(jars.glob("*.jar"))]
    digest = hashlib.sha256("\n".join([pyspark.__version__, *_fingerprints(files)]).encode())
    name = f"engine-{digest.hexdigest()[:16]}.jsa"
    return ClassCache(folder / name, folder / f"{name}.{os.getpid()}")


def _fingerprints(files: Iterable[Path]) -> Iterable[str]:
    for file in files:
        if file.exists():
            status = file.stat()
            yield f"{file} {status.st_size} {status.st_mtime_ns}"
