"""The state log over the engine's client, against a store that speaks Spark's protocol."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from pyspark.sql.streaming.map_state_client import MapStateClient
from pyspark.sql.streaming.stateful_processor import MapState

from tests.unit.engine.spark.support.state_server import Store, connected
from tripline_engine.errors import StateStoreFailed
from tripline_engine.spark.state.state_client import StateClient
from tripline_engine.spark.state.state_log import KEY, STATE_FORMATS, SparkStateLog


@contextmanager
def served(store: Store, form: int = max(STATE_FORMATS)) -> Iterator[SparkStateLog]:
    with connected(store, StateClient) as client:
        state = MapState(MapStateClient(client, KEY, STATE_FORMATS[form].schema), "log")
        yield SparkStateLog(state, STATE_FORMATS[form])


def put_some(log: SparkStateLog) -> None:
    """The first of them may get as far as the system's own buffer though nobody reads it."""
    for number in range(3):
        log.put(f"k{number}", b"x")


def put_two_megabytes(log: SparkStateLog) -> None:
    for number in range(20):
        log.put(f"k{number}", bytes(100_000))


@pytest.mark.parametrize("form", STATE_FORMATS)
def test_any_number_of_large_entries_is_read_at_once(form: int) -> None:
    data = {f"k{number}": bytes([number % 256]) * 100_000 for number in range(300)}
    store = Store(kept={name: STATE_FORMATS[form].stored(blob) for name, blob in data.items()})
    store.open.set()
    with served(store, form) as log:
        log.put("last", b"1")
        assert log.get_all([*data, "last"]) == [*data.values(), b"1"]


@pytest.mark.parametrize(("form", "kind"), [(1, bytes), (2, str), (3, str), (4, str)])
def test_what_is_written_is_read_back_and_removed(form: int, kind: type) -> None:
    store = Store()
    store.open.set()
    with served(store, form) as log:
        log.put("a", b"1")
        log.put("b", b"2" * 300_000)
        assert log.get_all(["b", "none", "a"]) == [b"2" * 300_000, None, b"1"]
        log.remove("a")
        log.put("empty", b"")
        assert (log.get("a"), log.get("empty")) == (None, b"")
        log.settle()
    assert {name: type(blob) for name, blob in store.kept.items()} == {"b": kind, "empty": kind}


def test_writes_do_not_wait_for_answers_until_they_are_settled() -> None:
    store = Store()
    with served(store) as log:
        for number in range(20):
            log.put(f"k{number}", b"x")
        assert store.kept == {}
        store.open.set()
        log.settle()
        assert len(store.kept) == 20


def test_many_writes_are_settled_on_the_way() -> None:
    store = Store()
    store.open.set()
    with served(store) as log:
        for number in range(1_000):
            log.put(f"k{number}", b"x")
        assert store.asked > 900
        log.settle()
    assert len(store.kept) == 1_000


@pytest.mark.parametrize("reading", [False, True])
def test_a_refused_write_is_an_error_at_the_next_reading_or_at_the_end(reading: bool) -> None:
    store = Store(refused={"bad"})
    store.open.set()
    with served(store) as log:
        log.put("good", b"1")
        log.put("bad", b"2")
        with pytest.raises(StateStoreFailed, match="no bad"):
            log.get("good") if reading else log.settle()


@pytest.mark.timeout(60)
@pytest.mark.parametrize("closes", [True, False])
def test_a_store_that_reads_no_more_after_an_error_holds_nobody_up(closes: bool) -> None:
    store = Store(refused={"bad"}, stops=True, closes=closes)
    store.open.set()
    with served(store) as log:
        log.put("bad", b"1")
        with pytest.raises(StateStoreFailed, match="no bad"):
            put_two_megabytes(log)


@pytest.mark.timeout(60)
def test_why_a_store_has_closed_the_connection_is_said() -> None:
    store = Store(refused={"bad"}, stops=True)
    store.open.set()
    with served(store) as log:
        log.put("bad", b"1")
        assert store.closed.wait(30)
        with pytest.raises(StateStoreFailed, match="no bad"):
            put_some(log)


@pytest.mark.timeout(60)
def test_after_a_connection_was_lost_nothing_is_asked_any_more() -> None:
    store = Store()
    store.open.set()
    with served(store) as log:
        log._client._client_socket.shutdown(socket.SHUT_RDWR)
        with pytest.raises(ConnectionError):
            log.put("a", b"1")
        with pytest.raises(StateStoreFailed, match="before this one"):
            log.put("b", b"2")


@pytest.mark.timeout(60)
def test_after_a_failure_nothing_is_asked_any_more() -> None:
    store = Store(refused={"bad"})
    store.open.set()
    with served(store) as log:
        log.put("bad", b"1")
        with pytest.raises(StateStoreFailed, match="no bad"):
            log.settle()
        for call in (
            lambda: log.get("good"),
            lambda: log.put("good", b"3"),
            lambda: log.remove("good"),
            lambda: log.get_all(["good", "better"]),
            log.settle,
            lambda: log.remove_all(["good", "better"]),
        ):
            with pytest.raises(StateStoreFailed, match="before this one"):
                call()
        # and this one goes on reading
        assert store.asked == 1


def test_a_refused_reading_is_an_error() -> None:
    store = Store(refused={"bad"})
    store.open.set()
    with served(store) as log, pytest.raises(StateStoreFailed, match="no bad"):
        log.get_all(["good", "bad"])
