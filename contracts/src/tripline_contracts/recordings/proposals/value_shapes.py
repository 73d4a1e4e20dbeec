"""Columns whose values could be those of a field, for a column that no name gives away."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Final

from tripline_contracts.event_type import EventType, Field
from tripline_contracts.normal_forms.normal_texts import NORMAL_TEXTS
from tripline_contracts.recordings.csv_dialect import least_columns
from tripline_contracts.recordings.proposals.column_names import Match
from tripline_contracts.recordings.proposals.guesses import style_guess, time_guess
from tripline_contracts.recordings.proposals.sample import Sample

_LOOKED_AT: Final = 60
_VALUES: Final = 20
_MOST: Final = 5
_LEAST_TIME: Final = 6
"""Characters of a time in the shortest form that is known."""
_ID: Final = re.compile(r"[\w-]{1,64}")
_WHOLE: Final = re.compile(r"[0-9]+", re.ASCII)


def candidates(sample: Sample, field: Field, names: Iterable[str]) -> tuple[str, ...]:
    """Of these columns those whose first values are all such as the field's; few, or none where most would be."""
    fitting = [
        name
        for name in list(names)[:_LOOKED_AT]
        if (values := sample.values(name)[:_VALUES]) and _could_be(values, field)
    ]
    return tuple(fitting) if len(fitting) <= _MOST else ()


def in_order(sample: Sample, event_type: EventType) -> dict[str, Match]:
    """Of a file without a header: columns in the order that the type has for them, where the values could be so."""
    count = len(sample.names)
    if sample.has_header or not least_columns(event_type) <= count <= len(event_type.columns):
        return {}
    columns = dict(zip(event_type.columns, sample.names, strict=False))
    for field in event_type.fields:
        if field.name not in columns:
            continue
        values = sample.values(columns[field.name])[:_VALUES]
        if field.required and (not values or (field.role != "id" and not _could_be(values, field))):
            return {}
    return {name: Match((column,), is_own=False) for name, column in columns.items()}


def _could_be(values: list[object], field: Field) -> bool:
    match field.kind:
        case "timestamp":
            return _are_times(values)
        case "decimal":
            return _are_numbers(values)
        case "enum":
            known = {value.casefold() for value in field.values}
            return all(str(value).casefold() in known for value in values)
        case "ip" | "position":
            normal = NORMAL_TEXTS[field.kind].normal
            return all(isinstance(value, str) and normal(value) is not None for value in values)
        case "string":
            texts = {str(value) for value in values}
            return field.role == "id" and 1 < len(values) == len(texts) and all(map(_ID.fullmatch, texts))


def _are_times(values: list[object]) -> bool:
    if isinstance(values[0], datetime):
        return True
    text = str(values[0])
    return len(text) >= _LEAST_TIME and any(map(str.isdigit, text[:12])) and bool(time_guess(values).forms)


def _are_numbers(values: list[object]) -> bool:
    """Amounts: numbers that are no moments; whole ones that are all different may as well be ids."""
    texts = [str(value) for value in values]
    if any(not re.search("[0-9]", text) for text in texts) or not style_guess(values).styles:
        return False
    numbered = all(_WHOLE.fullmatch(text) for text in texts)
    return not (numbered and (time_guess(values).forms or 1 < len(texts) == len(set(texts))))
