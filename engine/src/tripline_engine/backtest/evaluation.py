"""The engine's evaluator over micro-batches, of which a backtest wants the alerts of its span."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence

from tripline_engine.backtest.counted_alerts import Given, counted_alerts
from tripline_engine.certificate.span import Span
from tripline_engine.certificate.span_alert import SpanAlert
from tripline_engine.domain.firing.occasion import Occasion
from tripline_engine.domain.shard.engine_config import EngineConfig
from tripline_engine.domain.shard.ports import Payload
from tripline_engine.domain.shard.shard_tuning import ShardTuning
from tripline_engine.prover.settings import Judged
from tripline_engine.rebuild.payloads import Batch, PayloadPacker
from tripline_engine.rebuild.shards import Shards

Take = Callable[[SpanAlert], None]
"""Gets each alert, in the order in which they are given; those that are counted alone as `counted_alerts` has them."""


class Evaluation:
    """All shards of one engine in memory; micro-batches go in one after the other.

    :ivar config: of that engine, whose hash key is drawn anew
    """

    def __init__(
        self,
        engine: str,
        judged: Judged,
        shards: int,
        span: Span,
        take: Take,
        tuning: ShardTuning,
    ) -> None:
        event_type = judged.event_type
        key = (secrets.randbits(64), secrets.randbits(64))
        self.config = EngineConfig(engine, event_type, event_type.anchors, shards, key, judged.clock)
        self._shards = Shards(self.config, lambda: 0, tuning)
        self._packer = PayloadPacker(self.config)
        self._given, self._take = Given.in_span(span, tuning.anchor.telling, event_type), take

    def judge(self, batch: Batch) -> None:
        """Judges one, and gives its alerts of the span away."""
        self.judge_payloads(self._packer.of(batch))

    def judge_payloads(self, payloads: Sequence[Sequence[Payload]]) -> None:
        """Judges a micro-batch that is packed already, by shard; a shard that has none of it is skipped."""
        for record in self._shards.take(payloads):
            given = self._given.read(record)
            if isinstance(given, Occasion):
                for alert in counted_alerts(given, self.config.event_type):
                    self._take(alert)
            elif given is not None:
                self._take(given)
