"""The traffic that is asked for: the values behind GET and PUT /v1/traffic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Final

from tripline_demo.generator.errors import InvalidInput, Problem
from tripline_demo.generator.shape import DEFAULT_RATE, Shape, period_for
from tripline_demo.generator.trade import Trade

MAX_RATE: Final = 20_000
MAX_SEED: Final = 2**53 - 1
MAX_POPULATION: Final = 10_000_000

_SHARES: Final = {
    "lateShare": "late_share",
    "duplicateShare": "duplicate_share",
    "brokenShare": "broken_share",
}


@dataclass(frozen=True, slots=True)
class Traffic:
    """`rate` in transactions a second; shares are of all records, 0 to 1 and together at most 1.

    :ivar scenarios: None: all that there are
    :ivar sizes: of populations, by name; those not named have their usual size, and beyond 200/s as many more members
        as keep each as busy
    """

    rate: int = DEFAULT_RATE
    scenarios: tuple[str, ...] | None = None
    late_share: float = 0.0
    duplicate_share: float = 0.0
    broken_share: float = 0.0
    seed: int = 1
    sizes: Mapping[str, int] = field(default_factory=dict)

    def to_json(self, trade: Trade) -> dict[str, object]:
        """The shape of the API, sizes of populations as asked for (null: grows with the rate)."""
        return {
            "rate": self.rate,
            "scenarios": list(trade.scenarios if self.scenarios is None else self.scenarios),
            "lateShare": self.late_share,
            "duplicateShare": self.duplicate_share,
            "brokenShare": self.broken_share,
            "seed": self.seed,
            **{name: self.sizes.get(name) for name in trade.populations},
        }


def shape_of(traffic: Traffic, trade: Trade) -> Shape:
    """The shape that the traffic asks for; populations left open grow with the rate beyond the default."""
    grown = max(traffic.rate, DEFAULT_RATE)
    sizes = (
        traffic.sizes.get(name) or usual * grown // DEFAULT_RATE for name, usual in trade.populations.items()
    )
    return Shape(
        traffic.seed,
        tuple(sizes),
        period_for(traffic.rate, len(trade.scenarios)),
        trade.scenarios if traffic.scenarios is None else traffic.scenarios,
        traffic.late_share,
        traffic.duplicate_share,
        traffic.broken_share,
    )


def change(traffic: Traffic, body: Mapping[str, object], trade: Trade) -> Traffic:
    """The traffic with the named settings changed; those not named stay. InvalidInput names every wrong one."""
    problems: list[Problem] = []
    changes: dict[str, object] = {}
    sizes = dict(traffic.sizes)
    for name, value in body.items():
        try:
            if name in trade.populations:
                _resize(sizes, name, value)
            else:
                attribute, checked = _checked(name, value, trade)
                changes[attribute] = checked
        except ValueError as error:
            problems.append(Problem(name, str(error)))
    if problems:
        raise InvalidInput(problems)
    changed = replace(traffic, sizes=sizes, **changes)  # type: ignore[arg-type]  # checked one by one above
    if changed.late_share + changed.duplicate_share + changed.broken_share > 1:
        raise InvalidInput(
            [Problem("lateShare", "lateShare, duplicateShare and brokenShare add up to at most 1")]
        )
    return changed


def _resize(sizes: dict[str, int], name: str, value: object) -> None:
    if value is None:
        sizes.pop(name, None)
    else:
        sizes[name] = _integer(value, 1, MAX_POPULATION)


def _checked(name: str, value: object, trade: Trade) -> tuple[str, object]:
    if name == "rate":
        return name, _rate(value, trade)
    if name == "seed":
        return name, _integer(value, 0, MAX_SEED)
    if name in _SHARES:
        return _SHARES[name], _share(value)
    if name == "scenarios":
        return name, _scenarios(value, trade)
    known = ", ".join(["rate", "seed", *trade.populations, *_SHARES, "scenarios"])
    raise ValueError(f"not a setting of the traffic; known are {known}")


def _rate(value: object, trade: Trade) -> int:
    rate = _integer(value, 0, MAX_RATE)
    if rate and not trade.has_traffic:
        raise ValueError(f"expected 0: {no_traffic(trade)}")
    return rate


def no_traffic(trade: Trade) -> str:
    """Why there is none of an event type that was declared elsewhere."""
    return (
        f"there is no traffic of {trade.event_type.name}; replay a recording, or send transactions one by one"
    )


def _integer(value: object, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ValueError(f"expected an integer from {low} to {high}")
    return value


def _share(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)) or not 0 <= value <= 1:
        raise ValueError("expected a number from 0 to 1")
    return float(value)


def _scenarios(value: object, trade: Trade) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)) or not all(name in trade.scenarios for name in value):
        raise ValueError(f"expected a list of names out of {', '.join(trade.scenarios)}")
    return tuple(name for name in trade.scenarios if name in value)
