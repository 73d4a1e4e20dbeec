"""The engine's order of the records of one micro-batch (semantics 3)."""

from __future__ import annotations

from collections.abc import Iterable

from tests.oracle.values.model import Record


def engine_order(records: Iterable[Record]) -> list[Record]:
    """By running maximum of record time within the partition's part, then partition, then offset."""
    keyed: list[tuple[int, int, int, Record]] = []
    highest: dict[int, int] = {}
    for record in sorted(records, key=lambda record: (record.partition, record.offset)):
        running = max(record.record_time, highest.get(record.partition, record.record_time))
        highest[record.partition] = running
        keyed.append((running, record.partition, record.offset, record))
    return [record for *_, record in sorted(keyed, key=lambda entry: entry[:3])]
