"""docs/architecture.md tells the rooms and floors that import-linter holds, and no others."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
    "contracts"
]
SOURCES = {
    path.parent.name: path.parent for path in ROOT.glob("**/src/*/__init__.py") if ".venv" not in path.parts
}


def floors(text: str, heading: str) -> list[set[str]]:
    """The rooms of the table below that heading, floor by floor from the highest, as its first two columns tell."""
    section = text.split(f"### {heading}\n", 1)[1].split("\n##", 1)[0]
    rows = re.findall(r"^\| (\d+) \| `([\w.]+)`", section, re.MULTILINE)
    numbers = sorted({int(number) for number, _ in rows}, reverse=True)
    assert numbers == list(range(len(numbers), 0, -1)), "floors are counted without gaps"
    return [{room for number, room in rows if int(number) == floor} for floor in numbers]


def layers(contract: dict[str, Any]) -> list[set[str]]:
    """The same of a layers contract."""
    return [{room.strip() for room in re.split(r"[|:]", layer)} for layer in contract["layers"]]


def layered(container: str | None) -> dict[str, Any]:
    """The layers contract of a package, or that of the packages themselves."""
    wanted = [container] if container else None
    (contract,) = (
        contract
        for contract in CONTRACTS
        if contract["type"] == "layers" and contract.get("containers") == wanted
    )
    layers: dict[str, Any] = contract
    return layers


HEADINGS = {
    None: "The whole",
    "tripline_engine": "The engine: `tripline_engine`",
    "tripline_engine.spark": "The engine on Spark: `tripline_engine.spark`",
    "tripline_engine.domain": "The engine's domain: `tripline_engine.domain`",
}


@pytest.mark.parametrize("container", HEADINGS, ids=str)
def test_the_tables_of_rooms_are_the_import_contracts(container: str | None) -> None:
    assert floors(ARCHITECTURE, HEADINGS[container]) == layers(layered(container))


@pytest.mark.parametrize("container", [name for name in HEADINGS if name], ids=str)
def test_every_room_of_the_engine_is_there_and_in_its_table(container: str) -> None:
    package, *parts = container.split(".")
    folder = SOURCES[package].joinpath(*parts)
    rooms = {path.parent.name for path in folder.glob("*/__init__.py")}
    told = set[str]().union(*floors(ARCHITECTURE, HEADINGS[container]))
    assert rooms <= told
    assert told - rooms <= {path.stem for path in folder.glob("*.py")}


def test_every_layers_contract_has_a_table() -> None:
    containers = [contract.get("containers") for contract in CONTRACTS if contract["type"] == "layers"]
    assert sorted(map(str, containers)) == sorted(str([name] if name else None) for name in HEADINGS)


def test_a_room_on_another_floor_shows() -> None:
    moved = ARCHITECTURE.replace("| 1 | `memory`", "| 2 | `memory`").replace(
        "| 2 | `transactions`", "| 1 | `transactions`"
    )
    heading = HEADINGS["tripline_engine.domain"]
    assert floors(moved, heading) != floors(ARCHITECTURE, heading)


def test_the_engine_has_a_contract_against_circles() -> None:
    ancestors = {
        ancestor
        for contract in CONTRACTS
        if contract["type"] == "acyclic_siblings"
        for ancestor in contract["ancestors"]
    }
    assert ancestors == set(SOURCES)
