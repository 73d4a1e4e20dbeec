"""/v1/changes: read, edit, submit, approve, reject, withdraw, review."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flask import Response

from rules_registry.adapters.change_queries import ChangeFilter
from rules_registry.api.actor import actor_of_request, takes_reason
from rules_registry.api.idempotency import response_of
from rules_registry.api.pages import begin_after, filters_of, link_after
from rules_registry.api.review.change_schemas import ApprovalSchema, ChangeQuery, ChangeSchema
from rules_registry.api.review.change_views import CHANGES, answered
from rules_registry.api.review.estimate_json import Making, estimated_json
from rules_registry.api.review.estimate_schemas import EstimatedChangePageSchema, EstimatedChangeSchema
from rules_registry.api.rule_schemas.rule_body import read_rule_body
from rules_registry.api.rule_schemas.rule_body_schema import BODY_SCHEMA
from rules_registry.api.services import (
    backtests,
    change_queries,
    estimate_bounds,
    estimate_queries,
    expected_versions,
    four_eyes,
    installed_type,
    registry,
    review,
)
from rules_registry.domain.commands import ChangeRule, PublishRule
from rules_registry.domain.review.change_request import EDITABLE, ChangeRequest
from rules_registry.errors import IllegalStep
from tripline_http.etags import ETAG_HEADER_DOC, IfMatch, etag_of
from tripline_http.links import LINK_HEADER_DOC
from tripline_http.openapi import new_blueprint

blueprint = new_blueprint("changes", __name__, "Changes that a second person has to approve")

CHANGE = f"{CHANGES}/<int(min=1, max=2147483647):change_id>"


@blueprint.route(CHANGES, methods=["GET"])
@blueprint.requires("rules:read")
@blueprint.arguments(ChangeQuery, location="query")
@blueprint.response(200, EstimatedChangePageSchema, headers=LINK_HEADER_DOC)
@blueprint.problems(400, 503)
@blueprint.doc(operationId="listChanges")
def listing(query: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """List changes, newest first

    Each that publishes a rule or a version has an estimate of what that will say and cost.
    """
    filters = filters_of(query)
    unreviewed = query["unreviewed"]
    wanted = ChangeFilter(
        query["state"], query["kind"], query["subject"], None if unreviewed is None else unreviewed == "true"
    )
    changes, next_after = change_queries().page(
        wanted, begin_after("changes", filters, query["cursor"]), query["limit"]
    )
    items = _estimated(changes, whole=False)
    return {"items": items, "fourEyes": four_eyes()}, link_after("changes", filters, next_after)


@blueprint.route(CHANGE, methods=["GET"])
@blueprint.requires("rules:read")
@blueprint.response(200, EstimatedChangeSchema, headers=ETAG_HEADER_DOC)
@blueprint.problems(404, 503)
@blueprint.doc(operationId="getChange")
def get(change_id: int) -> tuple[dict[str, Any], dict[str, str]]:
    """Read a change

    One that publishes a rule or a version has an estimate of what that will say and cost, made from a sample of the
    newest history: nobody waits for it. A day after the rule was published its figures are beside it.
    """
    change = change_queries().change(change_id)
    [shown] = _estimated([change], whole=True)
    return shown, {"ETag": etag_of(change.revision)}


@blueprint.route(CHANGE, methods=["PUT"])
@blueprint.requires("rules:write")
@blueprint.if_match
@blueprint.json_body(BODY_SCHEMA)
@takes_reason
@blueprint.response(200, ChangeSchema, headers=ETAG_HEADER_DOC)
@blueprint.problems(404, 409, 503)
@blueprint.doc(operationId="editChange")
def edit(if_match: IfMatch, body: dict[str, Any], change_id: int) -> Response:
    """Edit a draft of a rule

    It is the draft's next revision, made for the rule as it stands now. `If-Match` names the revision that the editor
    has seen. Who edits a change cannot approve it.
    """
    read = read_rule_body(body, installed_type())

    def command(change: ChangeRequest) -> PublishRule | ChangeRule:
        content = change.content
        if content.kind not in EDITABLE or content.subject.id is None:
            raise IllegalStep(change.title, f"a change of kind {content.kind}", "edit", ("withdraw",))
        rule_id = int(content.subject.id)
        if content.kind == "PUBLISH_RULE":
            return PublishRule(
                rule_id,
                read.name,
                read.definition,
                read.effective_from,
                effective_until=read.effective_until,
            )
        return ChangeRule(
            rule_id, None, read.name, read.definition, read.effective_from, read.effective_until
        )

    seen = expected_versions(if_match)
    return response_of(review().edit(actor_of_request(), change_id, command, answered, seen))


@blueprint.route(f"{CHANGE}/submit", methods=["POST"])
@blueprint.requires("rules:write")
@takes_reason
@blueprint.response(200, ChangeSchema, headers=ETAG_HEADER_DOC)
@blueprint.problems(404, 409, 503)
@blueprint.doc(operationId="submitChange")
def submit(change_id: int) -> Response:
    """Hand a draft to an approver"""
    return response_of(review().step(actor_of_request(), change_id, "submit", answered))


@blueprint.route(f"{CHANGE}/withdraw", methods=["POST"])
@blueprint.requires("rules:write")
@takes_reason
@blueprint.response(200, ChangeSchema, headers=ETAG_HEADER_DOC)
@blueprint.problems(403, 404, 409, 503)
@blueprint.doc(operationId="withdrawChange")
def withdraw(change_id: int) -> Response:
    """Give a change up

    For those who had a hand in it.
    """
    return response_of(review().step(actor_of_request(), change_id, "withdraw", answered))


@blueprint.route(f"{CHANGE}/reject", methods=["POST"])
@blueprint.requires("rules:approve")
@takes_reason
@blueprint.response(200, ChangeSchema, headers=ETAG_HEADER_DOC)
@blueprint.problems(404, 409, 503)
@blueprint.doc(operationId="rejectChange")
def reject(change_id: int) -> Response:
    """Send a submitted change back to its authors

    A definition is a draft again, with the reason; anything else is given up.
    """
    return response_of(review().step(actor_of_request(), change_id, "reject", answered))


@blueprint.route(f"{CHANGE}/approve", methods=["POST"])
@blueprint.requires("rules:approve")
@blueprint.arguments(ApprovalSchema)
@takes_reason
@blueprint.response(200, ChangeSchema, headers=ETAG_HEADER_DOC)
@blueprint.problems(403, 404, 409, 413, 415, 503)
@blueprint.doc(operationId="approveChange")
def approve(body: Mapping[str, Any], change_id: int) -> Response:
    """Approve a submitted change

    It happens at once, under its author's name. `contentHash` says which content the approver has seen: where it is
    another one by now, and where the approver had a hand in it, the change stays as it is.
    """
    return response_of(review().approve(actor_of_request(), change_id, body["contentHash"], answered))


@blueprint.route(f"{CHANGE}/review", methods=["POST"])
@blueprint.requires("rules:approve")
@blueprint.arguments(ApprovalSchema)
@takes_reason
@blueprint.response(200, ChangeSchema, headers=ETAG_HEADER_DOC)
@blueprint.problems(403, 404, 409, 413, 415, 503)
@blueprint.doc(operationId="reviewChange")
def review_change(body: Mapping[str, Any], change_id: int) -> Response:
    """Note that what was done by one person alone has been looked at

    It changes nothing else: whoever disagrees changes the rule.
    """
    return response_of(review().review(actor_of_request(), change_id, body["contentHash"], answered))


def _estimated(changes: Sequence[ChangeRequest], *, whole: bool) -> list[dict[str, Any]]:
    estimates = estimate_queries().of_changes([change.change_id for change in changes])
    making = Making(estimate_bounds(), backtests().bounds.connected, registry().clock())
    return [
        estimated_json(change, estimates.get(change.change_id), making, whole=whole) for change in changes
    ]
