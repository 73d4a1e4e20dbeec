"""What the API takes and gives, for OpenAPI and for dumping. Bodies are validated by the package's own readers."""

from __future__ import annotations

from typing import Any, Final

import marshmallow as ma

from tripline_contracts.event_type import MAX_TIMESTAMP, EventType, Field
from tripline_contracts.normal_forms.ip_addresses import EXPECTED_ADDRESS
from tripline_contracts.normal_forms.positions import EXPECTED_POSITION, WRITTEN_POSITION
from tripline_demo.generator.recordings.replay import MAX_LISTED
from tripline_demo.generator.trade import Trade
from tripline_demo.generator.traffic import MAX_POPULATION, MAX_RATE, MAX_SEED
from tripline_http.errors import FieldError, invalid_input

MIN_SPEED: Final = 0.001
MAX_SPEED: Final = 1_000_000.0
MAX_MAPPING: Final = 16_384

_SHARE: Final = {"type": "number", "minimum": 0, "maximum": 1}
_POPULATION: Final = {"type": ["integer", "null"], "minimum": 1, "maximum": MAX_POPULATION}


def traffic_change(trade: Trade) -> dict[str, Any]:
    """The JSON Schema of a change of the traffic."""
    populations = {
        name: {**_POPULATION, "description": f"null: {usual:,}, more beyond 200 transactions a second"}
        for name, usual in trade.populations.items()
    }
    scenarios = {"type": "string", **({"enum": list(trade.scenarios)} if trade.scenarios else {})}
    return {
        "type": "object",
        "additionalProperties": False,
        "description": "What is not named stays. The three shares add up to at most 1.",
        "properties": {
            "rate": {
                "type": "integer",
                "minimum": 0,
                "maximum": MAX_RATE if trade.has_traffic else 0,
                "description": "Transactions a second",
            },
            "scenarios": {"type": "array", "items": scenarios},
            "lateShare": {**_SHARE, "description": "Event time one to nine and a half minutes back"},
            "duplicateShare": {**_SHARE, "description": "An earlier record again, byte for byte"},
            "brokenShare": {**_SHARE, "description": "Records that nobody should accept"},
            "seed": {
                "type": "integer",
                "minimum": 0,
                "maximum": MAX_SEED,
                "description": "Naming it starts the stream anew, at its first transaction",
            },
            **populations,
        },
    }


class CountersSchema(ma.Schema):
    """Records since the start of the process; late, duplicate and broken ones are among the sent."""

    sent = ma.fields.Integer(required=True)
    late = ma.fields.Integer(required=True)
    duplicate = ma.fields.Integer(required=True)
    broken = ma.fields.Integer(required=True)
    failed = ma.fields.Integer(required=True, metadata={"description": "Refused by Kafka, or timed out"})


class TrafficSchema(ma.Schema):
    """What is asked for, and what is achieved; `traffic_schema` adds the populations."""

    rate = ma.fields.Integer(required=True)
    scenarios = ma.fields.List(ma.fields.String(), required=True)
    lateShare = ma.fields.Float(required=True)  # noqa: N815
    duplicateShare = ma.fields.Float(required=True)  # noqa: N815
    brokenShare = ma.fields.Float(required=True)  # noqa: N815
    seed = ma.fields.Integer(required=True)
    achievedRate = ma.fields.Float(  # noqa: N815
        required=True, metadata={"description": "Transactions a second, over the last five seconds"}
    )
    counters = ma.fields.Nested(CountersSchema, required=True)


def traffic_schema(trade: Trade) -> type[ma.Schema]:
    """What is told of the traffic of this trade."""
    populations: dict[str, Any] = {
        name: ma.fields.Integer(required=True, allow_none=True) for name in trade.populations
    }
    return TrafficSchema.from_dict(populations, name="TrafficSchema")


class SentSchema(ma.Schema):
    """A transaction that lies in Kafka."""

    transaction = ma.fields.Dict(
        required=True, metadata={"description": "Every declared field under its canonical name"}
    )
    topic = ma.fields.String(required=True)
    partition = ma.fields.Integer(required=True)
    offset = ma.fields.Integer(required=True)


def _backfill() -> ma.fields.UUID:
    description = (
        "The commandId of a START_BACKFILL: what is sent belongs to it, is let in whatever its age while it stands, "
        "and triggers nothing"
    )
    return ma.fields.UUID(load_default=None, metadata={"description": description})


class TransactionQuery(ma.Schema):
    """How to send one transaction."""

    backfill = _backfill()


class ReplayQuery(ma.Schema):
    """How to replay."""

    backfill = _backfill()

    speed = ma.fields.String(
        load_default="1",
        metadata={"description": f"A multiplier from {MIN_SPEED:g} to {MAX_SPEED:g}, or max"},
    )
    shift = ma.fields.String(
        load_default="now",
        validate=ma.validate.OneOf(["now", "none"]),
        metadata={"description": "now: the first line happens at the start of the replay; none: times stay"},
    )
    ids = ma.fields.String(
        load_default="kept",
        validate=ma.validate.OneOf(["kept", "new"]),
        metadata={
            "description": "new: others stand for those of the recording, for the engine knows them from an earlier"
            " replay; equal ones stay equal"
        },
    )
    mapping = ma.fields.String(
        load_default=None,
        validate=ma.validate.Length(max=MAX_MAPPING),
        metadata={"description": "The text of a mapping file (docs/recordings.md)"},
    )


class BadLineSchema(ma.Schema):
    """A line that was left out."""

    line = ma.fields.Integer(required=True)
    reason = ma.fields.String(required=True)


class RefusedSchema(ma.Schema):
    """Lines that the engine refused for one reason."""

    reason = ma.fields.String(required=True)
    count = ma.fields.Integer(required=True)


def _lines(description: str) -> ma.fields.Integer:
    return ma.fields.Integer(required=True, allow_none=True, metadata={"description": description})


class ReceptionSchema(ma.Schema):
    """What the engine made of the lines that are in Kafka; null where `unheard` says why that cannot be said."""

    taken = _lines("Taken")
    known = _lines(
        "Of an id that it has had within the reach of deduplication, so that they count for nothing"
    )
    refused = ma.fields.List(ma.fields.Nested(RefusedSchema), required=True)
    waiting = _lines("Not judged within a minute of the last line")
    unheard = ma.fields.String(required=True, allow_none=True)


class ReplaySchema(ma.Schema):
    """A replay as it stands."""

    replayId = ma.fields.String(required=True)  # noqa: N815
    state = ma.fields.String(
        required=True, validate=ma.validate.OneOf(["running", "finished", "stopped", "failed"])
    )
    speed = ma.fields.String(required=True)
    shift = ma.fields.String(required=True)
    backfill = ma.fields.String(
        required=True, allow_none=True, metadata={"description": "The backfill that the lines belong to"}
    )
    ids = ma.fields.String(required=True, validate=ma.validate.OneOf(["kept", "new"]))
    sent = ma.fields.Integer(required=True, metadata={"description": "Good lines handed to Kafka"})
    failed = ma.fields.Integer(required=True, metadata={"description": "Of these refused or timed out"})
    latestFailure = ma.fields.String(required=True, allow_none=True)  # noqa: N815
    bad = ma.fields.Integer(required=True, metadata={"description": "Lines left out"})
    engine = ma.fields.Nested(
        ReceptionSchema, required=True, allow_none=True, metadata={"description": "null: not known yet"}
    )
    unusedColumns = ma.fields.List(  # noqa: N815
        ma.fields.String(),
        required=True,
        metadata={"description": "Of the recording, those that are not read"},
    )
    badLines = ma.fields.List(  # noqa: N815
        ma.fields.Nested(BadLineSchema),
        required=True,
        metadata={"description": f"The first {MAX_LISTED} of them"},
    )


def parse_speed(text: str) -> float | None:
    """A multiplier, or None for `max`. Raises the 422 problem."""
    if text == "max":
        return None
    expected = f"expected a multiplier from {MIN_SPEED:g} to {MAX_SPEED:g}, or max"
    try:
        speed = float(text)
    except ValueError:
        raise invalid_input([FieldError("query.speed", expected)]) from None
    if not MIN_SPEED <= speed <= MAX_SPEED:
        raise invalid_input([FieldError("query.speed", expected)])
    return speed


def transaction_schema(event_type: EventType) -> dict[str, Any]:
    """The JSON Schema of a transaction by hand: what may be left out is filled in."""
    filled = {event_type.id_field.name, event_type.time_field.name}
    return {
        "type": "object",
        "additionalProperties": False,
        "required": [f.name for f in event_type.fields if f.required and f.name not in filled],
        "properties": {name: _field_schema(field) for field in event_type.fields for name in field.names},
    }


def _field_schema(field: Field) -> dict[str, Any]:
    match field.kind:
        case "string":
            return {"type": ["string", "integer", "null"], "maxLength": field.max_length}
        case "timestamp":
            return {"type": ["integer", "null"], "minimum": 0, "maximum": MAX_TIMESTAMP}
        case "decimal":
            return {"type": ["string", "number"], "description": "decimal(24,6); exact, better sent as text"}
        case "ip":
            return {"type": ["string", "null"], "format": "ipv4", "description": EXPECTED_ADDRESS}
        case "position":
            described = {"description": EXPECTED_POSITION}
            return {"type": ["string", "null"], "pattern": f"^{WRITTEN_POSITION}$", **described}
        case "enum":
            none = [] if field.required else [None]
            return {"enum": [*field.values, *none]}
