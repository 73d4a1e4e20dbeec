"""Occasions: transactions at which rules fired whose alerts are counted alone, each told once for all of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from tripline_contracts.event_type import EventType
from tripline_contracts.rules.grouping_keys import group_of
from tripline_engine.domain.memory.array_types import Int64Array
from tripline_engine.domain.rules.rule_version import RuleVersion
from tripline_engine.domain.transactions.columns import TransactionBatch
from tripline_engine.domain.transactions.transaction_json import transactions_json


class Fired(NamedTuple):
    """A version, and the numbers of the transactions of a batch at which it fired."""

    version: RuleVersion
    rows: Int64Array


class Occasion(msgspec.Struct, frozen=True, array_like=True):
    """A transaction at which rules with the same group fired.

    :ivar event_time: the transaction's (ms)
    """

    group: dict[str, Any]
    transaction_id: str
    event_time: int
    rule_ids: tuple[int, ...]


def occasions_of(
    rows: TransactionBatch, fired: Sequence[Fired], row_type: EventType, event_type: EventType
) -> list[Occasion]:
    """Those among the rows, which are of that type, in their order."""
    by_group: defaultdict[tuple[int, tuple[str, ...]], list[int]] = defaultdict(list)
    for version, numbers in fired:
        for i in numbers.tolist():
            by_group[i, version.definition.grouping_key_names].append(version.rule_id)
    told = transactions_json(rows, sorted({i for i, _ in by_group}), row_type)
    id_field, time_field = event_type.id_field.name, event_type.time_field.name
    return [
        Occasion(
            group_of(keys, told[i]), told[i][id_field], told[i][time_field], tuple(sorted(by_group[i, keys]))
        )
        for i, keys in sorted(by_group)
    ]
