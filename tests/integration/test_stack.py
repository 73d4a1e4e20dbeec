"""The line from start to end by its command line: two starts, a kill -9 of the supervisor, Ctrl-C at a terminal.

The tests of this file share one stack and follow one another: the last one ends it.
"""

from __future__ import annotations

import json
import os
import pty
import re
import select
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest
from confluent_kafka import Consumer, TopicPartition

from tests.stack import (
    STOP_SECONDS,
    TRIPLINE,
    RunningStack,
    environment,
    eventually,
    prepare,
    processes,
    programs,
    read,
    tripline,
)
from tripline_contracts.kafka.cluster import kafka_cluster
from tripline_demo.embedded.jars import Jars
from tripline_demo.processes import ports
from tripline_demo.stack.places import Places
from tripline_demo.stack.plan import PORTS

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.timeout(600)]

RULE = {
    "name": "Kept from start to start",
    "groupingKeyNames": ["payeeId"],
    "aggregatorFunctionType": "COUNT",
    "limitOperatorType": ">",
    "limit": 3,
    "windowMinutes": 5,
}


@pytest.fixture(scope="module")
def taken_port() -> Iterator[int]:
    """The registry's usual port, in use by somebody: by us, or by whoever has it already."""
    with socket.socket() as listener:
        if ports.is_free(PORTS["registry"]):
            listener.bind((ports.LOOPBACK, PORTS["registry"]))
            listener.listen()
        yield PORTS["registry"]


@pytest.fixture(scope="module")
def stack(jars: Jars, servers_folder: Path, taken_port: int) -> Iterator[RunningStack]:
    places = prepare(servers_folder / "lifecycle", jars)
    try:
        started = tripline(places, "up", "--no-traffic")
        assert started.returncode == 0, started.stdout + started.stderr
        yield read(places)
    finally:
        tripline(places, "down")
        for left in processes(places):
            left.kill()


def test_stack_json_says_where_everything_is(stack: RunningStack, taken_port: int) -> None:
    keys = stack.file["apiKeys"]
    patterns = {
        "kafka": r"127\.0\.0\.1:\d+", "postgres": r"postgresql://tripline_admin:[\w-]+@127\.0\.0\.1:\d+/tripline",
        "rulesRegistry": r"http://127\.0\.0\.1:\d+", "alertApi": r"http://127\.0\.0\.1:\d+",
        "console": r"http://127\.0\.0\.1:\d+/", "generator": r"http://127\.0\.0\.1:\d+", "eventType": "transaction",
    }  # fmt: skip
    assert set(stack.file) == {*patterns, "apiKeys", "kafkaAdministrator"}
    assert kafka_cluster(stack.file["kafkaAdministrator"]).servers == stack.file["kafka"]
    assert not [name for name, pattern in patterns.items() if not re.fullmatch(pattern, stack.file[name])]
    assert {"viewer", "analyst", "second-analyst", "approver", "admin", "auditor", "ops"} == set(keys)
    assert stat.S_IMODE(stack.places.stack_file.stat().st_mode) == 0o600
    assert not stack.file["rulesRegistry"].endswith(f":{taken_port}")


def test_without_traffic_there_are_no_rules_and_nothing_is_sent(stack: RunningStack) -> None:
    with stack.registry("viewer") as registry, stack.generator() as generator:
        assert registry.get("/v1/rules").json()["items"] == []
        traffic = generator.get("/v1/traffic").json()
    assert (traffic["rate"], traffic["counters"]["sent"]) == (0, 0)


def test_everything_listens_on_loopback_only(stack: RunningStack) -> None:
    listening = [
        connection.laddr.ip
        for process in processes(stack.places)
        for connection in process.net_connections("inet")
        if connection.status == psutil.CONN_LISTEN
    ]
    assert len(listening) >= len(PORTS)
    assert {address.removeprefix("::ffff:") for address in listening} <= {"127.0.0.1", "::1"}


def test_status_lists_every_process(stack: RunningStack) -> None:
    shown = tripline(stack.places, "status")
    rows = dict(re.findall(r"^([a-z-]+) +(running|done)", shown.stdout, re.MULTILINE))
    done = {name for name, state in rows.items() if state == "done"}
    assert (shown.returncode, done) == (0, {"topics", "migrations"}), shown.stdout
    running = {
        "postgres", "kafka", "archiver", "engine", "registry", "relay", "status", "alert-projector", "alert-api",
        "retention", "prover", "redrive", "notifier", "guard", "generator",
    }  # fmt: skip
    assert rows.keys() - done == running


def test_data_of_one_event_type_refuses_to_start_under_another(stack: RunningStack) -> None:
    refused = tripline(stack.places, "up", "--event-type", "card-authorisation")
    assert refused.returncode == 1
    said = " ".join(refused.stderr.split())
    assert "is of the event type transaction, and cannot be used under card-authorisation" in said
    assert "start with EVENT_TYPE=transaction as it was, or begin anew with FRESH=1" in said
    unknown = tripline(stack.places, "up", "--event-type", "cards")
    assert (unknown.returncode, "expected activity, card-authorisation, transaction" in unknown.stderr) == (
        1,
        True,
    )


def test_one_process_is_stopped_and_started(stack: RunningStack) -> None:
    done = tripline(stack.places, "stop", "archiver")
    assert (done.returncode, "archiver stopped" in done.stdout) == (0, True), done.stdout + done.stderr
    listed = tripline(stack.places, "status")
    assert (listed.returncode, re.search(r"archiver +stopped", listed.stdout) is not None) == (3, True)
    unknown = tripline(stack.places, "stop", "nobody")
    assert (unknown.returncode, "they are postgres, kafka" in unknown.stderr) == (1, True)
    again = tripline(stack.places, "start", "archiver")
    assert (again.returncode, "archiver is up" in again.stdout) == (0, True), again.stdout + again.stderr


def test_what_was_judged_is_proven_and_a_rule_is_tried(stack: RunningStack, tmp_path: Path) -> None:
    """By identities that Kafka lets read, whatever there is by now."""
    eventually(lambda: recorded(stack) > 0, "the engine has recorded a micro-batch")
    span = ("--from", "2020-01-01T00:00:00Z", "--to", "2100-01-01T00:00:00Z")
    done = tripline(stack.places, "prove", *span)
    assert (done.returncode, "match: 0 alerts of 2020-" in done.stdout) == (0, True), (
        done.stdout + done.stderr
    )
    rule = tmp_path / "rule.yaml"
    rule.write_text(
        "{aggregatorFunctionType: COUNT, groupingKeyNames: [payeeId], limitOperatorType: '>', limit: 1,"
        " windowMinutes: 1}"
    )
    done = tripline(stack.places, "backtest", str(rule), *span, "--beside", "1")
    assert (done.returncode, "rule: 0 alerts in 0 groups" in done.stdout) == (0, True), (
        done.stdout + done.stderr
    )


def test_the_engine_is_rebuilt(stack: RunningStack) -> None:
    pinned = stack.places.engine / "checkpoint" / "tripline.json"
    before = json.loads(pinned.read_text())
    with stack.registry() as registry:
        registry.put("/v1/parameters/of-the-rebuild", json={"value": "1"}).raise_for_status()
    eventually(lambda: recorded(stack) > 0, "the engine has recorded a micro-batch")
    done = tripline(stack.places, "rebuild")
    assert (done.returncode, "The old checkpoint is at" in done.stdout) == (0, True), (
        done.stdout + done.stderr
    )
    after = json.loads(pinned.read_text())
    assert (after["engine"], "begins" in after) == (before["engine"], True), (
        "the same engine, from where it was"
    )
    assert tripline(stack.places, "status").returncode == 0


def recorded(stack: RunningStack) -> int:
    """How many micro-batches the engine has recorded, and Kafka has."""
    with closing(
        Consumer(
            {**kafka_cluster(stack.file["kafkaAdministrator"]).client_config(), "group.id": "test-recorded"}
        )
    ) as consumer:
        ends: tuple[int, int] = consumer.get_watermark_offsets(
            TopicPartition("engine-order.v1", 0), timeout=10
        )
    return ends[1]


def test_a_second_start_finds_it_running(stack: RunningStack) -> None:
    before = programs(stack.places)
    again = tripline(stack.places, "up")
    assert (again.returncode, "It is running already" in again.stdout) == (0, True), again.stdout
    assert programs(stack.places) == before


def test_after_a_kill_a_new_start_cleans_up_and_goes_on_and_ctrl_c_leaves_nothing(
    stack: RunningStack,
) -> None:
    places = stack.places
    with stack.registry() as registry:
        made = registry.post("/v1/rules", json=RULE).raise_for_status().json()
        rule = registry.get(f"/v1/rules/{made['ruleId']}").json()
    supervisor = psutil.Process(int((places.run / "supervisord.pid").read_text()))
    orphans = set(processes(places)) - {supervisor}
    supervisor.kill()
    supervisor.wait(10)
    shown = tripline(places, "status")
    assert (shown.returncode, "processes of it are left over" in shown.stdout) == (3, True), shown.stdout
    with closing(Terminal.start(places, "demo", "--no-traffic")) as terminal:
        eventually(lambda: terminal.shows("To stop +Ctrl-C here"), "the final screen", 240)
        assert terminal.shows(r"\d+ processes were left behind and have been ended")
        assert not [process for process in orphans if process.is_running()]
        again = read(places)
        assert again.file["apiKeys"] == stack.file["apiKeys"]
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
