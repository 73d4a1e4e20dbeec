"""A stand-in for Spark's state server, which speaks its protocol: it answers late, refuses, and counts.

Spark's own is behind every end-to-end test.
"""

from __future__ import annotations

import pickle
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pyspark.sql.streaming.proto.StateMessage_pb2 as messages
from pyspark.sql.streaming.stateful_processor_api_client import StatefulProcessorApiClient

from tripline_engine.spark.state.state_log import KEY

Client = TypeVar("Client", bound=StatefulProcessorApiClient)


@dataclass
class Store:
    """Answers while `open` is set; refuses the keys in `refused`."""

    open: threading.Event = field(default_factory=threading.Event)
    refused: set[str] = field(default_factory=set)
    kept: dict[str, bytes | str] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)
    """What else it has been told, by the protocol's names."""
    asked: int = 0
    reset: bool = False
    """Whether the connection was closed with answers in it that nobody had read."""
    stops: bool = False
    """Whether it reads no more after it has refused something, as Spark's does."""
    closes: bool = True
    """Whether it closes the connection then, as Spark's does from 4.2.1 on."""
    closed: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)

    def answer(self, call: Any) -> Any:
        kind = call.WhichOneof("method")
        request = getattr(call, kind)
        (key,) = pickle.loads(request.userKey)
        if key in self.refused:
            return messages.StateResponse(statusCode=1, errorMessage=f"no {key}")
        if kind == "getValue":
            data = self.kept.get(key)
            value = pickle.dumps((data,)) if data is not None else b""
            return messages.StateResponse(statusCode=0, value=value)
        if kind == "updateValue":
            (self.kept[key],) = pickle.loads(request.value)
        else:
            self.kept.pop(key, None)
        return messages.StateResponse(statusCode=0)

    def general(self, request: Any) -> Any:
        """What does not concern the log: it keeps the kind, and refuses as it does keys."""
        kind = request.WhichOneof("method")
        call = getattr(request, kind)
        said = call.WhichOneof("method")
        self.told.append(said)
        if said in self.refused:
            return messages.StateResponse(statusCode=1, errorMessage=f"no {said}")
        return messages.StateResponse(statusCode=0)

    def serve(self, listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            try:
                # to close the stream is to write what is left in it
                with connection.makefile("rwb", 65536) as stream:
                    while self._serve_one(stream):
                        pass
            except ConnectionError:
                self.reset = True
            if self.stops and not self.closes:
                assert self.ended.wait(90)
        self.closed.set()

    def _serve_one(self, stream: Any) -> bool:
        head = stream.read(8)
        if not head:
            return False
        _version, length = struct.unpack("!ii", head)
        request = messages.StateRequest()
        request.ParseFromString(stream.read(length))
        self.asked += 1
        assert self.open.wait(30)
        of_the_log = request.HasField("stateVariableRequest")
        answer = (
            self.answer(request.stateVariableRequest.mapStateCall) if of_the_log else self.general(request)
        )
        said = answer.SerializeToString()
        stream.write(struct.pack("!i", len(said)) + said)
        stream.flush()
        return not (self.stops and self.refused)


@contextmanager
def connected(store: Store, make: type[Client]) -> Iterator[Client]:
    """A client of that kind, connected to it."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=store.serve, args=(listener,))
        thread.start()
        client = make(listener.getsockname()[1], KEY)
        try:
            yield client
        finally:
            store.open.set()
            store.ended.set()
            # to close it is to send what is left
            with suppress(ConnectionError):
                client.sockfile.close()
            client._client_socket.close()
            thread.join(30)
