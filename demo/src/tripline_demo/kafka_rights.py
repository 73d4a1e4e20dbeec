"""Gives a cluster the identities and rights of `access.yaml`. Whoever does it administers the cluster."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final, cast

from confluent_kafka import KafkaException
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialAlteration,
    UserScramCredentialUpsertion,
)

from tripline_contracts.kafka.access import Identity, identities
from tripline_contracts.kafka.cluster import KafkaCluster
from tripline_demo import kafka_passwords
from tripline_demo.errors import KafkaFailed

SECONDS: Final = 30.0
_ANY: Final = cast("str", None)  # the library's word for "whatever it is", which its types leave out
ITERATIONS: Final = 4096
"""Of SCRAM. Passwords are 192 random bits: nobody finds one by trying, however fast a try is."""


def make_identities(cluster: KafkaCluster, passwords: Path) -> list[str]:
    """Sets the password of each identity that has a file in the folder; their names. Raises KafkaFailed, OSError."""
    admin = AdminClient({**cluster.client_config(), "log_level": 3})
    known = [
        identity.name
        for identity in identities()
        if (passwords / kafka_passwords.file_name(identity.name)).exists()
    ]
    scram = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, ITERATIONS)
    changes: list[UserScramCredentialAlteration] = [
        UserScramCredentialUpsertion(name, scram, kafka_passwords.password_of(passwords, name).encode())
        for name in known
    ]
    try:
        if changes:
            for done in admin.alter_user_scram_credentials(changes, request_timeout=SECONDS).values():
                done.result(SECONDS)
    except KafkaException as failure:
        raise KafkaFailed(f"Kafka does not take the identities: {failure.args[0].str()}") from failure
    return known


def give_rights(cluster: KafkaCluster) -> int:
    """Gives each identity its rights and takes from it all others; the number of changes. Raises KafkaFailed."""
    admin = AdminClient({**cluster.client_config(), "log_level": 3})
    try:
        changes = 0
        for identity in identities():
            wanted, present = set(bindings(identity)), set(_present(admin, identity.name))
            changes += _create(admin, wanted - present) + _delete(admin, present - wanted)
    except KafkaException as failure:
        raise KafkaFailed(
            f"Kafka does not take the rights of its identities: {failure.args[0].str()}. It needs an authoriser"
            " (authorizer.class.name), and this user the right to alter the cluster; docs/kafka-access.md."
        ) from failure
    return changes


def bindings(identity: Identity) -> list[AclBinding]:
    """The rights of an identity, as Kafka has them. Who may read or write a topic may describe it."""
    topics = [(name, AclOperation.READ) for name in identity.reads]
    topics += [(name, AclOperation.WRITE) for name in identity.writes]
    return [
        *(
            _allow(identity, ResourceType.TOPIC, name, ResourcePatternType.LITERAL, what)
            for name, what in topics
        ),
        *(
            _allow(identity, ResourceType.GROUP, prefix, ResourcePatternType.PREFIXED, AclOperation.READ)
            for prefix in identity.groups
        ),
    ]


def _allow(
    identity: Identity, kind: ResourceType, name: str, pattern: ResourcePatternType, operation: AclOperation
) -> AclBinding:
    principal = f"User:{identity.name}"
    return AclBinding(kind, name, pattern, principal, "*", operation, AclPermissionType.ALLOW)


def _present(admin: AdminClient, user: str) -> Iterable[AclBinding]:
    every = AclBindingFilter(
        ResourceType.ANY, _ANY, ResourcePatternType.ANY, f"User:{user}", _ANY, AclOperation.ANY,
        AclPermissionType.ANY,
    )  # fmt: skip
    bindings: Iterable[AclBinding] = admin.describe_acls(every, request_timeout=SECONDS).result(SECONDS)
    return bindings


def _create(admin: AdminClient, missing: Iterable[AclBinding]) -> int:
    asked = list(missing)
    for done in admin.create_acls(asked, request_timeout=SECONDS).values() if asked else ():
        done.result(SECONDS)
    return len(asked)


def _delete(admin: AdminClient, surplus: Iterable[AclBinding]) -> int:
    asked = [
        AclBindingFilter(
            b.restype, b.name, b.resource_pattern_type, b.principal, b.host, b.operation, b.permission_type
        )
        for b in surplus
    ]
    for done in admin.delete_acls(asked, request_timeout=SECONDS).values() if asked else ():
        done.result(SECONDS)
    return len(asked)
