"""/v1/health: how each part of the line is."""

from __future__ import annotations

from typing import Any

from flask import Response, jsonify

from alert_api.domain.health.part_health import PartHealth
from alert_api.service.health.health_desk import HealthDesk
from tripline_http.openapi import ApiBlueprint, new_blueprint


def line_health_blueprint(desk: HealthDesk) -> ApiBlueprint:
    """The view."""
    blueprint = new_blueprint("line_health", __name__, "How the line is")

    @blueprint.route("/v1/health", methods=["GET"])
    @blueprint.requires("alerts:read")
    @blueprint.response(200, {"$ref": "#/components/schemas/LineHealth"})
    @blueprint.doc(operationId="getLineHealth")
    def get_health() -> Response:
        """How each part of the line is

        When it was last seen, what waits for it, the position of the rule log that it has applied beside the newest
        one, and of what is wrong a sentence, what to do, and the section of the runbook that says more. Each part is
        asked for its probes and metrics, every two seconds at most. A part of which nothing is known is not_seen.
        """
        line = desk.look()
        return jsonify(
            {
                "lookedAt": line.looked_at,
                "published": line.published,
                "items": [part_json(part) for part in line.parts],
            }
        )

    return blueprint


def part_json(part: PartHealth) -> dict[str, Any]:
    """A part as callers see it."""
    trouble = part.trouble
    return {
        "part": part.name,
        "title": part.title,
        "level": part.level,
        "seenAt": part.seen_at,
        "lag": part.lag,
        "position": part.position,
        "shards": [
            {"shard": shard, "position": position}
            for shard, position in sorted(
                (part.shards or {}).items(), key=lambda pair: (len(pair[0]), pair[0])
            )
        ],
        "trouble": None
        if trouble is None
        else {"sentence": trouble.sentence, "advice": trouble.advice, "section": trouble.section},
    }
