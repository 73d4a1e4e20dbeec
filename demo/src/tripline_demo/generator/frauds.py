"""Named frauds: short plays by accounts of their own, each of which trips a seeded rule by accumulation.

Unlike the lanes of the stream (`scenarios`) they are played once, when somebody asks. A play is a list of moments:

    burst     |x x x x x x x x x x|                     one payer, one beneficiary, seconds
    drip      |x  .  .  x  .  .  x  .  .  x|            minutes by event time, sent within seconds: the payments
                                                        happened earlier and come in only now
    payers    |a b c d e f g h|                         many payers, one beneficiary
    testing   |....................|                    one payer's card, amounts of cents
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from tripline_demo.generator.chance import Integers, between, bits
from tripline_demo.generator.scenarios import CARD, CASH
from tripline_demo.generator.stream import Kind, Payment

_FIRST_ACCOUNT: Final = 2_000_000_000
_ACCOUNTS: Final = 1_000_000_000
"""Beyond the accounts of the stream's scenarios, and so many that a repeat within a window is a rarity."""

DRIP_MS: Final = 560_000
"""How far back a slow drip begins: within the ten minutes that a payment may be late."""


@dataclass(frozen=True, slots=True)
class Moment:
    """One payment of a play and when it is sent, in ms after the beginning."""

    after_ms: int
    payment: Payment


@dataclass(frozen=True, slots=True)
class Cast:
    """The accounts of one play; None where there are many."""

    payee: int | None
    beneficiary: int | None


@dataclass(frozen=True, slots=True)
class Play:
    """A fraud ready to be played: who, and what when."""

    cast: Cast
    moments: tuple[Moment, ...]


@dataclass(frozen=True, slots=True)
class Fraud:
    """`stage(seed, number)` gives play `number`, always the same for a seed."""

    name: str
    title: str
    description: str
    payments: int
    seconds: int
    stage: Callable[[int, int], Play]


def _account(seed: int, purpose: int, number: int) -> int:
    chosen = bits(seed, purpose, np.array([number], np.uint64))[0] % np.uint64(_ACCOUNTS)
    return _FIRST_ACCOUNT + int(chosen)


def _accounts(seed: int, purpose: int, number: int, count: int) -> Integers:
    chosen = bits(seed, purpose, _steps(number, count)) % np.uint64(_ACCOUNTS)
    accounts: Integers = _FIRST_ACCOUNT + chosen.astype(np.int64)
    return accounts


def _steps(number: int, count: int) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    return np.arange(number * 1_000, number * 1_000 + count, dtype=np.uint64)


def _cents(seed: int, number: int, count: int, low: int, high: int) -> list[int]:
    amounts: list[int] = between(seed, 900, _steps(number, count), low, high).tolist()
    return amounts


def _evenly(seconds: int, count: int) -> list[int]:
    return [index * seconds * 1_000 // count for index in range(count)]


def _burst(seed: int, number: int) -> Play:
    cast = Cast(_account(seed, 901, number), _account(seed, 902, number))
    amounts = _cents(seed, number, BURST_PAYMENTS, 600_00, 700_00)
    return _played(cast, amounts, BURST_SECONDS)


def _drip(seed: int, number: int) -> Play:
    cast = Cast(_account(seed, 911, number), _account(seed, 912, number))
    amounts = _cents(seed, number, DRIP_PAYMENTS, 1_500_00, 1_800_00)
    last = DRIP_PAYMENTS - 1
    ages = [DRIP_MS * (last - index) // last for index in range(DRIP_PAYMENTS)]
    return _played(cast, amounts, DRIP_SECONDS, ages=ages, payment_type=CASH)


def _payers(seed: int, number: int) -> Play:
    cast = Cast(None, _account(seed, 922, number))
    amounts = _cents(seed, number, PAYERS_PAYMENTS, 1_800_00, 2_200_00)
    payers = _accounts(seed, 921, number, PAYERS_PAYMENTS).tolist()
    return _played(cast, amounts, PAYERS_SECONDS, payees=payers)


def _testing(seed: int, number: int) -> Play:
    cast = Cast(_account(seed, 931, number), None)
    amounts = _cents(seed, number, TESTING_PAYMENTS, 50, 2_00)
    shops = _accounts(seed, 932, number, TESTING_PAYMENTS).tolist()
    return _played(cast, amounts, TESTING_SECONDS, beneficiaries=shops)


def _played(
    cast: Cast,
    amounts: list[int],
    seconds: int,
    *,
    payees: list[int] | None = None,
    beneficiaries: list[int] | None = None,
    ages: list[int] | None = None,
    payment_type: int = CARD,
) -> Play:
    """One moment per amount, evenly over `seconds`; the lists say what differs from payment to payment."""
    moments = [
        Moment(
            after,
            Payment(
                number=index,
                payee=payees[index] if payees else cast.payee or 0,
                beneficiary=beneficiaries[index] if beneficiaries else cast.beneficiary or 0,
                payment_type=payment_type,
                cents=amounts[index],
                age_ms=ages[index] if ages else 0,
                kind=Kind.PLAIN,
            ),
        )
        for index, after in enumerate(_evenly(seconds, len(amounts)))
    ]
    return Play(cast, tuple(moments))


BURST_PAYMENTS, BURST_SECONDS = 36, 9
DRIP_PAYMENTS, DRIP_SECONDS = 14, 14
PAYERS_PAYMENTS, PAYERS_SECONDS = 24, 12
TESTING_PAYMENTS, TESTING_SECONDS = 28, 7

FRAUDS: Final = (
    Fraud(
        "beneficiary-burst", "Burst to one beneficiary", "One payer, one beneficiary, again and again within seconds.",
        BURST_PAYMENTS, BURST_SECONDS, _burst,
    ),
    Fraud(
        "slow-drip", "Slow drip over a long window", "Medium amounts, one every 43 seconds of the last nine minutes.",
        DRIP_PAYMENTS, DRIP_SECONDS, _drip,
    ),
    Fraud(
        "many-payers", "Many payers to one payee", "Strangers pay the same account: a money mule.",
        PAYERS_PAYMENTS, PAYERS_SECONDS, _payers,
    ),
    Fraud(
        "card-testing", "Card testing", "One card is tried with amounts of cents, shop after shop.",
        TESTING_PAYMENTS, TESTING_SECONDS, _testing,
    ),
)  # fmt: skip
BY_NAME: Final = {fraud.name: fraud for fraud in FRAUDS}
