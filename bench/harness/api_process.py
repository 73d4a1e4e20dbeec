"""An API of ours as a process of its own that may use one core, with a key that may do everything."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import httpx
import psutil

from bench.harness.stack import BenchFailed
from tripline_demo import logins
from tripline_demo.groups import login_of
from tripline_demo.processes import leash, ports
from tripline_demo.stack.checks import http_ready
from tripline_http.keys.roles import SCOPES

_READY_SECONDS: Final = 30.0


@contextmanager
def running_api(
    program: str, dsn_variable: str, group: str, owner: str, settings: Mapping[str, str] | None = None
) -> Iterator[httpx.Client]:
    """A client of `PROGRAM api` on that database as that group's login; `owner` is the superuser's DSN."""
    key, password = secrets.token_urlsafe(24), secrets.token_urlsafe(18)
    logins.ensure_logins(owner, {group: password})
    (port,) = ports.free_ports(1)
    with tempfile.TemporaryDirectory(prefix="tripline-bench-api-") as name:
        folder = Path(name)
        keys = folder / "keys.json"
        entry = {
            "name": "bench",
            "sha256": hashlib.sha256(key.encode()).hexdigest(),
            "scopes": sorted(SCOPES),
        }
        keys.write_text(json.dumps([entry]), encoding="utf-8")
        keys.chmod(0o600)
        environment = {
            **os.environ,
            dsn_variable: logins.with_user(owner, login_of(group), password),
            "TRIPLINE_API_KEYS_FILE": str(keys),
            "TRIPLINE_HTTP_BIND": f"127.0.0.1:{port}",
            "TRIPLINE_LOG_LEVEL": "warning",
            "TRIPLINE_RATE_LIMIT": "0",
            **(settings or {}),
        }
        command = [str(Path(sys.executable).with_name(program)), "api"]
        process = leash.start(command, log=folder / "api.log", environment=environment)
        try:
            _wait(port, process)
            _pin(process)
            headers = {"Authorization": f"Bearer {key}"}
            with httpx.Client(
                base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=30, verify=False
            ) as client:
                yield client
        except httpx.HTTPStatusError as error:
            raise BenchFailed(f"{error}\n{process.last_lines()}") from error
        finally:
            process.stop()


def _pin(process: leash.Leashed) -> None:
    """To the first core, with all that it started."""
    parent = psutil.Process(process.process.pid)
    for member in (parent, *parent.children(recursive=True)):
        for thread in member.threads():
            os.sched_setaffinity(thread.id, {0})
        os.sched_setaffinity(member.pid, {0})


def _wait(port: int, process: leash.Leashed) -> None:
    is_ready = http_ready(port)
    end = time.monotonic() + _READY_SECONDS
    while not is_ready():
        if not process.is_running() or time.monotonic() > end:
            raise BenchFailed(f"the API was not ready: {process.last_lines()}")
        time.sleep(0.05)
