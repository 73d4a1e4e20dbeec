"""Answers about mappings of files."""

# ruff: noqa: N815  # the names are those of the JSON

from __future__ import annotations

import marshmallow as ma

from rules_registry.api.rule_schemas.answer_schemas import one_of
from tripline_contracts.recordings.file_mapping import FORMATS
from tripline_contracts.recordings.proposals.proposal import SURE
from tripline_http.fields import MAX_POSITION, BoundedInteger


def _count(description: str) -> BoundedInteger:
    return BoundedInteger(0, MAX_POSITION, required=True, metadata={"description": description})


def _text(description: str, *, allow_none: bool = False) -> ma.fields.String:
    return ma.fields.String(required=True, allow_none=allow_none, metadata={"description": description})


def _flag(description: str) -> ma.fields.Boolean:
    return ma.fields.Boolean(required=True, metadata={"description": description})


def _texts(description: str) -> ma.fields.List[str]:
    return ma.fields.List(ma.fields.String(), required=True, metadata={"description": description})


class FileColumnSchema(ma.Schema):
    """A column of the file."""

    name = _text("As a mapping names it; its number from 1 where columns are told by position")
    heading = _text("What the file calls it; empty without a header")
    examples = _texts("Its different values among the first rows: all up to 20, of more the first three")


class TranslationSchema(ma.Schema):
    """A value, and what the field takes for it."""

    said = _text("What the file says")
    means = _text("Null: nobody knows", allow_none=True)


class ProposedFieldSchema(ma.Schema):
    """How a field of the event type comes about."""

    field = _text("Its name")
    sure = one_of(*SURE)
    reason = _text("Why, or what has to be said")
    columns = _texts("None where nobody knows; two of a day and a time of day")
    forms = _texts("Of a time those that fit; of several one has to be chosen")
    values = ma.fields.List(ma.fields.Nested(TranslationSchema), required=True, allow_none=True)
    candidates = _texts("Columns that it could be")
    isNumbered = _flag("It is an id that is made of the number of the line")


class NumberStyleSchema(ma.Schema):
    """A way to write numbers that fits the amounts."""

    decimalComma = _flag("A comma stands before the decimals")
    thousands = _text("What stands between thousands; null: nothing", allow_none=True)
    shortestFloats = _flag("Binary numbers are read as the shortest decimal")
    meaning = _text("What the example is so")


# marshmallow has an attribute of this name
_WithFields = ma.Schema.from_dict(
    {"fields": ma.fields.List(ma.fields.Nested(ProposedFieldSchema), required=True)}
)


class ProposedMappingSchema(_WithFields):  # type: ignore[misc,valid-type]
    """What was recognised, and what is proposed."""

    format = one_of(*FORMATS)
    packing = ma.fields.String(required=True, allow_none=True, validate=ma.validate.OneOf(["gzip", "zstd"]))
    encoding = one_of("utf-8", "latin-1")
    delimiter = _text("Of CSV what parts the cells", allow_none=True)
    hasHeader = _flag("Of CSV: the first row is one")
    byPosition = _flag("Columns are told by their numbers")
    skippedLines = _count("Lines before the first row")
    nulls = _texts("Words for no value")
    rows = _count("That were looked at")
    columns = ma.fields.List(ma.fields.Nested(FileColumnSchema), required=True)
    numbers = ma.fields.List(
        ma.fields.Nested(NumberStyleSchema),
        required=True,
        metadata={"description": "Of several one has to be chosen"},
    )
    numberExample = _text("An amount of the file; empty: there is none")
    needsTimeZone = _flag("Times name no zone, and the mapping has to")


class MappingGapSchema(ma.Schema):
    """What is open or wrong in a mapping."""

    field = _text("Like fields.amount.column, or timeZone; empty: the mapping does not fit the file")
    message = _text("What was expected")


class PreviewedRowSchema(ma.Schema):
    """A row as it would be read."""

    line = _count("From 1")
    values = ma.fields.Dict(required=True, metadata={"description": "Fields by name; times in ms"})


class RefusedRowSchema(ma.Schema):
    """A row that cannot be read."""

    line = _count("From 1")
    reason = _text("Why")


class FirstRowsSchema(ma.Schema):
    """What becomes of the first rows."""

    rows = ma.fields.List(ma.fields.Nested(PreviewedRowSchema), required=True)
    refused = ma.fields.List(ma.fields.Nested(RefusedRowSchema), required=True)
    read = _count("Of all that were looked at; the first of them are listed")
    bad = _count("The first of them are listed")
    columnsNotRead = _texts("That nothing is read from")
    ends = _flag("All of the file was looked at")


class MappingProposalSchema(ma.Schema):
    """A mapping for a file, and what it reads."""

    proposal = ma.fields.Nested(
        ProposedMappingSchema,
        required=True,
        allow_none=True,
        metadata={"description": "Null where a mapping was sent"},
    )
    mapping = _text("The mapping file: what is proposed, or what was sent")
    problems = ma.fields.List(
        ma.fields.Nested(MappingGapSchema),
        required=True,
        metadata={"description": "None: the mapping can be used as it is"},
    )
    firstRows = ma.fields.Nested(
        FirstRowsSchema,
        required=True,
        allow_none=True,
        metadata={"description": "Null while there are problems"},
    )
