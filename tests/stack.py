"""The whole line for tests, as `tripline demo --no-traffic` starts it, in a folder and on ports of its own."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psutil

from tests import engine_economy
from tripline_demo.embedded.jars import Jars
from tripline_demo.processes import leash, ports
from tripline_demo.stack import orphans
from tripline_demo.stack.places import Places
from tripline_demo.stack.plan import PORTS

WEBHOOKS = {
    "TRIPLINE_WEBHOOK_HOSTS": "127.0.0.1", "TRIPLINE_WEBHOOK_PRIVATE": "true", "TRIPLINE_WEBHOOK_PLAIN": "true",
}  # fmt: skip
"""Tests receive webhooks themselves."""
START_SECONDS = 240.0
STOP_SECONDS = 120.0
TRIPLINE = str(Path(sys.executable).with_name("tripline"))


@dataclass(frozen=True, slots=True)
class RunningStack:
    """A line that is up. `file` is what var/stack.json says."""

    places: Places
    file: Mapping[str, Any]

    def registry(self, key: str = "analyst") -> httpx.Client:
        """A client of the rules registry; close it."""
        return self._client("rulesRegistry", key)

    def alerts(self, key: str = "analyst") -> httpx.Client:
        """A client of the alert API; close it."""
        return self._client("alertApi", key)

    def generator(self, key: str = "ops") -> httpx.Client:
        """A client of the traffic generator; close it."""
        return self._client("generator", key)

    def _client(self, service: str, key: str) -> httpx.Client:
        headers = {"Authorization": f"Bearer {self.file['apiKeys'][key]}"}
        return httpx.Client(
            base_url=self.file[service], headers=headers, timeout=20, verify=False, trust_env=False
        )


def prepare(folder: Path, jars: Jars) -> Places:
    """`folder`/var, which shares nothing with the checkout but the jars."""
    places = Places(folder / "var")
    places.make()
    (places.var / "jars").symlink_to(jars.folder, target_is_directory=True)
    return places


def environment(places: Places) -> dict[str, str]:
    """What makes `tripline` work on that folder; settings of whoever runs the tests do not reach it."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("TRIPLINE_")}
    return {
        **ours,
        **engine_economy.settings(Jars(places.var / "jars")),
        "TRIPLINE_VAR": str(places.var),
        **WEBHOOKS,
    }


def tripline(places: Places, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs a command of the CLI to its end."""
    return subprocess.run(
        [TRIPLINE, *words], env=environment(places), capture_output=True, text=True, timeout=START_SECONDS, check=False
    )  # fmt: skip


def processes(places: Places) -> list[psutil.Process]:
    """Everything of that stack that lives, from the process table."""
    return orphans.find(places)


def programs(places: Places) -> set[int]:
    """The processes that the supervisor started itself: what these start in turn, a connection to Postgres say, comes
    and goes."""
    supervisor = psutil.Process(int((places.run / "supervisord.pid").read_text()))
    return {process.pid for process in supervisor.children()}


def eventually(condition: Callable[[], object], what: str, seconds: float = 90.0) -> None:
    """Returns when the condition holds; fails with `what` after that time."""
    begin = time.monotonic()
    while not condition():
        waited = time.monotonic() - begin
        assert waited < seconds, f"not within {seconds:.0f} s: {what}"
        # each look takes some of the machine from what is waited for
        time.sleep(min(0.3, max(0.05, 0.05 * waited)))


def read(places: Places) -> RunningStack:
    """The stack that var/stack.json tells of."""
    return RunningStack(places, json.loads(places.stack_file.read_text(encoding="utf-8")))


@contextmanager
def running(folder: Path, jars: Jars, *options: str) -> Iterator[RunningStack]:
    """A line for the length of a `with`. It ends with this process, even when that is killed."""
    places = prepare(folder, jars)
    process = leash.start(
        [TRIPLINE, "demo", "--no-traffic", *options], log=folder / "demo.log", environment=environment(places),
        stop_signal=signal.SIGTERM, stop_seconds=STOP_SECONDS,
    )  # fmt: skip
    try:
        eventually(
            lambda: places.stack_file.exists() or not process.is_running(), "the stack is up", START_SECONDS
        )
        assert process.is_running(), process.last_lines()
        yield read(places)
    finally:
        process.stop()


@contextmanager
def running_in_background(folder: Path, jars: Jars, *options: str) -> Iterator[RunningStack]:
    """A line as `tripline up` starts it where somebody has the registry's usual port. Its processes are nobody's
    children; it is ended with the `with`."""
    places = prepare(folder, jars)
    with socket.socket() as listener:
        if ports.is_free(PORTS["registry"]):
            # as what asks whether it is free does: connections of a line that has ended are no obstacle
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((ports.LOOPBACK, PORTS["registry"]))
            listener.listen()
        try:
            started = tripline(places, "up", "--no-traffic", *options)
            assert started.returncode == 0, started.stdout + started.stderr
            yield read(places)
        finally:
            tripline(places, "down")
            for left in processes(places):
                left.kill()
