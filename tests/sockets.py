"""Sockets that say little, and whether the other side has had enough of them."""

from __future__ import annotations

import socket


def connected(port: int, said: bytes = b"") -> socket.socket:
    """A connection to this machine's port on which that has been sent."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=60)
    connection.sendall(said)
    return connection


def is_closed(connection: socket.socket) -> bool:
    """Whether the other side has closed it; what it sent stays unread."""
    seconds = connection.gettimeout()
    connection.setblocking(False)  # with a timeout Python waits for it, whatever the flags say
    try:
        return connection.recv(1, socket.MSG_PEEK) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True
    finally:
        connection.settimeout(seconds)
