"""A shard's state log in Spark's state store.

The store is in the JVM: a call is a round trip, 0.1 to 0.3 ms on an idle machine and more than a millisecond on a busy
one, and PySpark's client waits for each response. Here calls are pipelined: writes are acknowledged by the end of the
micro-batch, and reads of one `get_all` are sent together. The JVM responds in the order of requests.

Data are bytes, stored as base64 text: on their way to Python the JVM would encode bytes as text as well, byte by byte,
a quarter of a megabyte in 2.1 ms, and 1.3 more to decode. As base64 the same takes 0.24 and 0.48 ms.
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
# Backpressure must not deadlock the two sides: as many short responses, and as many short requests, fit a socket.
_MAX_PENDING, _MAX_READS = 64, 32
# After an error the JVM responds, reads no more and leaves the connection open: a client that sends more than fits the
# socket waits for ever. So all pending responses are received before more bytes are sent. A message counts for more
# than its bytes: the kernel accounts whole buffers.
_MAX_UNCONFIRMED_BYTES, _MESSAGE_BYTES = 1 << 16, 1 << 10


class StateFormat(NamedTuple):
    """Encoding of data in the store: the schema of the state variable's value, encoder and decoder.

    :ivar has_files: whether large segments are blob files instead (`blob_log.py`)
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
    # the first one, not pinned by its checkpoints
    1: StateFormat(StructType([StructField("data", BinaryType())]), bytes, bytes),
    2: StateFormat(StructType([StructField("data", StringType())]), _text, a2b_base64),
    3: _WITH_FILES,
    # names of blob files are grouped (`blob_index.py`); checkpoints of format 3 are upgraded to it
    4: _WITH_FILES,
}
"""State formats by the number that a checkpoint pins."""


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
        values: list[bytes | None] = []
        for start in range(0, len(keys), _MAX_READS):
            requested = keys[start : start + _MAX_READS]
            if self._sent + len(requested) * _MESSAGE_BYTES > _MAX_UNCONFIRMED_BYTES:
                self.settle()
            for key in requested:
                with self._client.awaiting_response():
                    self._state.getValue((key,))
            self.settle()
            # receive all before decoding any: a decoding error must not leave responses unread
            values += [self._value(response) for response in [self._client.response() for _ in requested]]
        return values

    def put(self, key: str, data: bytes) -> None:
        stored = self._form.stored(data)
        self._write(self._state.updateValue, len(stored), (key,), (stored,))

    def remove(self, key: str) -> None:
        self._write(self._state.removeKey, 0, (key,))

    def remove_all(self, keys: Sequence[str]) -> None:
        for key in keys:
            self.remove(key)

    def settle(self) -> None:
        """Return when all writes are acknowledged. To be called before the micro-batch ends."""
        self._client.receive_pending()
        self._sent = 0

    def _write(self, call: Callable[..., object], size: int, *words: Any) -> None:
        if self._sent + size + _MESSAGE_BYTES > _MAX_UNCONFIRMED_BYTES:
            self.settle()
        with self._client.deferring_response():
            call(*words)
        self._sent += size + _MESSAGE_BYTES
        if self._client.pending_responses >= _MAX_PENDING:
            self.settle()

    def _value(self, value: bytes) -> bytes | None:
        return self._form.data(self._client._deserialize_from_bytes(value)[0]) if value else None  # noqa: SLF001
