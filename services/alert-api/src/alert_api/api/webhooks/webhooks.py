"""/v1/webhooks: ask for one, approve it, look at its deliveries, test it, replay, remove it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from flask import Response, jsonify

from alert_api.api.webhooks.webhook_schemas import DeliveryQuery, ReplayBody, WebhookApproval, WebhookBody
from alert_api.domain.webhooks.signature import new_secret
from alert_api.domain.webhooks.webhook import Delivery, Webhook, WebhookContent
from alert_api.errors import WebhookNotFound, WebhooksOff
from alert_api.service.webhooks.webhook_desk import WebhookDesk
from tripline_http.auth import current_actor
from tripline_http.cursors import decode_cursor, encode_cursor
from tripline_http.fields import MAX_POSITION
from tripline_http.links import LINK_HEADER_DOC, next_link
from tripline_http.openapi import ApiBlueprint, new_blueprint

LISTING: Final = "webhook-deliveries"
PATH: Final = "/v1/webhooks"
ID_PATH: Final = f"{PATH}/<int(min=1, max={MAX_POSITION}):webhook_id>"

Body = dict[str, Any]
Desk = Callable[[], WebhookDesk]


def webhooks_blueprint(desk: WebhookDesk | None, clock: Callable[[], int]) -> ApiBlueprint:
    """The views; `desk` is None where the installation allows no host."""

    def connected() -> WebhookDesk:
        if desk is None:
            raise WebhooksOff(
                "there are no webhooks: TRIPLINE_WEBHOOK_HOSTS and TRIPLINE_WEBHOOK_KEY_FILE are not set"
            )
        return desk

    blueprint = new_blueprint("webhooks", __name__, "Who is told what becomes of cases")
    _add_readings(blueprint, connected)
    _add_request(blueprint, connected, clock)
    _add_approval(blueprint, connected, clock)
    _add_handling(blueprint, connected, clock)
    return blueprint


def _add_readings(blueprint: ApiBlueprint, desk: Desk) -> None:
    @blueprint.route(PATH, methods=["GET"])
    @blueprint.requires("alerts:read")
    @blueprint.response(200, _component("WebhookList"))
    @blueprint.problems(503)
    @blueprint.doc(operationId="listWebhooks")
    def list_webhooks() -> Response:
        """All webhooks, by name, without their secrets."""
        return jsonify(items=[webhook_json(webhook) for webhook in desk().store.all()])

    @blueprint.route(ID_PATH, methods=["GET"])
    @blueprint.requires("alerts:read")
    @blueprint.response(200, _component("Webhook"))
    @blueprint.problems(404, 503)
    @blueprint.doc(operationId="getWebhook")
    def get_webhook(webhook_id: int) -> Response:
        """One webhook."""
        return jsonify(webhook_json(desk().get(webhook_id)))

    @blueprint.route(f"{ID_PATH}/deliveries", methods=["GET"])
    @blueprint.requires("alerts:read")
    @blueprint.arguments(DeliveryQuery, location="query")
    @blueprint.response(200, _component("WebhookDeliveryPage"), headers=LINK_HEADER_DOC)
    @blueprint.problems(400, 404, 503)
    @blueprint.doc(operationId="listWebhookDeliveries")
    def list_deliveries(query: Body, webhook_id: int) -> Response:
        """What it was told, and what came of it, those that changed last first; `dead` is what nobody tries again"""
        desk().get(webhook_id)
        context = {"webhook": webhook_id, "state": query.get("state")}
        before = None
        if "cursor" in query:
            changed, event = decode_cursor(query["cursor"], LISTING, context, (int, str))
            before = int(changed), str(event)
        page = desk().store.deliveries(webhook_id, query.get("state"), before, query["limit"])
        response = jsonify(items=[delivery_json(delivery) for delivery in page.deliveries])
        if page.following is not None:
            response.headers.update(next_link(encode_cursor(LISTING, context, page.following)))
        return response


def _add_request(blueprint: ApiBlueprint, desk: Desk, clock: Callable[[], int]) -> None:
    @blueprint.route(PATH, methods=["POST"])
    @blueprint.requires("controls:write")
    @blueprint.arguments(WebhookBody)
    @blueprint.response(201, _component("NewWebhook"))
    @blueprint.problems(400, 409, 413, 415, 422, 503)
    @blueprint.doc(operationId="requestWebhook")
    def request_webhook(body: Body) -> Response:
        """Have another target told what becomes of cases from now on

        Where a second person has to approve it is `requested`, and is told nothing before that. The secret is in this
        answer and in no other one. A webhook is not changed: ask for another one, and remove this.
        """
        secret = body.get("secret") or new_secret()
        types = tuple(dict.fromkeys(body["types"]))
        content = WebhookContent(body["name"], body["url"], body["template"], types)
        webhook = desk().request(content, secret, current_actor(), clock())
        response = jsonify({**webhook_json(webhook), "secret": secret})
        response.status_code = 201
        response.headers["Cache-Control"] = "no-store"
        return response


def _add_approval(blueprint: ApiBlueprint, desk: Desk, clock: Callable[[], int]) -> None:
    @blueprint.route(f"{ID_PATH}/approve", methods=["POST"])
    @blueprint.requires("rules:approve")
    @blueprint.arguments(WebhookApproval)
    @blueprint.response(200, _component("Webhook"))
    @blueprint.problems(400, 403, 404, 409, 413, 415, 422, 503)
    @blueprint.doc(operationId="approveWebhook")
    def approve_webhook(body: Body, webhook_id: int) -> Response:
        """Let a webhook be told. Not by who asked for it; `contentHash` says what was seen."""
        webhook = desk().approve(webhook_id, body["content_hash"], current_actor(), clock())
        return jsonify(webhook_json(webhook))


def _add_handling(blueprint: ApiBlueprint, desk: Desk, clock: Callable[[], int]) -> None:
    def checked(done: bool, webhook_id: int) -> None:
        if not done:
            raise WebhookNotFound(webhook_id)

    @blueprint.route(f"{ID_PATH}/test", methods=["POST"])
    @blueprint.requires("controls:write")
    @blueprint.response(202, _component("Webhook"))
    @blueprint.problems(404, 503)
    @blueprint.doc(operationId="testWebhook")
    def test_webhook(webhook_id: int) -> Response:
        """Have a ping sent, once; its delivery says what came of it. It waits while a notice is being tried again."""
        checked(desk().store.ask_for_ping(webhook_id, clock()), webhook_id)
        return _accepted(desk().get(webhook_id))

    @blueprint.route(f"{ID_PATH}/replay", methods=["POST"])
    @blueprint.requires("controls:write")
    @blueprint.arguments(ReplayBody)
    @blueprint.response(202, _component("Webhook"))
    @blueprint.problems(400, 404, 413, 415, 422, 503)
    @blueprint.doc(operationId="replayWebhook")
    def replay_webhook(body: Body, webhook_id: int) -> Response:
        """Have everything told again, or left out, from a position or an instant on; what comes again has its id"""
        done = desk().store.replay(webhook_id, body.get("after"), body.get("instant"))
        checked(done, webhook_id)
        return _accepted(desk().get(webhook_id))

    @blueprint.route(ID_PATH, methods=["DELETE"])
    @blueprint.requires("controls:write")
    @blueprint.response(204)
    @blueprint.problems(404, 503)
    @blueprint.doc(operationId="removeWebhook")
    def remove_webhook(webhook_id: int) -> Response:
        """Tell it nothing any more. What it was told stays on record in the database."""
        checked(desk().store.remove(webhook_id, current_actor(), clock()), webhook_id)
        return Response(status=204)


def webhook_json(webhook: Webhook) -> dict[str, Any]:
    """A webhook as callers see it."""
    content = webhook.content
    return {
        "webhookId": webhook.webhook_id,
        "name": content.name,
        "url": content.url,
        "template": content.template,
        "eventTypes": list(content.types),
        "state": webhook.state,
        "contentHash": content.hash,
        "requestedBy": webhook.requested_by,
        "requestedAt": webhook.requested_at,
        "approvedBy": webhook.approved_by,
        "approvedAt": webhook.approved_at,
        "position": webhook.position,
    }


def delivery_json(delivery: Delivery) -> dict[str, Any]:
    """A delivery as callers see it."""
    return {
        "eventId": delivery.event_id,
        "type": delivery.type,
        "position": delivery.position,
        "state": delivery.state,
        "attempts": delivery.attempts,
        "status": delivery.status,
        "error": delivery.error,
        "changedAt": delivery.changed_at,
    }


def _accepted(webhook: Webhook) -> Response:
    response = jsonify(webhook_json(webhook))
    response.status_code = 202
    return response


def _component(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}
