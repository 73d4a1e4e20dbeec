"""Replay of the recorded micro-batches through the evaluator."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tripline_engine.domain.shard.engine_config import EngineConfig
from tripline_engine.domain.shard.ports import OutRecord
from tripline_engine.errors import OrderBroken
from tripline_engine.rebuild.inputs import ReplayInputs
from tripline_engine.rebuild.journals import Journals
from tripline_engine.rebuild.payloads import PayloadPacker
from tripline_engine.rebuild.progress import Progress
from tripline_engine.rebuild.recorded_order import RecordedBatch, order_of, read_recorded
from tripline_engine.rebuild.shards import Shards
from tripline_engine.rebuild.survey import Survey, all_records
from tripline_engine.topic_names import ORDER


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
    inputs, packer, shards = ReplayInputs(journals, available), PayloadPacker(config), Shards(config, now_ms)
    output: list[OutRecord] = []
    for recorded in order_of(survey.last.engine, all_records(journals[ORDER])):
        if recorded.sequence > survey.last.sequence:
            raise OrderBroken(
                f"engine {recorded.engine} is running: it has recorded micro-batch {recorded.sequence} meanwhile"
            )
        batch = inputs.batch(recorded)
        output = shards.take(packer.of(batch), on_demand=recorded.needed is not None)
        _compare(recorded, output)
        progress.batch_done(len(batch.transactions))
    return shards, output


def _compare(recorded: RecordedBatch, output: list[OutRecord]) -> None:
    replayed = [read_recorded(record.value) for record in output if record.topic == ORDER]
    if [batch.judged() for batch in replayed if batch] != [recorded.judged()]:
        raise OrderBroken(f"micro-batch {recorded.sequence} was recorded as {recorded} and is now {replayed}")
