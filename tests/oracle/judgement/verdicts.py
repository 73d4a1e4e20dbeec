"""Verdicts of rules: firing, late events, re-evaluation, reset, catch-up (semantics 5 and 6)."""

from __future__ import annotations

from tests.oracle.judgement.reevaluation import Reopened, reopened
from tests.oracle.output.alerts import alert
from tests.oracle.output.traces import Judgement, trace_record
from tests.oracle.parsers.definitions import REEVALUATE
from tests.oracle.parsers.rule_events import TraceCommand, Version
from tests.oracle.parsers.transactions import Transaction
from tests.oracle.state.clock import Clock
from tests.oracle.state.firing_state import FiringState, Forgotten
from tests.oracle.state.history import History
from tests.oracle.state.quiet_judgements import QuietJudgements
from tests.oracle.state.rule_book import RuleBook, has_expired
from tests.oracle.values.model import Json, Record
from tests.oracle.values.rule_counts import Counts
from tests.oracle.windows.evaluation import Evaluation, Findings, evaluate, group_of, triggers
from tests.oracle.windows.horizon import Horizons


class Verdicts:
    """Judges accepted transactions by their sequence number in the history of the version's anchor."""

    def __init__(self, rules: RuleBook, clock: Clock, history: History) -> None:
        self.alerts: list[dict[str, Json]] = []
        self.shadow_alerts: list[dict[str, Json]] = []
        self.traces: list[dict[str, Json]] = []
        self._traced_until: dict[int, int] = {}
        self._counts: dict[int, Counts] = {}
        self._rules = rules
        self._clock = clock
        self._history = history
        self._firing = FiringState()
        self._quiet_judgements = QuietJudgements()

    def counts(self, rule_id: int) -> Counts:
        """Counters of one rule, to be raised."""
        return self._counts.setdefault(rule_id, Counts())

    def all_counts(self) -> dict[int, Counts]:
        """Counters of every rule that has any, by rule id."""
        return {rule_id: self._counts[rule_id] for rule_id in sorted(self._counts)}

    def trace(self, command: TraceCommand) -> None:
        """From now on trace a rule; the last command for it counts. What does not exist is not traced later."""
        if self._rules.exists(command.rule_id):
            self._traced_until[command.rule_id] = command.until

    def newest(self, version: Version, record: Record, sequence: int) -> None:
        """Judge what was just accepted on the version's anchor with that number, and came in that record."""
        judgement = self._judge(version, sequence, self._clock.horizons(version), partial=False)
        traced_until = self._traced_until.get(version.rule_id)
        traced = traced_until is not None and record.record_time < traced_until
        if judgement is not None and traced and not self._rules.is_shadow(version):
            self.traces.append(trace_record(version, record, judgement))

    def catch_up(self, version: Version) -> None:
        """Judge, in order, what was accepted before a version came and no version was in force for."""
        if not self._rules.is_active(version.rule_id):
            return
        horizons = self._clock.catch_up_horizons(version)
        floor = horizons.whole.floor
        for accepted in self._history.counted(self._rules.anchor(version), version.rule_id):
            event = accepted.transaction
            visible = floor is None or event.event_time >= floor
            visible = visible and not horizons.whole.has_let_go(accepted)
            if not visible or event.backfilled or accepted.void is not None:
                continue
            begun = version.effective_from <= event.event_time
            begun = begun and not has_expired(version, event.event_time)
            if begun and not self._rules.was_in_force(version, event.event_time):
                self._judge(version, accepted.sequence, horizons, partial=True)
            # Late ones are so whether they are caught up themselves or not.
            self._judge_again(self._reopened(version, accepted.sequence, horizons))

    def again(self, rule_id: int, anchors: set[str]) -> None:
        """Judge again what the newest transaction, accepted on these anchors, came too late for."""
        cases: list[Reopened] = []
        for version in self._rules.all_versions(rule_id):
            anchor = self._rules.anchor(version)
            if anchor in anchors:
                sequence = len(self._history.accepted[anchor]) - 1
                cases += self._reopened(version, sequence, self._clock.horizons(version))
        self._judge_again(cases)

    def clear(self, forgotten: Forgotten) -> None:
        """Forget what was judged before of such keys."""
        self._firing.clear(forgotten)
        self._quiet_judgements.clear(forgotten)

    def _judge(
        self, version: Version, sequence: int, horizons: Horizons, *, partial: bool
    ) -> Judgement | None:
        """Judge the transaction at a sequence number; None if that is no evaluation."""
        anchor = self._rules.anchor(version)
        event, definition = self._history.accepted[anchor][sequence].transaction, version.definition
        group = group_of(definition, event)
        if group is None or not triggers(definition, event):
            return None
        history = self._history.counted_of_group(version, group, anchor, sequence)
        counted_from = self._firing.counted_from(version, group)
        evaluation = evaluate(definition, group, history, horizons, counted_from)
        if evaluation.late and definition.late_events == "store":
            self._counts_of(version).late_stored += 1
            return None
        self._count(version, evaluation)
        due = self._due(version, event.event_time, evaluation)
        fires = due and not self._firing.cooling(version, group, event.event_time)
        if fires:
            self._firing.alerted(version, group, event.event_time)
            warm = self._clock.is_warm(version, event.event_time)
            late: Json = {"newestEventTime": evaluation.newest_event_time} if evaluation.late else None
            self._raise(version, event, evaluation.findings, late=late, warm=warm, partial=partial)
        if fires and definition.reset_on_alert:
            self._firing.reset(version, group, sequence + 1)
        if definition.late_events == REEVALUATE:
            self._quiet_judgements.note(version, group, sequence, alerted=fires)
        return Judgement(event, evaluation.findings, evaluation.late, alerted=fires)

    def _reopened(self, version: Version, sequence: int, horizons: Horizons) -> list[Reopened]:
        anchor = self._rules.anchor(version)
        group = group_of(version.definition, self._history.accepted[anchor][sequence].transaction)
        if version.definition.late_events != REEVALUATE or group is None:
            return []
        history = self._history.counted_of_group(version, group, anchor, sequence)
        return reopened(version, history, horizons.whole, self._quiet_judgements)

    def _judge_again(self, cases: list[Reopened]) -> None:
        """Neither an evaluation nor traced; only what newly alerts makes a difference."""
        for case in sorted(cases, key=Reopened.order):
            version, event = case.version, case.event
            self._counts_of(version).reevaluated += 1
            findings = case.snapshot.findings(event)
            if not findings.holds:
                continue
            self._quiet_judgements.note(version, findings.group, case.sequence, alerted=True)
            late: Json = {"transactionId": case.late.transaction_id, "eventTime": case.late.event_time}
            warm = self._clock.is_warm(version, event.event_time)
            self._raise(version, event, findings, late=late, warm=warm, partial=True)

    def _raise(
        self,
        version: Version,
        event: Transaction,
        findings: Findings,
        *,
        late: Json,
        warm: bool,
        partial: bool,
    ) -> None:
        shadow = not self._rules.counts(version, findings.group, event.event_time)
        told = self.shadow_alerts if shadow else self.alerts
        told.append(alert(version, event, findings, late=late, warm=warm, partial=partial, shadow=shadow))

    def _counts_of(self, version: Version) -> Counts:
        """The rule's, which count nothing of a shadow."""
        return Counts() if self._rules.is_shadow(version) else self.counts(version.rule_id)

    def _count(self, version: Version, evaluation: Evaluation) -> None:
        counts = self._counts_of(version)
        counts.evaluations += 1
        counts.late_evaluated += evaluation.late
        counts.equal_times += evaluation.equal_times

    def _due(self, version: Version, event_time: int, evaluation: Evaluation) -> bool:
        """True if there is an alert unless a cooldown suppresses it."""
        definition, findings = version.definition, evaluation.findings
        if definition.firing == "every":
            return findings.holds
        if evaluation.late:
            return False
        held_before = self._firing.held_before(version, findings.group, event_time - definition.window)
        self._firing.evaluated(version, findings.group, event_time, held=findings.holds)
        return findings.holds and not held_before
