"""/v1/cases/{id}/…: what people do with a case, and with all cases of a filter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import marshmallow as ma
from flask import Response, jsonify

from alert_api.api.cases.case_graph import add_case_graph
from alert_api.api.cases.case_readings import (
    CASE_PATH,
    add_case_listing,
    add_case_readings,
    case_filter,
    component,
    shown,
)
from alert_api.api.cases.case_schemas import (
    BULK_BODIES,
    AssignBody,
    CommentBody,
    CommentedBody,
    ResolveBody,
    filter_query,
)
from alert_api.api.cases.origins import KEY_DOC, origin_of
from alert_api.domain.cases.work import Acknowledge, Assign, Command, Comment, Reopen, Resolve
from alert_api.service.cases.case_queries import CaseReader
from alert_api.service.cases.case_work import CaseDesk, Origin
from tripline_contracts.event_type import EventType
from tripline_http.auth import current_actor
from tripline_http.errors import FieldError, invalid_input
from tripline_http.etags import ETAG_HEADER_DOC, IfMatch
from tripline_http.openapi import ApiBlueprint, new_blueprint
from tripline_http.request_ids import current_request_id

Body = dict[str, Any]
Clock = Callable[[], int]

# Path, schema of the body, operation, its description, the command that it is.
Action = tuple[str, type[ma.Schema], str, str, Callable[[str, int, Body], Command]]
ACTIONS: Final[tuple[Action, ...]] = (
    (
        "acknowledge",
        CommentedBody,
        "acknowledgeCase",
        "Say that somebody has seen it. Its alerts stay as they are: they are acknowledged one by one.",
        lambda actor, now, body: Acknowledge(actor=actor, now=now, comment=body["comment"]),
    ),
    (
        "claim",
        CommentedBody,
        "claimCase",
        "Take it: the caller works on it from now on, whoever had it.",
        lambda actor, now, body: Assign(actor=actor, now=now, comment=body["comment"], assignee=actor),
    ),
    (
        "assign",
        AssignBody,
        "assignCase",
        "Give it to somebody, or hand it over.",
        lambda actor, now, body: Assign(
            actor=actor, now=now, comment=body["comment"], assignee=body["assignee"]
        ),
    ),
    (
        "resolve",
        ResolveBody,
        "resolveCase",
        "Say what it was. What comes about the subject later reopens it or opens another case, by setting.",
        lambda actor, now, body: Resolve(
            actor=actor, now=now, comment=body["comment"], outcome=body["outcome"]
        ),
    ),
    (
        "reopen",
        CommentedBody,
        "reopenCase",
        "Take the resolution back. 409 where another case of the subject is unresolved.",
        lambda actor, now, body: Reopen(actor=actor, now=now, comment=body["comment"]),
    ),
    (
        "comment",
        CommentBody,
        "commentOnCase",
        "Write something down.",
        lambda actor, now, body: Comment(actor=actor, now=now, comment=body["comment"]),
    ),
)
COMMANDS: Final = {path: make for path, _, _, _, make in ACTIONS}


def cases_blueprint(cases: CaseReader, desk: CaseDesk, clock: Clock, event_type: EventType) -> ApiBlueprint:
    """The views over `cases` and `desk`; `clock` gives ms since the epoch."""
    blueprint = new_blueprint("cases", __name__, "All that tripped about one subject, and the work on it")
    add_case_listing(blueprint, cases, clock, event_type)
    add_case_readings(blueprint, cases)
    add_case_graph(blueprint, cases, event_type)
    for action in ACTIONS:
        _add_action(blueprint, cases, desk, clock, action)
    _add_bulk(blueprint, desk, clock, event_type)
    return blueprint


def _add_action(
    blueprint: ApiBlueprint, cases: CaseReader, desk: CaseDesk, clock: Clock, action: Action
) -> None:
    path, body_schema, operation, description, make = action

    def act(if_match: IfMatch, body: Body, case_id: int) -> Response:
        command = make(current_actor(), clock(), noted(body))
        desk.work(case_id, command, lambda version: expects(if_match, version), origin_of(body))
        return shown(cases, case_id)

    act.__name__, act.__doc__ = path, description
    for decorate in (
        blueprint.doc(operationId=operation),
        blueprint.problems(400, 404, 409, 412, 413, 415, 422, 503),
        blueprint.response(200, component("Case"), headers=ETAG_HEADER_DOC),
        blueprint.arguments(body_schema),
        blueprint.parameter(KEY_DOC),
        blueprint.if_match,
        blueprint.requires("alerts:ack"),
        blueprint.route(f"{CASE_PATH}/{path}", methods=["POST"], endpoint=path),
    ):
        act = decorate(act)


def _add_bulk(blueprint: ApiBlueprint, desk: CaseDesk, clock: Clock, event_type: EventType) -> None:
    @blueprint.route("/v1/cases/bulk", methods=["POST"])
    @blueprint.requires("alerts:ack")
    @blueprint.arguments(filter_query(event_type), location="query")
    @blueprint.json_body("BulkBody")
    @blueprint.response(200, component("BulkDone"))
    @blueprint.problems(400, 409, 413, 415, 422, 503)
    @blueprint.doc(operationId="workOnCases")
    def work_on_cases(query: dict[str, Any], sent: Body) -> Response:
        """Do one thing with all cases of a filter, a thousand at most

        `expected` is the number of `GET /v1/cases/summary` with the same filter: 409 where it is another one by now.
        With all or with none: 409 where the state of one does not let it. `changed` counts those that were not so
        already.
        """
        body = _bulk_body(sent)
        command = COMMANDS[body["action"]](current_actor(), clock(), noted(body))
        expected: int = body["expected"]
        origin = Origin(current_request_id())
        changed = desk.work_on_all(case_filter(query, event_type, clock()), expected, command, origin)
        return jsonify(cases=expected, changed=changed)


def _bulk_body(sent: Body) -> Body:
    """The body by the form of its action. Raises the 422 problem."""
    schema = BULK_BODIES.get(str(sent.get("action")))
    if schema is None or not isinstance(sent["action"], str):
        raise invalid_input([FieldError("action", f"expected one of {', '.join(BULK_BODIES)}")])
    try:
        body: Body = schema().load(sent)
    except ma.ValidationError as error:
        raise invalid_input(
            [FieldError(str(name), "; ".join(map(str, texts))) for name, texts in error.messages_dict.items()]
        ) from error
    return body


def expects(if_match: IfMatch, version: int) -> bool:
    """Whether the caller means this version."""
    return if_match.any_version or str(version) in if_match.tags


def noted(body: Body) -> Body:
    """The body with a blank comment as none."""
    comment = body.get("comment")
    return {**body, "comment": comment if comment and comment.strip() else None}
