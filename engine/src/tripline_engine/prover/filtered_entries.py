"""Entries of one transaction that the filter of a rule by a party leaves out.

What is counted of a rule is counted of both sides together: so it can't say which of two entries without an evaluation
was a duplicate, say, and which would have triggered nothing anyway.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from tripline_contracts.event_type import SIDE
from tripline_engine.domain.history.row_filter import FilterCompiler
from tripline_engine.domain.judging.rule_counters import duplicates, null_groups
from tripline_engine.domain.rules.rule_book import RuleBook
from tripline_engine.domain.rules.rule_version import RuleVersion
from tripline_engine.domain.shard.engine_config import EngineConfig
from tripline_engine.domain.shard.ports import Payload
from tripline_engine.domain.transactions.columns import TransactionBatch
from tripline_engine.domain.transactions.entries import all_entries, rows_type
from tripline_engine.domain.transactions.hash_key import HashKey

_EVER = 2**62


class FilteredEntries:
    """The entries of the transaction that the payloads hold, with the named values of a rule book."""

    def __init__(self, payloads: Sequence[Payload], book: RuleBook, config: EngineConfig) -> None:
        self._book, self._config = book, config
        table = pa.concat_tables(pa.ipc.open_stream(payload.data).read_all() for payload in payloads)
        self._rows = TransactionBatch.of(table, config.event_type)

    def of(self, version: RuleVersion) -> Iterator[str]:
        """The sides whose entries the version's filter leaves out; none unless it groups by a party."""
        event_type, anchor = self._config.event_type, version.anchor
        party = event_type.party(anchor)
        if party is None:
            return
        row_type, key = rows_type(event_type, anchor), HashKey(*self._config.hash_key)
        compiler = FilterCompiler(row_type, key, self._book.named, anchor)
        entries, judging = all_entries(self._rows, party, event_type), [(version, 0, _EVER)]
        for side in party.side_names:
            entry = entries.filter(pc.equal(entries.table.column(SIDE), side).to_numpy(), row_type)
            # each counts what passes the filter: with all fields of the grouping, and with a null among them
            passing = duplicates(entry, judging, compiler) + null_groups(entry, judging, compiler)
            if not passing.total():
                yield side
