"""Talks to supervisord: starts it, starts and stops programs, asks how they are."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import xmlrpc.client
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any

from supervisor.xmlrpc import SupervisorTransport

from tripline_demo.errors import StackFailed
from tripline_demo.stack.places import Places

MARKER = "TRIPLINE_STACK"
"""Environment variable that every process of a stack inherits; its value is the stack's `var` folder."""

START_SECONDS = 20
POLL_SECONDS = 0.05
ENDED = frozenset({"STOPPED", "EXITED", "FATAL"})


@dataclass(frozen=True, slots=True)
class State:
    """A program as the supervisor sees it. While it does not run `pid` is 0 and `since` (epoch s) means nothing."""

    name: str
    status: str
    pid: int
    since: int
    exit_status: int


class Supervisor:
    """A supervisord that runs, reached over its socket. One instance per thread."""

    def __init__(self, socket: Path) -> None:
        transport = SupervisorTransport(None, None, f"unix://{socket}")
        self._rpc: Any = xmlrpc.client.ServerProxy("http://127.0.0.1", transport=transport).supervisor

    def is_up(self) -> bool:
        """Whether it answers and is not on its way out."""
        try:
            return bool(self._rpc.getState()["statename"] == "RUNNING")
        except (OSError, HTTPException, xmlrpc.client.Error):
            return False

    def pid(self) -> int:
        """The process id of supervisord itself."""
        return int(self._call("getPID"))

    def states(self) -> list[State]:
        """All programs, in the order they start."""
        priorities = {
            config["name"]: int(config["process_prio"]) for config in self._call("getAllConfigInfo")
        }
        return sorted(map(_state, self._call("getAllProcessInfo")), key=lambda state: priorities[state.name])

    def state(self, program: str) -> State:
        """One program."""
        return _state(self._call("getProcessInfo", program))

    def start(self, program: str) -> None:
        """Starts a program and returns at once."""
        self._call("startProcess", program, False)

    def stop(self, program: str) -> None:
        """Stops a program and waits for its end. One that does not run is left alone.

        (supervisord could wait itself, but keeps a core busy while it does.)
        """
        if self.state(program).status not in ENDED:
            self._call("stopProcess", program, False)
        # it kills what takes longer than its configuration allows
        while self.state(program).status not in ENDED:
            time.sleep(POLL_SECONDS)

    def shutdown(self) -> None:
        """Asks supervisord to end."""
        self._call("shutdown")

    def _call(self, method: str, *arguments: object) -> Any:
        try:
            return getattr(self._rpc, method)(*arguments)
        except xmlrpc.client.Fault as fault:
            raise StackFailed(f"The supervisor refused {method} {arguments}: {fault.faultString}") from fault
        except (OSError, HTTPException, xmlrpc.client.Error) as failure:
            raise StackFailed(
                f"The supervisor does not answer ({failure}); `make down` cleans up."
            ) from failure


def _state(info: dict[str, Any]) -> State:
    return State(
        info["name"], info["statename"], int(info["pid"]), int(info["start"]), int(info["exitstatus"])
    )


def launch(places: Places) -> Supervisor:
    """Starts supervisord with the configuration of `places`, in a session of its own: Ctrl-C does not reach it.

    Raises StackFailed when it does not come up.
    """
    places.socket.unlink(missing_ok=True)
    log = places.logs / "supervisord.out"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "supervisor.supervisord", "-c", str(places.supervisor_configuration)],
            stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True, cwd="/",
            env={**os.environ, MARKER: str(places.var)},
        )  # fmt: skip
    supervisor = Supervisor(places.socket)
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise StackFailed(
                f"The supervisor ended at once; its last words: {log.read_text(errors='replace')[-500:]}"
            )
        if places.socket.exists() and supervisor.is_up():
            return supervisor
        time.sleep(POLL_SECONDS)
    process.kill()
    raise StackFailed(f"The supervisor did not come up within {START_SECONDS} s; see {log}.")
