"""/v1/control-commands: clear, void, backfill, export, delete all, trace a rule."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from flask import Response

from rules_registry.api.actor import actor_of_request, takes_reason
from rules_registry.api.control.control_body import BODY_SCHEMA, read_control_body
from rules_registry.api.control.control_schemas import (
    ControlCommandPageSchema,
    ControlCommandQuery,
    ControlCommandSchema,
)
from rules_registry.api.idempotency import IDEMPOTENCY_KEY_DOC, repeatable, response_of
from rules_registry.api.openapi_links import AFTER_COMMAND
from rules_registry.api.pages import begin_after, link_after
from rules_registry.api.review.change_views import ACCEPTED
from rules_registry.api.review.proposal import propose
from rules_registry.api.rule_schemas.representations import command_json, export_json
from rules_registry.api.services import installed_type, needs_approval, queries, registry
from rules_registry.domain.issued_command import IssuedCommand
from rules_registry.errors import (
    BackfillHasEnded,
    BackfillNotFound,
    DomainError,
    GroupNotCleared,
    RuleIsDeleted,
    RuleNotFound,
)
from rules_registry.service.ports import Answer
from tripline_http.errors import FieldError, ProblemError
from tripline_http.links import LINK_HEADER_DOC
from tripline_http.openapi import new_blueprint

blueprint = new_blueprint("controls", __name__, "Commands to the engine, and what came of them")

COMMANDS = "/v1/control-commands"
LOCATION_DOC = {"Location": {"description": "Address of the command", "schema": {"type": "string"}}}


@blueprint.route(COMMANDS, methods=["POST"])
@blueprint.requires("controls:write")
@blueprint.parameter(IDEMPOTENCY_KEY_DOC)
@blueprint.json_body(BODY_SCHEMA)
@takes_reason
@blueprint.response(201, ControlCommandSchema, headers=LOCATION_DOC)
@blueprint.or_response(**ACCEPTED)
@blueprint.problems(404, 409, 503)
@blueprint.doc(operationId="issueControlCommand", responses={201: {"links": AFTER_COMMAND}})
def issue(body: dict[str, Any]) -> Response:
    """Issue a control command

    It takes its place in the log; the engine follows it there. CLEAR_STATE_ALL forgets history and firing state once,
    rules stay. CLEAR_STATE_ALL_STOP changes nothing. DELETE_RULES_ALL retires every rule, with one event each.
    EXPORT_RULES_CURRENT makes every shard say which rules it holds: read the command again to see the answers.
    TRACE_RULE makes it tell each evaluation of one rule for `seconds`; a later one for the rule replaces it.

    CLEAR_RULE and CLEAR_GROUP forget what one rule knows, or knows of one group; of a rule with conditions or with
    bucketed windows no group is cleared alone, and a group has the fields that the rule groups by: else it is 409.
    VOID_TRANSACTION makes a transaction as if it had not been, from here on; alerts that it triggered or that list it
    are marked. START_BACKFILL lets old transactions in, which name its `commandId` in the header `backfill` of their
    record, until END_BACKFILL; of one that has ended that is 409.

    A rule that is not there or deleted, and a backfill that is not there, are 404. These problems name the field.
    """
    control = read_control_body(body, installed_type())
    try:
        if needs_approval(control):
            return propose(control, repeatable(body))
        return response_of(registry().command(actor_of_request(), control, _issued, repeatable(body)))
    except RuleNotFound as error:
        raise _refused(404, "rule-not-found", "ruleId", error) from error
    except RuleIsDeleted as error:
        raise _refused(404, "rule-deleted", "ruleId", error) from error
    except GroupNotCleared as error:
        raise _refused(409, "group-not-cleared", error.field, error) from error
    except BackfillNotFound as error:
        raise _refused(404, "backfill-not-found", "backfillId", error) from error
    except BackfillHasEnded as error:
        raise _refused(409, "backfill-has-ended", "backfillId", error) from error


@blueprint.route(COMMANDS, methods=["GET"])
@blueprint.requires("rules:read")
@blueprint.arguments(ControlCommandQuery, location="query")
@blueprint.response(200, ControlCommandPageSchema, headers=LINK_HEADER_DOC)
@blueprint.problems(400, 503)
@blueprint.doc(operationId="listControlCommands")
def listing(query: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """List control commands, newest first"""
    commands, next_after = queries().commands(begin_after("commands", {}, query["cursor"]), query["limit"])
    return {"items": [command_json(command) for command in commands]}, link_after("commands", {}, next_after)


@blueprint.route(f"{COMMANDS}/<uuid:command_id>", methods=["GET"])
@blueprint.requires("rules:read")
@blueprint.response(200, ControlCommandSchema)
@blueprint.problems(404, 503)
@blueprint.doc(operationId="getControlCommand")
def get(command_id: uuid.UUID) -> dict[str, Any]:
    """Read a control command

    Of an export with the answer of each shard so far, held against what the registry had published by its position.
    """
    command = queries().command(str(command_id))
    if command.control != "EXPORT_RULES_CURRENT":
        return {**command_json(command), "export": None}
    published = queries().published_by(command.position)
    return {**command_json(command), "export": export_json(queries().exports(command.command_id), published)}


def _refused(status: int, kind: str, field: str, error: DomainError) -> ProblemError:
    return ProblemError(status, kind, str(error), errors=[FieldError(field, str(error))])


def _issued(issued: IssuedCommand) -> Answer:
    export = export_json([], []) if issued.control == "EXPORT_RULES_CURRENT" else None
    headers = {"Location": f"{COMMANDS}/{issued.command_id}"}
    return Answer(201, headers, {**command_json(issued), "export": export})
