"""The judgement of a transaction: what each rule made of it at its position in the order.

It is found by its id. What came before it, of its anchors' values, is fed; then it alone, with every evaluation told:
where micro-batches are cut decides nothing, so that one's counters are about nothing else.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from tripline_contracts.event_type import GLOBAL_ANCHOR
from tripline_contracts.rules.grouping_keys import group_of
from tripline_contracts.rules.rollout import bucket_of
from tripline_engine.domain.judging.anchor_tuning import Telling
from tripline_engine.domain.proof.reach import oldest_event_time
from tripline_engine.domain.proof.reasons import reason_of, version_in_force
from tripline_engine.domain.rules.event_decoder import position_of
from tripline_engine.domain.rules.rule_book import RuleBook
from tripline_engine.domain.rules.rule_events import RuleEventGap, UnreadableRuleEvent
from tripline_engine.domain.rules.rule_version import Rule, RuleVersion
from tripline_engine.domain.shard.alert_mode import mode_of
from tripline_engine.domain.transactions.parser import Parser
from tripline_engine.domain.transactions.transaction_json import transaction_json
from tripline_engine.prover.alone import Alone, Turn
from tripline_engine.prover.budget import Budget
from tripline_engine.prover.derivation import engines_in_turn, one_shard
from tripline_engine.prover.errors import NothingThere
from tripline_engine.prover.recorded_batches import Read, RecordedBatches
from tripline_engine.prover.replayed_shard import ReplayedShard
from tripline_engine.prover.rules_log import RulesLog
from tripline_engine.prover.selection import Selected, Selector, Values
from tripline_engine.prover.settings import Judged
from tripline_engine.rebuild.journals import Journals
from tripline_engine.topic_names import RULES


@dataclass(frozen=True, slots=True)
class Asked:
    """Which transaction: its id and, if it is known, its event time in ms, from which the search begins."""

    transaction_id: str
    event_time: int | None


@dataclass(slots=True)
class _Standing:
    """Where a transaction stands: engine, micro-batch, record; and the rules until then."""

    engine: str
    micro_batch: int
    selected: Selected
    book: RuleBook


def judgement_of(asked: Asked, journals: Journals, judged: Judged, budget: Budget) -> dict[str, Any]:
    """The judgement as the prover answers it. Raises NoProof."""
    rules = RulesLog.read(journals[RULES], judged.event_type)
    since = 0 if asked.event_time is None else rules.tolerances.record_time_from(asked.event_time)
    for engine in engines_in_turn(journals):
        standing = _Search(asked, since, journals, judged, engine, budget).run()
        if standing is not None:
            return _Judgement(standing, rules, journals, judged, budget).run()
    raise NothingThere(f"no transaction with id {asked.transaction_id} was judged{_when(asked)}")


def _when(asked: Asked) -> str:
    return "" if asked.event_time is None else f" with event time {asked.event_time}"


class _Search:
    """The first transaction with the id, in one engine's order."""

    def __init__(
        self, asked: Asked, since: int, journals: Journals, judged: Judged, engine: str, budget: Budget
    ) -> None:
        self._asked, self._since, self._engine = asked, since, engine
        self._batches = RecordedBatches(journals, engine, judged.event_type, budget)
        self._selector = Selector(one_shard(judged, engine), {GLOBAL_ANCHOR: ()})
        self._book = RuleBook(judged.event_type)

    def run(self) -> _Standing | None:
        """Its position; None if this engine has not judged it."""
        for read in self._batches.read(self._since):
            for data in sorted((record.value or b"" for record in read.rules), key=_position):
                self._apply(data)
            for one in self._selector.of(read.parts):
                if self._is_meant(one):
                    return _Standing(self._engine, read.recorded.sequence, one, self._book)
        return None

    def _is_meant(self, one: Selected) -> bool:
        wanted = self._asked
        return one.transaction_id == wanted.transaction_id and wanted.event_time in (None, one.event_time)

    def _apply(self, data: bytes) -> None:
        # as the engine did
        with suppress(UnreadableRuleEvent, RuleEventGap):
            self._book.apply(data)


def _position(data: bytes) -> int:
    """In whose order a micro-batch's rule events are applied; of those without one none is."""
    position = position_of(data)
    return -1 if position is None else position


class _Judgement:
    """What the rules made of the transaction at its position."""

    def __init__(
        self, standing: _Standing, rules: RulesLog, journals: Journals, judged: Judged, budget: Budget
    ) -> None:
        self._config = config = one_shard(judged, standing.engine)
        self._standing, self._rules, self._event_type, self._budget = (
            standing,
            rules,
            judged.event_type,
            budget,
        )
        self._transaction = self._read(standing.selected)
        self._judging = [
            version
            for rule in standing.book.rules.values()
            for version in (version_in_force(rule, standing.selected.event_time), rule.shadow)
            if version is not None and (version.percent > 0 or not version.is_shadow)
        ]
        self._since = rules.tolerances.record_time_from(self._oldest())
        self._batches = RecordedBatches(journals, standing.engine, judged.event_type, budget)
        self._selector = Selector(config, self._values())
        self._shard = ReplayedShard(config, Telling(0))

    def run(self) -> dict[str, Any]:
        """The judgement. Raises NoProof."""
        for read in self._batches.read(self._since):
            is_last = read.recorded.sequence == self._standing.micro_batch
            selected = self._selector.of(read.parts)
            self._budget.take(0, len(selected))
            before = [one for one in selected if not is_last or one.order < self._standing.selected.order]
            if read.rules or before or is_last:
                self._shard.take(
                    read.rules, read.ticks, self._selector.payloads(before), on_demand=read.on_demand
                )
            else:
                self._shard.tick(read.ticks, on_demand=read.on_demand)
            if is_last:
                return self._alone(read)
        raise NothingThere("the recorded order ends before the transaction")  # it has been read a moment ago

    def _alone(self, read: Read) -> dict[str, Any]:
        one, book = self._standing.selected, self._shard.book
        turn = Turn(self._selector.payloads([one]), one.event_time, self._config, read.on_demand)
        entries = [(rule, side) for _, rule in sorted(book.rules.items()) for side in self._sides(rule)]
        tried = {rule.rule_id: rule for rule, side in entries if self._is_on_trial(rule, side)}
        alone = turn.alone(self._shard)
        on_trial = turn.alone(self._shard, tried) if tried else alone
        return {
            "transactionId": one.transaction_id,
            "eventTime": one.event_time,
            "recordTime": one.record.timestamp,
            "partition": one.record.partition,
            "offset": one.record.offset,
            "transaction": self._transaction,
            "engine": self._standing.engine,
            "microBatch": self._standing.micro_batch,
            "rejected": alone.rejected,
            "voidedAt": self._rules.voids.get((one.transaction_id, one.event_time)),
            "rules": [
                {
                    **self._of_rule(rule.rule_id, side, on_trial if self._is_on_trial(rule, side) else alone),
                    "alertId": alone.alerts.get((rule.rule_id, side)),
                    "onTrial": self._trial_json(rule, side),
                }
                for rule, side in entries
            ],
        }

    def _sides(self, rule: Rule) -> tuple[str | None, ...]:
        """The sides of the entries that the rule judges, each by itself; None for a transaction as a whole."""
        party = self._event_type.party(self._shown(rule).anchor)
        sides = () if party is None else party.sides
        return tuple(side.name for side in sides if self._transaction[side.field] is not None) or (None,)

    def _shown(self, rule: Rule) -> RuleVersion:
        return version_in_force(rule, self._standing.selected.event_time) or rule.versions[-1]

    def _group(self, version: RuleVersion, side: str | None) -> dict[str, Any]:
        party = self._event_type.party(version.anchor)
        fields = {} if party is None else {one.name: one.field for one in party.sides}
        value = None if side is None else self._transaction[fields[side]]
        values = self._transaction if party is None else {**self._transaction, party.name: value}
        return group_of(version.definition.grouping_key_names, values)

    def _is_on_trial(self, rule: Rule, side: str | None) -> bool:
        """Whether the rule's shadow counts for the entry, in place of the version that is in force."""
        shadow, group = rule.shadow, self._group(self._shown(rule), side)
        if shadow is None or rule.paused or None in group.values():
            return False
        return mode_of(shadow, group, self._standing.selected.event_time, shadow) == "live"

    def _trial_json(self, rule: Rule, side: str | None) -> dict[str, Any] | None:
        if rule.shadow is None or not self._is_on_trial(rule, side):
            return None
        active = self._shown(rule)
        bucket = bucket_of(rule.rule_id, self._group(active, side))
        return {"percent": rule.shadow.percent, "bucket": bucket, "activeVersion": active.version}

    def _of_rule(self, rule_id: int, side: str | None, told: Alone) -> dict[str, Any]:
        rule, time = told.shard.book.rules[rule_id], self._standing.selected.event_time
        version, shown = version_in_force(rule, time), self._shown(rule)
        trace = told.judged.traces.get((rule_id, side), {})
        warm_from = told.shard.watermarks.warm_from(version) if version and trace else None
        return {
            "ruleId": rule_id,
            "version": shown.version,
            "name": shown.name,
            "reason": reason_of(rule, version, told.judged, side),
            "group": self._group(shown, side),
            "side": side,
            "value": trace.get("value"),
            "operator": trace.get("limitOperatorType"),
            "limit": trace.get("limit"),
            "count": trace.get("contributingCount"),
            "windowStart": trace.get("windowStart"),
            "windowEnd": trace.get("windowEnd"),
            "late": trace.get("late"),
            "warm": (warm_from is not None and time >= warm_from) if trace else None,
            "conditions": trace.get("conditions"),
            "weighted": trace.get("weighted"),
        }

    def _read(self, one: Selected) -> dict[str, Any]:
        parsed = Parser(self._event_type).parse(pa.array([one.record.value], pa.binary()))
        return transaction_json(
            {name: column[0].as_py() for name, column in parsed.columns.items()}, self._event_type
        )

    def _oldest(self) -> int:
        time = self._standing.selected.event_time
        return min((oldest_event_time(version, time) for version in self._judging), default=time)

    def _values(self) -> Values:
        anchors = {version.anchor for version in self._judging}
        return {anchor: self._values_on(anchor) for anchor in anchors}

    def _values_on(self, anchor: str) -> tuple[str, ...]:
        """The transaction's values of the anchor: one, of a party one for each side that has any."""
        if anchor == GLOBAL_ANCHOR:
            return ()
        party = self._event_type.party(anchor)
        fields = (anchor,) if party is None else party.fields
        return tuple(self._transaction[field] for field in fields if self._transaction[field] is not None)
