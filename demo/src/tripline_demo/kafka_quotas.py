"""Gives the identities of `access.yaml` their client quotas: what each may cost a broker.

librdkafka has no call for it, so this asks by a connection of its own: DescribeClientQuotas and AlterClientQuotas,
which every broker since 2.6 knows in version 0. Any broker takes both; it hands changes on to its controller.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from contextlib import closing
from typing import Final, Literal, get_args

from confluent_kafka import KafkaError

from tripline_contracts.errors import BrokerSilent
from tripline_contracts.kafka.access import Identity, Quotas, identities
from tripline_contracts.kafka.cluster import KafkaCluster
from tripline_contracts.record_batches.broker_connection import BrokerConnection
from tripline_demo.errors import KafkaFailed

VARIABLE: Final = "TRIPLINE_KAFKA_QUOTAS"
Choice = Literal["set", "remove", "leave"]
"""Whether identities get their quotas, lose them, or keep what they have."""
CHOICES: Final[tuple[Choice, ...]] = get_args(Choice)
_DESCRIBE, _ALTER = (48, 0), (49, 0)
_USER: Final = "user"
_EXACT: Final = 0


def apply(cluster: KafkaCluster, choice: Choice, of: Iterable[Identity] | None = None) -> int:
    """Gives each identity its quotas, or takes them all; other users are not touched. The number of changes.

    Raises KafkaFailed.
    """
    if choice == "leave":
        return 0
    changes = 0
    try:
        with closing(_connection(cluster)) as connection:
            for identity in identities() if of is None else of:
                wanted = _values(identity.quotas if choice == "set" else Quotas())
                present = _described(connection, identity.name)
                changed = {name: value for name, value in wanted.items() if present.get(name) != value}
                if changed:
                    _alter(connection, identity.name, changed)
                changes += len(changed)
    except BrokerSilent as failure:
        raise _refused(str(failure)) from failure
    return changes


def _values(quotas: Quotas) -> Mapping[str, float | None]:
    """Each quota by Kafka's name; None for no bound."""
    return {
        "producer_byte_rate": quotas.write_bytes,
        "consumer_byte_rate": quotas.read_bytes,
        "request_percentage": quotas.thread_percent,
    }


def _connection(cluster: KafkaCluster) -> BrokerConnection:
    """To the first of the brokers that answers. Raises BrokerSilent."""
    reasons = []
    for server in cluster.servers.split(","):
        host, _, port = server.strip().rpartition(":")
        try:
            return BrokerConnection(cluster, host.strip("[]"), int(port))
        except BrokerSilent as silent:
            reasons.append(str(silent))
    raise BrokerSilent("; ".join(reasons))


def _described(connection: BrokerConnection, user: str) -> Mapping[str, float]:
    # one component: an entity of this type and name; strictly, so without quotas of a user's client ids
    asked = struct.pack(">i", 1) + _text(_USER) + struct.pack(">b", _EXACT) + _text(user) + b"\1"
    answer = _Answer(connection.request(*_DESCRIBE, asked))
    answer.number(">i")  # how long it throttled
    answer.raise_error()
    values: dict[str, float] = {}
    for _ in range(answer.number(">i")):
        answer.skip_entity()
        for _ in range(answer.number(">i")):
            name = answer.text()
            (values[str(name)],) = answer.numbers(">d")
    return values


def _alter(connection: BrokerConnection, user: str, changed: Mapping[str, float | None]) -> None:
    changes = b"".join(
        _text(name) + struct.pack(">d?", value or 0, value is None) for name, value in changed.items()
    )
    # one entry, of one entity; not only to validate
    entry = struct.pack(">ii", 1, 1) + _text(_USER) + _text(user)
    asked = entry + struct.pack(">i", len(changed)) + changes + b"\0"
    answer = _Answer(connection.request(*_ALTER, asked))
    answer.numbers(">ii")  # how long it throttled, and the one entry
    answer.raise_error()


class _Answer:
    """An answer, read from its beginning on."""

    def __init__(self, data: memoryview) -> None:
        self._data, self._position = data, 0

    def numbers(self, form: str) -> tuple[float, ...]:
        """In `struct`'s format."""
        try:
            values = struct.unpack_from(form, self._data, self._position)
        except struct.error as error:
            raise BrokerSilent("an answer that is too short") from error
        self._position += struct.calcsize(form)
        return values

    def number(self, form: str) -> int:
        (value,) = self.numbers(form)
        return int(value)

    def text(self) -> str | None:
        length = self.number(">h")
        if length < 0:
            return None
        end = self._position + length
        text = bytes(self._data[self._position : end]).decode("utf-8", "replace")
        self._position = end
        return text

    def skip_entity(self) -> None:
        """Its types and names: there is one in each answer, the one that was asked about."""
        for _ in range(self.number(">i")):
            self.text()
            self.text()

    def raise_error(self) -> None:
        """KafkaFailed where the answer is one."""
        code, said = self.number(">h"), self.text()
        if code:
            raise _refused(said or KafkaError(code).str())


def _text(value: str) -> bytes:
    encoded = value.encode()
    return struct.pack(">h", len(encoded)) + encoded


def _refused(reason: str) -> KafkaFailed:
    return KafkaFailed(
        f"Kafka does not take the quotas of its identities: {reason}. The user needs the right to alter the cluster's"
        f" configuration; {VARIABLE}=leave does without quotas; docs/kafka-access.md."
    )
