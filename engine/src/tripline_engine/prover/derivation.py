"""Derivation of an alert: its window's transactions, replayed in the recorded order through the engine's evaluator.

    engine-order.v1 ──▶ micro-batches ──▶ rule events, all of them          ┐
    engine-ticks.v1 ─────────────────────▶ ticks, those that matter          ├─▶ one shard ──▶ the alert
    transactions.v1, archive ────────────▶ those of the anchor's value ──────┘

Nothing that the alert lists is used: its rule, version, group and transaction say what to derive. All transactions of
the anchor's value within the reach of the version are taken, so that duplicates, late ones, firing state and chained
conditions come out as they did.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tripline_contracts.event_type import GLOBAL_ANCHOR
from tripline_engine.domain.judging.anchor_tuning import Telling
from tripline_engine.domain.proof.claim import Claim
from tripline_engine.domain.proof.reach import oldest_event_time
from tripline_engine.domain.rules.rule_version import RuleVersion
from tripline_engine.domain.shard.engine_config import EngineConfig
from tripline_engine.domain.shard.ports import OutRecord
from tripline_engine.prover.budget import Budget
from tripline_engine.prover.errors import NothingThere
from tripline_engine.prover.recorded_batches import RecordedBatches, engines
from tripline_engine.prover.replayed_shard import ReplayedShard
from tripline_engine.prover.rules_log import RulesLog
from tripline_engine.prover.selection import Selected, Selector, Values
from tripline_engine.prover.settings import Judged
from tripline_engine.rebuild.journals import Journals
from tripline_engine.rebuild.recorded_order import read_recorded
from tripline_engine.topic_names import ALERTS, ORDER, RULES


@dataclass(slots=True)
class Derivation:
    """What came of a claim.

    :ivar alert: as the engine's evaluator gives it, with all contributors; None if no such alert comes of the order
    :ivar selected: the transactions that were fed
    :ivar doubts: sentences about records that are not those that were judged
    :ivar seen: whether the transaction of the claim is among those selected
    """

    engine: str
    version: RuleVersion
    alert: dict[str, Any] | None = None
    micro_batch: int | None = None
    selected: list[Selected] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    seen: bool = False


def derive(claim: Claim, journals: Journals, judged: Judged, budget: Budget) -> Derivation:
    """Derives the alert that is claimed, by the newest engine that has judged its transaction.

    Raises NoProof; NothingThere if rules.v1 does not know the version, or nobody recorded anything.
    """
    rules = RulesLog.read(journals[RULES], judged.event_type)
    version = rules.versions.get((claim.rule_id, claim.version))
    if version is None:
        raise NothingThere(f"rules.v1 has no version {claim.version} of rule {claim.rule_id}")
    derivation: Derivation | None = None
    for engine in engines_in_turn(journals):
        derivation = _Replay(claim, version, rules, journals, judged, engine, budget).run()
        if derivation.alert is not None:
            return derivation
    if derivation is None:
        raise NothingThere(f"{journals[ORDER].topic.name} is empty: no engine has recorded anything")
    return derivation


def engines_in_turn(journals: Journals) -> Iterable[str]:
    """The newest engine, then all others, newest first, which are looked for only if they are asked for."""
    order = journals[ORDER]
    last = order.last(0)
    newest = read_recorded(last.value) if last else None
    if newest is not None:
        yield newest.engine
    if last is not None:
        yield from (
            engine for engine in engines(order, read_recorded) if newest is None or engine != newest.engine
        )


def one_shard(judged: Judged, engine: str) -> EngineConfig:
    """The configuration of a replay; results depend neither on the number of shards nor on the key."""
    event_type, key = judged.event_type, (secrets.randbits(64), secrets.randbits(64))
    return EngineConfig(engine, event_type, event_type.anchors, 1, key, judged.clock)


class _Replay:
    """One engine's order, replayed until the alert is there or can't come any more."""

    def __init__(
        self,
        claim: Claim,
        version: RuleVersion,
        rules: RulesLog,
        journals: Journals,
        judged: Judged,
        engine: str,
        budget: Budget,
    ) -> None:
        config = one_shard(judged, engine)
        self._claim, self._rules, self._budget = claim, rules, budget
        self._since = rules.tolerances.record_time_from(oldest_event_time(version, claim.event_time))
        self._batches = RecordedBatches(journals, engine, judged.event_type, budget)
        self._selector = Selector(config, _values(claim, version))
        self._shard = ReplayedShard(config, Telling(0, frozenset({claim.transaction_id})))
        self._derived = Derivation(engine, version, doubts=self._batches.doubts)

    def run(self) -> Derivation:
        """The derivation. Raises NoProof."""
        derived = self._derived
        for read in self._batches.read(self._since):
            selected = self._selector.of(read.parts)
            self._budget.take(0, len(selected))
            derived.selected += selected
            derived.seen |= any(self._is_of_the_claim(one) for one in selected)
            if read.rules or selected:
                payloads = self._selector.payloads(selected)
                output = self._shard.take(read.rules, read.ticks, payloads, on_demand=read.on_demand)
                derived.alert = _alert(output, self._claim.alert_id)
            else:
                self._shard.tick(read.ticks, on_demand=read.on_demand)
            if derived.alert is not None:
                derived.micro_batch = read.recorded.sequence
                break
            if self._is_over():
                break
        return derived

    def _is_of_the_claim(self, one: Selected) -> bool:
        return (one.transaction_id, one.event_time) == (self._claim.transaction_id, self._claim.event_time)

    def _is_over(self) -> bool:
        """Whether what brings the alert about lies behind, or can't be accepted any more."""
        occasion = self._claim.occasion
        if occasion is None:
            return any(version.key == self._derived.version.key for version in self._shard.book.versions())
        return self._rules.tolerances.is_over(occasion.event_time, self._shard.clock)


def _values(claim: Claim, version: RuleVersion) -> Values:
    if version.anchor == GLOBAL_ANCHOR:
        return {GLOBAL_ANCHOR: ()}
    value = dict(claim.group).get(version.anchor)
    return {version.anchor: () if value is None else (value,)}


def _alert(output: Sequence[OutRecord], alert_id: str) -> dict[str, Any] | None:
    key = alert_id.encode()
    for record in output:
        if record.topic == ALERTS and record.key == key:
            alert: dict[str, Any] = json.loads(record.value)
            return alert
    return None
