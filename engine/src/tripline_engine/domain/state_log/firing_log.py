"""The durable form of firing states: in each micro-batch those that changed; the last word on a group counts.

Like the history's segments, small runs are merged into larger ones, a bounded piece of work at a time; what can
count no more is left out then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from tripline_engine.domain.firing.firing_states import FiringRecords
from tripline_engine.domain.rules.rule_version import RuleVersionKey
from tripline_engine.domain.state_log.state_log import StateLog
from tripline_engine.domain.transactions.columns import MIN_TIME

_FAN_IN = 16
_SCHEMA = pa.schema(
    [
        ("ruleId", pa.int64()),
        ("version", pa.int64()),
        ("low", pa.uint64()),
        ("high", pa.uint64()),
        ("time", pa.int64()),
        ("held", pa.bool_()),
        ("reset", pa.int64()),
        ("alerted", pa.int64()),
    ]
)
_KEY = ["ruleId", "version", "low", "high"]
_STATE = ("low", "high", "time", "held", "reset", "alerted")
_WRITE = pa.ipc.IpcWriteOptions(compression="lz4", use_threads=False)
_READ = pa.ipc.IpcReadOptions(use_threads=False)

_GONE = (-1, 0)

Run = tuple[int, int]
"""A run's number in the log, and how often it has been merged."""


class RetentionFloor(NamedTuple):
    """The floor below which a firing state counts no more.

    :ivar first_row: the sequence number of the oldest retained transaction; older resets change nothing
    :ivar lateness_floor: ms; no older transaction is accepted any more, so cooldowns that end before it are over
    """

    first_row: int
    lateness_floor: int


class StateRetention(NamedTuple):
    """The retention of a version's firing states.

    :ivar cooldown_ms: 0 for none
    :ivar time_floor: ms; evaluations of older event times count no more
    """

    cooldown_ms: int
    time_floor: int


class FiringLog:
    """The firing states of one anchor, oldest run first."""

    def __init__(self, anchor: str, runs: list[Run], next_number: int) -> None:
        self._anchor, self.runs, self._next = anchor, runs, next_number

    @staticmethod
    def of_json(anchor: str, data: Mapping[str, Any]) -> FiringLog:
        """As ``to_json`` gave it."""
        return FiringLog(anchor, [(number, level) for number, level in data["runs"]], data["next"])

    def to_json(self) -> dict[str, Any]:
        """As stored in the head record."""
        return {"runs": self.runs, "next": self._next}

    def append(self, changed: Mapping[RuleVersionKey, FiringRecords], log: StateLog) -> None:
        """Write the states that a micro-batch, or a catch-up, has left."""
        tables = [_table(key, records) for key, records in changed.items() if len(records)]
        if tables:
            self.runs.append((self._next, 0))
            self._write(self.runs[-1], pa.concat_tables(tables), log)
            self._next += 1

    def merge(
        self,
        log: StateLog,
        held: Callable[[], Mapping[RuleVersionKey, StateRetention]],
        bounds: RetentionFloor,
    ) -> None:
        """Merge the first series of runs that is long enough, if there is one.

        What is left out was of no use in older runs either: a group's later states have later times.

        :param held: asked for the versions still held, if there is anything to merge; others' states go
        """
        first = self._mergeable()
        if first is None:
            return
        parts = self.runs[first : first + _FAN_IN]
        table = _last_words(pa.concat_tables(self._read(parts, log)))
        table = table.filter(pa.array(_counting(table, held(), bounds)))
        for part in parts:
            log.remove(self._key(part))
        merged = (parts[0][0], parts[0][1] + 1)
        self.runs[first : first + _FAN_IN] = [merged] if table.num_rows else []
        if table.num_rows:
            self._write(merged, table, log)

    def clear(self, log: StateLog) -> None:
        """Forget all states."""
        for run in self.runs:
            log.remove(self._key(run))
        self.runs = []

    def forget_rule(self, rule_id: int, log: StateLog) -> None:
        """Forget the states of all versions of a rule."""
        self._forget({"ruleId": rule_id}, log)

    def forget_group(self, key: RuleVersionKey, identity: tuple[int, int], log: StateLog) -> None:
        """Forget the state of one group under a version; its identity as (low, high)."""
        self._forget(dict(zip(_KEY, (*key, *identity), strict=True)), log)

    def _forget(self, gone: Mapping[str, int], log: StateLog) -> None:
        """Write the runs anew that have rows with these values: commands are rare."""
        kept = []
        for run in self.runs:
            (table,) = self._read([run], log)
            matches = np.ones(len(table), np.bool_)
            for name, value in gone.items():
                matches &= table.column(name).to_numpy() == value
            if matches.all():
                log.remove(self._key(run))
                continue
            kept.append(run)
            if matches.any():
                self._write(run, table.filter(pa.array(~matches)), log)
        self.runs = kept

    def read(self, log: StateLog) -> dict[RuleVersionKey, FiringRecords]:
        """The state of every group under every version."""
        if not self.runs:
            return {}
        table = _last_words(pa.concat_tables(self._read(self.runs, log)))
        columns = {name: table.column(name).to_numpy() for name in table.column_names}
        keys = np.stack([columns["ruleId"], columns["version"]], axis=1)
        tables = {}
        for rule_id, version in np.unique(keys, axis=0).tolist():
            of_version = (columns["ruleId"] == rule_id) & (columns["version"] == version)
            values = (columns[name][of_version] for name in _STATE)
            tables[(rule_id, version)] = FiringRecords(*values)
        return tables

    def _mergeable(self) -> int | None:
        levels = [level for _, level in self.runs]
        for first in range(len(levels) - _FAN_IN + 1):
            if len(set(levels[first : first + _FAN_IN])) == 1:
                return first
        return None

    def _write(self, run: Run, table: pa.Table, log: StateLog) -> None:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, _SCHEMA, options=_WRITE) as writer:
            writer.write_table(table.combine_chunks())
        log.put(self._key(run), sink.getvalue().to_pybytes())

    def _read(self, runs: Sequence[Run], log: StateLog) -> list[pa.Table]:
        keys = [self._key(run) for run in runs]
        return [_decoded(key, data) for key, data in zip(keys, log.get_all(keys), strict=True)]

    def _key(self, run: Run) -> str:
        return f"firing/{self._anchor}/{run[0]}"


def _decoded(key: str, data: bytes | None) -> pa.Table:
    if data is None:
        raise LookupError(f"{key} is missing from the state log")
    table = pa.ipc.open_stream(data, options=_READ).read_all()
    if "alerted" not in table.column_names:
        # written before there were cooldowns
        table = table.append_column("alerted", pa.array(np.full(len(table), MIN_TIME)))
    return table


def _table(key: RuleVersionKey, records: FiringRecords) -> pa.Table:
    n = len(records)
    columns = [
        np.full(n, key[0]),
        np.full(n, key[1]),
        records.low,
        records.high,
        records.time,
        records.held,
        records.reset,
        records.alerted,
    ]
    return pa.table([pa.array(column) for column in columns], schema=_SCHEMA)


def _last_words(table: pa.Table) -> pa.Table:
    """Of rows with the same rule version and group, the last."""
    keys = np.stack([table.column(name).to_numpy().view(np.int64) for name in _KEY], axis=1)[::-1]
    _, first = np.unique(keys, axis=0, return_index=True)
    return table.take(pa.array(np.sort(len(keys) - 1 - first)))


def _counting(
    table: pa.Table, versions: Mapping[RuleVersionKey, StateRetention], bounds: RetentionFloor
) -> Any:
    keys = zip(table.column("ruleId").to_pylist(), table.column("version").to_pylist(), strict=True)
    reach = np.array([versions.get(key, _GONE) for key in keys], np.int64).reshape(-1, 2)
    cooldowns = reach[:, 0]
    evaluated = table.column("time").to_numpy() >= reach[:, 1]
    reset = table.column("reset").to_numpy() >= bounds.first_row
    alerted = table.column("alerted").to_numpy()
    silenced = (alerted != MIN_TIME) & (alerted + np.maximum(cooldowns, 0) > bounds.lateness_floor)
    return (cooldowns >= 0) & (evaluated | reset | silenced)
