"""The durable identity of a group, computed for groups that may have no transaction yet."""

from __future__ import annotations

import pyarrow as pa

from tripline_contracts import decimals
from tripline_contracts.control_commands import Group
from tripline_engine.domain.groups.populations import open_groups
from tripline_engine.domain.history.history import History
from tripline_engine.domain.history.row_filter import FilterCompiler
from tripline_engine.domain.memory.arena import HeapArena
from tripline_engine.domain.transactions.columns import TransactionBatch, segment_schema


def group_identity(group: Group, compiler: FilterCompiler) -> tuple[int, int]:
    """The group's 128 bits as (low, high): those that one transaction of the group gets in a history of its own."""
    event_type, values = compiler.event_type, dict(group)
    schema = segment_schema(event_type)
    columns = [pa.array([_value(values.get(field.name), field.type)], field.type) for field in schema]
    arena = HeapArena()
    history = History(arena, "scratch", event_type, compiler.key)
    history.append(TransactionBatch.of(pa.table(columns, schema=schema), event_type))
    fields = tuple(name for name, _ in group)
    groups = open_groups(arena, history, fields, compiler)
    groups.enter(0, 1)
    slot = groups.slots[0]
    return int(groups.table.key_low[slot]), int(groups.table.key_high[slot])


def _value(text: str | None, kind: pa.DataType) -> object:
    """The field's value; any value of its type where the group does not name the field."""
    if pa.types.is_integer(kind):
        return 0
    return decimals.parse(text or "0") if pa.types.is_decimal(kind) else text or ""
