"""Random histories as files, and what the oracle says of them: each transaction came when it happened."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.oracle.generators.profile import Profile
from tests.oracle.histories.random_history import random_history
from tests.oracle.parsers.named_values import ListChanged, ListEntriesChanged, ParameterChanged
from tests.oracle.parsers.rule_events import read_events
from tests.oracle.parsers.transactions import Transaction, read_transaction
from tests.oracle.state.rule_book import RuleBook
from tests.oracle.values.errors import Unreadable
from tests.oracle.values.event_types import current_type
from tests.oracle.values.model import MicroBatch
from tests.oracle.values.model import Record as OracleRecord
from tests.unit.engine.backtest.test_backtest import definitions, some_span, tried
from tests.unit.engine.backtest.test_known_today import published
from tests.unit.engine.support.shard_harness import TRANSACTION
from tripline_contracts.recordings.mapping_reader import read_mapping
from tripline_engine.backtest.ordered.file_history import Files
from tripline_engine.backtest.tried_rules import TriedRule
from tripline_engine.certificate.span import Span
from tripline_engine.kafka_log.record import Record

SCHEMA = pa.schema(
    [
        ("transactionId", pa.string()),
        ("eventTime", pa.int64()),
        ("payeeId", pa.string()),
        ("beneficiaryId", pa.string()),
        ("paymentAmount", pa.decimal128(24, 6)),
        ("paymentType", pa.string()),
        ("ingestionTimestamp", pa.int64()),
    ]
)
_NAMED = (ListChanged, ListEntriesChanged, ParameterChanged)


@dataclass(frozen=True, slots=True)
class FileHistory:
    """What is tried over which files."""

    rules: list[TriedRule]
    span: Span
    files: Files
    batches: list[MicroBatch]
    transactions: list[Transaction]

    def in_order(self) -> list[MicroBatch]:
        """The same as records in the order of their event times, for the oracle, with the first rule alone."""
        book, kept = RuleBook(current_type().anchors), [published(self.rules[0], self.span)]
        events = [(raw, read_events([raw])[0]) for one in self.batches for raw in one.rule_events]
        for raw, [event] in sorted(
            (pair for pair in events if pair[1]), key=lambda pair: pair[1][0].position
        ):
            if book.take(event) and isinstance(event.content, _NAMED):
                kept.append(json.dumps({**json.loads(raw), "position": len(kept) + 1}).encode())
        rows = sorted(enumerate(self.transactions), key=lambda row: (row[1].event_time, row[0]))
        records = tuple(
            OracleRecord(0, offset, one.event_time, json.dumps(row_of(one), default=str).encode())
            for offset, (_, one) in enumerate(rows)
        )
        ticks = (json.dumps({"clock": records[0].record_time}).encode(),) if records else ()
        return [MicroBatch(tuple(kept), ticks, records)]


def file_history(seed: int, profile: Profile, folder: Path, rules: int = 1) -> FileHistory:
    """One drawn by the seed, in one Parquet file or two, of several row groups; of odd seeds each id comes once."""
    batches, rng = random_history(seed, profile), Random(seed)
    choice = list(definitions(batches))
    drawn = [tried(rng.choice(choice), 900_001 + number) for number in range(rules)]
    transactions = list(readable(batches))
    if seed % 2:
        transactions = list({one.transaction_id: one for one in reversed(transactions)}.values())[::-1]
    paths = []
    cut = rng.randrange(len(transactions) + 1)
    for number, part in enumerate([transactions[:cut], transactions[cut:]]):
        path = folder / f"history-{seed}-{number}.parquet"
        write(path, [row_of(one) for one in part], rng.choice([3, 20, 1000]))
        paths.append(path)
    named = [
        Record(0, offset, 0, None, raw, ())
        for offset, raw in enumerate(raw for one in batches for raw in one.rule_events)
    ]
    return FileHistory(drawn, some_span(batches, rng), Files(paths, None, named), batches, transactions)


def readable(batches: Sequence[MicroBatch]) -> list[Transaction]:
    """All that can be read as transactions, in the order in which they came."""
    transactions = []
    for record in (record for one in batches for record in one.records):
        try:
            transactions.append(read_transaction(record))
        except Unreadable:
            continue
    return transactions


def row_of(one: Transaction) -> dict[str, Any]:
    """As a file has it."""
    return {
        "transactionId": one.transaction_id,
        "eventTime": one.event_time,
        **{name: one.keys[name] for name in ("payeeId", "beneficiaryId", "paymentType")},
        "paymentAmount": Decimal(one.amount).scaleb(-6),
        "ingestionTimestamp": one.ingestion,
    }


def write(path: Path, rows: Sequence[dict[str, Any]], group: int) -> None:
    """As Parquet, with so many rows in a row group."""
    pq.write_table(pa.Table.from_pylist(list(rows), SCHEMA), path, row_group_size=group)


def mapped(text: str | None) -> Any:
    """A mapping's text as a mapping."""
    return None if text is None else read_mapping(text, TRANSACTION)
