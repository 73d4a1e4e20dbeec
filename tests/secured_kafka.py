"""A broker that asks who its clients are, over TLS, with the identities and rights of the contract."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from tripline_contracts.kafka.cluster import KafkaCluster, Sasl
from tripline_demo import kafka_passwords, kafka_quotas, kafka_rights
from tripline_demo.deployment.certificates import certify
from tripline_demo.embedded import broker_security, kafka
from tripline_demo.embedded.java import Java


@dataclass(frozen=True, slots=True)
class SecuredKafka:
    """`folder` holds a password file for each identity."""

    broker: kafka.Broker
    folder: Path

    @property
    def administrator(self) -> KafkaCluster:
        return self.broker.administrator

    def as_identity(self, name: str) -> KafkaCluster:
        sasl = Sasl("SCRAM-SHA-512", name, self.folder / kafka_passwords.file_name(name))
        return replace(self.administrator, sasl=sasl)


@contextmanager
def running(java: Java, jars: Path, home: Path) -> Iterator[SecuredKafka]:
    folder = home / "secrets"
    folder.mkdir(mode=0o700, parents=True)
    for name in kafka_passwords.names():
        write(folder / kafka_passwords.file_name(name), kafka_passwords.new_password())
    admin = kafka_passwords.password_of(folder, kafka_passwords.ADMIN)
    write(folder / "jaas.conf", broker_security.jaas(admin, kafka_passwords.new_password()))
    certified = certify(["127.0.0.1"], dt.datetime.now(dt.UTC))
    tls = broker_security.Tls(folder / "broker.pem", folder / "authority.pem")
    write(tls.key_and_certificate, certified.key_and_certificate)
    write(tls.authority, certified.authority)
    security = broker_security.BrokerSecurity(
        folder / "jaas.conf", folder / kafka_passwords.file_name(kafka_passwords.ADMIN), tls
    )
    with kafka.running(java, jars, home / "kafka", security=security) as broker:
        kafka_rights.make_identities(broker.administrator, folder)
        kafka_rights.give_rights(broker.administrator)
        kafka_quotas.apply(broker.administrator, "set")
        yield SecuredKafka(broker, folder)


def write(path: Path, text: str) -> None:
    path.touch(mode=0o600)
    path.write_text(text, encoding="ascii")
