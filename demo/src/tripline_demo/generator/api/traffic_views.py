"""/v1/traffic and /v1/transactions: the stream, and transactions by hand."""

from __future__ import annotations

from typing import Any, Final

from tripline_contracts import cloudevents
from tripline_contracts.event_type import EventType
from tripline_demo.generator.api.context import Context, context_of_app
from tripline_demo.generator.api.schemas import SentSchema, TransactionQuery, traffic_schema
from tripline_demo.generator.errors import InvalidInput, Unsendable
from tripline_demo.generator.output.kafka_outlet import TOPIC
from tripline_demo.generator.output.outlet import Record
from tripline_demo.generator.output.record_renderer import EVENT_TYPE, SOURCE, backfill_headers
from tripline_demo.generator.trade import Trade
from tripline_demo.generator.traffic import change
from tripline_demo.generator.transaction_input import key_of, read, to_bytes
from tripline_http.errors import FieldError, ProblemError, invalid_input
from tripline_http.openapi import ApiBlueprint, new_blueprint

CONFIRMATION_SECONDS: Final = 10.0


def new_traffic_blueprint(trade: Trade) -> ApiBlueprint:
    """The views, on a blueprint of their own."""
    several = trade.event_type.plural
    blueprint = new_blueprint("traffic", __name__, f"The stream of {several}, and {several} by hand")
    _add_traffic(blueprint, trade)
    _add_transactions(blueprint, trade.event_type)
    return blueprint


def _add_traffic(blueprint: ApiBlueprint, trade: Trade) -> None:
    shown = traffic_schema(trade)

    @blueprint.route("/v1/traffic", methods=["GET"])
    @blueprint.requires("traffic:read")
    @blueprint.response(200, shown)
    @blueprint.doc(operationId="getTraffic", summary="What is sent, and how much of it was")
    def get_traffic() -> dict[str, Any]:
        return _shown(context_of_app())

    @blueprint.route("/v1/traffic", methods=["PUT"])
    @blueprint.requires("traffic:write")
    @blueprint.json_body("TrafficChange")
    @blueprint.response(200, shown)
    @blueprint.doc(operationId="changeTraffic", summary="Change the traffic while it runs")
    def put_traffic(body: dict[str, Any]) -> dict[str, Any]:
        context = context_of_app()
        try:
            wanted = change(context.sender.traffic, body, trade)
        except InvalidInput as error:
            raise _problem(error) from error
        context.sender.change(wanted, restart="seed" in body)
        return _shown(context)


def _add_transactions(blueprint: ApiBlueprint, event_type: EventType) -> None:
    times = [field.name for field in (event_type.time_field, event_type.ingestion_field) if field is not None]

    @blueprint.route("/v1/transactions", methods=["POST"])
    @blueprint.requires("traffic:write")
    @blueprint.json_body("Transaction")
    @blueprint.arguments(TransactionQuery, location="query")
    @blueprint.response(202, SentSchema)
    @blueprint.problems(503)
    @blueprint.doc(
        operationId="sendTransaction",
        summary=f"Send one {event_type.noun}",
        description=f"{event_type.id_field.name} (a new UUID), {' and '.join(times)} (now) are filled in where absent.",
    )
    def post_transaction(body: dict[str, Any], query: dict[str, Any]) -> dict[str, Any]:
        context = context_of_app()
        now = context.wall()
        defaults: dict[str, str | int] = {
            event_type.id_field.name: context.new_id(),
            **dict.fromkeys(times, now),
        }
        try:
            transaction = read(body, event_type, defaults=defaults, unknown_refused=True)
        except InvalidInput as error:
            raise _problem(error) from error
        identity = str(transaction[event_type.id_field.name])
        backfill = None if query["backfill"] is None else str(query["backfill"])
        headers = [
            *cloudevents.headers(identity, EVENT_TYPE, SOURCE, now),
            *backfill_headers(backfill),
        ]
        record = Record(key_of(transaction, event_type), to_bytes(transaction), now, headers)
        try:
            delivered = context.desk.deliver(record, CONFIRMATION_SECONDS)
        except Unsendable as error:
            raise ProblemError(503, "kafka-unavailable", f"{error}.", headers={"Retry-After": "5"}) from error
        return {
            "transaction": transaction,
            "topic": TOPIC,
            "partition": delivered.partition,
            "offset": delivered.offset,
        }


def _problem(error: InvalidInput) -> ProblemError:
    return invalid_input([FieldError(problem.field, problem.message) for problem in error.problems])


def _shown(context: Context) -> dict[str, Any]:
    counters = context.sender.counters()
    return {
        **context.sender.traffic.to_json(context.trade),
        "achievedRate": round(counters.achieved_rate, 1),
        "counters": {
            "sent": counters.sent,
            "late": counters.late,
            "duplicate": counters.duplicate,
            "broken": counters.broken,
            "failed": counters.failed,
        },
    }
