"""Ports: the remembered, else the usual, else any; never a busy one, never one twice."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tripline_demo.processes import ports


@pytest.fixture
def busy() -> Iterator[int]:
    with socket.socket() as listener:
        listener.bind((ports.LOOPBACK, 0))
        listener.listen()
        yield listener.getsockname()[1]


def test_the_remembered_port_is_kept_while_it_is_free() -> None:
    remembered, default = ports.free_ports(2)
    assert ports.choose({"api": default}, {"api": remembered}) == {"api": remembered}


def test_a_busy_port_is_avoided(busy: int) -> None:
    (default,) = ports.free_ports(1)
    assert ports.choose({"api": default}, {"api": busy}) == {"api": default}
    assert ports.choose({"api": busy}, {})["api"] not in {busy, 0}


def test_no_port_is_given_twice() -> None:
    (one,) = ports.free_ports(1)
    chosen = ports.choose({"a": one, "b": one, "c": 0}, {"c": one})
    assert len(set(chosen.values())) == 3


def test_open_and_free_are_told_apart(busy: int) -> None:
    (free,) = ports.free_ports(1)
    assert (ports.is_open(busy), ports.is_free(busy)) == (True, False)
    assert (ports.is_open(free), ports.is_free(free)) == (False, True)


@pytest.mark.parametrize("content", ["", "{", "[1]", '{"api": "8081"}', '{"api": 0}', '{"api": 65536}'])
def test_a_damaged_memory_is_no_memory(tmp_path: Path, content: str) -> None:
    (tmp_path / "ports.json").write_text(content)
    assert ports.load(tmp_path / "ports.json") == {}


def test_memory_is_read_as_it_was_written(tmp_path: Path) -> None:
    ports.save(tmp_path / "run" / "ports.json", {"api": 8081})
    assert ports.load(tmp_path / "run" / "ports.json") == {"api": 8081}


def test_a_port_is_ours_while_a_socket_of_this_user_listens_on_it() -> None:
    with socket.create_server((ports.LOOPBACK, 0)) as server:
        port = server.getsockname()[1]
        assert ports.is_ours(port)
    assert not ports.is_ours(port)


def test_the_listeners_of_a_port_are_told_by_the_table_of_sockets() -> None:
    table = """  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F91 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1001        0 1 1
   1: 0100007F:1F91 0100007F:D431 01 00000000:00000000 00:00000000 00000000  1002        0 2 1
   2: 0100007F:1F92 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1003        0 3 1
   3: 00000000000000000000000000000000:1F91 00000000000000000000000000000000:0000 0A 0:0 00:0 0     0        0 4 1
"""
    assert ports.listeners(table, 0x1F91) == {1001, 0}
    assert ports.listeners(table, 0x1F93) == set()


@pytest.mark.skipif(os.getuid() != 0, reason="needs to be another user for a moment")
def test_a_port_that_another_user_has_taken_is_not_ours() -> None:
    os.seteuid(65_534)
    try:
        server = socket.create_server((ports.LOOPBACK, 0))
    finally:
        os.seteuid(0)
    with server:
        assert not ports.is_ours(server.getsockname()[1])
