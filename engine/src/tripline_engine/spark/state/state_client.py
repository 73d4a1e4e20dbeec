"""A pipelining client of Spark's state server: it does not wait for responses without content.

In each micro-batch Spark's worker sends that server seven requests besides those of the state log: the name of the
state variable, the current key, the processor's state. After each it waits for a round trip to the JVM, on busy cores.
Here such acknowledgements are received together with the next response that has content, and the last of them when the
processor is closed. The server responds in the order of requests.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from pyspark.sql.streaming.stateful_processor_api_client import (
    StatefulProcessorApiClient,
    StatefulProcessorHandleState,
)

from tripline_engine.errors import StateStoreFailed


class StateClient(StatefulProcessorApiClient):
    """Spark's client with deferred errors: a refusal is raised later, as StateStoreFailed. After a failure every call
    raises, for responses can no longer be matched to requests.

    Timers and lists, which the engine does not use, are not supported: their responses would be taken for others.

    :ivar pending_responses: number of acknowledgements not yet received
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.pending_responses = 0
        self._failed = False

    def set_handle_state(self, state: StatefulProcessorHandleState) -> None:
        with self.deferring_response():
            super().set_handle_state(state)
        if state == StatefulProcessorHandleState.CLOSED:
            self.receive_pending()

    def set_implicit_key(self, key: tuple[Any, ...]) -> None:
        with self.deferring_response():
            super().set_implicit_key(key)

    def remove_implicit_key(self) -> None:
        with self.deferring_response():
            super().remove_implicit_key()

    def get_map_state(self, *args: Any, **kwargs: Any) -> None:
        with self.deferring_response():
            super().get_map_state(*args, **kwargs)

    @contextmanager
    def awaiting_response(self) -> Iterator[None]:
        """Sends one request without waiting; `response` receives its answer."""
        with self._failing_permanently():
            self._receive_proto_message = _ok_response  # type: ignore[method-assign]
            try:
                yield
            except OSError:
                self._raise_refusal()
                raise
            finally:
                del self._receive_proto_message

    @contextmanager
    def deferring_response(self) -> Iterator[None]:
        """Sends one request whose response is an acknowledgement, received with the next response."""
        with self.awaiting_response():
            yield
        self.pending_responses += 1

    def receive_pending(self) -> None:
        """Receive all pending acknowledgements."""
        self._refuse_after_failure()
        while self.pending_responses:
            self.pending_responses -= 1
            self._receive_response()

    def response(self) -> bytes:
        """Receive the next response with content."""
        self.receive_pending()
        return self._receive_response()

    def drain_responses(self) -> None:
        """Receive and discard all pending responses. If a connection is closed with unread responses, the JVM's thread
        fails with an uncaught error, which on a cluster ends the executor's process."""
        # after a failure the server may have stopped responding
        if not self._failed:
            with suppress(StateStoreFailed, EOFError, OSError):
                self.receive_pending()

    def _raise_refusal(self) -> None:
        """Raise the pending refusal, if there is one: after a refusal the server closes the connection."""
        self._failed = False
        with suppress(EOFError, OSError):
            self.receive_pending()
        self._failed = True

    def _receive_proto_message(self) -> tuple[int, str, bytes]:
        self.receive_pending()
        return super()._receive_proto_message()

    def _receive_response(self) -> bytes:
        with self._failing_permanently():
            status, error, value = super()._receive_proto_message()
            if status != 0:
                raise StateStoreFailed(f"Spark's state store refuses a call: {error}")
        return value

    @contextmanager
    def _failing_permanently(self) -> Iterator[None]:
        """After an error in here every further call is refused."""
        self._refuse_after_failure()
        self._failed = True
        yield
        self._failed = False

    def _refuse_after_failure(self) -> None:
        if self._failed:
            raise StateStoreFailed("Spark's state store has refused a call before this one")


def use_state_client() -> None:
    """Have Spark's worker, in this process and all that are forked from it, use this client."""
    from pyspark import worker  # noqa: PLC0415  # the driver, which knows of state logs too, has no use for it

    worker.StatefulProcessorApiClient = StateClient  # type: ignore[attr-defined]


def _ok_response() -> tuple[int, str, bytes]:
    return 0, "", b""
