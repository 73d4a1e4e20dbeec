"""What Spark's worker tells the state server: nobody waits for answers that say nothing, and none is lost."""

from __future__ import annotations

import pytest
from pyspark.sql.streaming.map_state_client import MapStateClient
from pyspark.sql.streaming.stateful_processor import MapState
from pyspark.sql.streaming.stateful_processor_api_client import (
    StatefulProcessorApiClient,
    StatefulProcessorHandleState,
)

from tests.unit.engine.spark.support.state_server import Store, connected
from tripline_engine.errors import StateStoreFailed
from tripline_engine.spark.state.state_client import StateClient
from tripline_engine.spark.state.state_log import KEY, STATE_FORMATS, SparkStateLog

FORM = STATE_FORMATS[max(STATE_FORMATS)]
BEGINNING = ["getMapState", "setHandleState", "setImplicitKey"]


def begin(client: StatefulProcessorApiClient) -> None:
    client.get_map_state("log", KEY, FORM.schema, None)
    client.set_handle_state(StatefulProcessorHandleState.INITIALIZED)
    client.set_implicit_key((3,))


@pytest.mark.timeout(60)
def test_nobody_waits_for_what_says_nothing() -> None:
    store = Store(kept={"a": FORM.stored(b"1")})
    with connected(store, StateClient) as client:
        begin(client)
        assert client.handle_state == StatefulProcessorHandleState.INITIALIZED
        # it has answered nothing so far
        store.open.set()
        log = SparkStateLog(MapState(MapStateClient(client, KEY, FORM.schema), "log"), FORM)
        assert log.get("a") == b"1"
        log.put("a", b"2")
        log.settle()
        client.remove_implicit_key()
        assert log.get("a") == b"2"
        client.set_handle_state(StatefulProcessorHandleState.CLOSED)
    assert store.told == [*BEGINNING, "removeImplicitKey", "setHandleState"]


@pytest.mark.timeout(60)
@pytest.mark.parametrize("refused", BEGINNING)
def test_a_refusal_is_an_error_when_the_processor_is_closed(refused: str) -> None:
    store = Store(refused={refused})
    store.open.set()
    with connected(store, StateClient) as client:
        begin(client)
        with pytest.raises(StateStoreFailed, match=f"no {refused}"):
            client.set_handle_state(StatefulProcessorHandleState.CLOSED)


@pytest.mark.timeout(60)
def test_a_refusal_is_an_error_at_the_next_reading() -> None:
    store = Store(refused={"setImplicitKey"})
    store.open.set()
    with connected(store, StateClient) as client:
        begin(client)
        log = SparkStateLog(MapState(MapStateClient(client, KEY, FORM.schema), "log"), FORM)
        with pytest.raises(StateStoreFailed, match="no setImplicitKey"):
            log.get("a")


@pytest.mark.timeout(60)
@pytest.mark.parametrize("refused", [set[str](), {"setImplicitKey"}])
def test_where_all_else_has_failed_the_rest_is_heard_before_the_connection_is_closed(
    refused: set[str],
) -> None:
    store = Store(refused=refused)
    store.open.set()
    with connected(store, StateClient) as client:
        begin(client)
        log = SparkStateLog(MapState(MapStateClient(client, KEY, FORM.schema), "log"), FORM)
        if not refused:
            log.put("a", b"1")
            client.remove_implicit_key()
        client.drain_responses()
    assert not store.reset
    assert store.told[:3] == BEGINNING


def begin_and_hear(client: StateClient) -> None:
    begin(client)
    client.receive_pending()


@pytest.mark.timeout(60)
@pytest.mark.parametrize("closes", [True, False])
def test_after_a_refusal_nobody_waits_for_answers_that_do_not_come(closes: bool) -> None:
    store = Store(refused={"getMapState"}, stops=True, closes=closes)
    store.open.set()
    with connected(store, StateClient) as client:
        with pytest.raises(StateStoreFailed, match="no getMapState"):
            begin_and_hear(client)
        client.drain_responses()
        with pytest.raises(StateStoreFailed, match="before this one"):
            client.remove_implicit_key()


@pytest.mark.timeout(60)
def test_sparks_own_client_waits_for_each() -> None:
    """What the engine's leaves out is there to be left out."""
    store = Store(refused={"setImplicitKey"})
    store.open.set()
    with (
        connected(store, StatefulProcessorApiClient) as client,
        pytest.raises(Exception, match="no setImplicitKey"),
    ):
        begin(client)
