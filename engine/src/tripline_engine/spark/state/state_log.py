"""A shard's state log in Spark's state store.

The store is in the JVM: a call is a message there and one back, 0.1 to 0.3 ms on an idle machine and more than a
millisecond on a busy one, and PySpark's client waits for each answer. Here several are on their way at once: what is
written is answered by the end of the micro-batch, and what is read together is asked for together. The JVM answers in
the order in which it was asked.

Data are bytes, and lie in the store as text: on their way to Python the JVM would make a text of bytes as well, one by
one, of a quarter of a megabyte in 2.1 ms, and 1.3 more to read that. The same as base64 takes 0.24 and 0.48 ms.
"""

from __future__ import annotations

from binascii import a2b_base64, b2a_base64
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pyspark.sql.types import BinaryType, StringType, StructField, StructType

from tripline_engine.spark.state.state_client import StateClient

if TYPE_CHECKING:
    from pyspark.sql.streaming.stateful_processor import MapState

KEY: Final = StructType([StructField("key", StringType())])
# Neither side may wait until the other one reads: so many short answers, or so many short questions, fit a socket.
_MOST_UNANSWERED, _MOST_ASKED = 64, 32
# After an error the JVM says so, reads no more and leaves the connection open: whoever sends more than fits the socket
# waits for ever. So before more bytes than that are sent, all answers are heard. A message counts for more than what is
# written with it: the kernel reckons whole buffers.
_MOST_SENT, _A_MESSAGE = 1 << 16, 1 << 10


class StateFormat(NamedTuple):
    """How data lie in the store: the state variable's value, and the way there and back.

    :ivar has_files: whether large segments are in files instead (`filed_log.py`)
    """

    schema: StructType
    stored: Callable[[bytes], bytes | str]
    data: Callable[[Any], bytes]
    has_files: bool = False


def _text(data: bytes) -> str:
    return b2a_base64(data, newline=False).decode("ascii")


_WITH_FILES: Final = StateFormat(
    StructType([StructField("data", StringType())]), _text, a2b_base64, has_files=True
)
STATE_FORMATS: Final = {
    # of checkpoints from before there was another one
    1: StateFormat(StructType([StructField("data", BinaryType())]), bytes, bytes),
    2: StateFormat(StructType([StructField("data", StringType())]), _text, a2b_base64),
    3: _WITH_FILES,
    # the names of files are together (`file_names.py`): what is of the third form becomes that
    4: _WITH_FILES,
}
"""By the number that a checkpoint pins."""


class SparkStateLog:
    """The state log over a map state of `KEY` and the form's schema, whose client is the engine's.

    Raises StateStoreFailed, for a write at a later call.
    """

    def __init__(self, state: MapState, form: StateFormat) -> None:
        self._state, self._form = state, form
        client = state._mapStateClient._stateful_processor_api_client  # noqa: SLF001  # it has no other way
        assert isinstance(client, StateClient)  # Spark's workers have no other
        self._client, self._sent = client, 0

    def get(self, key: str) -> bytes | None:
        return self.get_all([key])[0]

    def get_all(self, keys: Sequence[str]) -> list[bytes | None]:
        found: list[bytes | None] = []
        for start in range(0, len(keys), _MOST_ASKED):
            some = keys[start : start + _MOST_ASKED]
            if self._sent + len(some) * _A_MESSAGE > _MOST_SENT:
                self.settle()
            for key in some:
                with self._client.asking():
                    self._state.getValue((key,))
            self.settle()
            # all of them before any is looked at: what cannot be read must not leave the rest unheard
            found += [self._value(answer) for answer in [self._client.answer() for _ in some]]
        return found

    def put(self, key: str, data: bytes) -> None:
        stored = self._form.stored(data)
        self._write(self._state.updateValue, len(stored), (key,), (stored,))

    def remove(self, key: str) -> None:
        self._write(self._state.removeKey, 0, (key,))

    def remove_all(self, keys: Sequence[str]) -> None:
        for key in keys:
            self.remove(key)

    def settle(self) -> None:
        """Return when all that has been written is in the store. To be called before the micro-batch ends."""
        self._client.hear()
        self._sent = 0

    def _write(self, call: Callable[..., object], size: int, *words: Any) -> None:
        if self._sent + size + _A_MESSAGE > _MOST_SENT:
            self.settle()
        with self._client.later():
            call(*words)
        self._sent += size + _A_MESSAGE
        if self._client.unheard >= _MOST_UNANSWERED:
            self.settle()

    def _value(self, value: bytes) -> bytes | None:
        return self._form.data(self._client._deserialize_from_bytes(value)[0]) if value else None  # noqa: SLF001
