"""Rejected records to test with, and a fake of their port."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from alert_api.domain.rejected_records import Decision, RecordPlace
from alert_api.service.rejected.desk import (
    AfterRecord,
    RejectedCount,
    RejectedFilter,
    RejectedPage,
    RejectedRecord,
)

NOW = 1_763_690_000_000


class FakeRejected:
    """``RejectedRecords`` in memory; those of a list, in its order."""

    def __init__(self, *records: RejectedRecord) -> None:
        self.rows = {record.place: record for record in records}
        self.asked: Any = None

    def page(self, record_filter: RejectedFilter, after: AfterRecord | None, limit: int) -> RejectedPage:
        self.asked = (record_filter, after, limit)
        rows = tuple(self.rows.values())[:limit]
        more = len(self.rows) > limit
        return RejectedPage(rows, AfterRecord(rows[-1].rejected_at, rows[-1].place) if more else None)

    def get(self, record_place: RecordPlace) -> RejectedRecord | None:
        return self.rows.get(record_place)

    def counts(self) -> Sequence[RejectedCount]:
        counted = Counter((row.cause, row.state) for row in self.rows.values())
        return [RejectedCount(cause, state, number, 1, 2) for (cause, state), number in counted.items()]

    def decide(self, record_place: RecordPlace, decision: Decision) -> bool:
        if self.rows[record_place].decision is not None:
            return False
        self.rows[record_place] = replace(self.rows[record_place], decision=decision)
        return True


def rejected(offset: int, value: bytes = b"{", **members: Any) -> RejectedRecord:
    """A record that could not be read."""
    given: dict[str, Any] = {
        "place": RecordPlace(0, offset), "cause": "unparseable", "detail": "not JSON", "length": len(value),
        "sha256": hashlib.sha256(value).hexdigest(), "rejected_at": NOW + offset, "value": value,
    }  # fmt: skip
    return RejectedRecord(**given | members)
