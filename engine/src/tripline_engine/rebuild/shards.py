"""All shards of an engine in this process: the stream's evaluator over state logs in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from tripline_engine.domain.shard.engine_config import EngineConfig
from tripline_engine.domain.shard.ports import OutRecord, Payload
from tripline_engine.domain.shard.shard_tuning import DEFAULT_TUNING, ShardTuning
from tripline_engine.domain.shard.shard_worker import Attached, ShardWorker
from tripline_engine.domain.state_log.memory_log import MemoryLog


class Shards:
    """Evaluators of all shards; micro-batches go in one after the other.

    :ivar counters: by shard, of the last micro-batch; none of a shard that was skipped
    """

    def __init__(
        self, config: EngineConfig, now_ms: Callable[[], int], tuning: ShardTuning = DEFAULT_TUNING
    ) -> None:
        self._config, self._now_ms, self._tuning = config, now_ms, tuning
        self._logs = [MemoryLog() for _ in range(config.shards)]
        self._attached: Attached = {}
        self.counters: dict[int, Counter[str]] = {}

    def take(self, payloads: Sequence[Sequence[Payload]], *, on_demand: bool = True) -> list[OutRecord]:
        """Output of a micro-batch, in the order of shards. A shard without payloads is skipped; so are the last ones,
        where there are payloads of the first ones only.

        :param on_demand: whether anchors are kept where rules need them, or always
        """
        config = replace(self._config, anchors_on_demand=on_demand)
        records: list[OutRecord] = []
        self.counters = {}
        for shard, shard_payloads in enumerate(payloads):
            if shard_payloads:
                worker = self._worker(config, shard)
                records += worker.process(shard_payloads)
                self.counters[shard] = worker.counters
        return records

    def state(self, shard: int) -> Iterator[tuple[str, bytes]]:
        """The state log of a shard."""
        return self._logs[shard].items()

    def _worker(self, config: EngineConfig, shard: int) -> ShardWorker:
        return ShardWorker(config, shard, self._logs[shard], None, self._now_ms, self._attached, self._tuning)
