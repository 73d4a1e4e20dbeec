"""/v1/replays: a recording is uploaded, played again, and watched."""

from __future__ import annotations

import shutil
import tempfile
import uuid
from typing import IO, Any, Final

from flask import request

from tripline_contracts.errors import InvalidMapping, UnreadableFile
from tripline_contracts.event_type import EventType
from tripline_contracts.recordings.file_mapping import FileMapping, Format
from tripline_contracts.recordings.mapping_reader import read_mapping
from tripline_demo.generator.api.context import Context, context_of_app
from tripline_demo.generator.api.schemas import ReplayQuery, ReplaySchema, parse_speed
from tripline_demo.generator.errors import ReplayNotFound, TooManyReplays
from tripline_demo.generator.recordings.recording import lines_of, opened
from tripline_demo.generator.recordings.replay import Order, Reception
from tripline_demo.generator.recordings.replays import Report
from tripline_http.errors import FieldError, ProblemError, invalid_input
from tripline_http.openapi import ApiBlueprint, new_blueprint

MAX_UPLOAD_BYTES: Final = 512 * 1024 * 1024
_FORMATS: Final[dict[str, Format | None]] = {
    "text/csv": "csv",
    "application/x-ndjson": "json-lines",
    "application/json": None,
    "application/vnd.apache.parquet": "parquet",
    "application/gzip": None,
    "application/zstd": None,
}
"""Those of files that may be of several formats, and are recognised, are None."""


def _media(event_type: EventType) -> dict[str, Any]:
    texts = {
        "text/csv": f"Columns {', '.join(event_type.columns)}, by name in any order or, without a header, in this one;"
        f" {event_type.time_field.name} as yyyy-MM-dd HH:mm:ss UTC, in ISO 8601 with a zone, or in ms since the epoch."
        " With a mapping: any columns",
        "application/x-ndjson": "One transaction as a JSON object per line",
        "application/json": "An array of such objects, or lines of them",
        "application/vnd.apache.parquet": "Columns by name",
        "application/gzip": "CSV or JSON, packed",
        "application/zstd": "CSV or JSON, packed",
    }
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
        if request.mimetype not in _FORMATS:
            expected = ", ".join(_FORMATS)
            raise ProblemError(
                415,
                "unsupported-media-type",
                f"Send the recording as {expected}.",
                headers={"Accept": expected},
            )
        context = context_of_app()
        order = _order(query, context)
        mapping = _mapping(query["mapping"], event_type)
        spooled = _spool()
        try:
            recording = opened(spooled, event_type, mapping, _FORMATS[request.mimetype])
        except UnreadableFile as error:
            spooled.close()
            raise invalid_input([FieldError("body", str(error))]) from error
        lines = lines_of(recording, event_type)
        try:
            report = context.replays.start(order, lines, spooled.close, recording.unused)
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


def _order(query: dict[str, Any], context: Context) -> Order:
    backfill = None if query["backfill"] is None else str(query["backfill"])
    new_ids = context.new_id() if query["ids"] == "new" else None
    return Order(parse_speed(query["speed"]), query["shift"], backfill, new_ids)


def _mapping(text: str | None, event_type: EventType) -> FileMapping | None:
    """The mapping of the query. Raises the 422 problem, which names every wrong entry."""
    try:
        return None if text is None else read_mapping(text, event_type)
    except InvalidMapping as error:
        raise invalid_input(
            [FieldError(f"query.mapping.{problem.field}", problem.message) for problem in error.problems]
        ) from error


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


def _reception(engine: Reception | str | None) -> dict[str, Any] | None:
    if engine is None:
        return None
    if isinstance(engine, str):
        return {"taken": None, "known": None, "refused": [], "waiting": None, "unheard": engine}
    return {
        "taken": engine.taken,
        "known": engine.known,
        "refused": [{"reason": reason, "count": count} for reason, count in engine.refused.items()],
        "waiting": engine.waiting,
        "unheard": None,
    }


def _shown(report: Report) -> dict[str, Any]:
    progress = report.progress
    return {
        "replayId": report.replay_id,
        "state": progress.state,
        "speed": "max" if report.order.speed is None else f"{report.order.speed:g}",
        "shift": report.order.shift,
        "backfill": report.order.backfill,
        "ids": "kept" if report.order.new_ids is None else "new",
        "sent": progress.sent,
        "failed": progress.failed,
        "latestFailure": progress.latest_failure,
        "bad": progress.bad,
        "engine": _reception(progress.engine),
        "unusedColumns": list(report.unused),
        "badLines": [{"line": bad.line, "reason": bad.reason} for bad in progress.bad_lines],
    }
