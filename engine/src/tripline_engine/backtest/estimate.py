"""A rule tried over a share of its groups in the newest history, for an estimate before it is published.

    groups by the hash of their anchor ──▶ slices × parts shards ──▶ the first slices are judged, all others are left

A group is in the sample with its whole history or not at all, so its windows are whole. Slices are samples of their
own: they differ by chance as the sample as a whole would.
"""

from __future__ import annotations

import secrets
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from tripline_contracts.event_type import GLOBAL_ANCHOR
from tripline_contracts.rules.anchors import anchor_of
from tripline_engine.backtest.cluster_tally import ClusterTally
from tripline_engine.backtest.coarse_batches import coarse, joined_ms
from tripline_engine.backtest.history import History
from tripline_engine.backtest.tried_log import TriedLog, as_it_was
from tripline_engine.backtest.tried_rules import TriedRule
from tripline_engine.certificate.span import Span
from tripline_engine.certificate.span_alert import AlertReader
from tripline_engine.domain.judging.rule_counters import rule_counter
from tripline_engine.domain.shard.engine_config import EngineConfig
from tripline_engine.domain.shard.ports import Kind, Payload
from tripline_engine.prover.settings import Judged
from tripline_engine.rebuild.inputs import ReplayInputs
from tripline_engine.rebuild.journals import Journals
from tripline_engine.rebuild.payloads import PayloadPacker
from tripline_engine.rebuild.recorded_order import order_of
from tripline_engine.rebuild.shards import Shards
from tripline_engine.rebuild.survey import all_records
from tripline_engine.topic_names import ALERTS, ORDER

SLICES: Final = 8
MOST_PARTS: Final = 32
"""The smallest sample is so small a part of all groups: packing takes its time for each shard."""
_BROADCAST: Final = (Kind.RULE_EVENT, Kind.TICK)


@dataclass(frozen=True, slots=True)
class Sampling:
    """How groups are drawn.

    :ivar anchor: what the rule's groups are sharded by
    :ivar parts: one of so many parts of all groups is judged
    :ivar slices: in so many samples of their own
    """

    anchor: str
    parts: int
    slices: int

    @property
    def grouped(self) -> bool:
        """Whether there are groups to draw from."""
        return self.anchor != GLOBAL_ANCHOR


def sampling_of(rule: TriedRule, judged: Judged, transactions: int, most: int) -> Sampling:
    """As large a part of the groups as has so many transactions at most; all of a rule that has one group."""
    anchor = anchor_of(rule.definition, judged.event_type)
    if anchor == GLOBAL_ANCHOR:
        return Sampling(anchor, 1, 1)
    return Sampling(anchor, min(MOST_PARTS, max(1, -(-transactions // most))), SLICES)


def estimate(
    rule: TriedRule,
    span: Span,
    history: History,
    journals: Journals,
    judged: Judged,
    sampling: Sampling,
    progressed: Callable[[int, int], None] = lambda *_: None,
) -> dict[str, Any]:
    """What came of the sample, as numbers of which the registry makes an estimate. Raises RecordsMissing, OrderBroken.

    :param progressed: told after each joined micro-batch: transactions read, and alerts so far
    """
    started, event_type = time.monotonic(), judged.event_type
    key = (secrets.randbits(64), secrets.randbits(64))
    shards = sampling.slices * sampling.parts
    config = EngineConfig(history.engine, event_type, event_type.anchors, shards, key, judged.clock)
    evaluators, packer = Shards(config, lambda: 0), PayloadPacker(config, {sampling.anchor})
    inputs, log = ReplayInputs(journals, history.available), TriedLog([rule], span, event_type, as_it_was)
    reader = AlertReader(event_type, span, is_compared=False)
    tally = ClusterTally(span.first, sampling.grouped)
    evaluations: Counter[int] = Counter()
    held: dict[int, int] = {}
    bare_bytes: int | None = None
    read = 0
    recorded = order_of(history.engine, all_records(journals[ORDER]))
    for batch in coarse(map(inputs.batch, recorded), joined_ms(span.until - history.since)):
        payloads = _worth(packer.of(replace(batch, rules=log.of(batch.rules)))[: sampling.slices])
        if bare_bytes is None:
            bare_bytes = _bare_bytes(config, payloads[-1])
        for record in evaluators.take(payloads):
            alert = reader.read(record.value) if record.topic == ALERTS else None
            if alert is not None:
                tally.take(alert)
        for shard, counters in evaluators.counters.items():
            evaluations[shard] += counters[rule_counter(rule.rule_id, "evaluations")]
            held[shard] = counters["history_bytes"]
        read += len(batch.transactions)
        progressed(read, tally.alerts)
    return {
        "engine": history.engine,
        "from": span.first,
        "until": span.until,
        "transactions": read,
        "seconds": round(time.monotonic() - started, 3),
        "parts": sampling.parts,
        "grouped": sampling.grouped,
        "bareBytes": bare_bytes or 0,
        "slices": [
            {"evaluations": evaluations[shard], "bytes": held.get(shard, 0)}
            for shard in range(sampling.slices)
        ],
        **tally.to_json(),
    }


def _worth(by_shard: Sequence[list[Payload]]) -> list[list[Payload]]:
    """Without ticks alone: the next ones raise the clock as they would have done."""
    return [
        payloads if any(payload.kind != Kind.TICK for payload in payloads) else [] for payloads in by_shard
    ]


def _bare_bytes(config: EngineConfig, payloads: Sequence[Payload]) -> int:
    """What a shard with the rule holds before any transaction, which no share of the groups makes less."""
    bare = Shards(config, lambda: 0)
    bare.take([[payload for payload in payloads if payload.kind in _BROADCAST]])
    return bare.counters[0]["history_bytes"]
