"""What makes a broker ask who its clients are: SASL on its listener, an authoriser, TLS where it has a certificate.

The administrator logs in with PLAIN, from the broker's own file, for somebody has to be known before identities can be
made; everybody else with SCRAM, whose identities the cluster keeps. The broker speaks to its controller on loopback.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tripline_contracts.kafka.cluster import KafkaCluster, Protocol, Sasl
from tripline_demo.kafka_passwords import ADMIN

BROKER: Final = "tripline-broker"
_PLAIN: Final = "org.apache.kafka.common.security.plain.PlainLoginModule"
_SCRAM: Final = "org.apache.kafka.common.security.scram.ScramLoginModule"


@dataclass(frozen=True, slots=True)
class Tls:
    """PEM files: the broker's private key with its certificate, and the certificate of who signed it."""

    key_and_certificate: Path
    authority: Path


@dataclass(frozen=True, slots=True)
class BrokerSecurity:
    """`jaas_file` holds what `jaas` returns, for the broker alone; without `tls` it is for loopback only."""

    jaas_file: Path
    admin_password_file: Path
    tls: Tls | None = None

    @property
    def protocol(self) -> Protocol:
        """Of the listener for clients."""
        return "SASL_SSL" if self.tls else "SASL_PLAINTEXT"

    def administrator(self, servers: str) -> KafkaCluster:
        """The cluster at these addresses, for its administrator."""
        sasl = Sasl("PLAIN", ADMIN, self.admin_password_file)
        return KafkaCluster(servers, self.protocol, sasl, self.tls.authority if self.tls else None)

    def java_options(self) -> list[str]:
        """For the broker's Java."""
        return [f"-Djava.security.auth.login.config={self.jaas_file}"]

    def properties(self) -> Mapping[str, str]:
        """Of server.properties, for listeners that are called CLIENTS and CONTROLLER."""
        asked = {
            "listener.security.protocol.map": f"CLIENTS:{self.protocol},CONTROLLER:SASL_PLAINTEXT",
            "listener.name.clients.sasl.enabled.mechanisms": "SCRAM-SHA-512,PLAIN",
            "listener.name.controller.sasl.enabled.mechanisms": "PLAIN",
            "sasl.mechanism.controller.protocol": "PLAIN",
            "sasl.mechanism.inter.broker.protocol": "PLAIN",
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "allow.everyone.if.no.acl.found": "false",
            "super.users": f"User:{ADMIN};User:{BROKER}",
        }
        if self.tls is None:
            return asked
        return asked | {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(self.tls.key_and_certificate),
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(self.tls.authority),
        }


def jaas(admin_password: str, broker_password: str) -> str:
    """The text of the broker's JAAS file."""
    itself = f'username="{BROKER}" password="{broker_password}" user_{BROKER}="{broker_password}"'
    return (
        f"clients.KafkaServer {{\n"
        f'  {_PLAIN} required {itself} user_{ADMIN}="{admin_password}";\n'
        f"  {_SCRAM} required;\n"
        f"}};\n"
        f"controller.KafkaServer {{\n"
        f"  {_PLAIN} required {itself};\n"
        f"}};\n"
    )
