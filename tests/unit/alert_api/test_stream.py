"""The stream of what happens to alerts: order, resume, signs of life, slots."""

from __future__ import annotations

import contextlib
import itertools
import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from flask.testing import FlaskClient
from prometheus_client import CollectorRegistry
from werkzeug.wrappers import Response

from alert_api.api.application import Streaming
from alert_api.api.stream_seats import MAX_PER_ACTOR, MAX_STREAMS, StreamSeats
from alert_api.errors import StoreUnavailable
from alert_api.service.alert_stream import BATCH, StreamBatch, StreamPlace, StreamTiming, follow
from tests.unit.alert_api.support.samples import FakeOverview, app, key
from tripline_http.errors import ProblemError

ADA, AS_ADA = key("ada", "alerts:read")
CLERK, AS_CLERK = key("clerk", "rules:read")
AT_ONCE = StreamTiming(look=0.001, silence=0.0)


def client_of(overview: FakeOverview, stopped: threading.Event, slots: int = 2) -> FlaskClient:
    streaming = Streaming(stopped, AT_ONCE, slots)
    return app(overview=overview, keys=(ADA, CLERK), streaming=streaming).test_client()


def messages(response: Response, number: int) -> list[dict[str, str]]:
    """The first `number` messages with an event's name, as a browser reads them."""
    text, events = "", []
    for chunk in response.iter_encoded():
        text += chunk.decode()
        *whole, text = text.split("\n\n")
        for block in whole:
            fields = dict(line.split(": ", 1) for line in block.split("\n") if not line.startswith(":"))
            if "event" in fields:
                events.append(fields)
        if len(events) >= number:
            break
    return events


def open_stream(client: FlaskClient, **headers: str) -> Response:
    return client.get("/v1/alerts/stream", headers={**AS_ADA, **headers}, buffered=False)


def ids(events: list[dict[str, str]]) -> list[str]:
    return [json.loads(event["data"])["transaction"]["transactionId"] for event in events]


def test_a_reader_without_a_place_hears_what_happens_from_now_on() -> None:
    overview, stopped = FakeOverview(), threading.Event()
    overview.tell(1)
    with open_stream(client_of(overview, stopped)) as response:
        assert response.content_type == "text/event-stream; charset=utf-8"
        overview.tell(2)
        overview.tell(2, "AlertAcknowledged")
        events = messages(response, 2)
    assert ids(events) == ["t2", "t2"]
    assert [event["event"] for event in events] == ["AlertRaised", "AlertAcknowledged"]


def test_a_reader_goes_on_after_the_last_id_it_saw() -> None:
    overview, stopped = FakeOverview(), threading.Event()
    for number in range(1, 6):
        overview.tell(number)
    client = client_of(overview, stopped)
    with open_stream(client, **{"Last-Event-ID": str(StreamPlace(2, 1))}) as response:
        events = messages(response, 2)
    assert ids(events)[:2] == ["t3", "t4"]
    with open_stream(client, **{"Last-Event-ID": events[1]["id"]}) as response:
        assert ids(messages(response, 1)) == ["t5"]


@pytest.mark.parametrize("event_id", ["x", "1", "1-", "-1-2", "1-2-3", f"{2**64}-0", f"0-{2**63}", "１-1"])
def test_a_place_that_is_none_is_refused(event_id: str) -> None:
    client = client_of(FakeOverview(), threading.Event())
    response = client.get(
        "/v1/alerts/stream", headers={**AS_ADA, "Last-Event-ID": event_id.encode().decode("latin-1")}
    )
    assert (response.status_code, response.content_type) == (400, "application/problem+json")


def test_a_key_that_may_not_read_alerts_is_refused() -> None:
    client = client_of(FakeOverview(), threading.Event())
    assert client.get("/v1/alerts/stream", headers=AS_CLERK).status_code == 403
    assert client.get("/v1/alerts/stream").status_code == 401


def test_more_streams_than_seats_are_sent_away_until_one_leaves() -> None:
    client = client_of(FakeOverview(), threading.Event(), slots=2)
    first, second = open_stream(client), open_stream(client)
    refused = client.get("/v1/alerts/stream", headers=AS_ADA)
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "5")
    first.close()
    with open_stream(client) as third:
        assert third.status_code == 200
    second.close()


def test_an_actor_s_oldest_stream_makes_way_and_says_so() -> None:
    bob, as_bob = key("bob", "alerts:read")
    streaming = Streaming(threading.Event(), AT_ONCE)
    client = app(overview=FakeOverview(), keys=(ADA, bob), streaming=streaming).test_client()
    with contextlib.ExitStack() as stack:
        mine = [stack.enter_context(open_stream(client)) for _ in range(MAX_PER_ACTOR)]
        theirs = stack.enter_context(open_stream(client, **as_bob))
        newest = stack.enter_context(open_stream(client))
        assert newest.status_code == 200
        # The oldest holds its thread still.
        assert client.get("/v1/alerts/stream", headers=AS_ADA).status_code == 503
        oldest = list(mine[0].iter_encoded())
        assert oldest[-1] == b"event: StreamReplaced\ndata: {}\n\n"
        mine[0].close()
        for other in (*mine[1:], theirs, newest):
            chunks = iter(other.iter_encoded())
            assert b"StreamReplaced" not in next(chunks) + next(chunks)
        with open_stream(client) as sixth:
            assert sixth.status_code == 200


def test_one_actor_leaves_seats_for_the_others() -> None:
    seats = StreamSeats(MAX_STREAMS, CollectorRegistry())
    for _ in range(MAX_PER_ACTOR + 1):
        seats.take("ada")
    for _ in range(MAX_STREAMS):
        with pytest.raises(ProblemError):
            seats.take("ada")
    for _ in range(MAX_PER_ACTOR):
        seats.take("bob")


def test_refusals_take_no_seat() -> None:
    overview = FakeOverview()
    client = client_of(overview, threading.Event(), slots=1)
    overview.broken = StoreUnavailable("away")
    for _ in range(3):
        assert client.get("/v1/alerts/stream", headers=AS_ADA).status_code == 503
    overview.broken = None
    with open_stream(client) as response:
        assert response.status_code == 200


def test_a_database_that_goes_away_ends_the_stream_and_not_with_an_error() -> None:
    overview = FakeOverview()
    with open_stream(client_of(overview, threading.Event())) as response:
        chunks = iter(response.iter_encoded())
        assert b"retry: 2000" in next(chunks)
        overview.broken = StoreUnavailable("away")
        assert list(chunks) == []


def test_stopping_ends_the_streams() -> None:
    stopped = threading.Event()
    with open_stream(client_of(FakeOverview(), stopped)) as response:
        chunks = iter(response.iter_encoded())
        next(chunks)
        stopped.set()
        assert sum(1 for _ in chunks) <= 1


def tale(overview: FakeOverview, stopped: threading.Event, steady: Iterator[float]) -> Iterator[StreamBatch]:
    return follow(
        overview, StreamPlace(0, 0), stopped, lambda: next(steady), StreamTiming(look=0.0, silence=10.0)
    )


@pytest.mark.timeout(10)
def test_silence_is_broken_by_a_sign_of_life() -> None:
    steady = itertools.count(0.0, 2.0)
    told = next(tale(FakeOverview(), threading.Event(), steady))
    assert told.happened == () or list(told.happened) == []
    assert next(steady) >= 10.0


class CountingBell:
    """Rings each time somebody waits, and then something has happened."""

    def __init__(self, overview: FakeOverview) -> None:
        self._overview, self.heard = overview, list[int]()

    def notifications(self) -> int:
        return len(self.heard)

    def wait(self, heard: int, seconds: float) -> None:
        assert seconds == 3_600.0
        self.heard.append(heard)
        self._overview.tell(len(self.heard))


@pytest.mark.timeout(10)
def test_events_are_sent_at_a_notification() -> None:
    overview = FakeOverview()
    notifier, timing = CountingBell(overview), StreamTiming(look=3_600.0, silence=7_200.0)
    steady = itertools.repeat(0.0)
    stream = follow(
        overview, StreamPlace(0, 0), threading.Event(), lambda: next(steady), timing, notifier=notifier
    )
    told = [next(stream), next(stream)]
    assert [len(stream_batch.happened) for stream_batch in told] == [1, 1]
    # what rang before it looked is no reason to look again
    assert notifier.heard == [0, 1]


def test_a_backlog_is_told_without_waiting_between_batches() -> None:
    overview, stopped = FakeOverview(), threading.Event()
    for number in range(BATCH * 2 + 5):
        overview.tell(number)
    waits: list[Any] = []

    class Watched(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            waits.append(timeout)
            return True

    told = list(itertools.islice(tale(overview, Watched(), itertools.repeat(0.0)), 3))
    assert [len(stream_batch.happened) for stream_batch in told] == [BATCH, BATCH, 5]
    assert waits == []
    assert not stopped.is_set()
