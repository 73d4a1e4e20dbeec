"""Which Kafka cluster a process talks to, and who it says it is: one set of settings for every client.

The variables begin with TRIPLINE_KAFKA; docs/kafka-access.md lists them. A password stays in its file: librdkafka is
given it when a client is made, and the Java clients of Spark read it from the file themselves, so that it is in no
query plan, no argument list and no log.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeVar, get_args

from tripline_contracts.errors import InvalidKafkaSettings

Protocol = Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]
Mechanism = Literal["SCRAM-SHA-512", "SCRAM-SHA-256", "PLAIN"]

SERVERS: Final = "TRIPLINE_KAFKA"
PROTOCOL: Final = "TRIPLINE_KAFKA_SECURITY_PROTOCOL"
MECHANISM: Final = "TRIPLINE_KAFKA_SECURITY_MECHANISM"
USER: Final = "TRIPLINE_KAFKA_SECURITY_USER"
PASSWORD_FILE: Final = "TRIPLINE_KAFKA_SECURITY_PASSWORD_FILE"  # noqa: S105  # the name of a variable
CA_FILE: Final = "TRIPLINE_KAFKA_SECURITY_CA_FILE"

_OPEN_MODES: Final = stat.S_IWGRP | stat.S_IRWXO
_USER: Final = re.compile(r"[A-Za-z0-9._@-]{1,200}", re.ASCII)
# what needs no escape in JAAS' quotes
_PASSWORD: Final = re.compile(r"[!#-\[\]-~]{1,1000}", re.ASCII)
_LOOPBACK: Final = re.compile(r"127\.0\.0\.1:\d+")
_LOGIN_MODULES: Final[Mapping[Mechanism, str]] = {
    "SCRAM-SHA-512": "org.apache.kafka.common.security.scram.ScramLoginModule",
    "SCRAM-SHA-256": "org.apache.kafka.common.security.scram.ScramLoginModule",
    "PLAIN": "org.apache.kafka.common.security.plain.PlainLoginModule",
}

_Choice = TypeVar("_Choice", Protocol, Mechanism)


@dataclass(frozen=True, slots=True)
class Sasl:
    """Who a client says it is. `password_file` is absolute and holds the password and nothing else."""

    mechanism: Mechanism
    user: str
    password_file: Path

    def password(self) -> str:
        """Raises InvalidKafkaSettings where the file cannot be used; the message never has the password."""
        try:
            with self.password_file.open("rb") as file:
                mode, content = os.fstat(file.fileno()).st_mode, file.read(4096)
        except OSError as error:
            raise InvalidKafkaSettings(f"{PASSWORD_FILE} cannot be read: {error}.") from error
        if mode & _OPEN_MODES:
            raise InvalidKafkaSettings(
                f"{PASSWORD_FILE} {self.password_file} has mode {stat.S_IMODE(mode):04o}: group and others must not"
                " write it, others not read it. Set it to 0600, or to 0640 where a group reads it."
            )
        password = content.decode("ascii", "replace")
        if not _PASSWORD.fullmatch(password):
            raise InvalidKafkaSettings(
                f"{PASSWORD_FILE} {self.password_file} holds something else than one password of up to 1000 printable"
                ' ASCII characters without blank, " and \\. A line break at the end counts: write it with printf %s.'
            )
        return password


@dataclass(frozen=True, slots=True)
class KafkaCluster:
    """Addresses of a cluster, and what its clients need to be let in.

    :ivar servers: host:port, separated by commas
    :ivar ca_file: PEM file of the authorities that sign the brokers' certificates; None: those of the system
    """

    servers: str
    protocol: Protocol = "PLAINTEXT"
    sasl: Sasl | None = None
    ca_file: Path | None = None

    def client_config(self) -> dict[str, str]:
        """For librdkafka's clients. Raises InvalidKafkaSettings where the password's file cannot be used."""
        config = {"bootstrap.servers": self.servers}
        if self.protocol != "PLAINTEXT":
            config["security.protocol"] = self.protocol
        if self.ca_file:
            config["ssl.ca.location"] = str(self.ca_file)
        if self.sasl:
            config["sasl.mechanism"] = self.sasl.mechanism
            config["sasl.username"] = self.sasl.user
            config["sasl.password"] = self.sasl.password()
        return config

    def java_config(self) -> dict[str, str]:
        """For Java's clients, on every machine that has the files under the same names. The password is not in it."""
        config = {"bootstrap.servers": self.servers}
        if self.protocol != "PLAINTEXT":
            config["security.protocol"] = self.protocol
        if self.ca_file:
            config["ssl.truststore.type"] = "PEM"
            config["ssl.truststore.location"] = str(self.ca_file)
        if self.sasl:
            folder, name = self.sasl.password_file.parent, self.sasl.password_file.name
            config["config.providers"] = "file"
            config["config.providers.file.class"] = (
                "org.apache.kafka.common.config.provider.DirectoryConfigProvider"
            )
            config["config.providers.file.param.allowed.paths"] = str(folder)
            config["sasl.mechanism"] = self.sasl.mechanism
            config["sasl.jaas.config"] = (
                f'{_LOGIN_MODULES[self.sasl.mechanism]} required username="{self.sasl.user}"'
                f' password="${{file:{folder}:{name}}}";'
            )
        return config

    def variables(self) -> dict[str, str]:
        """The environment that `kafka_cluster` reads this from."""
        given = {SERVERS: self.servers, PROTOCOL: self.protocol}
        if self.ca_file:
            given[CA_FILE] = str(self.ca_file)
        if self.sasl:
            given[MECHANISM] = self.sasl.mechanism
            given[USER] = self.sasl.user
            given[PASSWORD_FILE] = str(self.sasl.password_file)
        return given


def kafka_cluster(variables: Mapping[str, str]) -> KafkaCluster:
    """The cluster that the environment names. Raises InvalidKafkaSettings with one sentence that names the variable."""
    servers = variables.get(SERVERS, "").strip()
    if not servers:
        raise InvalidKafkaSettings(f"{SERVERS} is not set: give the brokers' addresses, like 127.0.0.1:9092.")
    protocol = _choice(variables, PROTOCOL, get_args(Protocol), "PLAINTEXT")
    mechanism = _choice(variables, MECHANISM, get_args(Mechanism), "SCRAM-SHA-512")
    ca_file = _file(variables, CA_FILE)
    if ca_file and not protocol.endswith("SSL"):
        raise InvalidKafkaSettings(f"{CA_FILE} is set, but {PROTOCOL} is {protocol}, without TLS.")
    if not protocol.startswith("SASL"):
        for name in (MECHANISM, USER, PASSWORD_FILE):
            if variables.get(name):
                raise InvalidKafkaSettings(
                    f"{name} is set, but {PROTOCOL} is {protocol}, which asks nobody who they are."
                    " Set SASL_SSL, or SASL_PLAINTEXT on loopback."
                )
        return KafkaCluster(servers, protocol, None, ca_file)
    if (mechanism, protocol) == ("PLAIN", "SASL_PLAINTEXT") and not _LOOPBACK.fullmatch(servers):
        raise InvalidKafkaSettings(
            f"{MECHANISM} PLAIN would send the password in clear over SASL_PLAINTEXT: use SCRAM-SHA-512, or SASL_SSL."
        )
    user, password_file = variables.get(USER, ""), _file(variables, PASSWORD_FILE)
    if not _USER.fullmatch(user):
        raise InvalidKafkaSettings(f"{USER} is {user!r}; expected letters, digits, ., _, @ and -.")
    if password_file is None:
        raise InvalidKafkaSettings(f"{PASSWORD_FILE} is not set, and {PROTOCOL} is {protocol}.")
    if set(":${}").intersection(str(password_file)):
        raise InvalidKafkaSettings(
            f"{PASSWORD_FILE} is {password_file}: a path without :, $ and braces was expected."
        )
    cluster = KafkaCluster(servers, protocol, Sasl(mechanism, user, password_file), ca_file)
    cluster.client_config()  # what is wrong with the password's file is said at the start
    return cluster


def _choice(
    variables: Mapping[str, str], name: str, choices: tuple[_Choice, ...], default: _Choice
) -> _Choice:
    given = variables.get(name) or default
    for choice in choices:
        if given == choice:
            return choice
    raise InvalidKafkaSettings(f"{name} is {given!r}; expected {', '.join(choices)}.")


def _file(variables: Mapping[str, str], name: str) -> Path | None:
    given = variables.get(name)
    if not given:
        return None
    path = Path(given).absolute()
    if not path.is_file():
        raise InvalidKafkaSettings(f"{name} is {given}: there is no such file.")
    return path
