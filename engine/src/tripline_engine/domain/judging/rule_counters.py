"""Counters of each rule beside its alerts: transactions that it evaluated, and those it left out, by reason.

Counted by rule, over all its versions, among the transactions that pass the filter of the version in force.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from tripline_engine.domain.groups.groups import NULL_GROUP, Groups
from tripline_engine.domain.groups.populations import open_group_lists, open_groups
from tripline_engine.domain.history.history import History
from tripline_engine.domain.history.row_filter import FilterCompiler
from tripline_engine.domain.memory.arena import HeapArena
from tripline_engine.domain.rules.measures import Population
from tripline_engine.domain.rules.rule_version import JudgingVersion
from tripline_engine.domain.transactions.columns import TransactionBatch

# After every change of a named list: they count with the values that hold at their arrival.
_NOW = 2**62


def rule_counter(rule_id: int, name: str) -> str:
    """The counter's name among all counters of a shard."""
    return f"rule_{name}:{rule_id}"


def incomplete(rows: TransactionBatch) -> npt.NDArray[np.bool_]:
    """The rows with a null among their texts (bool, n): of others no field of any grouping is null."""
    nulls = np.zeros(len(rows), np.bool_)
    for texts in rows.texts.values():
        nulls |= ~texts.present
    return nulls


def null_groups(
    rows: TransactionBatch, judging: Iterable[JudgingVersion], compiler: FilterCompiler
) -> Counter[str]:
    """Transactions left out because a field of the grouping is null, by rule; `rows` are incomplete ones."""
    return _count("null_groups", rows, judging, compiler) if len(rows) else Counter()


def duplicates(
    rows: TransactionBatch, judging: Iterable[JudgingVersion], compiler: FilterCompiler
) -> Counter[str]:
    """Of these duplicates, those that a rule would have evaluated, by rule."""
    return _count("duplicates", rows, judging, compiler) if len(rows) else Counter()


def _count(
    name: str, rows: TransactionBatch, judging: Iterable[JudgingVersion], compiler: FilterCompiler
) -> Counter[str]:
    """Look at rows that no history holds: in a history of their own."""
    arena = HeapArena()
    history = History(arena, "apart", compiler.event_type, compiler.key)
    history.offset = _NOW
    history.append(rows)
    groups: dict[tuple[str, ...], Groups] = {}
    slots: dict[Population, npt.NDArray[np.int32]] = {}
    counts: Counter[str] = Counter()
    for version, since, until in judging:
        population = version.population
        if population not in slots:
            if population.fields not in groups:
                groups[population.fields] = open_groups(arena, history, population.fields, compiler)
                groups[population.fields].enter(0, len(rows))
            links = open_group_lists(arena, history, population, compiler, groups[population.fields])
            links.link(0, len(rows))
            slots[population] = links.slots[: len(rows)].copy()
        slots_of_rows = slots[population]
        wanted = slots_of_rows == NULL_GROUP if name == "null_groups" else slots_of_rows >= 0
        counts[rule_counter(version.rule_id, name)] += int(
            (wanted & (rows.time >= since) & (rows.time < until)).sum()
        )
    return +counts
