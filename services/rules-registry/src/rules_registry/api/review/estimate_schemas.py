"""What is told of an estimate."""

# ruff: noqa: N815  # the names are those of the JSON

from __future__ import annotations

import marshmallow as ma

from rules_registry.api.review.change_schemas import ChangePageSchema, ChangeSchema
from rules_registry.domain.estimates.estimate import STATES
from tripline_http.fields import MAX_MS, BoundedInteger

_COUNT = ma.validate.Regexp(r"^[0-9]+(\.[0-9]+)?$")


class FigureSchema(ma.Schema):
    """A figure, and the range in which that of a day lies in 95 of 100 cases; null where there is none."""

    value = ma.fields.String(required=True, validate=_COUNT)
    low = ma.fields.String(required=True, allow_none=True, validate=_COUNT)
    high = ma.fields.String(required=True, allow_none=True, validate=_COUNT)


def _figure(description: str) -> ma.fields.Nested:
    return ma.fields.Nested(FigureSchema, required=True, metadata={"description": description})


class FiguresSchema(ma.Schema):
    """What the rule is estimated to say and cost."""

    alertsPerDay = _figure("Alerts in a day")
    groupsPerDay = _figure("Groups that are alerted on in a day, each counted once")
    bytes = _figure("Memory that is held for the rule as if it were the only one, over all shards")
    evaluationsPerSecond = _figure("Events that the rule is evaluated for, in a second on average")


class SampleSchema(ma.Schema):
    """What the estimate was made from."""

    parts = BoundedInteger(
        1, 1_000_000, required=True, metadata={"description": "One of so many of the groups"}
    )
    grouped = ma.fields.Boolean(
        required=True, metadata={"description": "false: the rule has one group, and all of it was judged"}
    )
    from_ = BoundedInteger(0, MAX_MS, required=True, attribute="from", data_key="from")
    to = BoundedInteger(0, MAX_MS, required=True)
    transactions = BoundedInteger(
        0, 2**53, required=True, metadata={"description": "That were read, those of other groups too"}
    )
    seconds = BoundedInteger(0, 2**31, required=True, metadata={"description": "That it took"})


class ActualSchema(ma.Schema):
    """What the rule gave on its first day, or for as long as it stayed what was approved."""

    from_ = BoundedInteger(0, MAX_MS, required=True, attribute="from", data_key="from")
    to = BoundedInteger(0, MAX_MS, required=True)
    alerts = BoundedInteger(0, 2**53, required=True)
    groups = BoundedInteger(0, 2**53, required=True)


class EstimateSchema(ma.Schema):
    """How the estimate of a change stands: of the revision that the change is in."""

    state = ma.fields.String(required=True, validate=ma.validate.OneOf([*STATES, "unavailable"]))
    note = ma.fields.String(required=True, allow_none=True, metadata={"description": "What holds it up"})
    failure = ma.fields.String(required=True, allow_none=True)
    endedAt = BoundedInteger(0, MAX_MS, required=True, allow_none=True)
    sample = ma.fields.Nested(SampleSchema, required=True, allow_none=True)
    figures = ma.fields.Nested(FiguresSchema, required=True, allow_none=True)
    actual = ma.fields.Nested(
        ActualSchema,
        required=True,
        allow_none=True,
        metadata={"description": "null before a day has passed since the rule was published"},
    )


class EstimatedChangeSchema(ChangeSchema):
    """A change, and what its rule is estimated to say and cost."""

    estimate = ma.fields.Nested(
        EstimateSchema, required=True, allow_none=True, metadata={"description": "null: no rule is published"}
    )


class EstimatedChangePageSchema(ChangePageSchema):
    """A page of changes with their estimates."""

    items = ma.fields.List(ma.fields.Nested(EstimatedChangeSchema), required=True)
