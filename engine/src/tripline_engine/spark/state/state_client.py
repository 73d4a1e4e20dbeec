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

from pyspark.sql.streaming.stateful_processor_api_client import (
    StatefulProcessorApiClient,
    StatefulProcessorHandleState,
)

from tripline_engine.errors import StateStoreFailed


class StateClient(StatefulProcessorApiClient):
    """As Spark's, but that a refusal is raised later, as StateStoreFailed; and so is every call after one that failed,
    for nobody can tell any more which answer belongs to what.

    Timers and lists, which the engine has no use for, are not known here: their answers would be mistaken for others.

    :ivar unheard: how many answers are to be heard later
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.unheard = 0
        self._failed = False

    def set_handle_state(self, state: StatefulProcessorHandleState) -> None:
        with self.later():
            super().set_handle_state(state)
        if state == StatefulProcessorHandleState.CLOSED:
            self.hear()

    def set_implicit_key(self, key: tuple[Any, ...]) -> None:
        with self.later():
            super().set_implicit_key(key)

    def remove_implicit_key(self) -> None:
        with self.later():
            super().remove_implicit_key()

    def get_map_state(self, *args: Any, **kwargs: Any) -> None:
        with self.later():
            super().get_map_state(*args, **kwargs)

    @contextmanager
    def asking(self) -> Iterator[None]:
        """What is sent in here is told at once that all is well; `answer` has what the server says to it."""
        with self._whole():
            self._receive_proto_message = _well  # type: ignore[method-assign]
            try:
                yield
            except OSError:
                self._hear_why()
                raise
            finally:
                del self._receive_proto_message

    @contextmanager
    def later(self) -> Iterator[None]:
        """The same for what is answered with no more than that; it is heard with the next answer that says more."""
        with self.asking():
            yield
        self.unheard += 1

    def hear(self) -> None:
        """Return when the server has answered all that was to be heard later."""
        self._refuse_after_a_failure()
        while self.unheard:
            self.unheard -= 1
            self._heard()

    def answer(self) -> bytes:
        """The next answer."""
        self.hear()
        return self._heard()

    def hear_out(self) -> None:
        """Hear what is left, whatever it says. Where answers are in a connection that is closed, the JVM's thread fails
        with an error that nobody catches, which on a cluster ends its process."""
        # after a failure the server may have stopped to answer
        if not self._failed:
            with suppress(StateStoreFailed, EOFError, OSError):
                self.hear()

    def _hear_why(self) -> None:
        """Raise the refusal that is still to be heard, if there is one: after it the server closes the connection."""
        self._failed = False
        with suppress(EOFError, OSError):
            self.hear()
        self._failed = True

    def _receive_proto_message(self) -> tuple[int, str, bytes]:
        self.hear()
        return super()._receive_proto_message()

    def _heard(self) -> bytes:
        with self._whole():
            status, error, value = super()._receive_proto_message()
            if status != 0:
                raise StateStoreFailed(f"Spark's state store refuses a call: {error}")
        return value

    @contextmanager
    def _whole(self) -> Iterator[None]:
        """What fails in here is the last thing that is done."""
        self._refuse_after_a_failure()
        self._failed = True
        yield
        self._failed = False

    def _refuse_after_a_failure(self) -> None:
        if self._failed:
            raise StateStoreFailed("Spark's state store has refused a call before this one")


def use_state_client() -> None:
    """Have Spark's worker, in this process and all that are forked from it, use this client."""
    from pyspark import worker  # noqa: PLC0415  # the driver, which knows of state logs too, has no use for it

    worker.StatefulProcessorApiClient = StateClient  # type: ignore[attr-defined]


def _well() -> tuple[int, str, bytes]:
    return 0, "", b""
