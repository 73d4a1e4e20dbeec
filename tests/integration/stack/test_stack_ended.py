"""The end of a line that was used: a kill -9 of the supervisor, a new start at a terminal, Ctrl-C."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass, field

import psutil
import pytest

from tests.stack import (
    STOP_SECONDS,
    TRIPLINE,
    RunningStack,
    environment,
    eventually,
    processes,
    read,
    tripline,
)
from tripline_demo.stack.places import Places

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.timeout(600)]

RULE = {
    "name": "Kept from start to start",
    "groupingKeyNames": ["accountId"],
    "aggregatorFunctionType": "COUNT",
    "limitOperatorType": ">",
    "limit": 3,
    "windowMinutes": 5,
}


def test_after_a_kill_a_new_start_cleans_up_and_goes_on_and_ctrl_c_leaves_nothing(
    activity_line: RunningStack,
) -> None:
    places = activity_line.places
    with activity_line.registry() as registry:
        made = registry.post("/v1/rules", json=RULE).raise_for_status().json()
        rule = registry.get(f"/v1/rules/{made['ruleId']}").json()
    supervisor = psutil.Process(int((places.run / "supervisord.pid").read_text()))
    orphans = set(processes(places)) - {supervisor}
    supervisor.kill()
    supervisor.wait(10)
    shown = tripline(places, "status")
    assert (shown.returncode, "processes of it are left over" in shown.stdout) == (3, True), shown.stdout
    with closing(Terminal.start(places, "demo", "--no-traffic", "--event-type", "activity")) as terminal:
        eventually(lambda: terminal.shows("To stop +Ctrl-C here"), "the final screen", 240)
        assert terminal.shows(r"\d+ processes were left behind and have been ended")
        assert not [process for process in orphans if process.is_running()]
        again = read(places)
        assert again.file["apiKeys"] == activity_line.file["apiKeys"]
        with again.registry() as registry:
            assert registry.get(f"/v1/rules/{rule['ruleId']}").json() == rule
        terminal.type(b"\x03")
        eventually(terminal.has_ended, "the end after Ctrl-C", STOP_SECONDS)
        stopped = re.findall(r"✓ (\S+) stopped", terminal.text)
    assert (
        stopped.index("generator")
        < stopped.index("engine")
        < stopped.index("kafka")
        < stopped.index("postgres")
    )
    assert processes(places) == []
    assert not places.stack_file.exists()
    assert tripline(places, "status").returncode == 3


ON_ITS_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # so that Ctrl-C is what a keyboard makes of it
os.execv(sys.argv[1], sys.argv[1:])
"""


@dataclass
class Terminal:
    """A program at a terminal of its own."""

    process: subprocess.Popen[bytes]
    master: int
    raw: bytes = b""
    hung_up: bool = field(default=False)

    @classmethod
    def start(cls, places: Places, *words: str) -> Terminal:
        """Runs `tripline` there."""
        master, slave = pty.openpty()
        process = subprocess.Popen(
            [sys.executable, "-c", ON_ITS_TERMINAL, TRIPLINE, *words], stdin=slave, stdout=slave, stderr=slave,
            start_new_session=True, env={**environment(places), "TERM": "xterm", "COLUMNS": "200"},
        )  # fmt: skip
        os.close(slave)
        return cls(process, master)

    @property
    def text(self) -> str:
        """What was shown so far, without colours."""
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.raw.decode(errors="replace"))

    def shows(self, pattern: str) -> bool:
        """Whether this was shown so far."""
        self._take()
        return re.search(pattern, self.text) is not None

    def type(self, keys: bytes) -> None:
        """As a keyboard does."""
        os.write(self.master, keys)

    def has_ended(self) -> bool:
        """Whether the program has; its last words are taken first."""
        ended = self.process.poll() is not None
        self._take()
        return ended

    def close(self) -> None:
        """Ends the program if it has not ended."""
        self.process.terminate()
        self.process.wait(STOP_SECONDS)
        os.close(self.master)

    def _take(self) -> None:
        while not self.hung_up and select.select([self.master], [], [], 0)[0]:
            try:
                data = os.read(self.master, 65536)
            except OSError:  # nobody has the other end open any more
                data = b""
            self.raw += data
            self.hung_up = not data
