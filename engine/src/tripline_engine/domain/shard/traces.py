"""The trace of a rule: each of its evaluations as a record for people who look on.

Traces must never stall the stream. So at most MAX_RECORDS are made of one micro-batch in a shard, the first ones
in the order of acceptance, and values are only computed for those. The others are counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tripline_contracts.event_type import SIDE, EventType
from tripline_contracts.rules.grouping_keys import group_of
from tripline_engine.domain.judging.condition_tree import WeighedRows
from tripline_engine.domain.judging.readings import MeasureReading, RuleReading
from tripline_engine.domain.judging.trace_sample import MAX_RECORDS, TraceSample
from tripline_engine.domain.rules.threshold import Matches
from tripline_engine.domain.shard.alert_json import weighed_json
from tripline_engine.domain.transactions.columns import TransactionBatch
from tripline_engine.domain.transactions.transaction_json import transaction_json

# The engine's order of the transactions of a micro-batch.
_ORDER: Final = ("runningMax", "partition", "offset")


@dataclass(frozen=True, slots=True)
class _Held:
    """What holds of one version, for the rows judged together.

    :ivar satisfied: bool, by condition and row
    :ivar holds: bool, by row: where the rule does
    :ivar weighed: by weighting, in the order of the tree
    """

    satisfied: list[Matches]
    holds: Matches
    weighed: list[WeighedRows]


class TraceCollector:
    """Gathers the traces of one micro-batch from the anchors of a shard; ``now`` is in ms."""

    def __init__(self, event_type: EventType, now: int) -> None:
        self._event_type, self._now = event_type, now
        self._evaluations = 0
        self._ordered: list[tuple[tuple[int, ...], dict[str, Any]]] = []

    def add(self, rows: TransactionBatch, samples: Sequence[TraceSample], row_type: EventType) -> None:
        """Add the traced evaluations of these rows, of that type, while their history can still be read."""
        if not any(sample.evaluations for sample in samples):
            return
        self._evaluations += sum(sample.evaluations for sample in samples)
        indices = np.concatenate([sample.rows for sample in samples])
        owners = np.repeat(np.arange(len(samples)), [len(sample.rows) for sample in samples])
        rules = np.array([sample.reading.version.rule_id for sample in samples], np.int64)
        first = np.lexsort((rules[owners], indices))[:MAX_RECORDS]
        transactions = _transactions(rows, indices[first], row_type)
        held: dict[int, _Held] = {}
        for index, owner, transaction in zip(
            indices[first].tolist(), owners[first].tolist(), transactions, strict=True
        ):
            sample = samples[owner]
            if owner not in held:
                held[owner] = _held(sample.reading)
            trace = self._trace(sample, index, held[owner], transaction, row_type)
            order = (*(transaction[name] for name in _ORDER), sample.reading.version.rule_id)
            self._ordered.append((order, trace))

    def records(self) -> list[dict[str, Any]]:
        """The records to write, as rule-traces.v1 carries them, in the order of acceptance."""
        return [trace for _, trace in sorted(self._ordered, key=lambda entry: entry[0])[:MAX_RECORDS]]

    @property
    def omitted(self) -> int:
        """The number of evaluations beyond MAX_RECORDS, which are not written."""
        return max(0, self._evaluations - MAX_RECORDS)

    def _trace(
        self,
        sample: TraceSample,
        row: int,
        held: _Held,
        transaction: Mapping[str, Any],
        row_type: EventType,
    ) -> dict[str, Any]:
        reading, version = sample.reading, sample.reading.version
        time = transaction[self._event_type.time_field.name]
        fields = transaction_json(transaction, row_type)
        is_entry = row_type.party(version.anchor) is not None
        return {
            "ruleId": version.rule_id,
            "version": version.version,
            "transactionId": transaction[self._event_type.id_field.name],
            "eventTime": time,
            "recordTime": transaction["recordTime"],
            "partition": transaction["partition"],
            "offset": transaction["offset"],
            "group": group_of(version.definition.grouping_key_names, fields),
            **({SIDE: fields[SIDE]} if is_entry else {}),
            "windowStart": version.window_start(time),
            "windowEnd": time,
            **_values(reading, row, held),
            "holds": bool(held.holds[row]),
            "alerted": bool(sample.fired[row]),
            "late": bool(sample.late[row]),
            **({} if sample.cooled is None else {"cooled": bool(sample.cooled[row])}),
            "judgedAt": self._now,
        }


def _transactions(
    rows: TransactionBatch, indices: npt.NDArray[np.int64], row_type: EventType
) -> list[dict[str, Any]]:
    names = [field.name for field in row_type.fields]
    table = rows.table.select([*names, "recordTime", *_ORDER])
    transactions: list[dict[str, Any]] = table.take(pa.array(indices)).to_pylist()
    return transactions


def _held(reading: RuleReading) -> _Held:
    satisfied = [measure.satisfied() for measure in reading.measures]
    return _Held(satisfied, reading.combine(satisfied), reading.weighed(satisfied))


def _values(reading: RuleReading, row: int, held: _Held) -> dict[str, Any]:
    """The measured part of a trace: one value, or a list of conditions and what their weights came to."""
    if not reading.version.chained:
        return _value(reading.measures[0], row)
    conditions = [
        {**_value(measure, row), "holds": bool(holds[row])}
        for measure, holds in zip(reading.measures, held.satisfied, strict=True)
    ]
    nothing = {"value": None, "contributingCount": 0, "limit": None, "limitOperatorType": None}
    weighed = [rows.of_row(row, reading.numbers) for rows in held.weighed]
    return {**nothing, "conditions": conditions, **weighed_json(weighed)}


def _value(reading: MeasureReading, row: int) -> dict[str, Any]:
    return {
        "value": reading.value(row),
        "contributingCount": reading.count(row),
        "limit": reading.limit(row),
        "limitOperatorType": reading.measure.condition.operator,
    }
