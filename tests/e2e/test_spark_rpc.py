"""Spark's RPC deserialises Java objects: on a machine that others use it may do so for nobody but itself."""

from __future__ import annotations

import socket
import struct

import pytest

from tests.e2e.support.engine_process import Queries
from tests.e2e.support.kafka_log import KafkaLog

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

LOOPBACK = "127.0.0.1"
SECONDS = 5.0
# of org.apache.spark.network.protocol.Message
RPC_REQUEST = 3
# java.lang.String "x" as Java serialises it
JAVA_TEXT = bytes.fromhex("aced0005740001") + b"x"


def text(value: str) -> bytes:
    """Java's writeUTF."""
    return struct.pack(">H", len(value)) + value.encode()


def to_the_block_manager(port: int) -> bytes:
    """A frame with a request for Spark's BlockManagerMaster, from nobody."""
    receiver = b"\x01" + text(LOOPBACK) + struct.pack(">i", port) + text("BlockManagerMaster")
    body = b"\x00" + receiver + JAVA_TEXT
    message = struct.pack(">bqi", RPC_REQUEST, 7, len(body)) + body
    return struct.pack(">q", 8 + len(message)) + message


def answer(port: int) -> bytes:
    """What comes back until the connection is closed, or nothing more comes."""
    said = b""
    with socket.create_connection((LOOPBACK, port), timeout=SECONDS) as connection:
        connection.sendall(to_the_block_manager(port))
        try:
            while more := connection.recv(65_536):
                said += more
        except (TimeoutError, ConnectionResetError):
            pass
    return said


@pytest.mark.timeout(300)
def test_no_port_of_the_driver_reads_objects_of_strangers(spark_queries: Queries, kafka: str) -> None:
    log = KafkaLog(kafka, "spark-rpc-")
    log.create()
    with spark_queries.query(log.prefix, 1, 1_000):
        ports = spark_queries.listening_ports()
        assert len(ports) >= 2, "the driver's RPC and its block manager, at least"
        said = {port: answer(port) for port in sorted(ports)}
    # without authentication: "Unsupported message RpcMessage(…,x,…)", so the object had been read
    assert not [
        port for port, words in said.items() if b"RpcMessage" in words or b"Unsupported message" in words
    ]
    assert any(b"Expected SaslMessage" in words for words in said.values()), said
