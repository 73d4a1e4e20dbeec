"""/v1/webhooks: which there are, what they were told, and what people did with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from flask import Response, jsonify

from alert_api.api.webhooks.webhook_commands import ID_PATH, PATH, add_commands, component
from alert_api.api.webhooks.webhook_json import delivery_json, step_json, webhook_answer, webhook_json
from alert_api.api.webhooks.webhook_schemas import DeliveryQuery, StepQuery
from alert_api.errors import WebhooksOff
from alert_api.service.webhooks.webhook_desk import WebhookDesk
from tripline_contracts.event_type import EventType
from tripline_http.cursors import decode_cursor, encode_cursor
from tripline_http.etags import ETAG_HEADER_DOC
from tripline_http.links import LINK_HEADER_DOC, next_link
from tripline_http.openapi import ApiBlueprint, new_blueprint

DELIVERIES: Final = "webhook-deliveries"
HISTORY: Final = "webhook-history"

Query = dict[str, Any]
Desk = Callable[[], WebhookDesk]


def webhooks_blueprint(
    desk: WebhookDesk | None, clock: Callable[[], int], event_type: EventType
) -> ApiBlueprint:
    """The views; `desk` is None where the installation allows no host."""

    def connected() -> WebhookDesk:
        if desk is None:
            raise WebhooksOff(
                "there are no webhooks here: TRIPLINE_WEBHOOK_HOSTS names no host that they may go to"
            )
        return desk

    blueprint = new_blueprint("webhooks", __name__, "Who is told what becomes of cases")
    _add_webhooks(blueprint, connected)
    _add_deliveries(blueprint, connected)
    _add_history(blueprint, connected)
    add_commands(blueprint, connected, clock, event_type)
    return blueprint


def _add_webhooks(blueprint: ApiBlueprint, desk: Desk) -> None:
    @blueprint.route(PATH, methods=["GET"])
    @blueprint.requires("alerts:read")
    @blueprint.response(200, component("WebhookList"))
    @blueprint.problems(404, 503)
    @blueprint.doc(operationId="listWebhooks")
    def list_webhooks() -> Response:
        """All webhooks, by name, without their secrets."""
        return jsonify(items=[webhook_json(webhook) for webhook in desk().store.all()])

    @blueprint.route(ID_PATH, methods=["GET"])
    @blueprint.requires("alerts:read")
    @blueprint.response(200, component("Webhook"), headers=ETAG_HEADER_DOC)
    @blueprint.problems(404, 503)
    @blueprint.doc(operationId="getWebhook")
    def get_webhook(webhook_id: int) -> Response:
        """One webhook."""
        return webhook_answer(desk().get(webhook_id))


def _add_deliveries(blueprint: ApiBlueprint, desk: Desk) -> None:
    @blueprint.route(f"{ID_PATH}/deliveries", methods=["GET"])
    @blueprint.requires("alerts:read")
    @blueprint.arguments(DeliveryQuery, location="query")
    @blueprint.response(200, component("WebhookDeliveryPage"), headers=LINK_HEADER_DOC)
    @blueprint.problems(400, 404, 503)
    @blueprint.doc(operationId="listWebhookDeliveries")
    def list_deliveries(query: Query, webhook_id: int) -> Response:
        """What it was told, and what came of it, those that changed last first; `dead` is what nobody tries again"""
        desk().get(webhook_id)
        context = {"webhook": webhook_id, "state": query.get("state")}
        before = None
        if "cursor" in query:
            changed, event = decode_cursor(query["cursor"], DELIVERIES, context, (int, str))
            before = int(changed), str(event)
        page = desk().store.deliveries(webhook_id, query.get("state"), before, query["limit"])
        response = jsonify(items=[delivery_json(delivery) for delivery in page.deliveries])
        if page.following is not None:
            response.headers.update(next_link(encode_cursor(DELIVERIES, context, page.following)))
        return response


def _add_history(blueprint: ApiBlueprint, desk: Desk) -> None:
    @blueprint.route(f"{PATH}/history", methods=["GET"])
    @blueprint.requires("alerts:read")
    @blueprint.arguments(StepQuery, location="query")
    @blueprint.response(200, component("WebhookHistory"), headers=LINK_HEADER_DOC)
    @blueprint.problems(400, 404, 503)
    @blueprint.doc(operationId="listWebhookHistory")
    def list_history(query: Query) -> Response:
        """What people did with webhooks, removed ones too, the newest first"""
        webhook_id = query.get("webhook_id")
        context = {"webhook": webhook_id}
        before = None
        if "cursor" in query:
            (step_id,) = decode_cursor(query["cursor"], HISTORY, context, (int,))
            before = int(step_id)
        page = desk().store.steps(webhook_id, before, query["limit"])
        response = jsonify(items=[step_json(step) for step in page.steps])
        if page.following is not None:
            response.headers.update(next_link(encode_cursor(HISTORY, context, (page.following,))))
        return response
