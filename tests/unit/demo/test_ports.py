"""Ports: the remembered, else the usual, else any; never a busy one, never one twice."""

from __future__ import annotations

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
