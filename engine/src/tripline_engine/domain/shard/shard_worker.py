"""One shard's share of one micro-batch: rule events, then ticks, then transactions, in the engine's order."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from tripline_engine.domain.memory import malloc_trim
from tripline_engine.domain.memory.file_lock import file_lock
from tripline_engine.domain.shard.batch import Batch
from tripline_engine.domain.shard.batch_output import BatchOutput
from tripline_engine.domain.shard.engine_config import EngineConfig
from tripline_engine.domain.shard.ports import Kind, OutRecord, Payload
from tripline_engine.domain.shard.projection import Projection
from tripline_engine.domain.shard.shard_tuning import DEFAULT_TUNING, ShardTuning
from tripline_engine.domain.state_log.head import Head
from tripline_engine.domain.state_log.locked_log import LockedStateLog
from tripline_engine.domain.state_log.state_log import StateLog

# A process keeps what it has attached to, by directory and shard; `Projection.attach` verifies it before every use.
Attached = dict[tuple[Path | None, int], Projection]
_attached: Attached = {}


class ShardWorker:
    """Takes one micro-batch of one shard. The state log is the truth, the projection directory a cache of it.

    Without a directory the projection is in this process's memory alone.

    :ivar counters: after `process`, what happened, by name
    """

    def __init__(
        self,
        config: EngineConfig,
        shard: int,
        log: StateLog,
        projection_dir: Path | None,
        now_ms: Callable[[], int],
        attached: Attached = _attached,
        tuning: ShardTuning = DEFAULT_TUNING,
    ) -> None:
        self._config, self._shard, self._now_ms, self._tuning = config, shard, now_ms, tuning
        self._log = LockedStateLog(log)
        self._directory = projection_dir / f"shard-{shard}" if projection_dir else None
        self._attached = attached
        self.counters: Counter[str] = Counter()

    def process(self, payloads: Sequence[Payload]) -> list[OutRecord]:
        """All output of the shard for these payloads; its state log holds all that follows from them."""
        if self._directory is None:
            return self._process(payloads, self._projection())
        with file_lock(self._directory.with_suffix(".lock")) as held:
            if held:
                return self._process(payloads, self._projection())
            # Another attempt at this shard still runs: leave its arrays alone.
            self.counters["private_copies"] += 1
            return self._process(payloads, Projection(self._config, None, self._tuning))

    def _read_head(self) -> Head:
        return Head.read(self._log, self._config.event_type, self._tuning.segments)

    def _projection(self) -> Projection:
        key = (self._directory, self._shard)
        if key not in self._attached:
            self._attached[key] = Projection(self._config, self._directory, self._tuning)
        return self._attached[key]

    def _process(self, payloads: Sequence[Payload], projection: Projection) -> list[OutRecord]:
        started, head = self._now_ms(), self._read_head()
        # An empty shard has nothing to rebuild.
        if projection.attach(head, self._log) and head.sequence > 0:
            self.counters["rebuilds"] += 1
            self.counters["rebuild_ms"] += self._now_ms() - started
        projection.begin()
        head.sequence, head.nonce = head.sequence + 1, secrets.randbits(62)
        output = BatchOutput(self._config, self._shard, self._now_ms(), self.counters)
        Batch(output, head, projection, self._log).run(payloads)
        head.write(self._log)
        projection.finish(head)
        if any(payload.kind == Kind.TICK for payload in payloads):
            shrunk = projection.shrink(head, self._log)
            if shrunk:
                malloc_trim.trim_allocators()
            self.counters["shrinks"] += shrunk
        self.counters["history_rows"] = projection.rows
        self.counters["history_bytes"] = projection.bytes
        self.counters["rule_position"] = projection.book.position
        self.counters["rule_waiting"] = int(projection.book.is_waiting)
        running = [rule for rule in projection.book.rules.values() if not rule.paused]
        self.counters["active_rules"] = len(running)
        self.counters["shadows"] = sum(rule.shadow is not None for rule in running)
        return output.records
