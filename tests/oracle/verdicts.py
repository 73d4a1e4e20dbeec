"""Whether a rule alerts: firing, late events, reset, catch-up (semantics 5 and 6)."""

from __future__ import annotations

from tests.oracle.alerts import alert
from tests.oracle.clock import Clock
from tests.oracle.counts import Counts
from tests.oracle.evaluation import Finding, evaluate, group_of
from tests.oracle.filters import passes
from tests.oracle.firing import Firing
from tests.oracle.history import History
from tests.oracle.model import Json
from tests.oracle.rule_events import Version
from tests.oracle.rulebook import RuleBook


class Verdicts:
    """Judges accepted transactions by their place in the history of the version's anchor."""

    def __init__(self, rules: RuleBook, clock: Clock, history: History) -> None:
        self.alerts: list[dict[str, Json]] = []
        self._counts: dict[int, Counts] = {}
        self._rules = rules
        self._clock = clock
        self._history = history
        self._firing = Firing()

    def counts(self, rule_id: int) -> Counts:
        """Of one rule, to be raised."""
        return self._counts.setdefault(rule_id, Counts())

    def all_counts(self) -> dict[int, Counts]:
        """Of every rule of which there was anything to count."""
        return {rule_id: self._counts[rule_id] for rule_id in sorted(self._counts)}

    def newest(self, version: Version) -> None:
        """Judge the transaction accepted last on the version's anchor."""
        place = len(self._history.accepted[self._rules.anchor(version)]) - 1
        self._judge(version, place, partial=False)

    def catch_up(self, version: Version) -> None:
        """Judge, in order, what was accepted before a version came and no version was in force for."""
        if not self._rules.is_active(version.rule_id):
            return
        floor = self._clock.floor(version)
        for place, event in enumerate(self._history.accepted[self._rules.anchor(version)]):
            visible = floor is None or event.event_time >= floor
            begun = version.effective_from <= event.event_time
            if visible and begun and not self._rules.was_in_force(version, event.event_time):
                self._judge(version, place, partial=True)

    def clear(self) -> None:
        """Forget what was judged before."""
        self._firing.clear()

    def _judge(self, version: Version, place: int, *, partial: bool) -> None:
        accepted = self._history.accepted[self._rules.anchor(version)][: place + 1]
        event, definition = accepted[-1], version.definition
        group = group_of(definition, event)
        if group is None or not passes(definition.condition, event):
            return
        counted_from = self._firing.counted_from(version, group)
        finding = evaluate(definition, group, accepted, self._clock.floor(version), counted_from)
        self._count(version, finding)
        if not self._fires(version, event.event_time, finding):
            return
        warm = self._clock.is_warm(version, event.event_time)
        self.alerts.append(alert(version, event, finding, warm=warm, partial=partial))
        if definition.reset_on_alert:
            self._firing.reset(version, group, place + 1)

    def _count(self, version: Version, finding: Finding) -> None:
        counts = self.counts(version.rule_id)
        if finding.late and version.definition.late_events == "store":
            counts.late_stored += 1
            return
        counts.evaluations += 1
        counts.late_evaluated += finding.late
        counts.equal_times += finding.equal_times

    def _fires(self, version: Version, event_time: int, finding: Finding) -> bool:
        definition = version.definition
        if finding.late and definition.late_events == "store":
            return False
        if definition.firing == "every":
            return finding.holds
        if finding.late:
            return False
        held_before = self._firing.held_before(version, finding.group, event_time - definition.window)
        self._firing.evaluated(version, finding.group, event_time, held=finding.holds)
        return finding.holds and not held_before
