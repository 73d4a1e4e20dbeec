"""A connection to one broker that says who it is: TLS and SASL, then requests and their answers as bytes.

For what no client library hands out; everything else goes through librdkafka or Kafka's own client. Requests have
header version 1, so their versions are those without tagged fields.
"""

from __future__ import annotations

import socket
import ssl
import struct
from typing import Final

import scramp

from tripline_contracts.errors import BrokerSilent
from tripline_contracts.kafka.cluster import KafkaCluster, Sasl

_SASL_HANDSHAKE, _SASL_AUTHENTICATE, _CLIENT = (17, 1), (36, 0), b"tripline-record-batches"
_REQUEST: Final = struct.Struct(">hhih")
_INT: Final = struct.Struct(">i")
_SHORT: Final = struct.Struct(">h")
_LONGEST_ANSWER: Final = 1 << 30


class BrokerConnection:
    """Open and authenticated. To be closed. Raises BrokerSilent where the broker does not answer or lets nobody in."""

    def __init__(self, cluster: KafkaCluster, host: str, port: int, seconds: float = 30.0) -> None:
        self._where, self._sent = f"{host}:{port}", 0
        try:
            self._socket = socket.create_connection((host, port), seconds)
        except OSError as error:
            raise BrokerSilent(f"{self._where}: {error}") from error
        try:
            if cluster.protocol.endswith("SSL"):
                context = ssl.create_default_context(cafile=cluster.ca_file)
                self._socket = context.wrap_socket(self._socket, server_hostname=host)
            if cluster.sasl:
                self._authenticate(cluster.sasl)
        except (OSError, struct.error, scramp.ScramException) as error:
            self.close()
            raise BrokerSilent(f"{self._where}: {error}") from error
        except BrokerSilent:
            self.close()
            raise

    def close(self) -> None:
        """Closes it."""
        self._socket.close()

    def request(self, key: int, version: int, body: bytes) -> memoryview:
        """The answer to a request, without its header."""
        self._sent += 1
        head = _REQUEST.pack(key, version, self._sent, len(_CLIENT)) + _CLIENT
        try:
            self._socket.sendall(_INT.pack(len(head) + len(body)) + head + body)
            (length,) = _INT.unpack(self._received(_INT.size))
            if not _INT.size <= length <= _LONGEST_ANSWER:
                raise BrokerSilent(f"{self._where}: an answer of {length} bytes")
            answer = self._received(length)
        except OSError as error:
            raise BrokerSilent(f"{self._where}: {error}") from error
        if _INT.unpack_from(answer) != (self._sent,):
            raise BrokerSilent(f"{self._where}: the answer to another request")
        return answer[_INT.size :]

    def _authenticate(self, sasl: Sasl) -> None:
        mechanism = sasl.mechanism.encode()
        answer = self.request(*_SASL_HANDSHAKE, _SHORT.pack(len(mechanism)) + mechanism)
        if _SHORT.unpack_from(answer) != (0,):
            raise BrokerSilent(f"{self._where}: does not take {sasl.mechanism}")
        if sasl.mechanism == "PLAIN":
            self._exchange(f"\0{sasl.user}\0{sasl.password()}")
            return
        client = scramp.ScramClient([sasl.mechanism], sasl.user, sasl.password())
        client.set_server_first(self._exchange(client.get_client_first()))
        # the broker has to know the password too: whoever only pretends to be it fails here
        client.set_server_final(self._exchange(client.get_client_final()))

    def _exchange(self, text: str) -> str:
        data = text.encode()
        answer = self.request(*_SASL_AUTHENTICATE, _INT.pack(len(data)) + data)
        (code,) = _SHORT.unpack_from(answer)
        (length,) = _SHORT.unpack_from(answer, _SHORT.size)
        position = 2 * _SHORT.size + max(0, length)
        if code:
            said = bytes(answer[2 * _SHORT.size : position]).decode("utf-8", "replace")
            raise BrokerSilent(f"{self._where}: {said or f'error {code}'}")
        (length,) = _INT.unpack_from(answer, position)
        return bytes(answer[position + _INT.size : position + _INT.size + max(0, length)]).decode()

    def _received(self, length: int) -> memoryview:
        data = memoryview(bytearray(length))
        position = 0
        while position < length:
            count = self._socket.recv_into(data[position:])
            if not count:
                raise BrokerSilent(f"{self._where}: closed the connection")
            position += count
        return data.toreadonly()
