"""What the stack writes: supervisord.conf, server.properties, stack.json, credentials."""

from __future__ import annotations

import configparser
import hashlib
import json
import os
import shlex
import stat
from pathlib import Path

import pytest
from supervisor.datatypes import dict_of_key_value_pairs

from tripline_demo import kafka_passwords
from tripline_demo.embedded.jars import Jars
from tripline_demo.embedded.java import Java
from tripline_demo.errors import StackFailed
from tripline_demo.stack import configuration, credentials, stack_file
from tripline_demo.stack.places import LONGEST_SOCKET_PATH, Places
from tripline_demo.stack.plan import PORTS, Plan
from tripline_demo.stack.program import Program
from tripline_http.keys.key_file import load_api_keys


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    places = Places(tmp_path)
    places.make()
    secrets = credentials.load_or_make(places)
    return Plan(places, dict(PORTS), secrets, Java(Path("/jdk"), 17, "test"), Jars(tmp_path / "jars"), "data")


def parsed(text: str) -> configparser.RawConfigParser:
    reader = configparser.RawConfigParser()
    reader.read_string(text)
    return reader


def test_commands_and_settings_reach_the_supervisor_unharmed(tmp_path: Path) -> None:
    settings = {"A": "a b,c=d", "B": "100%", "C": "it's", "D": ""}
    odd = Program("odd", "odd", ("/bin/my prog", "a'b", "50%"), tmp_path, ready=None, environment=settings)
    section = parsed(configuration.render(Places(tmp_path), [odd]))["program:odd"]
    read = dict_of_key_value_pairs(section["environment"])
    assert {name: value % () for name, value in read.items()} == settings
    assert shlex.split(section["command"].replace("%%", "%")) == list(odd.command)
    assert (section["autorestart"], section["autostart"]) == ("false", "false")


@pytest.mark.parametrize("value", ['say "x"', "'quoted'", "two\nlines"])
def test_a_value_that_supervisord_would_change_is_refused(tmp_path: Path, value: str) -> None:
    odd = Program("odd", "odd", ("x",), tmp_path, ready=None, environment={"A": value})
    with pytest.raises(StackFailed, match="A is"):
        configuration.render(Places(tmp_path), [odd])


def test_programs_stop_in_the_opposite_order(plan: Plan) -> None:
    programs = plan.programs()
    text = parsed(configuration.render(plan.places, programs))
    priorities = [int(text[f"program:{program.name}"]["priority"]) for program in programs]
    assert priorities == sorted(set(priorities))
    assert [programs[0].name, programs[1].name] == ["postgres", "kafka"]


def test_everything_listens_on_loopback_only(plan: Plan) -> None:
    programs = plan.programs()
    binds = [v for p in programs for k, v in p.environment.items() if k.endswith("_BIND")]
    assert len(binds) == 13
    assert all(bind.startswith("127.0.0.1:") for bind in binds)
    listeners = [line for line in plan.broker.properties().splitlines() if "listeners=" in line]
    assert listeners
    assert all("//127.0.0.1:" in listener for listener in listeners)
    assert "listen_addresses=127.0.0.1" in plan.cluster.command()
    assert "unix_socket_directories=" in plan.cluster.command()


def test_each_process_has_a_database_user_of_its_own(plan: Plan) -> None:
    programs = plan.programs()
    users = [
        dsn.partition("//")[2].partition(":")[0]
        for program in programs
        for name, dsn in program.environment.items()
        if name in {"TRIPLINE_REGISTRY_DSN", "TRIPLINE_ALERTS_DSN"}
    ]
    assert len(users) == len(set(users)) == 8
    assert not [user for user in users if "admin" in user]


def test_the_clock_reaches_engine_and_topics(plan: Plan) -> None:
    clocks = {p.name: p.environment.get("TRIPLINE_CLOCK") for p in plan.programs()}
    assert (clocks["engine"], clocks["topics"]) == ("data", "data")


def test_the_engine_rests_between_micro_batches_unless_told_otherwise(
    plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interval() -> str:
        (engine,) = (program for program in plan.programs() if program.name == "engine")
        return engine.environment["TRIPLINE_BATCH_INTERVAL_MS"]

    monkeypatch.delenv("TRIPLINE_BATCH_INTERVAL_MS", raising=False)
    assert interval() == "400"
    monkeypatch.setenv("TRIPLINE_BATCH_INTERVAL_MS", "0")
    assert interval() == "0"


def test_each_process_has_an_identity_of_its_own_and_its_password_stays_in_its_file(plan: Plan) -> None:
    users = [
        environment["TRIPLINE_KAFKA_SECURITY_USER"]
        for environment in (program.environment for program in plan.programs())
        if "TRIPLINE_KAFKA" in environment
    ]
    assert len(users) == len(set(users)) == 11
    written = configuration.render(plan.places, plan.programs()) + repr(stack_file.content(plan))
    for name in kafka_passwords.names():
        file = plan.places.run / kafka_passwords.file_name(name)
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert file.read_text() not in written


def test_stack_json_has_what_scripts_need_and_is_closed_to_others(plan: Plan) -> None:
    stack_file.write(plan.places, stack_file.content(plan))
    described = stack_file.read(plan.places)
    assert described is not None
    assert set(described) == {
        "kafka",
        "kafkaAdministrator",
        "postgres",
        "rulesRegistry",
        "alertApi",
        "console",
        "generator",
        "apiKeys",
        "eventType",
    }
    of_roles = {"viewer", "analyst", "second-analyst", "approver", "admin", "auditor", "ops"}
    assert set(described["apiKeys"]) == of_roles
    for file in (
        plan.places.stack_file,
        plan.places.api_keys,
        plan.places.guard_key,
        plan.places.run / "credentials.json",
    ):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_keys_stay_from_start_to_start_and_services_see_hashes_only(tmp_path: Path) -> None:
    first, second = (credentials.load_or_make(Places(tmp_path)) for _ in range(2))
    assert first == second
    text = Places(tmp_path).api_keys.read_text()
    assert not [key for key in first.api_keys.values() if key in text]
    hashes = {entry["name"]: entry["sha256"] for entry in json.loads(text)}
    assert hashes["viewer"] == hashlib.sha256(first.api_keys["viewer"].encode()).hexdigest()
    may_acknowledge = [
        key.name for key in load_api_keys(Places(tmp_path).api_keys) if "alerts:ack" in key.scopes
    ]
    assert may_acknowledge == ["analyst", "second-analyst"]


def test_a_stack_from_before_the_roles_keeps_its_keys_and_gets_the_new_ones(tmp_path: Path) -> None:
    before = {
        name: f"tk_of-{name}-from-before" for name in ("admin", "analyst", "second-analyst", "viewer", "ops")
    }
    credentials.write_private(Places(tmp_path).run / "credentials.json", {"apiKeys": before})
    keys = credentials.load_or_make(Places(tmp_path)).api_keys
    assert before.items() < keys.items()
    assert keys.keys() - before.keys() == {"approver", "auditor"}
    roles = {key.name: key.role for key in load_api_keys(Places(tmp_path).api_keys)}
    assert roles == {**credentials.ROLES, "guard": "analyst"}


def test_a_deep_checkout_gets_a_short_socket(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 60) / ("e" * 60)
    assert len(str(Places(deep).socket)) < LONGEST_SOCKET_PATH
    assert Places(deep).socket != Places(deep / "other").socket


@pytest.mark.parametrize("umask", [0o000, 0o022])
def test_data_is_for_its_owner_alone(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        places = Places(tmp_path / "var")
        (tmp_path / "var").mkdir(mode=0o755)
        (tmp_path / "var" / "kafka").mkdir(mode=0o755)  # of an earlier version
        places.make()
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in places.var.iterdir()}
    finally:
        os.umask(before)
    assert modes == dict.fromkeys(("run", "log", "engine", "kafka"), 0o700)
    assert stat.S_IMODE(places.var.stat().st_mode) == 0o711


def test_what_processes_make_is_for_their_owner_alone(tmp_path: Path) -> None:
    assert parsed(configuration.render(Places(tmp_path), []))["supervisord"]["umask"] == "077"
