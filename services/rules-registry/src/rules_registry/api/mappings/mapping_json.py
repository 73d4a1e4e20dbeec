"""The JSON of a proposed mapping, and of the first rows that a mapping reads."""

from __future__ import annotations

from typing import Any, Final

from tripline_contracts.recordings.proposals.file_head import Head
from tripline_contracts.recordings.proposals.preview import Preview
from tripline_contracts.recordings.proposals.proposal import Proposal, ProposedField
from tripline_contracts.recordings.proposals.proposal_text import meaning_of

_COLUMNS: Final = 500
_EXAMPLES: Final = 3
_VALUES: Final = 20
_LONGEST: Final = 60


def proposal_json(head: Head, proposal: Proposal) -> dict[str, Any]:
    """What is proposed, and what it rests on."""
    sample, numbers = proposal.sample, proposal.numbers
    return {
        "format": sample.format,
        "packing": head.packing,
        "encoding": "utf-8" if sample.is_utf_8 else "latin-1",
        "delimiter": sample.delimiter,
        "hasHeader": sample.has_header,
        "byPosition": sample.by_position,
        "skippedLines": sample.skipped,
        "nulls": list(sample.nulls),
        "rows": len(sample.rows),
        "columns": [
            {
                "name": name,
                "heading": sample.heading(name),
                "examples": _examples(sample.values(name)),
            }
            for name in sample.names[:_COLUMNS]
        ],
        "fields": [_field_json(one) for one in proposal.fields],
        "numbers": [
            {
                "decimalComma": style.decimal_comma,
                "thousands": style.thousands,
                "shortestFloats": style.shortest_floats,
                "meaning": meaning_of(style, numbers.example),
            }
            for style in numbers.styles
        ],
        "numberExample": _short(numbers.example),
        "needsTimeZone": proposal.needs_zone,
    }


def preview_json(first: Preview) -> dict[str, Any]:
    """The first rows."""
    return {
        "rows": [{"line": row.line, "values": dict(row.values)} for row in first.rows],
        "refused": [{"line": bad.line, "reason": bad.reason[:1_000]} for bad in first.refused],
        "read": first.read,
        "bad": first.bad,
        "columnsNotRead": list(first.unused[:_COLUMNS]),
        "ends": first.ends,
    }


def _field_json(one: ProposedField) -> dict[str, Any]:
    values = None
    if one.values is not None:
        values = [{"said": said, "means": means} for said, means in one.values.items()]
    return {
        "field": one.field.name,
        "sure": one.sure,
        "reason": one.reason,
        "columns": list(one.columns),
        "forms": list(one.forms),
        "values": values,
        "candidates": list(one.candidates),
        "isNumbered": one.is_numbered,
    }


def _examples(values: list[object]) -> list[str]:
    different = list(dict.fromkeys(_short(value) for value in values))
    return different if len(different) <= _VALUES else different[:_EXAMPLES]


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
