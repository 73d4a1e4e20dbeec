"""What a request that changes a rule is answered: the rule as it is now, or the change that waits for its approval."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from flask import Response

from rules_registry.api.actor import actor_of_request
from rules_registry.api.idempotency import response_of
from rules_registry.api.review.proposal import propose
from rules_registry.api.rule_schemas.representations import changed_rule_json, warnings_json
from rules_registry.api.services import needs_approval, registry, review
from rules_registry.domain.advice.rule_warning import RuleWarning
from rules_registry.domain.commands import ChangeOfRule, ChangeRule
from rules_registry.domain.review.change_request import ChangeRequest
from rules_registry.service.ports import Answer
from rules_registry.service.registry import Done, Repeatable, RuleChange
from tripline_http.etags import etag_of


def respond(
    command: ChangeOfRule,
    repeatable: Repeatable | None = None,
    *,
    alone: bool = False,
    answer: Callable[[RuleChange], Answer] | None = None,
) -> Response:
    """Does what the command says, or makes a change of it where a second person has to approve that: of a new
    definition a draft, of anything else one that is submitted. `alone` does it at once all the same."""
    actor = actor_of_request()
    if not needs_approval(command):
        return response_of(registry().change(actor, command, answer or changed, repeatable))
    if alone:
        return response_of(review().act_alone(actor, lambda _: command, _done_alone, repeatable))
    return propose(command, repeatable, submit=not isinstance(command, ChangeRule))


def created(rule_change: RuleChange) -> Answer:
    """201: a rule that is new."""
    headers = {"ETag": etag_of(rule_change.rule.version), "Location": f"/v1/rules/{rule_change.rule.rule_id}"}
    return Answer(201, headers, changed_rule_json(rule_change))


def changed(rule_change: RuleChange) -> Answer:
    """200: a rule as it is now."""
    return Answer(200, {"ETag": etag_of(rule_change.rule.version)}, changed_rule_json(rule_change))


def with_warnings(
    answer: Callable[[RuleChange], Answer], warnings: Sequence[RuleWarning]
) -> Callable[[RuleChange], Answer]:
    """The same answer, and what is likely wrong with the definition."""

    def warned(rule_change: RuleChange) -> Answer:
        answered = answer(rule_change)
        return replace(answered, body={**answered.body, "warnings": warnings_json(warnings)})

    return warned


def _done_alone(done: Done, _: ChangeRequest) -> Answer:
    assert done.change is not None  # it was a rule's
    return changed(done.change)
