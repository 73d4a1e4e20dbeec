"""/v1/alerts/stream: the events of alerts as server-sent events."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import structlog
from flask import Response, request
from prometheus_client import CollectorRegistry, Gauge

from alert_api.api.alerts import alert_json
from alert_api.errors import StoreUnavailable
from alert_api.service.alert_stream import (
    AlertEvents,
    CommitNotifier,
    StreamBatch,
    StreamPlace,
    StreamTiming,
    follow,
)
from tripline_http.errors import ProblemError
from tripline_http.openapi import ApiBlueprint, new_blueprint

log = structlog.get_logger(__name__)

MAX_STREAMS: Final = 16
RETRY_SECONDS: Final = 2
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
        "A comment every ten seconds when nothing happens. The same event may come twice after a resume."
    ),
    "content": {"text/event-stream": {"schema": {"type": "string"}}},
}


class StreamSlots:
    """A bound on open streams: each holds a thread, and the other requests need some too."""

    def __init__(self, number: int, registry: CollectorRegistry) -> None:
        self._free = threading.BoundedSemaphore(number)
        self._taken = Gauge("tripline_alert_streams_open", "Open alert streams.", registry=registry)

    def take(self) -> None:
        """Raises the 503 problem when all are taken."""
        if not self._free.acquire(blocking=False):
            raise ProblemError(
                503,
                "too-many-streams",
                "As many streams as may be open are open. Try again in a moment, or ask for the newest alerts.",
                headers={"Retry-After": "5"},
            )
        self._taken.inc()

    def leave(self) -> None:
        """Releases one."""
        self._taken.dec()
        self._free.release()


def stream_blueprint(
    alert_events: AlertEvents,
    slots: StreamSlots,
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
        slots.take()
        try:
            # Asked before the answer begins: a database that is away is a 503, not a broken stream.
            present = alert_events.present()
        except BaseException:
            slots.leave()
            raise
        start = resume_from or present
        listens = _listener(request.environ)
        batches = follow(
            alert_events, start, stopped, time.monotonic, timing or StreamTiming(), listens, notifier
        )
        response = Response(_written(start, batches), content_type="text/event-stream; charset=utf-8")
        response.headers["Cache-Control"] = "no-store"
        response.headers["X-Accel-Buffering"] = "no"  # nginx would hold messages back
        response.call_on_close(slots.leave)
        return response

    return blueprint


def _listener(environ: Mapping[str, Any]) -> Callable[[], bool]:
    """A check that the caller's connection is still open, where the server lets one look; else always true.

    Without a look a stream would learn of it with its next message only, and hold its slot until then.
    """
    connection = environ.get("gunicorn.socket")
    if not isinstance(connection, socket.socket):
        return lambda: True

    def listens() -> bool:
        try:
            return connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) != b""
        except BlockingIOError:
            return True
        except OSError:
            return False

    return listens


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


def _written(start: StreamPlace, batches: Iterator[StreamBatch]) -> Iterator[str]:
    """Messages as text. The id goes out with every one of them, so a resume is exact whatever was seen last."""
    yield f"retry: {RETRY_SECONDS * 1000}\nid: {start}\n\n"
    try:
        for batch in batches:
            for event in batch.happened:
                data = json.dumps(alert_json(event.alert), separators=(",", ":"))
                yield f"id: {event.place}\nevent: {event.kind}\ndata: {data}\n\n"
            yield f": alive\nid: {batch.reached}\n\n"
    except StoreUnavailable as error:
        # The answer has begun: ending it is all that is left to say. The reader comes back with its last id.
        log.warning("stream_ended", reason=str(error))
