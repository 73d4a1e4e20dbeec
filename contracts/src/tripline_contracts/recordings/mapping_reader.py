"""Mapping files: YAML, every value of which is a text, so that `no` and `010` stay what they are.

timeZone: Europe/Berlin
decimalComma: true
fields:
  transactionId: Reference
  eventTime: {columns: [Date, Time], form: "%d.%m.%Y %H:%M"}
  ...
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final
from zoneinfo import ZoneInfo

import yaml

from tripline_contracts.errors import InvalidMapping, InvalidTime, Problem
from tripline_contracts.event_type import EventType
from tripline_contracts.recordings import file_mapping as forms
from tripline_contracts.recordings.field_reader import read_field
from tripline_contracts.recordings.file_mapping import FileMapping
from tripline_contracts.recordings.form_reader import read_form

MAX_BYTES: Final = 65_536
_DELIMITERS: Final = {"comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "bar": "|", "pipe": "|"}
_KEYS: Final = (
    "format", "delimiter", "header", "skipLines", "encoding", "decimalComma", "thousands", "timeZone", "form", "nulls",
    "floats", "fields",
)  # fmt: skip


class _Texts(yaml.BaseLoader):
    """Every scalar is a text, and no key comes twice."""


def _mapping(loader: _Texts, node: yaml.MappingNode) -> dict[Any, Any]:
    pairs = [(loader.construct_object(key, deep=True), value) for key, value in node.value]
    entries: dict[str, Any] = {}
    for name, value in pairs:
        if not isinstance(name, str):
            # not shown: aliases of aliases are short here, and as a text longer than any memory
            raise yaml.constructor.ConstructorError(None, None, "a key is no text", node.start_mark)
        if name in entries:
            raise yaml.constructor.ConstructorError(None, None, f"{name!r} is given twice", node.start_mark)
        entries[name] = loader.construct_object(value, deep=True)
    return entries


_Texts.add_constructor("tag:yaml.org,2002:map", _mapping)


def read_mapping(text: str | bytes, event_type: EventType) -> FileMapping:
    """The mapping that this text says. Raises InvalidMapping, which names every wrong entry and what was expected."""
    data = _loaded(text)
    problems: list[Problem] = [
        Problem(key, f"unknown; known are {', '.join(_KEYS)}") for key in data if key not in _KEYS
    ]
    reading = _Reading(data, problems)
    zone = reading.zone()
    fields = _fields(data.get("fields"), event_type, problems)
    mapping = FileMapping(
        fields=fields,
        format=reading.one_of("format", forms.FORMATS, None),
        delimiter=reading.delimiter(),
        header=reading.yes_or_no("header", None),
        skip_lines=reading.count("skipLines"),
        encoding=reading.one_of("encoding", forms.ENCODINGS, "utf-8"),
        decimal_comma=bool(reading.yes_or_no("decimalComma", False)),
        thousands=reading.one_of("thousands", forms.THOUSANDS, None),
        time_zone=zone,
        time_form=reading.form(),
        nulls=reading.nulls(),
        shortest_floats=reading.one_of("floats", ("shortest",), None) is not None,
    )
    if mapping.thousands == ("," if mapping.decimal_comma else "."):
        problems.append(
            Problem("thousands", "is the decimal sign already; expected another, or `decimalComma`")
        )
    if problems:
        raise InvalidMapping(problems)
    return mapping


def _loaded(text: str | bytes) -> dict[str, Any]:
    if len(text) > MAX_BYTES:
        raise InvalidMapping([Problem("mapping", f"longer than {MAX_BYTES} bytes")])
    try:
        data = yaml.load(text, _Texts)  # noqa: S506  # makes texts, lists and mappings of them, and nothing else
    except (yaml.YAMLError, UnicodeDecodeError, ValueError, RecursionError) as error:
        raise InvalidMapping([Problem("mapping", f"not YAML: {' '.join(str(error).split())}")]) from error
    if not isinstance(data, dict):
        raise InvalidMapping([Problem("mapping", f"expected a mapping with {', '.join(_KEYS)}")])
    return data


def _fields(data: object, event_type: EventType, problems: list[Problem]) -> dict[str, forms.FieldMapping]:
    names = ", ".join(field.name for field in event_type.fields)
    if not isinstance(data, dict):
        problems.append(
            Problem("fields", f"expected a mapping from fields to columns; the fields are {names}")
        )
        return {}
    fields: dict[str, forms.FieldMapping] = {}
    for name, entry in data.items():
        field = event_type.find(name)
        if field is None:
            problems.append(Problem(f"fields.{name}", f"unknown; the fields are {names}"))
        elif field.name in fields:
            problems.append(Problem(f"fields.{name}", "given twice"))
        else:
            mapped = read_field(entry, field, problems)
            if mapped is not None:
                fields[field.name] = mapped
    given = {field.name for name in data if (field := event_type.find(name)) is not None}
    problems += [
        Problem(f"fields.{field.name}", "expected a column, for it is required")
        for field in event_type.fields
        if field.required and field.name not in given
    ]
    return fields


class _Reading:
    """The entries beside `fields`, one by one; what is wrong goes to the problems."""

    def __init__(self, data: Mapping[str, Any], problems: list[Problem]) -> None:
        self._data, self._problems = data, problems

    def one_of(self, key: str, choices: Sequence[str], default: str | None) -> Any:
        """One of the choices."""
        value = self._data.get(key)
        if value is None or value in choices:
            return default if value is None else value
        self._wrong(
            key, f"expected {' or '.join(map(repr, choices)) if len(choices) < 3 else _listed(choices)}"
        )
        return default

    def yes_or_no(self, key: str, default: bool | None) -> bool | None:
        """true or false."""
        value = self.one_of(key, ("true", "false"), None)
        return default if value is None else value == "true"

    def count(self, key: str) -> int:
        """A number of lines."""
        value = self._data.get(key, "0")
        if isinstance(value, str) and re.fullmatch("[0-9]{1,6}", value, re.ASCII):
            return int(value)
        self._wrong(key, "expected a number of lines")
        return 0

    def delimiter(self) -> str | None:
        """One character, or its name."""
        value = self._data.get("delimiter")
        if value is None:
            return None
        value = _DELIMITERS.get(value, value) if isinstance(value, str) else ""
        if len(value) == 1 and value not in '"\r\n':
            return value
        self._wrong("delimiter", "expected one character, or comma, semicolon, tab or bar")
        return None

    def zone(self) -> ZoneInfo | None:
        """A zone by its name."""
        value = self._data.get("timeZone")
        if value is None:
            return None
        try:
            return ZoneInfo(value)
        except (TypeError, ValueError, OSError, LookupError):
            self._wrong("timeZone", "expected the name of a zone, as UTC or Europe/Berlin")
            return None

    def form(self) -> forms.TimeForm:
        """Of all times for which their field says no other."""
        value = self._data.get("form")
        try:
            return forms.Iso() if value is None else read_form(value)
        except InvalidTime as error:
            self._wrong("form", str(error))
            return forms.Iso()

    def nulls(self) -> frozenset[str]:
        """Texts, or one."""
        value = self._data.get("nulls", [])
        texts = value if isinstance(value, list) else [value]
        if all(isinstance(text, str) for text in texts):
            return frozenset(texts)
        self._wrong("nulls", "expected texts that stand for no value, as [NA, NULL]")
        return frozenset()

    def _wrong(self, key: str, message: str) -> None:
        self._problems.append(Problem(key, message))


def _listed(choices: Sequence[str]) -> str:
    return "one of " + ", ".join(map(repr, choices))
