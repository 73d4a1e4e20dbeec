"""One program of a stack that runs: stopped, started, and the engine rebuilt."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from tripline_contracts.kafka import cluster
from tripline_demo import kafka_passwords
from tripline_demo.errors import StackFailed
from tripline_demo.processes import ports
from tripline_demo.stack import checks, configuration
from tripline_demo.stack.places import Places
from tripline_demo.stack.plan import script
from tripline_demo.stack.progress import Progress
from tripline_demo.stack.startup import last_words
from tripline_demo.stack.supervisor import ENDED, POLL_SECONDS, Supervisor

START_SECONDS = 300
ENGINE = "engine"
OPERATOR = "tripline-operator"


def stop(places: Places, name: str, progress: Progress) -> None:
    """Stops a program and leaves it so. Raises StackFailed."""
    supervisor = _running(places, name)
    with progress.step(f"{name} stopped"):
        supervisor.stop(name)


def start(places: Places, name: str, progress: Progress) -> None:
    """Starts a program, and returns when it is up. Raises StackFailed."""
    supervisor = _running(places, name)
    if supervisor.state(name).status in ENDED:
        supervisor.start(name)
    with progress.step(f"{name} is up"):
        _wait(places, supervisor, name)


def rebuild_engine(places: Places, progress: Progress) -> Path:
    """Stops the engine, builds its checkpoint again from the recorded order, starts it.

    :returns: where the old checkpoint has been moved. Where it cannot be rebuilt it is put back
    :raises StackFailed: with the reason; the engine runs again then
    """
    environment = configuration.environment_of(places, ENGINE)
    checkpoint = Path(environment["TRIPLINE_CHECKPOINT"])
    stop(places, ENGINE, progress)
    aside = checkpoint.with_name(f"{checkpoint.name}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}")
    if checkpoint.exists():
        checkpoint.rename(aside)
    # its own lines say how far it is
    ended = subprocess.run(
        [script("tripline-engine"), "rebuild"], env={**os.environ, **environment}, check=False
    )
    if ended.returncode != 0 and aside.exists():
        if checkpoint.exists():
            checkpoint.rename(checkpoint.with_name(f"{aside.name}-unfinished"))
        aside.rename(checkpoint)
    start(places, ENGINE, progress)
    if ended.returncode != 0:
        raise StackFailed(
            "The checkpoint could not be built again; the engine goes on from the one that it had."
        )
    return aside


def engine_command(places: Places, command: str, options: Sequence[str]) -> int:
    """The exit status of a `tripline-engine` command over the logs of the stack that runs. Raises StackFailed.

    As the identity of people: the engine's own may write alerts.v1, and not read it.
    """
    _running(places, ENGINE)
    password = places.run / kafka_passwords.file_name(OPERATOR)
    environment = {
        **os.environ,
        **configuration.environment_of(places, ENGINE),
        cluster.USER: OPERATOR,
        cluster.PASSWORD_FILE: str(password),
    }
    return subprocess.run(
        [script("tripline-engine"), command, *options], env=environment, check=False
    ).returncode


def _running(places: Places, name: str) -> Supervisor:
    supervisor = Supervisor(places.socket)
    if not supervisor.is_up():
        raise StackFailed("Tripline is not running: `make up` starts it.")
    names = [state.name for state in supervisor.states()]
    if name not in names:
        raise StackFailed(f"There is no process {name}: they are {', '.join(names)}.")
    return supervisor


def _wait(places: Places, supervisor: Supervisor, name: str) -> None:
    port = ports.load(places.run / "ports.json").get(name)
    answers_http = port is not None and name not in {"postgres", "kafka"}
    is_ready = checks.http_ready(port) if port is not None and answers_http else None
    deadline = time.monotonic() + START_SECONDS
    while True:
        status = supervisor.state(name).status
        if status == "RUNNING" and (is_ready is None or is_ready()):
            return
        if status == "EXITED" and is_ready is None:
            return
        if status == "FATAL" or time.monotonic() > deadline:
            raise StackFailed(f"{name} did not come up. {last_words(places, name)}")
        time.sleep(POLL_SECONDS)
