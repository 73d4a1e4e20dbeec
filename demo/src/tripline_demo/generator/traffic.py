"""What traffic is asked for: the values behind GET and PUT /v1/traffic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from tripline_demo.generator.errors import InvalidInput, Problem

MAX_RATE: Final = 20_000
MAX_SEED: Final = 2**53 - 1
MAX_POPULATION: Final = 10_000_000
DEFAULT_RATE: Final = 200

SCENARIOS: Final = ("repeated-payments", "payment-burst", "money-mule", "card-testing", "big-payment")

_COUNTS: Final = {
    "rate": ("rate", 0, MAX_RATE),
    "seed": ("seed", 0, MAX_SEED),
    "payees": ("payees", 1, MAX_POPULATION),
    "beneficiaries": ("beneficiaries", 1, MAX_POPULATION),
}
_SHARES: Final = {
    "lateShare": "late_share",
    "duplicateShare": "duplicate_share",
    "brokenShare": "broken_share",
}


@dataclass(frozen=True, slots=True)
class Traffic:
    """`rate` in transactions a second; shares are of all records, 0 to 1 and together at most 1."""

    rate: int = DEFAULT_RATE
    scenarios: tuple[str, ...] = SCENARIOS
    late_share: float = 0.0
    duplicate_share: float = 0.0
    broken_share: float = 0.0
    seed: int = 1
    payees: int | None = None
    """Size of the population; None: 5,000, and beyond 200/s as many more as keep each payee as busy."""
    beneficiaries: int | None = None
    """As above, from 2,000."""

    def to_json(self) -> dict[str, object]:
        """The shape of the API, `payees` and `beneficiaries` as asked for (null: grows with the rate)."""
        return {
            "rate": self.rate,
            "scenarios": list(self.scenarios),
            "lateShare": self.late_share,
            "duplicateShare": self.duplicate_share,
            "brokenShare": self.broken_share,
            "seed": self.seed,
            "payees": self.payees,
            "beneficiaries": self.beneficiaries,
        }


def change(traffic: Traffic, body: Mapping[str, object]) -> Traffic:
    """The traffic with the named settings changed; those not named stay. InvalidInput names every wrong one."""
    problems: list[Problem] = []
    changes: dict[str, object] = {}
    for name, value in body.items():
        try:
            attribute, checked = _checked(name, value)
        except ValueError as error:
            problems.append(Problem(name, str(error)))
        else:
            changes[attribute] = checked
    if problems:
        raise InvalidInput(problems)
    changed = replace(traffic, **changes)  # type: ignore[arg-type]  # checked one by one above
    if changed.late_share + changed.duplicate_share + changed.broken_share > 1:
        raise InvalidInput(
            [Problem("lateShare", "lateShare, duplicateShare and brokenShare add up to at most 1")]
        )
    return changed


def _checked(name: str, value: object) -> tuple[str, object]:
    if name in ("payees", "beneficiaries") and value is None:
        return name, None
    if name in _COUNTS:
        attribute, low, high = _COUNTS[name]
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ValueError(f"expected an integer from {low} to {high}")
        return attribute, value
    if name in _SHARES:
        return _SHARES[name], _share(value)
    if name == "scenarios":
        return name, _scenarios(value)
    known = ", ".join([*_COUNTS, *_SHARES, "scenarios"])
    raise ValueError(f"not a setting of the traffic; known are {known}")


def _share(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)) or not 0 <= value <= 1:
        raise ValueError("expected a number from 0 to 1")
    return float(value)


def _scenarios(value: object) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)) or not all(name in SCENARIOS for name in value):
        raise ValueError(f"expected a list of names out of {', '.join(SCENARIOS)}")
    return tuple(name for name in SCENARIOS if name in value)
