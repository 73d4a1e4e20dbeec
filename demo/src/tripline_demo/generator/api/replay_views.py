"""/v1/replays: a recording is uploaded, played again, and watched."""

from __future__ import annotations

import shutil
import tempfile
import uuid
from typing import IO, Any, Final

from flask import request

from tripline_contracts.event_type import EventType
from tripline_demo.generator.api.context import context_of_app
from tripline_demo.generator.api.schemas import ReplayQuery, ReplaySchema, parse_speed
from tripline_demo.generator.errors import ReplayNotFound, TooManyReplays
from tripline_demo.generator.recordings.recording import Format, bounded_lines, least_columns, read_lines
from tripline_demo.generator.recordings.replay import Order
from tripline_demo.generator.recordings.replays import Report
from tripline_http.errors import ProblemError
from tripline_http.openapi import ApiBlueprint, new_blueprint

MAX_UPLOAD_BYTES: Final = 512 * 1024 * 1024
_FORMATS: Final[dict[str, Format]] = {"text/csv": "csv", "application/x-ndjson": "jsonl"}


def _media(event_type: EventType) -> dict[str, Any]:
    optional = least_columns(event_type) < len(event_type.columns)
    csv = (
        f"{','.join(event_type.columns)}: {event_type.time_field.name} as yyyy-MM-dd HH:mm:ss UTC; "
        f"{'the last may be missing; ' if optional else ''}a header or none"
    )
    texts = {"text/csv": csv, "application/x-ndjson": "One transaction as a JSON object per line"}
    return {name: {"schema": {"type": "string", "description": text}} for name, text in texts.items()}


def new_replay_blueprint(event_type: EventType) -> ApiBlueprint:
    """The views, on a blueprint of their own."""
    blueprint = new_blueprint("replays", __name__, "Recordings played again")
    _add_start(blueprint, event_type)
    _add_one(blueprint)
    return blueprint


def _add_start(blueprint: ApiBlueprint, event_type: EventType) -> None:
    @blueprint.route("/v1/replays", methods=["POST"])
    @blueprint.requires("traffic:write")
    @blueprint.arguments(ReplayQuery, location="query")
    @blueprint.response(202, ReplaySchema)
    @blueprint.problems(400, 413, 415, 422, 503)
    @blueprint.doc(
        operationId="startReplay",
        summary="Play a recording",
        requestBody={"required": True, "content": _media(event_type)},
    )
    def post_replay(query: dict[str, Any]) -> tuple[dict[str, Any], int, dict[str, str]]:
        form = _FORMATS.get(request.mimetype)
        if form is None:
            expected = ", ".join(_FORMATS)
            raise ProblemError(
                415,
                "unsupported-media-type",
                f"Send the recording as {expected}.",
                headers={"Accept": expected},
            )
        backfill = query["backfill"]
        order = Order(
            parse_speed(query["speed"]), query["shift"], None if backfill is None else str(backfill)
        )
        context = context_of_app()
        spooled = _spool()
        lines = read_lines(bounded_lines(spooled), form, event_type)
        try:
            report = context.replays.start(order, lines, spooled.close)
        except TooManyReplays as error:
            spooled.close()
            raise ProblemError(503, "too-many-replays", f"{error}.", headers={"Retry-After": "10"}) from error
        return _shown(report), 202, {"Location": f"/v1/replays/{report.replay_id}"}


def _add_one(blueprint: ApiBlueprint) -> None:
    @blueprint.route("/v1/replays/<uuid:replay_id>", methods=["GET"])
    @blueprint.requires("traffic:read")
    @blueprint.response(200, ReplaySchema)
    @blueprint.problems(404)
    @blueprint.doc(operationId="getReplay", summary="How far a replay is")
    def get_replay(replay_id: uuid.UUID) -> dict[str, Any]:
        try:
            return _shown(context_of_app().replays.report(str(replay_id)))
        except ReplayNotFound as error:
            raise ProblemError(404, "replay-not-found", f"{error}.") from error

    @blueprint.route("/v1/replays/<uuid:replay_id>", methods=["DELETE"])
    @blueprint.requires("traffic:write")
    @blueprint.response(200, ReplaySchema)
    @blueprint.problems(404)
    @blueprint.doc(operationId="stopReplay", summary="Stop a replay; what was sent stays sent")
    def delete_replay(replay_id: uuid.UUID) -> dict[str, Any]:
        try:
            return _shown(context_of_app().replays.stop(str(replay_id)))
        except ReplayNotFound as error:
            raise ProblemError(404, "replay-not-found", f"{error}.") from error


def _spool() -> IO[bytes]:
    """The upload as a temporary file: it may be larger than memory, and the caller need not wait for the replay."""
    request.max_content_length = MAX_UPLOAD_BYTES
    spooled = tempfile.TemporaryFile()  # noqa: SIM115  # closed when the replay ends
    try:
        shutil.copyfileobj(request.stream, spooled, 1 << 20)
    except BaseException:
        spooled.close()
        raise
    spooled.seek(0)
    return spooled


def _shown(report: Report) -> dict[str, Any]:
    progress = report.progress
    return {
        "replayId": report.replay_id,
        "state": progress.state,
        "speed": "max" if report.order.speed is None else f"{report.order.speed:g}",
        "shift": report.order.shift,
        "backfill": report.order.backfill,
        "sent": progress.sent,
        "failed": progress.failed,
        "latestFailure": progress.latest_failure,
        "bad": progress.bad,
        "badLines": [{"line": bad.line, "reason": bad.reason} for bad in progress.bad_lines],
    }
