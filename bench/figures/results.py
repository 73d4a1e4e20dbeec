"""What was measured, against what: a table for people, var/bench.json for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True, slots=True)
class Result:
    """One measured value. `reference` is something else of the same run that it is compared with, `ratio` is value /
    reference; `bar` says what was required, None for what is only told."""

    name: str
    value: float
    unit: str
    reference: float | None
    ratio: float | None
    bar: str | None
    ok: bool


def at_most(name: str, value: float, unit: str, bar: float, *, reference: float | None = None) -> Result:
    """The value may not be above the bar."""
    return _against(name, value, unit, reference, f"<= {bar:g}", ok=value <= bar)


def at_least(name: str, value: float, unit: str, bar: float, *, reference: float | None = None) -> Result:
    """The value may not be below the bar."""
    return _against(name, value, unit, reference, f">= {bar:g}", ok=value >= bar)


def told(name: str, value: float, unit: str, reference: float | None = None) -> Result:
    """Nothing is required of it."""
    return _against(name, value, unit, reference, None, ok=True)


def write(results: Sequence[Result], file: Path) -> None:
    """As a list of objects."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps([asdict(result) for result in results], indent=2) + "\n", encoding="utf-8")


def show(results: Sequence[Result], console: Console) -> None:
    """As a table."""
    table = Table("measured", "value", "unit", "reference", "ratio", "bar", "")
    for result in results:
        table.add_row(
            result.name,
            f"{result.value:,g}" if abs(result.value) < 100_000 else f"{result.value:,.0f}",
            result.unit,
            "" if result.reference is None else f"{result.reference:,g}",
            "" if result.ratio is None else f"{result.ratio:.2f}",
            result.bar or "",
            "" if result.bar is None else "[green]ok[/]" if result.ok else "[red]missed[/]",
        )
    console.print(table)


def _against(
    name: str, value: float, unit: str, reference: float | None, bar: str | None, *, ok: bool
) -> Result:
    ratio = round(float(value) / float(reference), 4) if reference else None
    told_reference = None if reference is None else round(float(reference), 3)
    return Result(name, round(float(value), 3), unit, told_reference, ratio, bar, bool(ok))
