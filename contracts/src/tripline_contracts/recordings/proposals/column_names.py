"""Which columns are called as a field of the event type may be called."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import yaml

from tripline_contracts.event_type import EventType, Field
from tripline_contracts.recordings.proposals.sample import Sample


@dataclass(frozen=True, slots=True)
class Match:
    """Columns of one field: one, or several of the same name, of which nobody knows which one counts.

    :ivar is_own: called as the field, or by an alias of it; not by what others call it
    """

    columns: tuple[str, ...]
    is_own: bool


def names_of(field: Field, event_type: EventType) -> list[str]:
    """What a column of the field may be called, the likeliest first."""
    synonyms = _synonyms()
    of_type = synonyms["types"].get(event_type.name, {}).get(field.name, [])
    of_role = [] if field.ingestion else synonyms["roles"].get(field.role, [])
    return [*field.names, *([field.label] if field.label else []), *of_type, *of_role]


def matches(sample: Sample, event_type: EventType) -> dict[str, Match]:
    """By field, no column twice; names that say more come before others, whichever field they are of."""
    columns: dict[str, list[str]] = defaultdict(list)
    for name in sample.names:
        if folded := _folded(sample.heading(name)):
            columns[folded].append(name)
    wishes = [
        (rank, number, field.name, name)
        for number, field in enumerate(event_type.fields)
        for rank, name in enumerate(names_of(field, event_type))
    ]
    by_declaration = {field.name: {_folded(name) for name in field.names} for field in event_type.fields}
    matched: dict[str, Match] = {}
    for _, _, field_name, name in sorted(wishes):
        folded = _folded(name)
        if field_name not in matched and folded in columns:
            matched[field_name] = Match(tuple(columns.pop(folded)), folded in by_declaration[field_name])
    return matched


@cache
def _synonyms() -> dict[str, Any]:
    folder = resources.files("tripline_contracts.recordings.proposals")
    synonyms: dict[str, Any] = yaml.safe_load(folder.joinpath("synonyms.yaml").read_text(encoding="utf-8"))
    return synonyms


def _folded(name: str) -> str:
    return re.sub(r"[\W_]", "", name).casefold()
