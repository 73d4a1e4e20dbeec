"""Replay of the recorded micro-batches through the evaluator."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from tripline_engine.domain.shard.engine_config import EngineConfig
from tripline_engine.domain.shard.ports import OutRecord
from tripline_engine.errors import OrderBroken
from tripline_engine.rebuild.inputs import ReplayBatch, ReplayInputs
from tripline_engine.rebuild.journals import Journals
from tripline_engine.rebuild.payloads import PayloadPacker
from tripline_engine.rebuild.progress import Progress
from tripline_engine.rebuild.recorded_order import RecordedBatch, order_of, read_recorded
from tripline_engine.rebuild.shards import Shards
from tripline_engine.rebuild.survey import Survey, all_records
from tripline_engine.topic_names import ORDER


@dataclass(frozen=True, slots=True)
class Replayed:
    """A micro-batch that was replayed: what it read, and what came of it."""

    batch: ReplayBatch
    output: list[OutRecord]

    @property
    def sequence(self) -> int:
        """Its number in the order."""
        return self.batch.recorded.sequence


def replayed(
    journals: Journals, engine: str, available: Mapping[int, int], shards: Shards, packer: PayloadPacker
) -> Iterator[Replayed]:
    """The recorded micro-batches of one engine, each as soon as it is replayed.

    Raises OrderBroken if an order record comes out otherwise than it was recorded; RecordsMissing if records have been
    deleted since the survey.
    """
    inputs = ReplayInputs(journals, available)
    for recorded in order_of(engine, all_records(journals[ORDER])):
        batch = inputs.batch(recorded)
        output = shards.take(packer.of(batch), on_demand=recorded.needed is not None)
        _compare(recorded, output)
        yield Replayed(batch, output)


def replay(
    journals: Journals,
    survey: Survey,
    available: Mapping[int, int],
    config: EngineConfig,
    now_ms: Callable[[], int],
    progress: Progress,
) -> tuple[Shards, list[OutRecord]]:
    """The shards after the last recorded micro-batch, and their output of that one.

    Raises OrderBroken if an order record comes out otherwise than it was recorded, or if the engine is still running;
    RecordsMissing if records have been deleted since the survey.
    """
    shards, engine = Shards(config, now_ms), survey.last.engine
    output: list[OutRecord] = []
    for step in replayed(journals, engine, available, shards, PayloadPacker(config)):
        if step.sequence > survey.last.sequence:
            raise OrderBroken(
                f"engine {engine} is running: it has recorded micro-batch {step.sequence} meanwhile"
            )
        output = step.output
        progress.batch_done(len(step.batch.transactions))
    return shards, output


def _compare(recorded: RecordedBatch, output: list[OutRecord]) -> None:
    replayed = [read_recorded(record.value) for record in output if record.topic == ORDER]
    if [batch.judged() for batch in replayed if batch] != [recorded.judged()]:
        raise OrderBroken(f"micro-batch {recorded.sequence} was recorded as {recorded} and is now {replayed}")
