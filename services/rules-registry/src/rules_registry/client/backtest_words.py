"""What came of a backtest, as a table for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

_GROUPS: Final = 5
_HEAD: Final = (
    "rule", "alerts", "groups", "a day", "both", "only tried", "only live", "precision", "recall",
)  # fmt: skip
_DAY_MS: Final = 86_400_000
_NOTHING: Final = "–"
Json = Mapping[str, Any]


def result_lines(backtest: Json) -> Iterator[str]:
    """A row for each rule, and the groups with the most alerts."""
    result = backtest["result"]
    days = (backtest["to"] - backtest["from"]) / _DAY_MS
    names = {rule["triedId"]: rule["name"] for rule in backtest["rules"]}
    rows = [_HEAD, *(_row(rule, names[rule["triedId"]], days) for rule in result["rules"])]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
    for row in rows:
        name, *numbers = (text.ljust(width) if column == 0 else text.rjust(width)
                          for column, (text, width) in enumerate(zip(row, widths, strict=True)))  # fmt: skip
        yield "  ".join((name, *numbers)).rstrip()
    for rule in result["rules"]:
        for top in rule["topGroups"][:_GROUPS]:
            group = ", ".join(f"{field} {value}" for field, value in top["group"].items()) or "the one group"
            yield f"{names[rule['triedId']]}: {top['alerts']} alerts of {group}"
    known = "; as we know today" if backtest["knowledge"] == "today" else ""
    yield (
        f"{result['transactions']} transactions in {result['microBatches']} micro-batches, {result['seconds']} s;"
        f" {result['keptAlerts']} alerts can be read{known}"
    )


def _row(rule: Json, name: str, days: float) -> tuple[str, ...]:
    beside, labelled = rule["beside"], rule["labelled"]
    overlap = (
        (_NOTHING,) * 3
        if beside is None
        else (str(beside["both"]), str(beside["onlyTried"]), str(beside["onlyLive"]))
    )
    shares = (labelled["precision"] or _NOTHING, labelled["recall"] or _NOTHING)
    return (name, str(rule["alerts"]), str(rule["groups"]), f"{rule['alerts'] / days:.1f}", *overlap, *shares)
