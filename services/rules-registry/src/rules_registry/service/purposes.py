"""Saying what a rule is for: one transaction of the log with an entry of the trail, and no event."""

from __future__ import annotations

from dataclasses import dataclass

from rules_registry.domain.actor import Actor
from rules_registry.domain.audit.audit_entry import Happening, Subject
from rules_registry.domain.commands import Expected
from rules_registry.domain.decisions import require_expected
from rules_registry.domain.purposes.rule_purpose import KeptPurpose, Purpose
from rules_registry.errors import RuleIsDeleted, RuleNotFound
from rules_registry.service.audit_writer import tell
from rules_registry.service.ports import Clock, EventStore


@dataclass(frozen=True, slots=True)
class Purposes:
    """Purposes are written under the log's lock, for their entry follows on the last one of the trail."""

    store: EventStore
    clock: Clock

    def change(self, actor: Actor, rule_id: int, expected: Expected, purpose: Purpose) -> KeptPurpose:
        """The purpose as it is then; the same again changes nothing. Raises `RuleNotFound`, `RuleIsDeleted`,
        `StaleVersion`."""
        with self.store.writing() as log:
            rule = log.rule(rule_id)
            if rule is None:
                raise RuleNotFound(rule_id)
            if rule.state == "DELETED":
                raise RuleIsDeleted(rule_id)
            before = log.purposes.get(rule_id)
            require_expected(before.version, expected)
            if before.version and before.purpose == purpose:
                return before
            after = KeptPurpose(before.version + 1, purpose)
            log.purposes.keep(rule_id, after)
            happening = Happening(
                type="RulePurposeChanged",
                occurred_at=self.clock(),
                actor=actor,
                subject=Subject("rule", str(rule_id)),
                position=None,
                before=before.purpose.to_json() if before.version else None,
                after=purpose.to_json(),
            )
            tell(log, happening)
        return after
