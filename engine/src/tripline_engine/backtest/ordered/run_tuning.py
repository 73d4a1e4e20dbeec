"""How shards judge runs: once, and with nothing remembered that no row of theirs asks for."""

from __future__ import annotations

import secrets
from typing import Final

import numpy as np

from tripline_contracts.event_type import EventType
from tripline_engine.backtest.ordered.event_runs import EventRuns
from tripline_engine.domain.shard.shard_tuning import ShardTuning, in_one_pass
from tripline_engine.domain.transactions.columns import texts_of
from tripline_engine.domain.transactions.hash_key import HashKey

_MOST_LOOKED_AT: Final = 1 << 27
"""Ids, of which a gigabyte is held while they are looked at; with more of them those that come are remembered."""


def for_runs(tuning: ShardTuning, runs: EventRuns, event_type: EventType) -> ShardTuning:
    """For shards that get these transactions, and no others."""
    return in_one_pass(tuning, ids_are_distinct=ids_are_distinct(runs, event_type))


def ids_are_distinct(runs: EventRuns, event_type: EventType) -> bool:
    """Whether no two transactions have the same id. Takes nine bytes for each while it looks.

    False, too, where there are too many to look at, or where two look alike by 64 bits of a keyed hash: then they are
    remembered, and told apart.
    """
    if len(runs) > _MOST_LOOKED_AT:
        return False
    key = HashKey(secrets.randbits(64), secrets.randbits(64))
    hashes, filled = np.empty(len(runs), np.uint64), 0
    for column in runs.columns(event_type.id_field.name):
        hashes[filled : filled + len(column)], _ = key.of(texts_of(column))
        filled += len(column)
    hashes.sort()
    return not (hashes[1:] == hashes[:-1]).any()
