"""The folders and files of a stack, all under one folder."""

from __future__ import annotations

import hashlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

LONGEST_SOCKET_PATH = 100
"""In bytes; the kernel takes 107, and supervisord makes the socket under a slightly longer name first."""


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
        """The engine's checkpoint, projection and scratch files."""
        return self.var / "engine"

    @property
    def archive(self) -> Path:
        """The archive of Kafka's topics."""
        return self.var / "archive"

    @property
    def stack_file(self) -> Path:
        """Addresses and keys for scripts."""
        return self.var / "stack.json"

    @property
    def supervisor_configuration(self) -> Path:
        """supervisord.conf."""
        return self.run / "supervisord.conf"

    @property
    def event_type(self) -> Path:
        """The file that pins the event type of the data."""
        return self.run / "event-type.json"

    @property
    def api_keys(self) -> Path:
        """The hashes of the API keys, for the services."""
        return self.run / "api-keys.json"

    @property
    def prover_key(self) -> Path:
        """What the alert API asks the prover with."""
        return self.run / "prover.key"

    @property
    def webhook_key(self) -> Path:
        """What alert API and notifier seal the secrets of webhooks with."""
        return self.run / "webhook.key"

    @property
    def evidence_key(self) -> Path:
        """The private key that the alert API signs evidence with."""
        return self.run / "evidence-key.pem"

    @property
    def guard_key(self) -> Path:
        """The API key of the guard of changed rules, for the guard alone."""
        return self.run / "guard.key"

    @property
    def kafka_jaas(self) -> Path:
        """Who the broker itself is, and its administrator: for the broker alone."""
        return self.run / "kafka_jaas.conf"

    @property
    def socket(self) -> Path:
        """The socket of supervisord. Its path must be short, so a deep checkout gets a folder in /tmp."""
        inside = self.run / "supervisor.sock"
        if len(os.fsencode(inside)) < LONGEST_SOCKET_PATH:
            return inside
        digest = hashlib.sha256(os.fsencode(self.var)).hexdigest()[:16]
        return Path(tempfile.gettempdir()) / f"tripline-{os.getuid()}-{digest}" / "supervisor.sock"

    def log_of(self, program: str) -> Path:
        """The log of one process."""
        return self.logs / f"{program}.log"

    def make(self) -> None:
        """Makes the folders. What they hold is for their owner alone: transactions, alerts, keys.

        Others may pass through `var`, for PostgreSQL runs as another user where this one is root.
        """
        self.var.mkdir(parents=True, exist_ok=True)
        self.var.chmod(0o711)
        for folder in (self.run, self.logs, self.engine, self.socket.parent):
            folder.mkdir(parents=True, exist_ok=True)
            folder.chmod(0o700)
        # these are there once they hold something
        for folder in (self.kafka, self.archive):
            if folder.exists():
                folder.chmod(0o700)

    def data(self) -> tuple[Path, ...]:
        """The data that `--fresh` removes. Jars and logs stay."""
        return (self.postgres, self.kafka, self.engine, self.archive, self.run, self.stack_file)
