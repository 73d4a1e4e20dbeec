"""How far behind the engine is: with a long backlog micro-batches are large, and what suits small ones costs then."""

from __future__ import annotations

from typing import Final

import structlog

from tripline_engine.errors import KafkaSilent
from tripline_engine.kafka_log.topic_log import TopicLog
from tripline_engine.spark.checkpoint.restore_point import judged_ends
from tripline_engine.spark.settings import EngineSettings
from tripline_engine.topic_names import TRANSACTIONS

_log = structlog.get_logger(__name__)

# So many of the largest micro-batches of the usual form make a long backlog; less than this part of one ends it.
_LONG: Final = 2
_SHORT: Final = 0.5
# Spark shares the largest number out to partitions and rounds down for each.
_FULL: Final = 0.95


class Backlog:
    """Whether the engine is far behind, from what waits at a start and from the micro-batches after it.

    :ivar most: transactions of the largest micro-batch of the usual form
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._far, self._full = False, 0

    @property
    def far(self) -> bool:
        """Whether it is far behind."""
        return self._far

    def waits(self, transactions: int) -> None:
        """What waits at a start."""
        self._far = transactions >= _LONG * self.most
        if self._far:
            _log.info("catching_up", transactions=transactions)

    def took(self, transactions: int) -> None:
        """What a micro-batch has taken. So many full ones in a row say that as much waits again, or has waited."""
        self._full = self._full + 1 if transactions >= _FULL * self.most else 0
        if not self._far and self._full >= _LONG:
            self._far = True
            _log.info("catching_up", micro_batches=self._full)
        elif self._far and transactions < _SHORT * self.most:
            self._far = False
            _log.info("caught_up")


def unread_records(settings: EngineSettings) -> int:
    """How many transactions have not been judged yet; 0 if Kafka doesn't say: that decides nothing but speed."""
    name = settings.topic(TRANSACTIONS)
    judged = judged_ends(settings.checkpoint).get(name, {})
    try:
        with TopicLog(settings.kafka, name) as topic:
            spans = {partition: topic.span(partition) for partition in topic.partitions()}
    except KafkaSilent as error:
        _log.debug("backlog_unknown", reason=str(error))
        return 0
    return sum(max(0, span.until - max(span.first, judged.get(p, 0))) for p, span in spans.items())
