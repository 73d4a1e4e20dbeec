"""Alerts of a backtest as a Parquet file."""

from __future__ import annotations

import json
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import pyarrow as pa
import pyarrow.parquet as pq

from tripline_contracts.event_type import EventType
from tripline_engine.backtest.tally import group_text
from tripline_engine.certificate.span_alert import SpanAlert

_ROWS: Final = 10_000
_SCHEMA: Final = pa.schema(
    [
        ("alertId", pa.string()),
        ("ruleId", pa.int64()),
        ("ruleName", pa.string()),
        ("group", pa.string()),
        ("transactionId", pa.string()),
        ("eventTime", pa.timestamp("ms", "UTC")),
        ("value", pa.string()),
        ("alert", pa.string()),
    ]
)


class AlertTable:
    """Writes alerts: columns to look at, and the whole alert as alerts.v1 would carry it, as JSON text.

    `value` is null for a rule with several conditions. Of more than `most` alerts only the first ones.
    """

    def __init__(self, file: Path, event_type: EventType, most: int | None = None) -> None:
        self._id_field, self._room = event_type.id_field.name, most
        self._writer = pq.ParquetWriter(file, _SCHEMA)
        self._rows: list[dict[str, Any]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._flush()
        self._writer.close()

    def take(self, alert: SpanAlert) -> None:
        """Adds one, while there is room."""
        if self._room is not None:
            if not self._room:
                return
            self._room -= 1
        told = alert.alert
        self._rows.append(
            {
                "alertId": alert.alert_id,
                "ruleId": told["ruleId"],
                "ruleName": told["ruleName"],
                "group": group_text(told),
                "transactionId": told["transaction"][self._id_field],
                "eventTime": alert.event_time,
                "value": told.get("value"),
                "alert": json.dumps(told, ensure_ascii=False),
            }
        )
        if len(self._rows) >= _ROWS:
            self._flush()

    def _flush(self) -> None:
        if self._rows:
            self._writer.write_table(pa.Table.from_pylist(self._rows, _SCHEMA))
            self._rows = []
