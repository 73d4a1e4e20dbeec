"""Asking a second person for what a request wants."""

from __future__ import annotations

from flask import Response

from rules_registry.api.actor import actor_of_request
from rules_registry.api.idempotency import response_of
from rules_registry.api.review.change_views import accepted
from rules_registry.api.services import review
from rules_registry.domain.review.content import Proposed
from rules_registry.service.registry import Repeatable


def propose(command: Proposed, repeatable: Repeatable | None = None, *, submit: bool = True) -> Response:
    """202 with the change that the command has become; with `submit` false a draft."""
    asked = review().propose(actor_of_request(), lambda _: command, accepted, repeatable, submit=submit)
    return response_of(asked)
