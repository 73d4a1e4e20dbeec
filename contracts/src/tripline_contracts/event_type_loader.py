"""Event types read from their YAML files, and those that ship."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from importlib import resources
from typing import Final, cast, get_args

import yaml

from tripline_contracts.errors import InvalidEventType, UnknownEventType
from tripline_contracts.event_type import DEFAULT, EventType, Field, Kind, Party, Role, Side
from tripline_contracts.event_type_checks import check

_KNOWN: Final = {
    *("name", "role", "kind", "aliases", "required", "values", "maxLength", "ingestion", "label", "plural")
}


def load(name: str = DEFAULT) -> EventType:
    """The shipped event type of that name; UnknownEventType if there is none."""
    return _load(name)


def shipped() -> tuple[str, ...]:
    """The names of the event types that ship, sorted."""
    folder = resources.files("tripline_contracts") / "event_types"
    return tuple(sorted(f.name.removesuffix(".yaml") for f in folder.iterdir() if f.name.endswith(".yaml")))


@functools.cache
def _load(name: str) -> EventType:
    if name not in shipped():
        raise UnknownEventType(f"no event type {name!r} ships with tripline_contracts")
    source = resources.files("tripline_contracts") / "event_types" / f"{name}.yaml"
    return from_mapping(yaml.safe_load(source.read_text(encoding="utf-8")))


def from_mapping(data: object) -> EventType:
    """An event type from its parsed YAML; InvalidEventType says what is wrong with it."""
    if not isinstance(data, Mapping):
        raise InvalidEventType("expected a mapping with name, version, anchors and fields")
    _only(
        data,
        {"name", "version", "anchors", "keptAnchors", "parties", "fields", "columns", "noun", "plural"},
        "the event type",
    )
    name, version = data.get("name"), data.get("version")
    if not isinstance(name, str) or not name or not isinstance(version, int) or version < 1:
        raise InvalidEventType("expected a name and a version of at least 1")
    raw_fields = data.get("fields")
    if not isinstance(raw_fields, list):
        raise InvalidEventType("expected a list of fields")
    fields = tuple(map(_field, raw_fields))
    noun, plural = _words(data, name, "transaction")
    columns = _names(data, "columns", name) or tuple(field.name for field in fields)
    anchors, kept = _names(data, "anchors", name), _names(data, "keptAnchors", name)
    parties = _parties(data.get("parties", {}))
    event_type = EventType(name, version, fields, anchors, columns, noun, plural, kept, parties)
    check(event_type)
    return event_type


def _field(data: object) -> Field:
    if not isinstance(data, Mapping) or not isinstance(data.get("name"), str):
        raise InvalidEventType(f"expected a field with a name, not {data!r}")
    name: str = data["name"]
    _only(data, _KNOWN, name)
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
    label, plural = _words(data, name, _spoken(name), "label")
    return Field(
        name=name,
        role=cast("Role", role),
        kind=cast("Kind", kind),
        aliases=_names(data, "aliases", name),
        required=required,
        values=values,
        max_length=length,
        ingestion=ingestion,
        label=label,
        plural=plural,
    )


def _parties(data: object) -> tuple[Party, ...]:
    if not isinstance(data, Mapping):
        raise InvalidEventType("parties is a mapping of names to their sides, each with its field")
    parties = []
    for name, sides in data.items():
        if not isinstance(name, str) or not isinstance(sides, Mapping):
            raise InvalidEventType(f"parties: expected the sides of {name!r}, each with its field")
        if not all(isinstance(word, str) for side in sides.items() for word in side):
            raise InvalidEventType(f"{name}: expected names of sides, and of their fields")
        parties.append(Party(name, tuple(Side(side, field) for side, field in sides.items())))
    return tuple(parties)


def _words(
    data: Mapping[object, object], what: str, usual: str, singular_key: str = "noun"
) -> tuple[str, str]:
    """Singular and plural: the declared ones, or `usual` and an s."""
    word = data.get(singular_key, usual)
    plural = data.get("plural", f"{word}s")
    if not all(isinstance(text, str) and text.strip() for text in (word, plural)):
        raise InvalidEventType(f"{what}: {singular_key} and plural are words")
    return cast("str", word), cast("str", plural)


def _spoken(name: str) -> str:
    """ "merchantCategoryId" as words: "merchant category"."""
    apart = re.sub("([a-z])([A-Z])", r"\1 \2", name.removesuffix("Id") or name)
    return apart.replace("_", " ").lower()


def _only(data: Mapping[object, object], allowed: set[str], what: str) -> None:
    unknown = sorted(str(key) for key in data if key not in allowed)
    if unknown:
        raise InvalidEventType(
            f"{what}: unknown {', '.join(unknown)}; known are {', '.join(sorted(allowed))}"
        )


def _names(data: Mapping[object, object], key: str, what: str) -> tuple[str, ...]:
    names = data.get(key, [])
    if not isinstance(names, list) or not all(isinstance(n, str) and n for n in names):
        raise InvalidEventType(f"{what}: {key} is a list of names")
    if len(set(names)) != len(names):
        raise InvalidEventType(f"{what}: {key} names something twice")
    return tuple(names)
