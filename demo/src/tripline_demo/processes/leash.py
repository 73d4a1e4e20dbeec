"""A child that cannot outlive its parent: for servers that tests and tools start.

The parent runs this module, which runs the server and reads its own standard input. The kernel closes that pipe when
the parent ends, however it ends (kill -9 too), and then the server is stopped. The leash has a session of its own, so
Ctrl-C at the terminal reaches the parent alone and the parent decides the order in which servers stop.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

STOP_SECONDS = 20


@dataclass(slots=True)
class Leashed:
    """A running server and the end of its leash."""

    process: subprocess.Popen[bytes]
    log: Path
    stop_seconds: float = STOP_SECONDS

    def is_running(self) -> bool:
        """Whether the server is still there."""
        return self.process.poll() is None

    def stop(self) -> None:
        """Stops the server and waits for its end; it is killed when it takes more than `stop_seconds`."""
        if self.process.stdin is not None:
            with contextlib.suppress(OSError):
                self.process.stdin.close()
        self.process.wait(self.stop_seconds + 10)

    def last_lines(self, count: int = 15) -> str:
        """The end of the server's log, for error messages."""
        try:
            return "\n".join(self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-count:])
        except OSError:
            return ""


def start(
    command: Sequence[str],
    *,
    log: Path,
    stop_signal: signal.Signals = signal.SIGTERM,
    user: str | None = None,
    environment: Mapping[str, str] | None = None,
    stop_seconds: float = STOP_SECONDS,
) -> Leashed:
    """Starts a server on a leash; its output goes to `log`. `user`: run it as that user (needs root)."""
    log.parent.mkdir(parents=True, exist_ok=True)
    leash = [
        sys.executable,
        "-m",
        "tripline_demo.processes.leash",
        str(int(stop_signal)),
        str(stop_seconds),
        user or "",
    ]
    with log.open("ab") as output:
        process = subprocess.Popen(
            [*leash, *command], stdin=subprocess.PIPE, stdout=output, stderr=output, start_new_session=True,
            env=dict(environment) if environment is not None else None,
        )  # fmt: skip
    return Leashed(process, log, stop_seconds)


def main(arguments: Sequence[str]) -> int:
    """`leash SIGNAL SECONDS USER COMMAND…`: runs the command until it ends or standard input is closed."""
    stop_signal, stop_seconds, user = int(arguments[0]), float(arguments[1]), arguments[2]
    command = arguments[3:]
    if user:
        server = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, user=user, group=_group_of(user), extra_groups=[]
        )
    else:
        server = subprocess.Popen(command, stdin=subprocess.DEVNULL)

    def stop_when_let_go() -> None:
        while os.read(0, 4096):
            pass
        server.send_signal(stop_signal)
        try:
            server.wait(stop_seconds)
        except subprocess.TimeoutExpired:
            server.kill()

    signal.signal(signal.SIGTERM, lambda *_: server.send_signal(stop_signal))
    threading.Thread(target=stop_when_let_go, daemon=True).start()
    return server.wait()


def _group_of(user: str) -> int:
    import pwd  # noqa: PLC0415  (not there on every system, and needed by root only)

    return pwd.getpwnam(user).pw_gid


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
