"""The programs of the stack, for comparison with docker-compose.yml."""

from __future__ import annotations

from pathlib import Path

import pytest

from tripline_demo.embedded.jars import Jars
from tripline_demo.embedded.java import Java
from tripline_demo.groups import GROUPS
from tripline_demo.stack.credentials import Credentials
from tripline_demo.stack.places import Places
from tripline_demo.stack.plan import PORTS, Plan
from tripline_demo.stack.program import Program


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Program]:
    """What `make up` would start."""
    places = Places(tmp_path_factory.mktemp("stack"))
    secrets = Credentials("x", dict.fromkeys(GROUPS, "x"), {}, "x")
    plan = Plan(
        places, dict(PORTS), secrets, Java(Path("/java"), 17, "test"), Jars(places.var / "jars"), "wall"
    )
    return {program.name: program for program in plan.programs()}
