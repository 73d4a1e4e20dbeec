"""The stream of payments: transaction number n is a pure function of (seed, shape, n).

What depends on the moment of sending (record time, event time in ms since the epoch) is added when a payment is
rendered; here an event time is an age: how long before its record the payment happened.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Final

import numpy as np

from tripline_demo.generator.chance import Indices, Integers, between, normals, popular, shares
from tripline_demo.generator.scenarios import BY_NAME, CARD, CASH, People, period_for, place
from tripline_demo.generator.traffic import DEFAULT_RATE, Traffic

PAYEES: Final = 5_000
BENEFICIARIES: Final = 2_000
MAX_ORDINARY_CENTS: Final = 5_000_00
LATE_MS: Final = (60_000, 570_000)
"""Ages of late records: minutes, yet inside the default lateness of 10 minutes."""

_MEDIAN_CENTS: Final = 38_00
_SPREAD: Final = 0.9
_CARD_SHARE: Final = 0.7
_JITTER_MS: Final = 40.0
_MAX_JITTER_MS: Final = 1_500


class Kind(IntEnum):
    """What becomes of a transaction on its way out."""

    PLAIN = 0
    LATE = 1
    DUPLICATE = 2
    BROKEN = 3


@dataclass(frozen=True, slots=True)
class Shape:
    """What the content of the stream depends on."""

    seed: int
    people: People
    period: int
    scenarios: tuple[str, ...]
    late_share: float
    duplicate_share: float
    broken_share: float


@dataclass(frozen=True, slots=True)
class Payment:
    """One transaction of the stream; `age_ms` is its event time, counted back from its record time."""

    number: int
    payee: int
    beneficiary: int
    payment_type: int
    cents: int
    age_ms: int
    kind: int


def shape_of(traffic: Traffic) -> Shape:
    """The shape that the traffic asks for; populations left open grow with the rate beyond the default."""
    grown = max(traffic.rate, DEFAULT_RATE)
    people = People(
        traffic.payees or PAYEES * grown // DEFAULT_RATE,
        traffic.beneficiaries or BENEFICIARIES * grown // DEFAULT_RATE,
    )
    return Shape(
        traffic.seed,
        people,
        period_for(traffic.rate),
        traffic.scenarios,
        traffic.late_share,
        traffic.duplicate_share,
        traffic.broken_share,
    )


@dataclass(frozen=True, slots=True)
class Columns:
    """Transactions as columns: what `Payment` has, one entry each, all of 64 bits."""

    number: Indices
    payee: Integers
    beneficiary: Integers
    payment_type: Integers
    cents: Integers
    age_ms: Integers
    kind: Integers


def payments(shape: Shape, start: int, count: int) -> list[Payment]:
    """Transactions number `start` to `start + count - 1`."""
    made = columns(shape, start, count)
    each = (
        made.number,
        made.payee,
        made.beneficiary,
        made.payment_type,
        made.cents,
        made.age_ms,
        made.kind,
    )
    return list(map(Payment, *(column.tolist() for column in each)))


def columns(shape: Shape, start: int, count: int) -> Columns:
    """The same as columns."""
    index = np.arange(start, start + count, dtype=np.uint64)
    payee = popular(shape.seed, 0, index, shape.people.payees)
    beneficiary = popular(shape.seed, 1, index, shape.people.beneficiaries)
    payment_type = np.where(shares(shape.seed, 2, index) < _CARD_SHARE, CARD, CASH)
    cents = _amounts(shape.seed, index)
    kind, age = _fates(shape, index)
    for name in shape.scenarios:
        lane = np.flatnonzero(index % np.uint64(shape.period) == np.uint64(place(name, shape.period)))
        if lane.size:
            steps = BY_NAME[name].play(shape.seed, index[lane] // np.uint64(shape.period), shape.people)
            payee[lane], beneficiary[lane] = steps.payee, steps.beneficiary
            payment_type[lane], cents[lane] = steps.payment_type, steps.cents
            # mischief takes from the background only: a scenario that loses a step would trip nothing
            kind[lane], age[lane] = Kind.PLAIN, 0
    return Columns(index, payee, beneficiary, payment_type, cents, age, kind)


def _amounts(seed: int, index: Indices) -> Integers:
    """Log-normal, in cents: half of all below 38.00, the mean near 57, never above 5,000.00."""
    cents = np.exp(np.log(_MEDIAN_CENTS) + _SPREAD * normals(seed, 3, index))
    clipped: Integers = np.clip(cents.astype(np.int64), 1_00, MAX_ORDINARY_CENTS)
    return clipped


def _fates(shape: Shape, index: Indices) -> tuple[Integers, Integers]:
    """Kinds by their shares, and ages: mostly some ten milliseconds, of late ones minutes."""
    drawn = shares(shape.seed, 5, index)
    late = shape.late_share
    duplicate = late + shape.duplicate_share
    broken = duplicate + shape.broken_share
    kind = np.searchsorted(np.array([late, duplicate, broken]), drawn, side="right")
    # searchsorted counts the bounds at or below: 0 late, 1 duplicate, 2 broken, 3 none of them
    kind = np.array([Kind.LATE, Kind.DUPLICATE, Kind.BROKEN, Kind.PLAIN], np.int64)[kind]
    jitter = (-_JITTER_MS * np.log(1.0 - shares(shape.seed, 6, index))).astype(np.int64)
    age = np.minimum(jitter, _MAX_JITTER_MS)
    return kind, np.where(kind == Kind.LATE, between(shape.seed, 7, index, *LATE_MS), age)
