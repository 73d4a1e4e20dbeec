"""What people do with webhooks: ask for one, change it, approve it, pause it, test it, replay it, remove it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import marshmallow as ma
from flask import Response, jsonify

from alert_api.api.webhooks.webhook_json import webhook_answer, webhook_json
from alert_api.api.webhooks.webhook_schemas import (
    ReplayBody,
    WebhookApproval,
    WebhookRotation,
    webhook_body,
)
from alert_api.domain.webhooks.signature import new_secret
from alert_api.domain.webhooks.webhook import Webhook, WebhookContent
from alert_api.service.webhooks.webhook_desk import WebhookDesk
from tripline_contracts.event_type import EventType
from tripline_http.auth import current_actor
from tripline_http.errors import FieldError, invalid_input
from tripline_http.etags import ETAG_HEADER_DOC, IfMatch, etag_of
from tripline_http.fields import MAX_POSITION
from tripline_http.openapi import ApiBlueprint

PATH: Final = "/v1/webhooks"
ID_PATH: Final = f"{PATH}/<int(min=1, max={MAX_POSITION}):webhook_id>"

Body = dict[str, Any]
Asked = tuple[type[ma.Schema], Callable[[Body], WebhookContent]]
Desk = Callable[[], WebhookDesk]
Clock = Callable[[], int]


def add_commands(blueprint: ApiBlueprint, desk: Desk, clock: Clock, event_type: EventType) -> None:
    """The views that change something."""
    body_schema = webhook_body(event_type)

    def content(body: Body) -> WebhookContent:
        return _content(body, event_type)

    _add_request(blueprint, desk, clock, (body_schema, content))
    _add_change(blueprint, desk, clock, (body_schema, content))
    _add_rotation(blueprint, desk, clock)
    _add_approval(blueprint, desk, clock)
    _add_pause(blueprint, desk, clock)
    _add_sending(blueprint, desk, clock)
    _add_removal(blueprint, desk, clock)


def _add_request(blueprint: ApiBlueprint, desk: Desk, clock: Clock, asked: Asked) -> None:
    body_schema, content = asked

    @blueprint.route(PATH, methods=["POST"])
    @blueprint.requires("controls:write")
    @blueprint.arguments(body_schema)
    @blueprint.response(201, component("NewWebhook"), headers=ETAG_HEADER_DOC)
    @blueprint.problems(400, 404, 409, 413, 415, 422, 503)
    @blueprint.doc(operationId="requestWebhook")
    def request_webhook(body: Body) -> Response:
        """Have another target told what becomes of cases from now on

        Where a second person has to approve it is `requested`, and is told nothing before that. The secret is in this
        answer and in no other one.
        """
        secret = body.get("secret") or new_secret()
        return _with_secret(desk().request(content(body), secret, current_actor(), clock()), secret, 201)


def _add_change(blueprint: ApiBlueprint, desk: Desk, clock: Clock, asked: Asked) -> None:
    body_schema, content = asked

    @blueprint.route(ID_PATH, methods=["PUT"])
    @blueprint.requires("controls:write")
    @blueprint.if_match
    @blueprint.arguments(body_schema)
    @blueprint.response(200, component("Webhook"), headers=ETAG_HEADER_DOC)
    @blueprint.problems(400, 404, 409, 413, 415, 422, 503)
    @blueprint.doc(operationId="changeWebhook")
    def change_webhook(if_match: IfMatch, body: Body, webhook_id: int) -> Response:
        """Make it what the body says

        Where a second person has to approve it is `requested` again: it is told nothing until somebody has, and then
        what happened meanwhile. What is so already changes nothing.
        """
        secret = body.get("secret")
        expects, wanted = _expects(if_match), content(body)
        return webhook_answer(desk().change(webhook_id, expects, wanted, secret, current_actor(), clock()))


def _add_rotation(blueprint: ApiBlueprint, desk: Desk, clock: Clock) -> None:
    @blueprint.route(f"{ID_PATH}/rotate", methods=["POST"])
    @blueprint.requires("controls:write")
    @blueprint.if_match
    @blueprint.arguments(WebhookRotation)
    @blueprint.response(200, component("NewWebhook"), headers=ETAG_HEADER_DOC)
    @blueprint.problems(400, 404, 413, 415, 422, 503)
    @blueprint.doc(operationId="rotateWebhookSecret")
    def rotate_secret(if_match: IfMatch, body: Body, webhook_id: int) -> Response:
        """Give it another secret, which is in this answer and in no other one

        For a while it signs with the one of before as well: a receiver may have either. Nobody has to approve it, for
        whom it tells and of what stays.
        """
        secret, now = new_secret(), clock()
        until = now + body["former_seconds"] * 1000
        webhook = desk().rotate(webhook_id, _expects(if_match), secret, until, current_actor(), now)
        return _with_secret(webhook, secret, 200)


def _add_approval(blueprint: ApiBlueprint, desk: Desk, clock: Clock) -> None:
    @blueprint.route(f"{ID_PATH}/approve", methods=["POST"])
    @blueprint.requires("rules:approve")
    @blueprint.arguments(WebhookApproval)
    @blueprint.response(200, component("Webhook"), headers=ETAG_HEADER_DOC)
    @blueprint.problems(400, 403, 404, 409, 413, 415, 422, 503)
    @blueprint.doc(operationId="approveWebhook")
    def approve_webhook(body: Body, webhook_id: int) -> Response:
        """Let a webhook be told. Not by who asked for it, or changed it last; `contentHash` says what was seen."""
        return webhook_answer(desk().approve(webhook_id, body["content_hash"], current_actor(), clock()))


def _add_pause(blueprint: ApiBlueprint, desk: Desk, clock: Clock) -> None:
    @blueprint.route(f"{ID_PATH}/pause", methods=["POST"])
    @blueprint.requires("controls:write")
    @blueprint.response(200, component("Webhook"), headers=ETAG_HEADER_DOC)
    @blueprint.problems(404, 503)
    @blueprint.doc(operationId="pauseWebhook")
    def pause_webhook(webhook_id: int) -> Response:
        """Tell it nothing for now. What happens meanwhile waits, and is told when it is resumed."""
        return webhook_answer(desk().pause(webhook_id, current_actor(), clock()))

    @blueprint.route(f"{ID_PATH}/resume", methods=["POST"])
    @blueprint.requires("controls:write")
    @blueprint.response(200, component("Webhook"), headers=ETAG_HEADER_DOC)
    @blueprint.problems(404, 503)
    @blueprint.doc(operationId="resumeWebhook")
    def resume_webhook(webhook_id: int) -> Response:
        """Tell it what happened meanwhile, and go on. A replay from a later position leaves that out."""
        return webhook_answer(desk().resume(webhook_id, current_actor(), clock()))


def _add_sending(blueprint: ApiBlueprint, desk: Desk, clock: Clock) -> None:
    @blueprint.route(f"{ID_PATH}/test", methods=["POST"])
    @blueprint.requires("controls:write")
    @blueprint.response(202, component("Webhook"), headers=ETAG_HEADER_DOC)
    @blueprint.problems(404, 409, 503)
    @blueprint.doc(operationId="testWebhook")
    def test_webhook(webhook_id: int) -> Response:
        """Have a ping sent, once; its delivery says what came of it. One that is not active is not tested (409)."""
        return webhook_answer(desk().test(webhook_id, current_actor(), clock()), 202)

    @blueprint.route(f"{ID_PATH}/replay", methods=["POST"])
    @blueprint.requires("controls:write")
    @blueprint.json_body("WebhookReplay")
    @blueprint.response(202, component("Webhook"), headers=ETAG_HEADER_DOC)
    @blueprint.problems(404, 503)
    @blueprint.doc(operationId="replayWebhook")
    def replay_webhook(sent: Body, webhook_id: int) -> Response:
        """Have everything told again, or left out, from a position or an instant on; what comes again has its id"""
        body = _replay(sent)
        webhook = desk().replay(webhook_id, body.get("after"), body.get("instant"), current_actor(), clock())
        return webhook_answer(webhook, 202)


def _add_removal(blueprint: ApiBlueprint, desk: Desk, clock: Clock) -> None:
    @blueprint.route(ID_PATH, methods=["DELETE"])
    @blueprint.requires("controls:write")
    @blueprint.response(204)
    @blueprint.problems(404, 503)
    @blueprint.doc(operationId="removeWebhook")
    def remove_webhook(webhook_id: int) -> Response:
        """Tell it nothing any more. Its history stays."""
        desk().remove(webhook_id, current_actor(), clock())
        return Response(status=204)


def component(name: str) -> dict[str, str]:
    """A schema of the OpenAPI document."""
    return {"$ref": f"#/components/schemas/{name}"}


def _replay(sent: Body) -> Body:
    try:
        body: Body = ReplayBody().load(sent)
    except ma.ValidationError as error:
        named = error.messages_dict.items()
        raise invalid_input([FieldError(name, "; ".join(map(str, said))) for name, said in named]) from error
    return body


def _with_secret(webhook: Webhook, secret: str, status: int) -> Response:
    response = jsonify({**webhook_json(webhook), "secret": secret})
    response.status_code = status
    response.headers["ETag"] = etag_of(webhook.version)
    response.headers["Cache-Control"] = "no-store"
    return response


def _expects(if_match: IfMatch) -> Callable[[int], bool]:
    return lambda version: if_match.any_version or str(version) in if_match.tags


def _content(body: Body, event_type: EventType) -> WebhookContent:
    types, rule_ids = (tuple(dict.fromkeys(body[name])) for name in ("types", "rule_ids"))
    subjects = tuple(dict.fromkeys(_subject(text, event_type) for text in body["subjects"]))
    return WebhookContent(
        body["name"], body["url"], body["template"], types, body["min_severity"], rule_ids, subjects
    )


def _subject(text: str, event_type: EventType) -> str:
    name, _, value = text.partition(":")
    return f"{event_type.find_grouping(name) or name}:{value}"
