"""What is sent: payments of the generator's background, and pairs that push a sum over its limit for a moment.

A sum over half an hour of all card payments would either stay over its limit or never reach it. So somewhere in every
thousand a huge payment comes and, ten payments later, its reversal: those between see the sum over the limit.

    number     … n−1  n (+10,000,000)  n+1 … n+9  n+10 (−10,000,000)  n+11 …     n: by chance, so that micro-batches,
                                                                                 which have a rhythm too, don't matter
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from tripline_demo.generator.payments.scenarios import CARD
from tripline_demo.generator.payments.stream import columns
from tripline_demo.generator.payments.trade import PAYMENTS
from tripline_demo.generator.traffic import Traffic, shape_of

Column = npt.NDArray[np.int64]

PARTITIONS: Final = 2
TYPES: Final = ("CSH", "CRD")
HUGE_CENTS: Final = 10_000_000_00
_EVERY, _APART = 1_000, 10
STRANGERS: Final = 1_000_000_000
"""Payees from here on send the huge payments and nothing else."""


@dataclass(frozen=True, slots=True)
class Workload:
    """Transaction number n is entry n of every column; the first `preloaded` fill the windows.

    `partition` and `offset` are where it will lie in Kafka; `cents` are cents, `payment_type` indexes TYPES.
    """

    rate: int
    preloaded: int
    payee: Column
    beneficiary: Column
    payment_type: Column
    cents: Column
    partition: Column
    offset: Column

    def __len__(self) -> int:
        return self.payee.size


def make(rate: int, preloaded: int, live: int, seed: int) -> Workload:
    """`rate` a second; populations grow with it as the generator's do."""
    made = columns(shape_of(Traffic(rate=rate, seed=seed, scenarios=()), PAYMENTS), 0, preloaded + live)
    payee, beneficiary, payment_type, cents = made.payee, made.beneficiary, made.payment_type, made.cents
    thousands = np.arange(preloaded, preloaded + live - _EVERY + 1, _EVERY)
    huge = thousands + np.random.default_rng(seed).integers(0, _EVERY - _APART, thousands.size)
    for place, amount in ((huge, HUGE_CENTS), (huge + _APART, -HUGE_CENTS)):
        payee[place] = beneficiary[place] = STRANGERS + huge
        payment_type[place], cents[place] = CARD, amount
    partition = payee % PARTITIONS
    offset = np.zeros_like(partition)
    for one in range(PARTITIONS):
        mine = np.flatnonzero(partition == one)
        offset[mine] = np.arange(mine.size)
    return Workload(rate, preloaded, payee, beneficiary, payment_type, cents, partition, offset)


def transaction_id(number: int) -> str:
    """What number n is called."""
    return f"b-{number}"


def number_of(identity: str) -> int:
    """The other way."""
    return int(identity.removeprefix("b-"))


def values(load: Workload, start: int, stop: int, event_times: Iterable[int]) -> Iterator[tuple[int, bytes]]:
    """Partition and JSON of transactions `start` to `stop - 1`; the event times (ms) are ingestion times too."""
    part = slice(start, stop)
    columns = (load.partition, load.payee, load.beneficiary, load.payment_type, load.cents)
    rows = zip(range(start, stop), event_times, *(column[part].tolist() for column in columns), strict=True)
    for number, at, partition, payee, beneficiary, payment_type, cents in rows:
        sign, (whole, rest) = "-" * (cents < 0), divmod(abs(cents), 100)
        value = (
            f'{{"transactionId":"b-{number}","eventTime":{at},"payeeId":{payee},"beneficiaryId":{beneficiary},'
            f'"paymentAmount":"{sign}{whole}.{rest:02d}","paymentType":"{TYPES[payment_type]}",'
            f'"ingestionTimestamp":{at}}}'
        )
        yield partition, value.encode()
