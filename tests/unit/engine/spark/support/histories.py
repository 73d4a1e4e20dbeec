"""Random histories for a whole engine without Spark, whatever it says: what matters is all that it comes to."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import pyarrow as pa

from tests.oracle.generators.profile import (
    EVERYTHING,
    EVERYTHING_AND_ENTRIES,
    EVERYTHING_AND_MEASURES,
    EVERYTHING_AND_ORDER,
    EVERYTHING_AND_STEPS,
    Profile,
)
from tests.oracle.histories.random_history import random_history
from tests.oracle.values.model import MicroBatch
from tests.unit.engine.spark.support.raw_records import batch
from tests.unit.engine.support.shard_harness import Engine, config
from tripline_engine.spark.rows.packing import packer


def play(histories: int) -> None:
    """So many, each with an engine of its own; and records as a message holds them, which are not to be written."""
    drawn = random.Random(0)
    for _ in range(histories):
        profile = replace(
            drawn.choice(
                [
                    Profile(),
                    EVERYTHING,
                    EVERYTHING_AND_ENTRIES,
                    EVERYTHING_AND_MEASURES,
                    EVERYTHING_AND_ORDER,
                    EVERYTHING_AND_STEPS,
                    replace(EVERYTHING, bucketed=0.5),
                ]
            ),
            transactions=drawn.choice([3, 30, 200]),
            keys=drawn.choice([(1, 1), (1, 4), (2, 6)]),
            commands=drawn.choice([0.0, 0.9]),
        )
        engine = Engine(drawn.choice([1, 2]))
        for number, taken in enumerate(random_history(drawn.getrandbits(62), profile)):
            if number == 3:
                engine.forget()
            engine.take(taken)
            _pack_as_received(taken)


def _pack_as_received(taken: MicroBatch) -> None:
    rows = [(record.partition, record.offset, record.record_time, record.value) for record in taken.records]
    for _ in packer(config(2))(_received(batch(rows))):
        pass


def _received(sent: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, sent.schema) as stream:
        stream.write_batch(sent)
    yield from pa.ipc.open_stream(sink.getvalue().to_pybytes())
