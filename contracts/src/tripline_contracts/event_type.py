"""Event types: the declared fields of what flows through, as data.

They drive parsing, validation of rule definitions, and evaluation. `transaction` is the one that ships.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Final, Literal, cast, get_args

import yaml

from tripline_contracts.errors import InvalidEventType, UnknownEventType, UnknownField

Role = Literal["id", "time", "key", "measure", "attribute"]
Kind = Literal["string", "timestamp", "decimal", "enum"]

GLOBAL_ANCHOR: Final = "global"
MAX_TIMESTAMP: Final = 253_402_300_799_999
"""9999-12-31T23:59:59.999Z in ms since the epoch; the least is 0."""


@dataclass(frozen=True, slots=True)
class Field:
    """One declared field. `values` only for an enum, `max_length` (in code points) only for a string."""

    name: str
    role: Role
    kind: Kind
    aliases: tuple[str, ...] = ()
    required: bool = False
    values: tuple[str, ...] = ()
    max_length: int | None = None
    ingestion: bool = False

    @property
    def groupable(self) -> bool:
        """Rules may group by it: anything but the identity and the times."""
        return self.role not in ("id", "time")

    @property
    def names(self) -> tuple[str, ...]:
        """The canonical name, then the aliases."""
        return (self.name, *self.aliases)


@dataclass(frozen=True, slots=True)
class EventType:
    """A named, versioned set of fields and its anchors in order. Field order is the declared one."""

    name: str
    version: int
    fields: tuple[Field, ...]
    anchors: tuple[str, ...]

    @property
    def id_field(self) -> Field:
        """The one field that identifies an event."""
        return next(f for f in self.fields if f.role == "id")

    @property
    def time_field(self) -> Field:
        """The one field that windows use."""
        return next(f for f in self.fields if f.role == "time" and not f.ingestion)

    @property
    def ingestion_field(self) -> Field | None:
        """The time at which the event entered, if the type declares one."""
        return next((f for f in self.fields if f.ingestion), None)

    @property
    def groupable(self) -> tuple[str, ...]:
        """Canonical names of the fields that rules may group by, in declared order."""
        return tuple(f.name for f in self.fields if f.groupable)

    @property
    def measures(self) -> tuple[str, ...]:
        """Canonical names of the fields that rules may aggregate, in declared order."""
        return tuple(f.name for f in self.fields if f.role == "measure")

    def field(self, name_or_alias: str) -> Field:
        """The field of that exact name or alias; UnknownField otherwise."""
        for field in self.fields:
            if name_or_alias in field.names:
                return field
        raise UnknownField(f"{self.name} has no field {name_or_alias!r}")

    def find(self, spelling: str) -> Field | None:
        """Like `field` but in any case, as rules in the wild spell names; None if there is none."""
        wanted = spelling.casefold()
        for field in self.fields:
            if any(name.casefold() == wanted for name in field.names):
                return field
        return None


def load(name: str = "transaction") -> EventType:
    """The shipped event type of that name; UnknownEventType if there is none."""
    return _load(name)


@functools.cache
def _load(name: str) -> EventType:
    source = resources.files("tripline_contracts") / "event_types" / f"{name}.yaml"
    if "/" in name or not source.is_file():
        raise UnknownEventType(f"no event type {name!r} ships with tripline_contracts")
    return from_mapping(yaml.safe_load(source.read_text(encoding="utf-8")))


def from_mapping(data: object) -> EventType:
    """An event type from its parsed YAML; InvalidEventType says what is wrong with it."""
    if not isinstance(data, Mapping):
        raise InvalidEventType("expected a mapping with name, version, anchors and fields")
    _only(data, {"name", "version", "anchors", "fields"}, "the event type")
    name, version = data.get("name"), data.get("version")
    if not isinstance(name, str) or not name or not isinstance(version, int) or version < 1:
        raise InvalidEventType("expected a name and a version of at least 1")
    raw_fields = data.get("fields")
    if not isinstance(raw_fields, list):
        raise InvalidEventType("expected a list of fields")
    event_type = EventType(name, version, tuple(map(_field, raw_fields)), _names(data, "anchors", name))
    _check(event_type)
    return event_type


def _field(data: object) -> Field:
    if not isinstance(data, Mapping) or not isinstance(data.get("name"), str):
        raise InvalidEventType(f"expected a field with a name, not {data!r}")
    name: str = data["name"]
    _only(data, {"name", "role", "kind", "aliases", "required", "values", "maxLength", "ingestion"}, name)
    role, kind, length = data.get("role"), data.get("kind"), data.get("maxLength")
    if role not in get_args(Role) or kind not in get_args(Kind):
        raise InvalidEventType(f"{name}: expected a role of {get_args(Role)} and a kind of {get_args(Kind)}")
    required, ingestion = data.get("required", False), data.get("ingestion", False)
    if not isinstance(required, bool) or not isinstance(ingestion, bool):
        raise InvalidEventType(f"{name}: required and ingestion are true or false")
    if (kind == "string") != (isinstance(length, int) and length > 0):
        raise InvalidEventType(f"{name}: a string, and nothing else, has a maxLength of at least 1")
    values = _names(data, "values", name)
    if (kind == "enum") != bool(values):
        raise InvalidEventType(f"{name}: an enum, and nothing else, has values")
    aliases = _names(data, "aliases", name)
    return Field(name, cast("Role", role), cast("Kind", kind), aliases, required, values, length, ingestion)


def _only(data: Mapping[object, object], known: set[str], what: str) -> None:
    unknown = sorted(str(key) for key in data if key not in known)
    if unknown:
        raise InvalidEventType(f"{what}: unknown {', '.join(unknown)}; known are {', '.join(sorted(known))}")


def _names(data: Mapping[object, object], key: str, what: str) -> tuple[str, ...]:
    names = data.get(key, [])
    if not isinstance(names, list) or not all(isinstance(n, str) and n for n in names):
        raise InvalidEventType(f"{what}: {key} is a list of names")
    if len(set(names)) != len(names):
        raise InvalidEventType(f"{what}: {key} names something twice")
    return tuple(names)


def _check(event_type: EventType) -> None:
    fields = event_type.fields
    spellings = [name.casefold() for field in fields for name in field.names]
    if len(set(spellings)) != len(spellings):
        raise InvalidEventType("two fields share a name or an alias (cases are not told apart)")
    _exactly_one("id field", [f for f in fields if f.role == "id"], ("string",))
    _exactly_one("time field", [f for f in fields if f.role == "time" and not f.ingestion], ("timestamp",))
    ingestion = [f for f in fields if f.ingestion]
    if len(ingestion) > 1 or any(f.role != "time" or f.kind != "timestamp" or f.required for f in ingestion):
        raise InvalidEventType("at most one ingestion field: a timestamp with the role time, not required")
    if any(f.kind != "decimal" for f in fields if f.role == "measure"):
        raise InvalidEventType("a measure is a decimal")
    if not event_type.anchors or event_type.anchors[-1] != GLOBAL_ANCHOR:
        raise InvalidEventType("the last anchor is global: rules that contain no other one run there")
    foreign = set(event_type.anchors[:-1]) - set(event_type.groupable)
    if foreign:
        raise InvalidEventType(f"anchors that rules cannot group by: {', '.join(sorted(foreign))}")


def _exactly_one(what: str, found: list[Field], kinds: tuple[str, ...]) -> None:
    if len(found) != 1 or not found[0].required or found[0].kind not in kinds:
        raise InvalidEventType(f"expected exactly one {what}, required, of kind {' or '.join(kinds)}")
