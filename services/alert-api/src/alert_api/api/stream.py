"""/v1/alerts/stream: the events of alerts as server-sent events."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import structlog
from flask import Response, request

from alert_api.api.alerts import alert_json
from alert_api.api.stream_seats import StreamSeat, StreamSeats
from alert_api.errors import StoreUnavailable
from alert_api.service.alert_stream import (
    AlertEvents,
    CommitNotifier,
    StreamBatch,
    StreamPlace,
    StreamTiming,
    follow,
)
from tripline_http.auth import current_actor, recheck
from tripline_http.errors import ProblemError
from tripline_http.openapi import ApiBlueprint, new_blueprint

log = structlog.get_logger(__name__)

RETRY_SECONDS: Final = 2
RECHECK_SECONDS: Final = 2.0
"""How long a stream goes on, at the most, for a key that is revoked or a session that has ended."""
PLACE_DOC: dict[str, Any] = {
    "in": "header",
    "name": "Last-Event-ID",
    "required": False,
    "description": "The id of the last message seen: the stream goes on after it. Without: from now on",
    "schema": {"type": "string", "pattern": "^[0-9]{1,20}-[0-9]{1,19}$"},
}
STREAM_DOC: dict[str, Any] = {
    "description": (
        "Messages named AlertRaised, AlertAcknowledged and AlertVoided; the data is the alert as it is now, as GET "
        "gives it. "
        "A comment every ten seconds when nothing happens. The same event may come twice after a resume. "
        "An actor may have four streams: a further one ends its oldest, whose last message is StreamReplaced. Who gets "
        "it should not come back by itself."
    ),
    "content": {"text/event-stream": {"schema": {"type": "string"}}},
}


def stream_blueprint(
    alert_events: AlertEvents,
    seats: StreamSeats,
    stopped: threading.Event,
    timing: StreamTiming | None = None,
    notifier: CommitNotifier | None = None,
) -> ApiBlueprint:
    """The view; streams end when `stopped` is set, and poll at each notification of the `notifier`."""
    blueprint = new_blueprint("stream", __name__, "What happens to alerts, as it happens")

    @blueprint.route("/v1/alerts/stream", methods=["GET"])
    @blueprint.requires("alerts:read")
    @blueprint.parameter(PLACE_DOC)
    @blueprint.problems(400, 503)
    @blueprint.doc(operationId="followAlerts", responses={"200": STREAM_DOC})
    def stream() -> Response:
        """Follow the alerts as server-sent events

        For programs and the console. Every message's id can be sent as `Last-Event-ID` to go on after it: nothing is
        left out, whoever writes at the same time.
        """
        resume_from = _requested_cursor()
        seat = seats.take(current_actor())
        try:
            # Asked before the answer begins: a database that is away is a 503, not a broken stream.
            present = alert_events.present()
        except BaseException:
            seats.leave(seat)
            raise
        start = resume_from or present
        connected = _listener(request.environ)
        let_in = _now_and_then(recheck("alerts:read"), RECHECK_SECONDS, time.monotonic)

        def listens() -> bool:
            return connected() and not seat.replaced.is_set() and let_in()

        batches = follow(
            alert_events, start, stopped, time.monotonic, timing or StreamTiming(), listens, notifier
        )
        response = Response(_written(start, batches, seat), content_type="text/event-stream; charset=utf-8")
        response.headers["Cache-Control"] = "no-store"
        response.headers["X-Accel-Buffering"] = "no"  # nginx would hold messages back
        response.call_on_close(lambda: seats.leave(seat))
        return response

    return blueprint


def _listener(environ: Mapping[str, Any]) -> Callable[[], bool]:
    """A check that the caller's connection is still open, where the server lets one look; else always true.

    Without a look a stream would learn of it with its next message only, and hold its slot until then.
    """
    is_gone = environ.get("waitress.client_disconnected")
    return lambda: is_gone is None or not is_gone()


def _now_and_then(
    check: Callable[[], bool], seconds: float, steady: Callable[[], float]
) -> Callable[[], bool]:
    """The check, made no more often than that; in between its last answer stands."""
    asked_at, answer = steady(), True

    def checked() -> bool:
        nonlocal asked_at, answer
        if answer and steady() - asked_at >= seconds:
            asked_at, answer = steady(), check()
        return answer

    return checked


def _requested_cursor() -> StreamPlace | None:
    text = request.headers.get("Last-Event-ID", "")
    if not text:
        return None
    cursor = StreamPlace.parse(text)
    if cursor is None:
        raise ProblemError(
            400, "invalid-last-event-id", "This Last-Event-ID is not one of this stream; begin without one."
        )
    return cursor


def _written(start: StreamPlace, batches: Iterator[StreamBatch], seat: StreamSeat) -> Iterator[str]:
    """Messages as text. The id goes out with every one of them, so a resume is exact whatever was seen last."""
    yield f"retry: {RETRY_SECONDS * 1000}\nid: {start}\n\n"
    try:
        for batch in batches:
            for event in batch.happened:
                data = json.dumps(alert_json(event.alert), separators=(",", ":"))
                yield f"id: {event.place}\nevent: {event.kind}\ndata: {data}\n\n"
            yield f": alive\nid: {batch.reached}\n\n"
        if seat.replaced.is_set():
            yield "event: StreamReplaced\ndata: {}\n\n"
    except StoreUnavailable as error:
        # The answer has begun: ending it is all that is left to say. The reader comes back with its last id.
        log.warning("stream_ended", reason=str(error))
