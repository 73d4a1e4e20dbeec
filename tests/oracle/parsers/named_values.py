"""Named lists and parameters (decision 0035): references to them, and what they are at one moment."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tests.oracle.values.errors import Unreadable
from tests.oracle.values.schema import LAST_TIME, LONGEST_TEXT
from tests.oracle.values.strict_json import Numeral, Value, read_integer, read_text

MOST_VALUES = 10_000
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")


@dataclass(frozen=True, slots=True)
class ListName:
    """Reference to a list by its name."""

    name: str


@dataclass(frozen=True, slots=True)
class Parameter:
    """Reference to a decimal parameter by its name."""

    name: str


@dataclass(frozen=True, slots=True)
class NamedValues:
    """All lists and parameters at one point of the order; immutable.

    Each transaction keeps those of its own acceptance. Parameters in millionths.
    """

    lists: Mapping[str, frozenset[str]] = field(default_factory=dict)
    parameters: Mapping[str, int] = field(default_factory=dict)

    def texts(self, named: ListName) -> frozenset[str]:
        """Before its first event a list is empty."""
        return self.lists.get(named.name, frozenset())

    def number(self, limit: int | Parameter) -> int | None:
        """The limit itself, or the value of the parameter; None before its first event."""
        return self.parameters.get(limit.name) if isinstance(limit, Parameter) else limit


NO_NAMED_VALUES = NamedValues()


@dataclass(frozen=True, slots=True)
class ListChanged:
    """From now on the list is this set."""

    name: str
    texts: frozenset[str]

    def applied(self, names: NamedValues) -> NamedValues:
        """The names from now on."""
        return replace(names, lists={**names.lists, self.name: self.texts})


@dataclass(frozen=True, slots=True)
class ListEntriesChanged:
    """From now on the list has these too, and those no more."""

    name: str
    added: frozenset[str]
    removed: frozenset[str]

    def applied(self, names: NamedValues) -> NamedValues:
        """The names from now on."""
        texts = (names.texts(ListName(self.name)) | self.added) - self.removed
        return replace(names, lists={**names.lists, self.name: texts})


@dataclass(frozen=True, slots=True)
class ParameterChanged:
    """From now on the parameter has this value, in millionths."""

    name: str
    number: int

    def applied(self, names: NamedValues) -> NamedValues:
        """The names from now on."""
        return replace(names, parameters={**names.parameters, self.name: self.number})


def read_name(value: Value | None) -> str:
    """The name of a list or a parameter, or Unreadable."""
    name = read_text(value, "name")
    if not _NAME.fullmatch(name):
        raise Unreadable("no name")
    return name


def read_reference(value: Value | None, kind: str) -> str | None:
    """The name in `{kind: name}`; None for what is no object, Unreadable for any other object."""
    if not isinstance(value, dict):
        return None
    if value.keys() != {kind}:
        raise Unreadable(f"no reference to a {kind}")
    return read_name(value[kind])


def read_texts(value: Value | None) -> frozenset[str]:
    """The values of a list, in any order, or Unreadable."""
    if not isinstance(value, list):
        raise Unreadable("values is not a list")
    texts = frozenset(_text(item) for item in value)
    if len(texts) > MOST_VALUES:
        raise Unreadable("too many values")
    return texts


def read_entries_change(name: str, added: Value | None, removed: Value | None) -> ListEntriesChanged:
    """Entries that come and values that go, or Unreadable; when an entry ends is for the registry alone."""
    if not isinstance(added, list) or not isinstance(removed, list):
        raise Unreadable("added or removed is not a list")
    come, go = frozenset(_entry(item) for item in added), frozenset(_text(item) for item in removed)
    if come & go:
        raise Unreadable("a value that comes and goes")
    if len(come) + len(go) > MOST_VALUES:
        raise Unreadable("too many values")
    return ListEntriesChanged(name, come, go)


def _entry(item: Value) -> str:
    if not isinstance(item, dict):
        raise Unreadable("an entry is not an object")
    until = item.get("until")
    if until is not None and not 0 <= read_integer(until, "until") <= LAST_TIME:
        raise Unreadable("until is no time")
    if "value" not in item:
        raise Unreadable("an entry has no value")
    return _text(item["value"])


def _text(value: Value) -> str:
    if isinstance(value, Numeral) and value.integer:
        text = "0" if value.text == "-0" else value.text
    else:
        text = read_text(value, "value of a list")
    if not 1 <= len(text) <= LONGEST_TEXT or "\0" in text:
        raise Unreadable("no transaction has such a text")
    return text
