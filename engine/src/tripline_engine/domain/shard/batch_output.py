"""The output of one micro-batch in one shard: Kafka records, and counters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from tripline_contracts.event_type import EventType
from tripline_engine.domain.firing.occasion import Fired, occasions_of
from tripline_engine.domain.judging.verdict import Verdict
from tripline_engine.domain.rules.rule_version import Rule, RuleVersion
from tripline_engine.domain.shard.alert_json import alert_json, ingested_at
from tripline_engine.domain.shard.engine_config import EngineConfig
from tripline_engine.domain.shard.kafka_records import alert_record
from tripline_engine.domain.shard.ports import OCCASIONS, OutRecord
from tripline_engine.domain.transactions.columns import TransactionBatch
from tripline_engine.domain.transactions.transaction_json import transactions_json


class BatchOutput:
    """Gathers records and counts; ``now`` (ms) is the time of detection.

    :ivar records: in the order in which they are to be written
    :ivar counters: what happened, by name
    """

    def __init__(self, config: EngineConfig, shard: int, now: int, counters: Counter[str]) -> None:
        self.config, self.shard, self.now, self.counters = config, shard, now, counters
        self.records: list[OutRecord] = []

    def raise_alerts(
        self,
        rows: TransactionBatch,
        verdicts: Sequence[Verdict],
        row_type: EventType,
        rules: Mapping[int, Rule],
    ) -> None:
        """Alerts for transactions among the rows, which are of that type; those from history bring their own.

        :param rules: by id, as they are now
        """
        triggering = sorted({verdict.row for verdict in verdicts if verdict.partial is None})
        transactions = transactions_json(rows, triggering, row_type)
        ingestion = self.config.event_type.ingestion_field
        for verdict in _in_order(verdicts):
            shadow = rules[verdict.version.rule_id].shadow
            if verdict.partial is not None:
                self._alert(verdict, verdict.partial, None, shadow)
                continue
            transaction, record_time = transactions[verdict.row], int(rows.record_time[verdict.row])
            ingested = ingested_at(transaction, record_time, ingestion)
            self._alert(verdict, transaction, ingested, shadow)

    def tell_occasions(self, rows: TransactionBatch, fired: Sequence[Fired], row_type: EventType) -> None:
        """Of the rows, which are of that type, those at which rules fired whose alerts are counted alone."""
        for occasion in occasions_of(rows, fired, row_type, self.config.event_type):
            self.records.append(OutRecord(OCCASIONS, None, msgspec.json.encode(occasion), ()))

    def raise_history_alerts(self, verdicts: Sequence[Verdict]) -> None:
        """Alerts for transactions that history alone knows, of a new definition: beside it no shadow runs."""
        for verdict in _in_order(verdicts):
            assert verdict.partial is not None
            self._alert(verdict, verdict.partial, None, None)

    def _alert(
        self,
        verdict: Verdict,
        transaction: Mapping[str, Any],
        ingested: int | None,
        shadow: RuleVersion | None,
    ) -> None:
        alert = alert_json(verdict, transaction, self.config.event_type, ingested, self.now, shadow)
        self.records.append(alert_record(alert))


def _in_order(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """By the transactions that brought them about, then by rule; what was re-evaluated after them, by event time."""
    return sorted(verdicts, key=lambda verdict: (verdict.row, verdict.version.rule_id, verdict.again or 0))
