"""Queries and answers of backtests."""

# ruff: noqa: N815  # the names are those of the JSON

from __future__ import annotations

import marshmallow as ma

from rules_registry.api.rule_schemas.answer_schemas import DefinitionSchema
from rules_registry.domain.backtests.backtest import KNOWLEDGE, MAX_ATTEMPTS, STATES
from tripline_http.cursors import PATTERN as CURSOR_PATTERN
from tripline_http.fields import MAX_ID, MAX_MS, MAX_POSITION, BoundedInteger, QueryInteger

_SHARE = {"pattern": r"^[01]\.[0-9]{4}$", "example": "0.8333"}


def _time(**kwargs: object) -> BoundedInteger:
    return BoundedInteger(0, MAX_MS, required=True, **kwargs)


def _count(description: str) -> BoundedInteger:
    return BoundedInteger(0, MAX_POSITION, required=True, metadata={"description": description})


class TriedRuleSchema(ma.Schema):
    """A rule that is tried."""

    triedId = BoundedInteger(
        1, MAX_ID, required=True, metadata={"description": "The ruleId of its alerts in this backtest"}
    )
    name = ma.fields.String(required=True)
    definition = ma.fields.Nested(DefinitionSchema, required=True)
    ruleId = BoundedInteger(
        1, MAX_ID, required=True, allow_none=True, metadata={"description": "Null: a draft"}
    )
    version = BoundedInteger(1, MAX_ID, required=True, allow_none=True)
    beside = BoundedInteger(
        1,
        MAX_ID,
        required=True,
        allow_none=True,
        metadata={"description": "The rule whose live alerts it is compared with"},
    )
    counted = ma.fields.Boolean(
        required=True, metadata={"description": "Its alerts are counted, and none of them can be read"}
    )


class BacktestProgressSchema(ma.Schema):
    """How far it is."""

    percent = BoundedInteger(0, 100, required=True)
    transactions = _count("Judged so far")
    alerts = _count("Given so far")
    seconds = _count("Since it began")
    secondsLeft = BoundedInteger(
        0,
        MAX_POSITION,
        required=True,
        allow_none=True,
        metadata={"description": "An estimate; null before there is one"},
    )


class GroupCountSchema(ma.Schema):
    """Alerts of a group."""

    group = ma.fields.Dict(required=True, metadata={"description": "Its fields and their values"})
    alerts = _count("How many")


class HourCountSchema(ma.Schema):
    """Alerts of an hour."""

    hour = _time(metadata={"description": "Its beginning in ms"})
    alerts = _count("How many; hours without any are left out")


class OverlapSchema(ma.Schema):
    """Beside the alerts that a rule gave live in the span, by group and transaction."""

    ruleId = BoundedInteger(1, MAX_ID, required=True)
    both = _count("Of both")
    onlyTried = _count("Only of the tried one")
    onlyLive = _count("Only of the live one")


class LabelledSchema(ma.Schema):
    """Beside what people decided: a transaction is labelled where an alert on it is in a case that was resolved as
    fraud or false positive."""

    fraud = _count("Labelled transactions that were fraud")
    falsePositives = _count("Labelled transactions that were not")
    alertsOnFraud = _count("Alerts on the first kind")
    alertsOnFalsePositives = _count("Alerts on the second kind")
    fraudFound = _count("Transactions of fraud that it alerts on")
    precision = ma.fields.String(
        required=True,
        allow_none=True,
        metadata={**_SHARE, "description": "alertsOnFraud of the alerts on labelled transactions"},
    )
    recall = ma.fields.String(
        required=True, allow_none=True, metadata={**_SHARE, "description": "fraudFound of fraud"}
    )


class RuleResultSchema(ma.Schema):
    """What came of one rule."""

    triedId = BoundedInteger(1, MAX_ID, required=True)
    alerts = _count("In the span")
    groups = _count("That have alerts")
    topGroups = ma.fields.List(ma.fields.Nested(GroupCountSchema), required=True)
    hours = ma.fields.List(ma.fields.Nested(HourCountSchema), required=True)
    beside = ma.fields.Nested(OverlapSchema, required=True, allow_none=True)
    labelled = ma.fields.Nested(LabelledSchema, required=True)


class BacktestResultSchema(ma.Schema):
    """What came of it."""

    engine = ma.fields.String(required=True, metadata={"description": "Whose recorded order was replayed"})
    microBatches = _count("Replayed")
    transactions = _count("Judged")
    seconds = _count("That the replay took")
    keptAlerts = _count("That can be read; all are counted")
    rules = ma.fields.List(ma.fields.Nested(RuleResultSchema), required=True)


# A word of Python.
_Spanned = ma.Schema.from_dict({"from": _time()})


class BacktestSchema(_Spanned):  # type: ignore[misc,valid-type]
    """A backtest. Times are in ms."""

    backtestId = BoundedInteger(1, MAX_ID, required=True)
    state = ma.fields.String(required=True, validate=ma.validate.OneOf(STATES))
    to = _time()
    knowledge = ma.fields.String(
        required=True,
        validate=ma.validate.OneOf(KNOWLEDGE),
        metadata={
            "description": "What counts at each moment: what the engine knew then, or what is known today"
        },
    )
    rules = ma.fields.List(ma.fields.Nested(TriedRuleSchema), required=True)
    requestedBy = ma.fields.String(required=True)
    requestedAt = _time()
    startedAt = _time(allow_none=True)
    endedAt = _time(allow_none=True)
    expiresAt = _time(allow_none=True, metadata={"description": "When it is deleted"})
    attempts = BoundedInteger(0, MAX_ATTEMPTS, required=True)
    progress = ma.fields.Nested(BacktestProgressSchema, required=True)
    note = ma.fields.String(
        required=True, allow_none=True, metadata={"description": "What holds it up, or happened to it"}
    )
    failure = ma.fields.String(required=True, allow_none=True)
    result = ma.fields.Nested(
        BacktestResultSchema,
        required=True,
        allow_none=True,
        metadata={"description": "Of one that is done; not in listings"},
    )


class BacktestQuery(ma.Schema):
    """Which backtests."""

    state = ma.fields.String(load_default=None, validate=ma.validate.OneOf(STATES))
    ruleId = QueryInteger(
        1, MAX_ID, load_default=None, metadata={"description": "Of this rule, or beside it"}
    )
    limit = QueryInteger(1, 100, load_default=20)
    cursor = ma.fields.String(load_default=None, validate=ma.validate.Regexp(CURSOR_PATTERN))


class BacktestPageSchema(ma.Schema):
    """Backtests, newest first."""

    items = ma.fields.List(ma.fields.Nested(BacktestSchema), required=True)


class BacktestAlertQuery(ma.Schema):
    """Which alerts."""

    limit = QueryInteger(1, 100, load_default=50)
    cursor = ma.fields.String(load_default=None, validate=ma.validate.Regexp(CURSOR_PATTERN))


class BacktestAlertPageSchema(ma.Schema):
    """Alerts in the order in which they were given, as alerts.v1 would carry them."""

    items = ma.fields.List(ma.fields.Dict(), required=True)
