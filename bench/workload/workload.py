"""What is sent: payments of the generator's background, and pairs that push a sum over its limit for a moment.

A sum over half an hour of all card payments would either stay over its limit or never reach it. So somewhere in every
thousand a huge payment comes and, ten payments later, its reversal: those between see the sum over the limit.

    number     … n−1  n (+10,000,000)  n+1 … n+9  n+10 (−10,000,000)  n+11 …     n: by chance, so that micro-batches,
                                                                                 which have a rhythm too, don't matter
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
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
class Label:
    """A field that only some workloads have: each transaction's `column` indexes `texts`."""

    name: str
    texts: tuple[str, ...]
    column: Column


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
    labels: tuple[Label, ...] = ()

    def __len__(self) -> int:
        return self.payee.size

    def key(self, name: str) -> Column:
        """Integers that are equal exactly where the field's values are."""
        match name:
            case "payeeId":
                return self.payee
            case "beneficiaryId":
                return self.beneficiary
            case "paymentType":
                return self.payment_type
            case _:
                return self._label(name).column

    def text(self, name: str, number: int) -> str:
        """The field's value in that transaction."""
        value = int(self.key(name)[number])
        match name:
            case "payeeId" | "beneficiaryId":
                return str(value)
            case "paymentType":
                return TYPES[value]
            case _:
                return self._label(name).texts[value]

    def where(self, name: str, text: str) -> npt.NDArray[np.bool_]:
        """Which transactions have that value in a field of few values."""
        texts = TYPES if name == "paymentType" else self._label(name).texts
        equal: npt.NDArray[np.bool_] = self.key(name) == texts.index(text)
        return equal

    def taken(self, chosen: Column) -> Workload:
        """These transactions alone, as if there were no others."""
        return replace(
            self,
            preloaded=0,
            payee=self.payee[chosen],
            beneficiary=self.beneficiary[chosen],
            payment_type=self.payment_type[chosen],
            cents=self.cents[chosen],
            partition=self.partition[chosen],
            offset=self.offset[chosen],
            labels=tuple(replace(label, column=label.column[chosen]) for label in self.labels),
        )

    def _label(self, name: str) -> Label:
        return next(label for label in self.labels if label.name == name)


def make(rate: int, preloaded: int, live: int, seed: int) -> Workload:
    """`rate` a second; populations grow with it as the generator's do."""
    made = columns(shape_of(Traffic(rate=rate, seed=seed, scenarios=()), PAYMENTS), 0, preloaded + live)
    payee, beneficiary, payment_type, cents = made.payee, made.beneficiary, made.payment_type, made.cents
    thousands = np.arange(preloaded, preloaded + live - _EVERY + 1, _EVERY)
    huge = thousands + np.random.default_rng(seed).integers(0, _EVERY - _APART, thousands.size)
    for row, amount in ((huge, HUGE_CENTS), (huge + _APART, -HUGE_CENTS)):
        payee[row] = beneficiary[row] = STRANGERS + huge
        payment_type[row], cents[row] = CARD, amount
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
    rows = zip(
        range(start, stop),
        event_times,
        *(column[part].tolist() for column in columns),
        _labelled(load, part, stop - start),
        strict=True,
    )
    for number, event_time, partition, payee, beneficiary, payment_type, cents, more in rows:
        sign, (whole, rest) = "-" * (cents < 0), divmod(abs(cents), 100)
        value = (
            f'{{"transactionId":"b-{number}","eventTime":{event_time},"payeeId":{payee},"beneficiaryId":{beneficiary},'
            f'"paymentAmount":"{sign}{whole}.{rest:02d}","paymentType":"{TYPES[payment_type]}",'
            f'"ingestionTimestamp":{event_time}{more}}}'
        )
        yield partition, value.encode()


def _labelled(load: Workload, part: slice, count: int) -> list[str]:
    """What is said of the labels of each transaction in that part."""
    told = [""] * count
    for label in load.labels:
        texts = [f',"{label.name}":"{text}"' for text in label.texts]
        told = [
            before + texts[value] for before, value in zip(told, label.column[part].tolist(), strict=True)
        ]
    return told
