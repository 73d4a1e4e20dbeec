"""The stream of payments: transaction number n is a pure function of (seed, shape, n)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tripline_demo.generator.amounts import ordinary_cents
from tripline_demo.generator.chance import Indices, Integers, popular, shares
from tripline_demo.generator.payments.scenarios import BY_NAME, CARD, CASH, SCENARIOS, People
from tripline_demo.generator.shape import Kind, Made, Shape, fates, in_lane, place

PAYEES: Final = 5_000
BENEFICIARIES: Final = 2_000

_CARD_SHARE: Final = 0.7


@dataclass(frozen=True, slots=True)
class Payment(Made):
    """One payment of the stream."""

    payee: int
    beneficiary: int
    payment_type: int
    cents: int


@dataclass(frozen=True, slots=True)
class Columns:
    """Transactions as columns: what `Payment` has, one entry each, all of 64 bits."""

    number: Indices
    age_ms: Integers
    kind: Integers
    payee: Integers
    beneficiary: Integers
    payment_type: Integers
    cents: Integers


def payments(shape: Shape, start: int, count: int) -> list[Payment]:
    """Transactions number `start` to `start + count - 1`."""
    made = columns(shape, start, count)
    parts = (
        made.number,
        made.age_ms,
        made.kind,
        made.payee,
        made.beneficiary,
        made.payment_type,
        made.cents,
    )
    return list(map(Payment, *(column.tolist() for column in parts)))


def columns(shape: Shape, start: int, count: int) -> Columns:
    """The same as columns."""
    index = np.arange(start, start + count, dtype=np.uint64)
    people = People(*shape.sizes)
    payee = popular(shape.seed, 0, index, people.payees)
    beneficiary = popular(shape.seed, 1, index, people.beneficiaries)
    payment_type = np.where(shares(shape.seed, 2, index) < _CARD_SHARE, CARD, CASH)
    cents = ordinary_cents(shape.seed, 3, index)
    kind, age = fates(shape, index)
    for name in shape.scenarios:
        lane = in_lane(index, shape.period, place(SCENARIOS, name, shape.period))
        if lane.size:
            steps = BY_NAME[name].play(shape.seed, index[lane] // np.uint64(shape.period), people)
            payee[lane], beneficiary[lane] = steps.payee, steps.beneficiary
            payment_type[lane], cents[lane] = steps.payment_type, steps.cents
            # mischief takes from the background only: a scenario that loses a step would trip nothing
            kind[lane], age[lane] = Kind.PLAIN, 0
    return Columns(index, age, kind, payee, beneficiary, payment_type, cents)
