"""How a mapping file says that one field comes about."""

from __future__ import annotations

from typing import Final

from tripline_contracts.errors import InvalidTime, Problem
from tripline_contracts.event_type import TEXT_KINDS, Field
from tripline_contracts.recordings.file_mapping import (
    Columns,
    Constant,
    FieldMapping,
    Position,
    RowNumber,
    Source,
    TimeForm,
)
from tripline_contracts.recordings.form_reader import read_form

_SOURCES: Final = ("column", "columns", "position", "constant", "rowNumber")
_OPTIONS: Final = ("form", "values")


def read_field(entry: object, field: Field, problems: list[Problem]) -> FieldMapping | None:
    """The mapping of a field; what is wrong with it goes to the problems."""
    prefix = f"fields.{field.name}"
    if isinstance(entry, str):
        entry = {"column": entry}
    if not isinstance(entry, dict):
        problems.append(Problem(prefix, f"expected a column's name, or one of {', '.join(_SOURCES)}"))
        return None
    known = (*_SOURCES, *_OPTIONS)
    problems += [
        Problem(f"{prefix}.{key}", f"unknown; known are {', '.join(known)}")
        for key in entry
        if key not in known
    ]
    kinds = [key for key in _SOURCES if key in entry]
    if len(kinds) != 1:
        problems.append(Problem(prefix, f"expected one of {', '.join(_SOURCES)}, not {len(kinds)}"))
        return None
    source = _source(kinds[0], entry[kinds[0]], field, problems)
    form = _form(entry, field, problems)
    values = _values(entry, field, problems)
    return None if source is None else FieldMapping(source, form, values)


def _source(kind: str, value: object, field: Field, problems: list[Problem]) -> Source | None:
    prefix = f"fields.{field.name}.{kind}"
    match kind, value:
        case "column", str(name) if name.strip():
            return Columns((name.strip(),))
        case "columns", [*names] if names and all(isinstance(name, str) and name.strip() for name in names):
            return Columns(tuple(str(name).strip() for name in names))
        case "position", str(number) if number.isascii() and number.isdigit() and 0 < int(number) <= 100_000:
            return Position(int(number))
        case "constant", str(text) if text:
            return _constant(text, field, problems)
        case "rowNumber", str(text) if field.role == "id":
            if len(text) <= 32:
                return RowNumber(text)
    expected = {
        "column": "expected the name of a column",
        "columns": "expected names of columns, whose values a space joins",
        "position": "expected the number of a column, from 1",
        "constant": "expected the text that every row has",
        "rowNumber": "expected a text of up to 32 characters that goes before the number; only an id may be made so",
    }
    problems.append(Problem(prefix, expected[kind]))
    return None


def _constant(text: str, field: Field, problems: list[Problem]) -> Constant | None:
    prefix = f"fields.{field.name}.constant"
    if field.role in ("id", "time"):
        problems.append(Problem(prefix, "an id or a time is never the same in every row; expected a column"))
        return None
    if field.kind == "enum" and text not in field.values:
        problems.append(Problem(prefix, f"expected one of {', '.join(field.values)}"))
        return None
    return Constant(text)


def _form(entry: dict[str, object], field: Field, problems: list[Problem]) -> TimeForm | None:
    if "form" not in entry:
        return None
    if field.kind != "timestamp":
        problems.append(Problem(f"fields.{field.name}.form", "only times have a form"))
        return None
    try:
        return read_form(entry["form"])
    except InvalidTime as error:
        problems.append(Problem(f"fields.{field.name}.form", str(error)))
        return None


def _values(entry: dict[str, object], field: Field, problems: list[Problem]) -> dict[str, str] | None:
    if "values" not in entry:
        return None
    prefix, values = f"fields.{field.name}.values", entry["values"]
    if field.kind not in TEXT_KINDS or field.role == "id":
        problems.append(Problem(prefix, "only enums and texts are translated"))
        return None
    if not isinstance(values, dict) or not all(isinstance(text, str) for text in values.values()):
        problems.append(Problem(prefix, "expected a mapping from what the file says to what the field takes"))
        return None
    wrong = [said for said, text in values.items() if text not in field.values]
    if field.kind == "enum" and wrong:
        problems += [
            Problem(f"{prefix}.{said}", f"expected one of {', '.join(field.values)}") for said in wrong
        ]
        return None
    return dict(values)
