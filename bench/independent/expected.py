"""Which alerts there should be, from what was sent, when rules were taken and in which order: not from the engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bench.independent.windows import Held
from bench.workload.rules import FIVE, Subject, Version, in_force
from bench.workload.workload import Column, Workload, transaction_id
from tripline_contracts import canonical


@dataclass(frozen=True, slots=True)
class Expected:
    """What is compared of an alert."""

    value: str
    count: int


@dataclass(frozen=True, slots=True)
class Order:
    """Per transaction its micro-batch and its place among all; per offset in rules.v1 the micro-batch."""

    batch: Column
    rank: Column
    taken_in: Column


def order_of(load: Workload, event_time: Column, batches: Sequence[Mapping[str, Any]], rules: int) -> Order:
    """The engine's order by section 3 of the specification. Record times never fall within a partition here.

    `batches`: the order records, in order; `rules`: how many records rules.v1 holds.
    """
    batch = np.full(len(load), -1)
    taken_in = np.full(rules, len(batches))
    by_place = [
        np.flatnonzero(load.partition == partition) for partition in range(int(load.partition.max()) + 1)
    ]
    for index, record in enumerate(batches):
        for part in record["transactions"]:
            batch[by_place[part["partition"]][part["from"] : part["until"]]] = index
        if record["rules"] is not None:
            taken_in[record["rules"]["from"] : record["rules"]["until"]] = index
    assert (batch >= 0).all(), f"{(batch < 0).sum()} transactions are in no order record"
    sorted_ = np.lexsort((load.offset, load.partition, event_time, batch))
    rank = np.empty_like(batch)
    rank[sorted_] = np.arange(len(load))
    return Order(batch, rank, taken_in)


def expected_alerts(
    load: Workload,
    event_time: Column,
    order: Order,
    rules: Sequence[Version],
    subjects: Sequence[Subject] = FIVE,
) -> dict[str, Expected]:
    """Every alert by its id, of the transactions after the preload."""
    asked = np.arange(load.preloaded, len(load))
    expected: dict[str, Expected] = {}
    for subject in subjects:
        windows = subject.held(load, event_time, order.rank, asked)
        versions = [version for version in rules if version.subject is subject]
        current = in_force(versions, event_time[asked], order.batch[asked], order.taken_in)
        for index, version in enumerate(versions):
            over = subject.over(windows, version.limit) & (current == index)
            for row in np.flatnonzero(over).tolist():
                number = int(asked[row])
                group = _group(load, subject, number)
                identity = canonical.alert_id(
                    subject.rule_id, version.version, group, transaction_id(number), int(event_time[number])
                )
                expected[identity] = _expected(subject, windows, row)
    return expected


def _expected(subject: Subject, windows: Held, row: int) -> Expected:
    return Expected(subject.value(windows, row), int(windows.count[row]))


def _group(load: Workload, subject: Subject, number: int) -> dict[str, str]:
    return {name: load.text(name, number) for name in subject.grouping}
