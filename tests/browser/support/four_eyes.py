"""A second registry and console on the running line, in which a second person has to approve changes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from tests.stack import RunningStack, eventually
from tripline_demo.processes import leash, ports
from tripline_demo.stack.checks import http_ready
from tripline_demo.stack.configuration import environment_of

READY_SECONDS = 60.0


@contextmanager
def four_eyes_console(stack: RunningStack, folder: Path) -> Iterator[tuple[str, str]]:
    """Addresses of the console and of the registry behind it. Database, broker and engine are the line's."""
    registry_port, console_port = ports.free_ports(2)
    registry, console = f"http://127.0.0.1:{registry_port}", f"http://127.0.0.1:{console_port}"
    few = {"TRIPLINE_HTTP_THREADS": "4"}
    first = _started(
        stack, folder, "rules-registry", "registry",
        {**few, "TRIPLINE_FOUR_EYES": "true", "TRIPLINE_HTTP_BIND": f"127.0.0.1:{registry_port}"},
    )  # fmt: skip
    try:
        second = _started(
            stack, folder, "alert-api", "alert-api",
            {**few, "TRIPLINE_REGISTRY_URL": registry, "TRIPLINE_HTTP_BIND": f"127.0.0.1:{console_port}"},
        )  # fmt: skip
        try:
            for port, process in ((registry_port, first), (console_port, second)):
                eventually(http_ready(port), f"it is ready: {process.log}", READY_SECONDS)
            yield console, registry
        finally:
            second.stop()
    finally:
        first.stop()


@contextmanager
def snoozing_console(stack: RunningStack, folder: Path) -> Iterator[str]:
    """Address of a second console of the line, in which a second person has to approve snoozes."""
    [port] = ports.free_ports(1)
    settings = {
        "TRIPLINE_HTTP_THREADS": "4",
        "TRIPLINE_HTTP_BIND": f"127.0.0.1:{port}",
        "TRIPLINE_FOUR_EYES": "true",
    }
    process = _started(stack, folder, "alert-api", "alert-api", settings)
    try:
        eventually(http_ready(port), f"it is ready: {process.log}", READY_SECONDS)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.stop()


def client_of(stack: RunningStack, registry: str, who: str) -> httpx.Client:
    """A client of that registry with one of the line's keys."""
    headers = {"Authorization": f"Bearer {stack.file['apiKeys'][who]}"}
    return httpx.Client(base_url=registry, headers=headers, timeout=20, verify=False, trust_env=False)


def approved_rule(stack: RunningStack, registry: str, body: dict[str, Any]) -> dict[str, Any]:
    """A rule that an analyst has drafted and an approver approved there."""
    with client_of(stack, registry, "analyst") as analyst, client_of(stack, registry, "approver") as approver:
        change = analyst.post("/v1/rules", json=body).raise_for_status().json()
        path = f"/v1/changes/{change['changeId']}"
        submitted = analyst.post(f"{path}/submit").raise_for_status().json()
        approver.post(f"{path}/approve", json={"contentHash": submitted["contentHash"]}).raise_for_status()
        rule: dict[str, Any] = analyst.get(f"/v1/rules/{change['ruleId']}").raise_for_status().json()
        return rule


def _started(
    stack: RunningStack, folder: Path, script: str, program: str, settings: dict[str, str]
) -> leash.Leashed:
    environment = {**os.environ, **environment_of(stack.places, program), **settings}
    command = [str(Path(sys.executable).with_name(script)), "api"]
    return leash.start(command, log=folder / f"{program}.log", environment=environment)
