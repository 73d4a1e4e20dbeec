"""The backlog of unread transactions. With a long one micro-batches are large, and need another query plan."""

from __future__ import annotations

from typing import Final

import structlog

from tripline_engine.errors import KafkaSilent
from tripline_engine.kafka_log.topic_log import TopicLog
from tripline_engine.spark.checkpoint.restore_point import judged_ends
from tripline_engine.spark.settings import EngineSettings
from tripline_engine.topic_names import TRANSACTIONS

_log = structlog.get_logger(__name__)

# In micro-batches of the largest usual size: a backlog of two is long, and a micro-batch of less than half ends it.
_LONG_BATCHES: Final = 2
_SHORT_BATCHES: Final = 0.5
# Spark divides the largest size among partitions and rounds down for each.
_FULL: Final = 0.95


class Backlog:
    """State machine of a long backlog: by the unread records at a start, then by the sizes of micro-batches.

    :ivar batch_limit: transactions of the largest usual micro-batch
    """

    def __init__(self, batch_limit: int) -> None:
        self.batch_limit = batch_limit
        self._is_long, self._full_batches = False, 0

    @property
    def is_long(self) -> bool:
        """Whether the query plan for large micro-batches pays."""
        return self._is_long

    def start_with(self, transactions: int) -> None:
        """Unread transactions when the engine starts."""
        self._is_long = transactions >= _LONG_BATCHES * self.batch_limit
        if self._is_long:
            _log.info("catching_up", transactions=transactions)

    def batch_done(self, transactions: int) -> None:
        """Transactions of a committed micro-batch. Two full ones in a row mean that the engine has fallen behind."""
        self._full_batches = self._full_batches + 1 if transactions >= _FULL * self.batch_limit else 0
        if not self._is_long and self._full_batches >= _LONG_BATCHES:
            self._is_long = True
            _log.info("catching_up", micro_batches=self._full_batches)
        elif self._is_long and transactions < _SHORT_BATCHES * self.batch_limit:
            self._is_long = False
            _log.info("caught_up")


def unread_records(settings: EngineSettings) -> int:
    """Transactions not judged yet; 0 if Kafka doesn't answer, because only speed depends on it."""
    name = settings.topic(TRANSACTIONS)
    judged = judged_ends(settings.checkpoint).get(name, {})
    try:
        with TopicLog(settings.kafka, name) as topic:
            ranges = {partition: topic.span(partition) for partition in topic.partitions()}
    except KafkaSilent as error:
        _log.debug("backlog_unknown", reason=str(error))
        return 0
    return sum(max(0, span.until - max(span.first, judged.get(p, 0))) for p, span in ranges.items())
