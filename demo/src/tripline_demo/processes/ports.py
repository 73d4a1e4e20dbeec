"""Free ports on the loopback interface, kept from one start to the next where they are still free."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

LOOPBACK = "127.0.0.1"
_SOCKETS = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_LISTENING = "0A"


def is_free(port: int) -> bool:
    """Whether a server could listen on this loopback port now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # As servers do: a port in TIME_WAIT is free, one that somebody listens on is not.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
        return True


def is_open(port: int, timeout_seconds: float = 0.5) -> bool:
    """Whether somebody accepts connections on this loopback port."""
    try:
        with socket.create_connection((LOOPBACK, port), timeout=timeout_seconds):
            return True
    except OSError:
        return False


def is_ours(port: int, user: int | None = None) -> bool:
    """Whether a process of that user, this one by default, listens on the port, and no other user's.

    Until a server listens anybody on the machine may take its port: nothing secret is sent to one that is not ours.
    """
    # asked while a server starts: for each table the kernel goes through all that it could hold
    if is_free(port):
        return False
    users = {user for table in _SOCKETS if table.exists() for user in listeners(table.read_text(), port)}
    return users == {os.getuid() if user is None else user}


def listeners(table: str, port: int) -> set[int]:
    """The users that listen on the port, by a table like /proc/net/tcp."""
    rows = (line.split() for line in table.splitlines()[1:])
    return {
        int(row[7]) for row in rows if row[3] == _LISTENING and int(row[1].rpartition(":")[2], 16) == port
    }


def free_ports(count: int) -> list[int]:
    """That many different ports that were free just now, chosen by the kernel."""
    probes = [socket.socket(socket.AF_INET, socket.SOCK_STREAM) for _ in range(count)]
    try:
        for probe in probes:
            probe.bind((LOOPBACK, 0))
        return [int(probe.getsockname()[1]) for probe in probes]
    finally:
        for probe in probes:
            probe.close()


def choose(
    wanted: Mapping[str, int], remembered: Mapping[str, int], taken: Iterable[int] = ()
) -> dict[str, int]:
    """A free port per name: the remembered one, else the wanted one (0: any), else any.

    No port is given twice, and none of ``taken``.
    """
    chosen: dict[str, int] = {}
    for name, default in wanted.items():
        candidates = (port for port in (remembered.get(name, 0), default) if port)
        chosen[name] = _first_free(candidates, taken={*taken, *chosen.values()})
    return chosen


def _first_free(candidates: Iterable[int], taken: set[int]) -> int:
    for port in candidates:
        if port not in taken and is_free(port):
            return port
    while True:
        (port,) = free_ports(1)
        if port not in taken:
            return port


def load(path: Path) -> dict[str, int]:
    """The ports of the last start; empty when there are none or the file is not what we write."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(data, dict):
        return {}
    return {str(name): port for name, port in data.items() if isinstance(port, int) and 0 < port < 65536}


def save(path: Path, ports: Mapping[str, int]) -> None:
    """Remembers the ports for the next start."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(dict(ports), indent=2) + "\n", encoding="utf-8")


def wait_until_open(port: int, deadline_seconds: float) -> bool:
    """Whether the port was open before the deadline passed."""
    end = time.monotonic() + deadline_seconds
    while time.monotonic() < end:
        if is_open(port):
            return True
        time.sleep(0.05)
    return False
