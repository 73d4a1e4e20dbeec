"""A start: nothing begins before what it needs is up, slow programs hold nobody up, a failure is a sentence."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest
from rich.console import Console

from tripline_demo.embedded.jars import Jars
from tripline_demo.embedded.java import Java
from tripline_demo.errors import StackFailed
from tripline_demo.stack import credentials, startup
from tripline_demo.stack.places import Places
from tripline_demo.stack.plan import PORTS, Plan
from tripline_demo.stack.program import Program
from tripline_demo.stack.progress import Progress
from tripline_demo.stack.supervisor import State, Supervisor


@dataclass
class FakeSupervisor:
    """Programs run from the moment they are started, but for those of `ends`: they end with that status."""

    ends: dict[str, int] = field(default_factory=dict)
    started: list[str] = field(default_factory=list)

    def start(self, program: str) -> None:
        self.started.append(program)

    def state(self, program: str) -> State:
        if program in self.ends:
            return State(program, "EXITED", 0, 0, self.ends[program])
        return State(program, "RUNNING", 1 + self.started.index(program), 0, 0)


@dataclass
class Slow:
    """Not ready before it was asked that often."""

    times: int

    def __call__(self) -> bool:
        self.times -= 1
        return self.times < 0


def program(name: str, *needs: str, polls: int = 0, last: bool = False, one_shot: bool = False) -> Program:
    ready = None if one_shot else Slow(polls)
    return Program(name, name, (name,), Path("/"), ready, needs=needs, awaited_last=last)


@pytest.fixture(autouse=True)
def without_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(startup, "POLL_SECONDS", 0)


def begin(fake: FakeSupervisor, folder: Path, *programs: Program) -> tuple[startup.Start, io.StringIO]:
    output = io.StringIO()
    progress = Progress(Console(file=output, width=200))
    return startup.Start(cast("Supervisor", fake), programs, Places(folder), progress), output


def test_a_program_begins_when_all_that_it_needs_is_up(tmp_path: Path) -> None:
    fake = FakeSupervisor(ends={"schema": 0})
    start, output = begin(
        fake, tmp_path, program("api", "schema", "log"), program("schema", "store", one_shot=True),
        program("store", polls=5), program("log", polls=9),
    )  # fmt: skip
    start.advance(with_the_last=True)
    assert fake.started == ["store", "log", "schema", "api"]
    shown = [line.split()[1] for line in output.getvalue().splitlines() if "✓" in line]
    assert shown == ["store", "schema", "log", "api"]


def test_what_is_awaited_last_starts_at_once_and_holds_nobody_up(tmp_path: Path) -> None:
    fake = FakeSupervisor()
    start, output = begin(
        fake, tmp_path, program("slow", polls=50, last=True), program("slower", "slow", last=True), program("quick")
    )  # fmt: skip
    start.advance(with_the_last=False)
    assert fake.started == ["slow", "quick"]
    assert "✓ slow" not in output.getvalue()
    start.advance(with_the_last=True)
    assert fake.started == ["slow", "quick", "slower"]


def test_a_program_that_ends_is_an_error_with_its_last_words(tmp_path: Path) -> None:
    places = Places(tmp_path)
    places.make()
    places.log_of("api").write_text("first\nno such database\n")
    start, _ = begin(FakeSupervisor(ends={"api": 1}), tmp_path, program("api"))
    with pytest.raises(StackFailed, match=r"(?s)api failed to start.*no such database"):
        start.advance(with_the_last=True)


def test_a_program_that_takes_too_long_is_an_error_that_names_the_seconds(tmp_path: Path) -> None:
    never = Program("api", "api", ("api",), Path("/"), lambda: False, start_seconds=0)
    start, _ = begin(FakeSupervisor(), tmp_path, never)
    with pytest.raises(StackFailed, match="api was not ready within 0 s"):
        start.advance(with_the_last=True)


def test_in_the_real_plan_everything_needs_what_comes_before_it_only(tmp_path: Path) -> None:
    places = Places(tmp_path)
    places.make()
    plan = Plan(
        places, dict(PORTS), credentials.load_or_make(places), Java(Path("/jdk"), 17, "test"), Jars(tmp_path), "wall"
    )  # fmt: skip
    before: set[str] = set()
    for program in plan.programs():
        assert before.issuperset(program.needs), (
            program.name
        )  # so it can start, and stops before what it needs
        before.add(program.name)
    needs = {program.name: set(program.needs) for program in plan.programs()}
    assert needs["engine"] == {"topics"}
    assert all({"topics", "migrations"} <= needs[name] for name in ("registry", "relay", "alert-projector"))
