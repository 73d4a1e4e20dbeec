"""The plan of a stack: every process with its command and settings, in the order of their start."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from tripline_contracts.event_type import DEFAULT
from tripline_contracts.kafka.cluster import Sasl
from tripline_demo import kafka_passwords, kafka_quotas, migrations
from tripline_demo.embedded.broker_security import BrokerSecurity
from tripline_demo.embedded.jars import Jars
from tripline_demo.embedded.java import Java
from tripline_demo.embedded.kafka import Broker
from tripline_demo.embedded.postgres import Cluster
from tripline_demo.groups import login_of
from tripline_demo.processes import ports
from tripline_demo.stack import checks
from tripline_demo.stack.credentials import Credentials
from tripline_demo.stack.places import Places
from tripline_demo.stack.program import Program
from tripline_demo.stack.webhook_settings import with_webhooks

DATABASE = "tripline"

PORTS: Mapping[str, int] = {
    "registry": 8081, "alert-api": 8082, "generator": 8083, "postgres": 54320, "kafka": 9092, "kafka-controller": 9093,
    "relay": 9101, "status": 9102, "engine": 9103, "alert-projector": 9104,
    "archiver": 9105, "retention": 9106, "prover": 9107, "redrive": 9108, "guard": 9109,
    "notifier": 9110,
}  # fmt: skip
"""The ports that are used when they are free."""

PARTS: Mapping[str, str] = {
    "relay": "relay", "status-projector": "status", "archiver": "archiver", "prover": "prover",
    "projector": "alert-projector", "redrive": "redrive", "retention": "retention", "guard": "guard",
    "notifier": "notifier",
}  # fmt: skip
"""What the alert API is told of, under its names, and the processes here."""

FOUR_EYES = "TRIPLINE_FOUR_EYES"
QUOTAS: Mapping[str, str] = {
    "TRIPLINE_EXPECTED_RATE": "15", "TRIPLINE_MAX_ACTIVE_RULES": "1000", "TRIPLINE_MAX_RULES": "5000",
    "TRIPLINE_MAX_LISTS": "200", "TRIPLINE_MAX_PARAMETERS": "1000", "TRIPLINE_MAX_LIST_BYTES": "16777216",
}  # fmt: skip
"""What the registry lets a stack on one machine come to; compose says the same."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that is decided before the first process starts. `event_type` is a name or an absolute path."""

    places: Places
    ports: Mapping[str, int]
    credentials: Credentials
    java: Java
    jars: Jars
    clock: Literal["wall", "data"]
    event_type: str = DEFAULT

    @property
    def cluster(self) -> Cluster:
        """The embedded PostgreSQL."""
        return Cluster(self.places.postgres, self.ports["postgres"], self.credentials.postgres_admin)

    @property
    def broker(self) -> Broker:
        """The embedded Kafka."""
        return Broker(
            self.java,
            self.jars.broker,
            self.places.kafka,
            self.ports["kafka"],
            self.ports["kafka-controller"],
            security=BrokerSecurity(self.places.kafka_jaas, self._kafka_password(kafka_passwords.ADMIN)),
        )

    def kafka_variables(self, identity: str) -> Mapping[str, str]:
        """How a process with that identity reaches Kafka."""
        cluster = self.broker.administrator
        return replace(
            cluster, sasl=Sasl("SCRAM-SHA-512", identity, self._kafka_password(identity))
        ).variables()

    def _kafka_password(self, identity: str) -> Path:
        return self.places.run / kafka_passwords.file_name(identity)

    def url(self, name: str) -> str:
        """The base address of an HTTP process."""
        return f"http://{ports.LOOPBACK}:{self.ports[name]}"

    def dsn(self, group: str) -> str:
        """The database as the login user of a group role."""
        return self.cluster.dsn(DATABASE, login_of(group), self.credentials.postgres_logins[group])

    def programs(self) -> tuple[Program, ...]:
        """The processes. They stop in the opposite order; they start in this one as far as they need one another."""
        return (
            _postgres(self), _kafka(self), _topics(self), _migrations(self), _archiver(self), _engine(self),
            _registry(self), _relay(self), _status(self), _alert_projector(self), _alert_api(self), _retention(self),
            _prover(self), _redrive(self), _notifier(self), _guard(self), _generator(self),
        )  # fmt: skip


def script(name: str) -> str:
    """A console script of this Python environment."""
    return str(Path(sysconfig.get_path("scripts")) / name)


def _postgres(plan: Plan) -> Program:
    return Program(
        name="postgres", title="PostgreSQL", command=tuple(plan.cluster.command()), directory=Path("/"),
        user=plan.cluster.user(), stop_signal="INT",
        ready=checks.postgres_ready(plan.cluster.dsn(), plan.ports["postgres"]),
    )  # fmt: skip


def _kafka(plan: Plan) -> Program:
    return Program(
        name="kafka", title="Kafka", command=tuple(plan.broker.command()), directory=plan.places.kafka,
        ready=checks.kafka_ready(plan.broker.administrator), stop_seconds=40, start_seconds=90,
    )  # fmt: skip


def _migrations(plan: Plan) -> Program:
    return Program(
        name="migrations", title="database migrations",
        command=(sys.executable, "-m", "tripline_demo.stack.database", str(plan.places.var)),
        directory=migrations.folder(), ready=None, needs=("postgres",),
        environment={"TRIPLINE_MIGRATIONS_DSN": plan.cluster.dsn(DATABASE)},
    )  # fmt: skip


def _topics(plan: Plan) -> Program:
    return Program(
        name="topics", title="topics", command=(sys.executable, "-m", "tripline_demo.topics"),
        directory=plan.places.var, ready=None, needs=("kafka",),
        environment={
            **plan.broker.administrator.variables(),
            "TRIPLINE_KAFKA_IDENTITIES": str(plan.places.run),
            "TRIPLINE_CLOCK": plan.clock,
            kafka_quotas.VARIABLE: os.environ.get(kafka_quotas.VARIABLE, "set"),
        },
    )  # fmt: skip


def _service(
    plan: Plan, name: str, title: str, command: tuple[str, ...], port: str, *, api: bool, seconds: int = 60,
    identity: str | None = None, **settings: str,
) -> Program:  # fmt: skip
    """A process of ours: listens on one port, for its API or for its metrics. Kafka knows it by its identity."""
    bind = "TRIPLINE_HTTP_BIND" if api else "TRIPLINE_METRICS_BIND"
    return Program(
        name=name, title=title, command=(script(command[0]), *command[1:]), directory=plan.places.var,
        ready=checks.http_ready(plan.ports[port]), start_seconds=seconds, needs=("topics", "migrations"),
        environment={
            **(plan.kafka_variables(identity) if identity else {}),
            "TRIPLINE_API_KEYS_FILE": str(plan.places.api_keys),
            "TRIPLINE_EVENT_TYPE": plan.event_type,
            bind: f"{ports.LOOPBACK}:{plan.ports[port]}",
            **settings,
        },
    )  # fmt: skip


def _registry(plan: Plan) -> Program:
    program = _service(
        plan, "registry", "rules registry", ("rules-registry", "api"), "registry", api=True,
        TRIPLINE_REGISTRY_DSN=plan.dsn("tripline_registry_api"),
        TRIPLINE_PROVER_URL=plan.url("prover"), TRIPLINE_PROVER_KEY_FILE=str(plan.places.prover_key),
    )  # fmt: skip
    return replace(program, environment={**program.environment, **QUOTAS, FOUR_EYES: _four_eyes()})


def _four_eyes() -> str:
    return os.environ.get(FOUR_EYES, "false")


def _relay(plan: Plan) -> Program:
    return _service(
        plan, "relay", "its relay", ("rules-registry", "relay"), "relay", api=False, identity="tripline-relay",
        TRIPLINE_REGISTRY_DSN=plan.dsn("tripline_registry_relay"),
    )  # fmt: skip


def _status(plan: Plan) -> Program:
    return _service(
        plan, "status", "its status projector", ("rules-registry", "status-projector"), "status", api=False,
        identity="tripline-status",
        TRIPLINE_REGISTRY_DSN=plan.dsn("tripline_registry_status"),
    )  # fmt: skip


def _archiver(plan: Plan) -> Program:
    program = _service(
        plan, "archiver", "archiver", ("tripline-archiver",), "archiver", api=False, identity="tripline-archiver",
        TRIPLINE_ARCHIVE=str(plan.places.archive),
    )  # fmt: skip
    return replace(program, needs=("topics",))


def _engine(plan: Plan) -> Program:
    """Its very first start compiles the kernels, for minutes on a slow machine."""
    engine = plan.places.engine
    program = _service(
        plan, "engine", "engine", ("tripline-engine", "run"), "engine", api=False, seconds=300,
        identity="tripline-engine",
        JAVA_HOME=str(plan.java.home),
        SPARK_LOCAL_IP=ports.LOOPBACK,
        SPARK_LOCAL_DIRS=str(engine / "scratch"),
        PYSPARK_PYTHON=sys.executable,
        TRIPLINE_CHECKPOINT=str(engine / "checkpoint"),
        TRIPLINE_PROJECTION_DIR=str(engine / "projection"),
        TRIPLINE_CLOCK=plan.clock,
        TRIPLINE_SPARK_MASTER="local[2]",
        TRIPLINE_BATCH_INTERVAL_MS=os.environ.get("TRIPLINE_BATCH_INTERVAL_MS", "400"),
        TRIPLINE_JARS=str(plan.jars.engine),
        TRIPLINE_ARCHIVE=str(plan.places.archive),
    )  # fmt: skip
    return replace(program, needs=("topics",), awaited_last=True, stop_seconds=75)


def _alert_projector(plan: Plan) -> Program:
    return _service(
        plan, "alert-projector", "alert projector", ("alert-api", "projector"), "alert-projector", api=False,
        identity="tripline-alert-projector",
        TRIPLINE_ALERTS_DSN=plan.dsn("tripline_alert_projector"),
    )  # fmt: skip


def _alert_api(plan: Plan) -> Program:
    program = _service(
        plan, "alert-api", "alert API and console", ("alert-api", "api"), "alert-api", api=True,
        identity="tripline-alert-api",
        TRIPLINE_ALERTS_DSN=plan.dsn("tripline_alert_api"), TRIPLINE_REGISTRY_URL=plan.url("registry"),
        TRIPLINE_ENGINE_METRICS_URL=plan.url("engine"), TRIPLINE_GENERATOR_URL=plan.url("generator"),
        TRIPLINE_PROVER_URL=plan.url("prover"), TRIPLINE_PROVER_KEY_FILE=str(plan.places.prover_key),
        TRIPLINE_EVIDENCE_KEY_FILE=str(plan.places.evidence_key),
        TRIPLINE_PARTS=",".join(f"{part}={plan.url(name)}" for part, name in PARTS.items()),
        TRIPLINE_FOUR_EYES=_four_eyes(),
    )  # fmt: skip
    return with_webhooks(program, plan.places)


def _retention(plan: Plan) -> Program:
    return _service(
        plan, "retention", "retention of dead letters", ("alert-api", "retention"), "retention", api=False,
        TRIPLINE_ALERTS_DSN=plan.dsn("tripline_alert_retention"),
    )  # fmt: skip


def _prover(plan: Plan) -> Program:
    program = _service(
        plan, "prover", "prover", ("tripline-engine", "prover"), "prover", api=False, identity="tripline-prover",
        TRIPLINE_ARCHIVE=str(plan.places.archive), TRIPLINE_CLOCK=plan.clock,
        TRIPLINE_PROVER_KEY_FILE=str(plan.places.prover_key),
    )  # fmt: skip
    return replace(program, needs=("topics",))


def _redrive(plan: Plan) -> Program:
    return _service(
        plan, "redrive", "redrive of rejected records", ("alert-api", "redrive"), "redrive", api=False,
        identity="tripline-redrive",
        TRIPLINE_ALERTS_DSN=plan.dsn("tripline_alert_redrive"),
    )  # fmt: skip


def _notifier(plan: Plan) -> Program:
    program = _service(
        plan, "notifier", "notices of cases", ("alert-api", "notifier"), "notifier", api=False,
        identity="tripline-notifier",
        TRIPLINE_ALERTS_DSN=plan.dsn("tripline_alert_notifier"), TRIPLINE_CONSOLE_URL=plan.url("alert-api"),
    )  # fmt: skip
    return with_webhooks(program, plan.places)


def _guard(plan: Plan) -> Program:
    program = _service(
        plan, "guard", "guard of changed rules", ("rules-registry", "guard"), "guard", api=False,
        TRIPLINE_REGISTRY_URL=plan.url("registry"), TRIPLINE_ALERTS_URL=plan.url("alert-api"),
        TRIPLINE_REGISTRY_KEY_FILE=str(plan.places.guard_key),
    )  # fmt: skip
    # it is ready once it has had a look
    return replace(program, needs=("registry", "alert-api"), awaited_last=True)


def _generator(plan: Plan) -> Program:
    return _service(
        plan, "generator", "traffic generator", ("tripline-generator",), "generator", api=True,
        identity="tripline-generator",
    )  # fmt: skip
