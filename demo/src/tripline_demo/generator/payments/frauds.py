"""Named frauds of payers.

burst     |x x x x x x x x x x|                     one payer, one beneficiary, seconds
drip      |x  .  .  x  .  .  x  .  .  x|            minutes by event time, sent within seconds: the payments
                                                    happened earlier and come in only now
payers    |a b c d e f g h|                         many payers, one beneficiary
testing   |....................|                    one payer's card, amounts of cents
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tripline_demo.generator.frauds import (
    Fraud,
    Moment,
    Play,
    account,
    accounts,
    cents,
    drip_ages,
    evenly,
)
from tripline_demo.generator.payments.scenarios import CARD, CASH
from tripline_demo.generator.payments.stream import Payment
from tripline_demo.generator.shape import Kind

CAST: Final = ("payeeId", "beneficiaryId")


@dataclass(frozen=True, slots=True)
class Cast:
    """The accounts of one play; None where there are many."""

    payee: int | None
    beneficiary: int | None

    def told(self) -> Mapping[str, str | None]:
        """By the fields of CAST."""
        accounts = (self.payee, self.beneficiary)
        return {
            name: None if account is None else str(account)
            for name, account in zip(CAST, accounts, strict=True)
        }


def _burst(seed: int, number: int) -> Play:
    cast = Cast(account(seed, 901, number), account(seed, 902, number))
    amounts = cents(seed, number, BURST_PAYMENTS, 600_00, 700_00)
    return _played(cast, amounts, BURST_SECONDS)


def _drip(seed: int, number: int) -> Play:
    cast = Cast(account(seed, 911, number), account(seed, 912, number))
    amounts = cents(seed, number, DRIP_PAYMENTS, 1_500_00, 1_800_00)
    ages = drip_ages(DRIP_PAYMENTS)
    return _played(cast, amounts, DRIP_SECONDS, ages=ages, payment_type=CASH)


def _payers(seed: int, number: int) -> Play:
    cast = Cast(None, account(seed, 922, number))
    amounts = cents(seed, number, PAYERS_PAYMENTS, 1_800_00, 2_200_00)
    payers = accounts(seed, 921, number, PAYERS_PAYMENTS)
    return _played(cast, amounts, PAYERS_SECONDS, payees=payers)


def _testing(seed: int, number: int) -> Play:
    cast = Cast(account(seed, 931, number), None)
    amounts = cents(seed, number, TESTING_PAYMENTS, 50, 2_00)
    shops = accounts(seed, 932, number, TESTING_PAYMENTS)
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
                age_ms=ages[index] if ages else 0,
                kind=Kind.PLAIN,
                payee=payees[index] if payees else cast.payee or 0,
                beneficiary=beneficiaries[index] if beneficiaries else cast.beneficiary or 0,
                payment_type=payment_type,
                cents=amounts[index],
            ),
        )
        for index, after in enumerate(evenly(seconds, len(amounts)))
    ]
    return Play(cast.told(), tuple(moments))


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
