"""An embedded Kafka broker: KRaft, one process as broker and controller, loopback only."""

from __future__ import annotations

import subprocess
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from tripline_contracts.kafka.cluster import KafkaCluster
from tripline_demo.embedded import class_archive
from tripline_demo.embedded.broker_security import BrokerSecurity
from tripline_demo.embedded.java import Java
from tripline_demo.errors import KafkaFailed
from tripline_demo.processes import leash, ports

FORMAT_SECONDS = 60

_PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller_port}
listeners=CLIENTS://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller_port}
advertised.listeners=CLIENTS://127.0.0.1:{port}
controller.listener.names=CONTROLLER
inter.broker.listener.name=CLIENTS
log.dirs={log_dirs}
# A misspelt topic is an error, not a new topic.
auto.create.topics.enable=false
# Old record times are legal here (files replayed under their own times): time deletes nothing unless a topic says so.
log.retention.ms=-1
num.partitions=1
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
num.network.threads=2
num.io.threads=4
# What a client only announces is memory that the broker reserves, before it knows who that is.
# Beyond so many connections others wait; without a limit they take all files, and a broker that can open none ends.
max.connections=4000
sasl.server.max.receive.size=16384
socket.request.max.bytes=8388608
queued.max.request.bytes=67108864
# The cleaner takes 128 MiB at start otherwise.
log.cleaner.dedupe.buffer.size=16777216
# It is alone: nobody has to see twice a second that its metadata stand still, or to take its work when it is slow.
metadata.max.idle.interval.ms=0
broker.heartbeat.interval.ms=5000
broker.session.timeout.ms=20000
"""
_OPEN: Final[Mapping[str, str]] = {"listener.security.protocol.map": "CLIENTS:PLAINTEXT,CONTROLLER:PLAINTEXT"}


@dataclass(frozen=True, slots=True)
class Broker:
    """The parts of a broker. `home` holds its configuration and data; it survives restarts and changed ports.

    Without `security` it asks nobody who they are. It goes on when a record unfolds to more than its heap
    (docs/decisions/0112-a-broker-out-of-memory.md).
    """

    java: Java
    jars: Path
    home: Path
    port: int
    controller_port: int
    heap_mebibytes: int = 512
    security: BrokerSecurity | None = None

    @property
    def bootstrap_servers(self) -> str:
        """The address that clients connect to."""
        return f"{ports.LOOPBACK}:{self.port}"

    @property
    def administrator(self) -> KafkaCluster:
        """For clients that may do everything."""
        servers = self.bootstrap_servers
        return self.security.administrator(servers) if self.security else KafkaCluster(servers)

    @property
    def properties_file(self) -> Path:
        """The broker's configuration."""
        return self.home / "server.properties"

    @property
    def data(self) -> Path:
        """The broker's log segments and metadata."""
        return self.home / "data"

    def command(self) -> list[str]:
        """Starts the broker in the foreground."""
        return self._java("kafka.Kafka", str(self.properties_file))

    def prepare(self) -> None:
        """Writes the configuration and formats the storage if that has not been done. Raises KafkaFailed."""
        self.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.properties_file.write_text(self.properties(), encoding="utf-8")
        if (self.data / "meta.properties").exists():
            return
        cluster_id = str(uuid.uuid4())
        done = subprocess.run(
            self._java("kafka.tools.StorageTool", "format", "-t", cluster_id, "-c", str(self.properties_file)),
            capture_output=True, text=True, errors="replace", timeout=FORMAT_SECONDS, check=False,
        )  # fmt: skip
        if done.returncode != 0:
            reason = (done.stderr or done.stdout).strip()[-500:]
            raise KafkaFailed(f"Kafka could not format its storage in {self.data}: {reason}")

    def properties(self) -> str:
        """The text of server.properties."""
        doors = self.security.properties() if self.security else _OPEN
        common = _PROPERTIES.format(port=self.port, controller_port=self.controller_port, log_dirs=self.data)
        return common + "".join(f"{name}={value}\n" for name, value in doors.items())

    def _java(self, main_class: str, *arguments: str) -> list[str]:
        return [
            str(self.java.executable), f"-Xmx{self.heap_mebibytes}m", "-XX:+UseSerialGC",
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-Dorg.slf4j.simpleLogger.showDateTime=true",
            "-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd HH:mm:ss.SSS",
            *(self.security.java_options() if self.security else ()),
            *class_archive.options(self.java, self.jars), "-cp", f"{self.jars}/*", main_class, *arguments,
        ]  # fmt: skip


def is_ready(cluster: KafkaCluster) -> bool:
    """Whether the broker on this machine answers a metadata request. It is this user's: the administrator's password
    goes to it in clear text."""
    port = int(cluster.servers.rpartition(":")[2])
    if not ports.is_ours(port):  # nor would librdkafka flood stderr with refused connections
        return False
    admin = AdminClient({**cluster.client_config(), "log_level": 0, "socket.timeout.ms": 3000})
    try:
        return bool(admin.list_topics(timeout=3).brokers)
    except KafkaException:
        return False


@contextmanager
def running(
    java: Java,
    jars: Path,
    home: Path,
    *,
    deadline_seconds: float = 180,
    security: BrokerSecurity | None = None,
    environment: Mapping[str, str] | None = None,
    stop_seconds: float = leash.STOP_SECONDS,
) -> Iterator[Broker]:
    """A broker for the length of a `with`, on free ports; it does not outlive this process. Raises KafkaFailed."""
    port, controller_port = ports.free_ports(2)
    broker = Broker(java, jars, home, port, controller_port, security=security)
    broker.prepare()
    server = leash.start(
        broker.command(), log=home / "broker.log", environment=environment, stop_seconds=stop_seconds
    )
    try:
        _wait(broker, server, deadline_seconds)
        yield broker
    finally:
        server.stop()


def _wait(broker: Broker, server: leash.Leashed, deadline_seconds: float) -> None:
    end = time.monotonic() + deadline_seconds
    while time.monotonic() < end:
        if not server.is_running():
            raise KafkaFailed(f"Kafka ended while starting; the end of {server.log}:\n{server.last_lines()}")
        if is_ready(broker.administrator):
            return
        time.sleep(0.1)
    raise KafkaFailed(
        f"Kafka did not answer within {deadline_seconds:.0f} s; the end of {server.log}:\n{server.last_lines()}"
    )
