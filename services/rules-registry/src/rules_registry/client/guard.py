"""Looks for rules that alert far more often since they were changed, and has them paused.

It keeps nothing: what it did is in the registry's changes, so it may stop at any time, and run twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import structlog

from rules_registry.client.alerts_client import AlertsClient
from rules_registry.client.errors import RequestRefused
from rules_registry.client.registry_client import Outcome, RegistryClient
from rules_registry.domain.guard.alert_rate import HOUR_MS, AlertRate, Limits, excess
from rules_registry.domain.rule_files.standing import RuleChange

log = structlog.get_logger(__name__)
_DAY_MS: Final = 24 * HOUR_MS
_REPORTED: Final = frozenset(
    {"open-change", "stale-version", "wrong-state", "rule-deleted", "rule-not-found"}
)
"""Refusals that tell of somebody else at the same rule."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule that alerts too often: why, and what became of asking to pause it, or the number of the open change of
    that rule that stands in the way."""

    rule_id: int
    reason: str
    outcome: Outcome | int


@dataclass(frozen=True, slots=True)
class Guard:
    """`clock` gives ms since the epoch; with `pauses` a rule is paused at once, else a second person is asked."""

    registry: RegistryClient
    alerts: AlertsClient
    limits: Limits
    clock: Callable[[], int]
    pauses: bool = False

    def round(self) -> list[Finding]:
        """One look at all rules that alerted often within the last hour. Raises RequestRefused and
        RegistryUnreachable."""
        return list(self._findings())

    def _findings(self) -> Iterator[Finding]:
        now = self.clock()
        enough = min(self.limits.least, self.limits.first)
        for rule_id, count in self.alerts.by_rule(now - HOUR_MS + 1, now).items():
            if count >= enough:
                try:
                    yield from self._look_at(rule_id, now)
                except RequestRefused as refused:
                    if refused.kind not in _REPORTED:
                        raise
                    log.info("guard_left_rule", rule_id=rule_id, because=refused.kind)

    def _look_at(self, rule_id: int, now: int) -> Iterator[Finding]:
        rule = self.registry.rule(str(rule_id))
        # One that was paused and resumed under this definition somebody has looked at.
        if rule.state != "ACTIVE" or rule.version != rule.definition_version:
            return
        published = self.registry.version(rule_id, rule.version)
        if now - _began(published) > self.limits.watch_ms:
            return
        count = self.alerts.of_version(rule_id, rule.version, now - HOUR_MS + 1, now)
        reason = excess(rule.version, count, self._rate_before(published), self.limits)
        if reason is None or self.registry.was_asked_to_pause(rule_id, rule.version):
            return
        try:
            outcome: Outcome | int = self.registry.pause(rule, reason, at_once=self.pauses)
        except RequestRefused as refused:
            if refused.kind != "open-change" or refused.change_id is None:
                raise
            outcome = refused.change_id
        yield Finding(rule_id, reason, outcome)

    def _rate_before(self, published: Mapping[str, Any]) -> AlertRate | None:
        """How often the definition before alerted on its last day."""
        if published["version"] == 1:
            return None
        rule_id = published["ruleId"]
        last = self.registry.version(rule_id, published["version"] - 1)
        before = self.registry.version(rule_id, last["definitionVersion"])
        end = max(_began(published), _began(before) + 1)
        start = max(_began(before), end - _DAY_MS)
        return AlertRate(self.alerts.of_version(rule_id, before["version"], start, end - 1), end - start)


def _began(published: Mapping[str, Any]) -> int:
    """When the definition began to judge what came (ms): nothing that came before it was known."""
    return int(max(published["effectiveFrom"], published["occurredAt"]))


def words(finding: Finding) -> str:
    """What became of it, as a sentence after the reason."""
    if isinstance(finding.outcome, int):
        return f"Nothing was asked for: change {finding.outcome} of the rule is open."
    if isinstance(finding.outcome, RuleChange):
        return f"Change {finding.outcome.change_id} asks to pause it."
    return "It is paused."
