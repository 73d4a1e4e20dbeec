"""A client of Spark's state server that waits for no answer which says only that all is well.

In each micro-batch Spark's worker tells that server seven things besides what the state log asks for: what the state
variable is called, which key is at work, how far the processor is. After each it waits: to the JVM and back, on cores
that others use. Here such answers are heard together with the next one that says something, and the last of them when
the processor is closed. The server answers in the order in which it was asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from pyspark import worker
from pyspark.sql.streaming.stateful_processor_api_client import (
    StatefulProcessorApiClient,
    StatefulProcessorHandleState,
)

from tripline_engine.errors import StateStoreFailed


class StateClient(StatefulProcessorApiClient):
    """As Spark's, but that a refusal is raised later, as StateStoreFailed.

    Timers and lists, which the engine has no use for, are not known here: their answers would be mistaken for others.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._unheard = 0

    def set_handle_state(self, state: StatefulProcessorHandleState) -> None:
        with self._later():
            super().set_handle_state(state)
        if state == StatefulProcessorHandleState.CLOSED:
            self._hear()

    def set_implicit_key(self, key: tuple[Any, ...]) -> None:
        with self._later():
            super().set_implicit_key(key)

    def remove_implicit_key(self) -> None:
        with self._later():
            super().remove_implicit_key()

    def get_map_state(self, *args: Any, **kwargs: Any) -> None:
        with self._later():
            super().get_map_state(*args, **kwargs)

    def hear_out(self) -> None:
        """Hear what is left, whatever it says. Where answers are in a connection that is closed, the JVM's thread fails
        with an error that nobody catches, which on a cluster ends its process."""
        with suppress(StateStoreFailed, EOFError, OSError):
            self._hear()

    def _receive_proto_message(self) -> tuple[int, str, bytes]:
        self._hear()
        return super()._receive_proto_message()

    @contextmanager
    def _later(self) -> Iterator[None]:
        """What is sent in here is told at once that all is well."""
        self._receive_proto_message = _well  # type: ignore[method-assign]
        try:
            yield
        finally:
            del self._receive_proto_message
        self._unheard += 1

    def _hear(self) -> None:
        while self._unheard:
            self._unheard -= 1
            status, error, _ = super()._receive_proto_message()
            if status != 0:
                raise StateStoreFailed(f"Spark's state server refuses a call: {error}")


def use_state_client() -> None:
    """Have Spark's worker, in this process and all that are forked from it, use this client."""
    worker.StatefulProcessorApiClient = StateClient  # type: ignore[attr-defined]


def _well() -> tuple[int, str, bytes]:
    return 0, "", b""
