"""/v1/settings: how late, how early, how disordered."""

from __future__ import annotations

from typing import Any

from flask import Response

from rules_registry.api.actor import actor_of_request, takes_reason
from rules_registry.api.review.change_views import ACCEPTED
from rules_registry.api.review.proposal import propose
from rules_registry.api.rule_schemas.answer_schemas import SettingsSchema
from rules_registry.api.services import expected_versions, needs_approval, queries, registry
from rules_registry.domain.commands import ChangeSettings
from rules_registry.domain.engine_settings import EngineSettings, SettingsState
from rules_registry.domain.event_record import settings_json
from tripline_http.etags import ETAG_HEADER_DOC, IfMatch, etag_of
from tripline_http.openapi import new_blueprint

blueprint = new_blueprint("settings", __name__, "The engine's settings")


@blueprint.route("/v1/settings", methods=["GET"])
@blueprint.requires("rules:read")
@blueprint.response(200, SettingsSchema, headers=ETAG_HEADER_DOC)
@blueprint.problems(503)
@blueprint.doc(operationId="getSettings")
def get() -> tuple[dict[str, Any], dict[str, str]]:
    """Read the settings

    Version 0, before any change, is the defaults.
    """
    return _shown(queries().settings())


@blueprint.route("/v1/settings", methods=["PUT"])
@blueprint.requires("controls:write")
@blueprint.if_match
@blueprint.arguments(SettingsSchema)
@takes_reason
@blueprint.response(200, SettingsSchema, headers=ETAG_HEADER_DOC)
@blueprint.or_response(**ACCEPTED)
@blueprint.problems(409, 413, 415, 503)
@blueprint.doc(operationId="changeSettings")
def change(if_match: IfMatch, settings: EngineSettings) -> Response | tuple[dict[str, Any], dict[str, str]]:
    """Change the settings, all four at once

    The engine takes them in the order of the log. The same settings again change nothing.
    """
    command = ChangeSettings(expected_versions(if_match), settings)
    if needs_approval(command):
        return propose(command)
    return _shown(registry().change_settings(actor_of_request(), command))


def _shown(state: SettingsState) -> tuple[dict[str, Any], dict[str, str]]:
    return settings_json(state.settings), {"ETag": etag_of(state.version)}
