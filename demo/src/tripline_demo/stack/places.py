"""Where the stack keeps what it needs, all under one folder."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

LONGEST_SOCKET_PATH = 100
"""In bytes; the kernel takes 107, and supervisord makes the socket under a slightly longer name first."""

MEMORY = Path("/dev/shm")  # noqa: S108  # closed to others, as the other folders are
LEAST_MEMORY = 1 << 30
"""In bytes: a catch-up shuffles some hundred MB before Spark lets go of them."""


@dataclass(frozen=True, slots=True)
class Places:
    """The folders and files under `var` (absolute)."""

    var: Path

    @property
    def run(self) -> Path:
        """Configuration, ports and credentials of the stack; closed to other users."""
        return self.var / "run"

    @property
    def logs(self) -> Path:
        """One log per process."""
        return self.var / "log"

    @property
    def postgres(self) -> Path:
        """The embedded PostgreSQL."""
        return self.var / "postgres"

    @property
    def kafka(self) -> Path:
        """The embedded Kafka."""
        return self.var / "kafka"

    @property
    def engine(self) -> Path:
        """The engine's checkpoint and projection."""
        return self.var / "engine"

    @property
    def scratch(self) -> Path:
        """What Spark shuffles, a few files per micro-batch: in memory where the system offers enough of it."""
        if _offers(MEMORY, LEAST_MEMORY):
            return MEMORY / f"tripline-{os.getuid()}-{self._digest}"
        return self.engine / "scratch"

    @property
    def stack_file(self) -> Path:
        """Addresses and keys for scripts."""
        return self.var / "stack.json"

    @property
    def supervisor_configuration(self) -> Path:
        """supervisord.conf."""
        return self.run / "supervisord.conf"

    @property
    def api_keys(self) -> Path:
        """The hashes of the API keys, for the services."""
        return self.run / "api-keys.json"

    @property
    def socket(self) -> Path:
        """Where supervisord listens. A socket's path must be short, so a deep checkout gets a folder in /tmp."""
        inside = self.run / "supervisor.sock"
        if len(os.fsencode(inside)) < LONGEST_SOCKET_PATH:
            return inside
        return Path(tempfile.gettempdir()) / f"tripline-{os.getuid()}-{self._digest}" / "supervisor.sock"

    @property
    def _digest(self) -> str:
        """A short name of these places."""
        return hashlib.sha256(os.fsencode(self.var)).hexdigest()[:16]

    def log_of(self, program: str) -> Path:
        """The log of one process."""
        return self.logs / f"{program}.log"

    def make(self) -> None:
        """Makes the folders."""
        for folder in (self.run, self.logs, self.engine, self.socket.parent):
            folder.mkdir(parents=True, exist_ok=True)
        for folder in {self.run, self.socket.parent}:
            folder.chmod(0o700)

    def make_scratch(self) -> None:
        """Makes it, closed to others. Raises PermissionError if somebody else has it."""
        self.scratch.mkdir(mode=0o700, exist_ok=True)
        self.scratch.chmod(0o700)

    def forget_scratch(self) -> None:
        """Removes it, so that no memory stays taken."""
        shutil.rmtree(self.scratch, ignore_errors=True)

    def data(self) -> tuple[Path, ...]:
        """What `--fresh` removes. Jars and logs stay."""
        return (self.postgres, self.kafka, self.engine, self.run, self.stack_file)


def _offers(folder: Path, size: int) -> bool:
    """Whether it is a file system of that size (bytes) that can be written to."""
    if not os.access(folder, os.W_OK):
        return False
    found = os.statvfs(folder)
    return found.f_blocks * found.f_frsize >= size
