"""One random history on its way into Kafka, a stretch from kill to kill, and the query that takes it."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tests.e2e.support.engine_process import Queries, Workplace
from tests.e2e.support.kafka_log import KafkaLog
from tests.e2e.support.player import Player
from tests.oracle.generators.profile import EVERYTHING_AND_MORE, THE_WHOLE_LANGUAGE
from tests.oracle.histories.random_history import random_history
from tests.unit.engine.support.positioned import on_the_move
from tripline_engine.spark.checkpoint.checkpoint import spark_folder
from tripline_engine.spark.checkpoint.spark_offsets import last_commit

PROFILES = [
    replace(profile, transactions=240, micro_batches=(6, 10), partitions=(2, 2), rules=(3, 7))
    for profile in (EVERYTHING_AND_MORE, THE_WHOLE_LANGUAGE)
]
"""All of the language: a history that any kill could harm in something has that in it. Relative limits, weights,
deviations, aggregates of order, speeds and parties are in every second one, so that the others keep their shares of the
rest."""
_SPEEDS = 0.5
"""Of what looks at the payment before."""
PAUSE = 0.3


class Feed:
    """A stretch ends where the engine is to be killed, the last one where the history ends. They are counted from 1 on.
    None of them is empty but perhaps the first: then the first kill comes before the history has begun.

    :ivar spark: its query's own files
    """

    def __init__(self, workplace: Workplace, seed: int, kills: int) -> None:
        rng = Random(seed)
        self.log = KafkaLog(workplace.kafka, f"killed-{seed}-")
        # a small cap cuts inside of what was sent at once
        self._shards, self._most_per_batch = 1 + seed % 2, rng.choice([30, 100_000])
        self.spark = spark_folder(workplace.checkpoint / self.log.prefix)
        self._player = Player(self.log, self.spark)
        history = on_the_move(seed, random_history(rng.getrandbits(62), PROFILES[seed // 2 % 2]), _SPEEDS)
        self._steps = [step for step in history if step.rule_events or step.ticks or step.records]
        self._ends = [0, *sorted(rng.sample(range(len(self._steps)), kills)), len(self._steps)]
        self._pauses = {step for step in range(len(self._steps)) if rng.random() < PAUSE}
        self._sent = 0
        self._committed_before: int | None = None

    def start(self, process: Queries) -> None:
        """The query, in a new process: from where the one before was killed."""
        self._committed_before = last_commit(self.spark)
        process.start(self.log.prefix, self._shards, self._most_per_batch)

    def is_under_way(self) -> bool:
        """Whether the query is through its first micro-batch since it was started, or has none to do."""
        return last_commit(self.spark) != self._committed_before or self.is_taken()

    def transactions(self, stretch: int) -> int:
        """How many there are from the beginning to the end of a stretch."""
        return sum(len(step.records) for step in self._steps[: self._ends[stretch]])

    def go_on(self, stretch: int) -> None:
        """Sends steps of this stretch, up to one that waits until the query has taken all before it."""
        while self._sent < self._ends[stretch] and (self._sent not in self._pauses or self.is_taken()):
            self._player.step(self._steps[self._sent])
            self._sent += 1

    def is_taken(self) -> bool:
        """Whether committed micro-batches hold all that was sent."""
        return self._player.is_taken()

    def is_over(self) -> bool:
        """Whether nothing is left to send, and nothing to take."""
        return self._sent == len(self._steps) and self.is_taken()
