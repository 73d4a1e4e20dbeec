"""Two stacks that start at once choose different ports."""

from __future__ import annotations

from pathlib import Path

import pytest

from tripline_demo.processes import ports, reservations


def test_what_another_has_just_chosen_is_not_chosen(tmp_path: Path) -> None:
    (usual,) = ports.free_ports(1)
    book = tmp_path / "ports.json"
    first = reservations.choose({"api": usual}, {}, tmp_path / "one", book)
    second = reservations.choose({"api": usual}, {}, tmp_path / "two", book)
    assert first == {"api": usual}
    assert second["api"] != usual


def test_who_starts_again_keeps_its_own(tmp_path: Path) -> None:
    (usual,) = ports.free_ports(1)
    book = tmp_path / "ports.json"
    for _ in range(2):
        assert reservations.choose({"api": usual}, {}, tmp_path / "one", book) == {"api": usual}


def test_a_reservation_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (usual,) = ports.free_ports(1)
    book = tmp_path / "ports.json"
    monkeypatch.setattr(reservations, "SECONDS", 0)
    reservations.choose({"api": usual}, {}, tmp_path / "one", book)
    assert reservations.choose({"api": usual}, {}, tmp_path / "two", book) == {"api": usual}


@pytest.mark.parametrize(
    "content", ["", "{", "[1]", '[{"owner": "x"}]', '[{"owner": "x", "until": "y", "ports": []}]']
)
def test_a_damaged_book_is_an_empty_one(tmp_path: Path, content: str) -> None:
    (usual,) = ports.free_ports(1)
    (tmp_path / "ports.json").write_text(content)
    assert reservations.choose({"api": usual}, {}, tmp_path, tmp_path / "ports.json") == {"api": usual}
