"""The trace of a rule: each of its evaluations as a record for people who look on.

It must never hold up the stream. So no more than so many records are made of one micro-batch in a shard, the first
in the order of acceptance, and values are only worked out of those. What is left out is counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tripline_contracts.event_type import EventType
from tripline_engine.domain.judging.readings import MeasureReading, RuleReading
from tripline_engine.domain.judging.trace_sample import MAX_RECORDS, TraceSample
from tripline_engine.domain.transactions.columns import TransactionBatch
from tripline_engine.domain.transactions.transaction_json import transaction_json

# The engine's order of the transactions of a micro-batch.
_ORDER: Final = ("runningMax", "partition", "offset")


class TraceCollector:
    """Gathers the traces of one micro-batch from the anchors of a shard; ``now`` is in ms."""

    def __init__(self, event_type: EventType, now: int) -> None:
        self._event_type, self._now = event_type, now
        self._found = 0
        self._noted: list[tuple[tuple[int, ...], dict[str, Any]]] = []

    def note(self, rows: TransactionBatch, watched: Sequence[TraceSample]) -> None:
        """Take in what was watched of these rows, while their history can still be read."""
        if not any(each.found for each in watched):
            return
        self._found += sum(each.found for each in watched)
        places = np.concatenate([each.rows for each in watched])
        owners = np.repeat(np.arange(len(watched)), [len(each.rows) for each in watched])
        rules = np.array([each.reading.version.rule_id for each in watched], np.int64)
        first = np.lexsort((rules[owners], places))[:MAX_RECORDS]
        transactions = self._transactions(rows, places[first])
        holds: dict[int, list[npt.NDArray[np.bool_]]] = {}
        for place, owner, transaction in zip(
            places[first].tolist(), owners[first].tolist(), transactions, strict=True
        ):
            each = watched[owner]
            if owner not in holds:
                holds[owner] = [part.hits() for part in each.reading.parts]
            trace = self._trace(each, place, holds[owner], transaction)
            order = (*(transaction[name] for name in _ORDER), each.reading.version.rule_id)
            self._noted.append((order, trace))

    def told(self) -> list[dict[str, Any]]:
        """The records to write, as rule-traces.v1 carries them, in the order of acceptance."""
        return [trace for _, trace in sorted(self._noted, key=lambda noted: noted[0])[:MAX_RECORDS]]

    @property
    def omitted(self) -> int:
        """How many evaluations will not be told."""
        return max(0, self._found - MAX_RECORDS)

    def _transactions(self, rows: TransactionBatch, places: npt.NDArray[np.int64]) -> list[dict[str, Any]]:
        names = [field.name for field in self._event_type.fields]
        table = rows.table.select([*names, "recordTime", *_ORDER])
        found: list[dict[str, Any]] = table.take(pa.array(places)).to_pylist()
        return found

    def _trace(
        self,
        watched: TraceSample,
        row: int,
        hits: list[npt.NDArray[np.bool_]],
        transaction: Mapping[str, Any],
    ) -> dict[str, Any]:
        reading, version = watched.reading, watched.reading.version
        time = transaction[self._event_type.time_field.name]
        fields = transaction_json(transaction, self._event_type)
        return {
            "ruleId": version.rule_id,
            "version": version.version,
            "transactionId": transaction[self._event_type.id_field.name],
            "eventTime": time,
            "recordTime": transaction["recordTime"],
            "partition": transaction["partition"],
            "offset": transaction["offset"],
            "group": {name: fields[name] for name in version.definition.grouping_key_names},
            "windowStart": version.window_start(time),
            "windowEnd": time,
            **_values(reading, row, hits),
            "holds": bool(reading.together(hits)[row]),
            "alerted": bool(watched.fired[row]),
            "late": bool(watched.late[row]),
            "judgedAt": self._now,
        }


def _values(reading: RuleReading, row: int, hits: list[npt.NDArray[np.bool_]]) -> dict[str, Any]:
    """What was measured: one value, or a list of conditions."""
    if not reading.version.chained:
        return _value(reading.parts[0], row)
    conditions = [
        {**_value(part, row), "holds": bool(held[row])}
        for part, held in zip(reading.parts, hits, strict=True)
    ]
    nothing = {"value": None, "contributingCount": 0, "limit": None, "limitOperatorType": None}
    return {**nothing, "conditions": conditions}


def _value(part: MeasureReading, row: int) -> dict[str, Any]:
    return {
        "value": part.value(row),
        "contributingCount": part.count(row),
        "limit": part.limit(row),
        "limitOperatorType": part.part.condition.operator,
    }
