"""/v1/views: filters of the list of cases that the caller keeps under names."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

import marshmallow as ma
from flask import Response, jsonify

from alert_api.api.cases.case_schemas import SORTS, subject_field
from alert_api.api.schemas import MAX_ACTOR, MAX_RULES, STANDINGS, TIME, list_of, object_of
from alert_api.domain.cases.severity import SEVERITIES
from alert_api.domain.cases.work_events import OUTCOMES
from alert_api.service.saved_views import MOST_VIEWS, SavedView, SavedViews
from tripline_contracts.event_type import EventType
from tripline_http.auth import current_actor
from tripline_http.errors import FieldError, invalid_input
from tripline_http.fields import MAX_POSITION, BoundedInteger, Text
from tripline_http.openapi import ApiBlueprint, new_blueprint

# Letters of the Latin, Greek and Cyrillic scripts. It stands in an address, so what means something there is left out.
_LETTER: Final = r"A-Za-z0-9\u00c0-\u024f\u0370-\u03ff\u0400-\u04ff"
NAME_PATTERN: Final = f"^[{_LETTER}][{_LETTER} _-]{{0,39}}$"
_NAME: Final = re.compile(NAME_PATTERN.replace("$", r"\Z"))
_NAME_SCHEMA: Final[dict[str, Any]] = {"type": "string", "pattern": NAME_PATTERN}
NAME_DOC: Final[dict[str, Any]] = {"in": "path", "name": "name", "required": True, "schema": _NAME_SCHEMA}
PATH: Final = "/v1/views/<name>"


class _FilterBody(ma.Schema):
    """What is chosen. `state` is `all`, too: without it the inbox has what is unresolved."""

    class Meta:
        unknown = ma.RAISE

    state = ma.fields.String(validate=ma.validate.OneOf((*STANDINGS, "all")))
    outcome = ma.fields.String(validate=ma.validate.OneOf(OUTCOMES))
    assignee = Text(1, MAX_ACTOR)
    severity = ma.fields.String(validate=ma.validate.OneOf(SEVERITIES))
    overdue = ma.fields.String(validate=ma.validate.OneOf(["true"]))
    sort = ma.fields.String(validate=ma.validate.OneOf(SORTS))
    ruleId = ma.fields.List(  # noqa: N815
        BoundedInteger(1, MAX_POSITION), validate=ma.validate.Length(min=1, max=MAX_RULES)
    )


def saved_views_blueprint(views: SavedViews, clock: Callable[[], int], event_type: EventType) -> ApiBlueprint:
    """The views over `views`; `clock` gives ms since the epoch."""
    blueprint = new_blueprint("saved_views", __name__, "Filters of cases, kept under names")
    filter_body = _FilterBody.from_dict({"subject": subject_field(event_type)}, name="ViewFilter")
    body_schema = ma.Schema.from_dict(
        {"filter": ma.fields.Nested(filter_body, required=True)}, name="ViewBody"
    )

    @blueprint.route("/v1/views", methods=["GET"])
    @blueprint.requires("alerts:read")
    @blueprint.response(200, {"$ref": "#/components/schemas/SavedViews"})
    @blueprint.problems(503)
    @blueprint.doc(operationId="listViews")
    def list_views() -> Response:
        """The caller's own, by name: nobody else sees them."""
        return jsonify(items=[view_json(view) for view in views.of(current_actor())])

    @blueprint.route(PATH, methods=["PUT"], parameters=[NAME_DOC])
    @blueprint.requires("alerts:read")
    @blueprint.arguments(body_schema)
    @blueprint.response(200, {"$ref": "#/components/schemas/SavedView"})
    @blueprint.problems(400, 409, 413, 415, 422, 503)
    @blueprint.doc(operationId="saveView")
    def save_view(body: dict[str, Any], name: str) -> Response:
        """Keep a filter of cases under a name, in place of the one that it had

        For the caller alone, so the scope to read is enough. 30 at most: 409 for one more.
        """
        view = SavedView(_checked(name), body["filter"], clock())
        views.save(current_actor(), view)
        return jsonify(view_json(view))

    @blueprint.route(PATH, methods=["DELETE"], parameters=[NAME_DOC])
    @blueprint.requires("alerts:read")
    @blueprint.response(204)
    @blueprint.problems(404, 422, 503)
    @blueprint.doc(operationId="removeView")
    def remove_view(name: str) -> Response:
        """Forget one of the caller's."""
        views.remove(current_actor(), _checked(name))
        return Response(status=204)

    return blueprint


def view_json(view: SavedView) -> dict[str, Any]:
    """A view as its owner sees it."""
    return {"name": view.name, "filter": dict(view.filter), "savedAt": view.saved_at}


def view_schemas() -> dict[str, dict[str, Any]]:
    """The answers as JSON Schemas."""
    kept = {"type": "object", "description": "As it was sent"}
    view = object_of({"name": _NAME_SCHEMA, "filter": kept, "savedAt": TIME})
    return {"SavedView": view, "SavedViews": list_of("SavedView", maxItems=MOST_VIEWS)}


def _checked(name: str) -> str:
    if _NAME.match(name) is None:
        expected = "expected 1 to 40 letters, digits, spaces, _ and -, and a letter or a digit first"
        raise invalid_input([FieldError("name", expected)])
    return name
