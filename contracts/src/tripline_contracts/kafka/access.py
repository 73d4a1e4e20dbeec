"""Which identity may read and write which topic, as data: `access.yaml`."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources

import yaml

from tripline_contracts.errors import InvalidKafkaAccess

_LISTS = ("reads", "writes", "groups")
_QUOTAS = {
    "writeBytesPerSecond": "write_bytes",
    "readBytesPerSecond": "read_bytes",
    "threadPercent": "thread_percent",
}


@dataclass(frozen=True, slots=True)
class Quotas:
    """What all clients of an identity together may cost each broker; None for no bound.

    :ivar write_bytes: a second, as they are sent
    :ivar read_bytes: a second, as they are fetched
    :ivar thread_percent: of one of the broker's threads, for requests of any kind, refused ones included
    """

    write_bytes: int | None = None
    read_bytes: int | None = None
    thread_percent: int | None = None


@dataclass(frozen=True, slots=True)
class Identity:
    """A user of the cluster: topics by name, consumer groups by the beginning of their names."""

    name: str
    purpose: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    groups: tuple[str, ...]
    quotas: Quotas = Quotas()


@functools.cache
def identities() -> tuple[Identity, ...]:
    """All of them, in the file's order."""
    file = resources.files("tripline_contracts.kafka") / "access.yaml"
    return from_mapping(yaml.safe_load(file.read_text(encoding="utf-8")))


def from_mapping(data: object) -> tuple[Identity, ...]:
    """Identities from the file's parsed YAML. Raises InvalidKafkaAccess."""
    if not isinstance(data, Mapping) or not data:
        raise InvalidKafkaAccess("expected a mapping of identities")
    return tuple(_identity(str(name), entry) for name, entry in data.items())


def _identity(name: str, entry: object) -> Identity:
    if not isinstance(entry, Mapping) or not isinstance(entry.get("purpose"), str):
        raise InvalidKafkaAccess(f"{name}: expected a mapping with its purpose")
    unknown = sorted(set(entry) - {"purpose", "quotas", *_LISTS})
    if unknown:
        raise InvalidKafkaAccess(f"{name}: unknown {', '.join(map(str, unknown))}")
    reads, writes, groups = (_names(entry, member, name) for member in _LISTS)
    if not reads and not writes:
        raise InvalidKafkaAccess(f"{name}: it may neither read nor write")
    return Identity(name, entry["purpose"], reads, writes, groups, _quotas(entry.get("quotas", {}), name))


def _quotas(entry: object, name: str) -> Quotas:
    # Kafka takes no quota of zero; who may do nothing has no rights
    if not isinstance(entry, Mapping) or not all(
        type(value) is int and value > 0 for value in entry.values()
    ):
        raise InvalidKafkaAccess(f"{name}: quotas are whole numbers above zero")
    unknown = sorted(set(entry) - set(_QUOTAS))
    if unknown:
        raise InvalidKafkaAccess(f"{name}: unknown {', '.join(map(str, unknown))} in quotas")
    return Quotas(**{_QUOTAS[member]: value for member, value in entry.items()})


def _names(entry: Mapping[str, object], member: str, name: str) -> tuple[str, ...]:
    value = entry.get(member, [])
    # an empty prefix would be every group
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        raise InvalidKafkaAccess(f"{name}: {member} is a list of names")
    return tuple(value)
