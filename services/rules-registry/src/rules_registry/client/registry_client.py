"""The registry as the client sees it: rules and changes, over HTTP."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Mapping
from typing import Any, Final, Literal

from rules_registry.client.errors import RegistryUnreachable, RequestRefused, RuleNotNamed
from rules_registry.client.http_session import HttpSession
from rules_registry.domain.rule_files.desired_rule import DesiredRule
from rules_registry.domain.rule_files.plan import Registry
from rules_registry.domain.rule_files.standing import RuleChange, StandingRule

Outcome = StandingRule | RuleChange
"""What became of a request: the rule as it is now, or a change that a second person has to approve."""
_ACCEPTED: Final = 202
_NOT_FOUND: Final = 404
_STALE_ANSWERS: Final = 100


class RegistryClient:
    """Every method raises RequestRefused and RegistryUnreachable."""

    def __init__(self, session: HttpSession) -> None:
        self._session = session

    def registry(self) -> Registry:
        """Everything that a plan is made from."""
        # Changes first: one that is approved between the two reads is a rule by then, and seen.
        changes = self.open_changes()
        return Registry(self.rules(), changes)

    def rules(self, state: str | None = None) -> list[StandingRule]:
        """All rules that are not deleted, by id, or those of a state."""
        query = {} if state is None else {"state": state}
        return [StandingRule.from_json(item) for item in self._session.items("/v1/rules", query)]

    def rule(self, reference: str) -> StandingRule:
        """The rule of this id or of this name. Raises RuleNotNamed."""
        if reference.isascii() and reference.isdigit():
            return StandingRule.from_json(self._session.get(f"/v1/rules/{int(reference)}"))
        items = self._session.items("/v1/rules", {"name": reference})
        named = [StandingRule.from_json(item) for item in items if item["name"] == reference]
        if len(named) != 1:
            ids = ", ".join(str(rule.rule_id) for rule in named)
            said = f"The rules {ids} are called so: give an id" if named else "There is no rule of this name"
            raise RuleNotNamed(f"{said}: {reference!r}.")
        return named[0]

    def version(self, rule_id: int, version: int) -> Mapping[str, Any]:
        """One version of a rule, as the API tells it."""
        answer: Mapping[str, Any] = self._session.get(f"/v1/rules/{rule_id}/versions/{version}")
        return answer

    def was_asked_to_pause(self, rule_id: int, since: int) -> bool:
        """Whether anybody asked to pause the rule, whatever became of it, as of version `since` or a later one."""
        query = {"kind": "rule", "subject": str(rule_id)}
        return any(
            item["kind"] == "PAUSE_RULE" and (item["content"]["base"] or 0) >= since
            for item in self._session.items("/v1/changes", query)
        )

    def differences(self, rule_id: int, before: int, after: int) -> str:
        """What is different between two versions, in words."""
        query = {"from": str(before), "to": str(after)}
        return str(self._session.get(f"/v1/rules/{rule_id}/diff", query)["summary"])

    def open_changes(self) -> list[RuleChange]:
        """Drafts and submissions about rules, the newest first."""
        return [
            RuleChange.from_json(item)
            for state in ("DRAFT", "SUBMITTED")
            for item in self._session.items("/v1/changes", {"state": state, "kind": "rule"})
        ]

    def change_of(self, change_id: int) -> RuleChange:
        """One change."""
        return RuleChange.from_json(self._session.get(f"/v1/changes/{change_id}"))

    def publish(self, desired: DesiredRule, reason: str) -> Outcome:
        """A new rule. However often this is asked for, and by however many at once with one key, it is one rule."""
        body = desired.to_json()
        stale: int | None = None
        for _ in range(_STALE_ANSWERS):
            key = _key("publish", body, stale)
            outcome = _outcome(self._session.change("POST", "/v1/rules", reason=reason, key=key, body=body))
            current = self._as_it_is_now(outcome, desired)
            if current is not None:
                return current
            # The remembered answer of a rule that has gone since: the next key follows from it, for everybody alike.
            stale = outcome.change_id if isinstance(outcome, RuleChange) else outcome.rule_id
        raise RegistryUnreachable(f"The registry keeps answering with rules that have gone: {desired.title}.")

    def change(self, desired: DesiredRule, rule: StandingRule, reason: str) -> Outcome:
        """The rule as it is desired, if it is still the one that was seen."""
        path, body = f"/v1/rules/{rule.rule_id}", desired.to_json()
        return _outcome(self._session.change("PUT", path, reason=reason, version=rule.version, body=body))

    def delete(self, rule: StandingRule, reason: str) -> Outcome:
        """The rule retired for good, if it is still the one that was seen."""
        path = f"/v1/rules/{rule.rule_id}"
        return _outcome(self._session.change("DELETE", path, reason=reason, version=rule.version))

    def pause(self, rule: StandingRule, reason: str, *, at_once: bool) -> Outcome:
        """The rule paused at once, or that asked of a second person, if it is still the one that was seen."""
        query = {"breakGlass" if at_once else "asChange": "true"}
        path = f"/v1/rules/{rule.rule_id}/pause"
        return _outcome(self._session.change("POST", path, reason=reason, version=rule.version, query=query))

    def revert(self, rule: StandingRule, version: int, reason: str | None) -> Outcome:
        """An old version of the rule once more, if it is still the one that was seen."""
        path = f"/v1/rules/{rule.rule_id}/revert"
        key = _key("revert", [rule.rule_id, rule.version, version], None)
        query = {"version": str(version)}
        return _outcome(
            self._session.change("POST", path, reason=reason, version=rule.version, key=key, query=query)
        )

    def start_shadow(self, rule: StandingRule, desired: DesiredRule, reason: str | None) -> Outcome:
        """A version beside the rule, if it is still the one that was seen."""
        path, body = f"/v1/rules/{rule.rule_id}/shadow", desired.to_json()
        key = _key("shadow", [rule.rule_id, rule.version, body], None)
        return _outcome(
            self._session.change("POST", path, reason=reason, version=rule.version, key=key, body=body)
        )

    def move_shadow(
        self, rule: StandingRule, step: Literal["rollout", "promote"], reason: str | None, body: object = None
    ) -> Outcome:
        """Its shadow rolled out or promoted, if the rule is still the one that was seen."""
        path = f"/v1/rules/{rule.rule_id}/shadow/{step}"
        key = _key(step, [rule.rule_id, rule.version, body], None)
        return _outcome(
            self._session.change("POST", path, reason=reason, version=rule.version, key=key, body=body)
        )

    def end_shadow(self, rule: StandingRule, reason: str | None) -> Outcome:
        """Its shadow ended, if the rule is still the one that was seen."""
        path = f"/v1/rules/{rule.rule_id}/shadow"
        return _outcome(self._session.change("DELETE", path, reason=reason, version=rule.version))

    def submit(self, change_id: int, reason: str | None) -> RuleChange:
        """A draft handed to an approver."""
        return self._step(change_id, "submit", reason)

    def withdraw(self, change_id: int, reason: str | None) -> RuleChange:
        """A change given up, by somebody who had a hand in it."""
        return self._step(change_id, "withdraw", reason)

    def approve(self, change: RuleChange, reason: str | None) -> RuleChange:
        """A submission approved, as it was seen."""
        return self._step(change.change_id, "approve", reason, {"contentHash": change.content_hash})

    def ask_backtest(self, body: Mapping[str, Any], reason: str | None) -> Mapping[str, Any]:
        """A backtest that waits for its turn. Each is another one: history has grown meanwhile."""
        _, answer = self._session.change(
            "POST", "/v1/backtests", reason=reason, key=str(uuid.uuid4()), body=body
        )
        asked: Mapping[str, Any] = answer
        return asked

    def backtest(self, backtest_id: int) -> Mapping[str, Any]:
        """How it stands."""
        answer: Mapping[str, Any] = self._session.get(f"/v1/backtests/{backtest_id}")
        return answer

    def cancel_backtest(self, backtest_id: int) -> None:
        """Asks for its end."""
        self._session.change("POST", f"/v1/backtests/{backtest_id}/cancel")

    def _step(self, change_id: int, step: str, reason: str | None, body: object = None) -> RuleChange:
        _, answer = self._session.change("POST", f"/v1/changes/{change_id}/{step}", reason=reason, body=body)
        return RuleChange.from_json(answer)

    def _as_it_is_now(self, outcome: Outcome, desired: DesiredRule) -> Outcome | None:
        """The outcome of a publication, which may be the remembered answer of an earlier one; None if what it speaks
        of is no longer that."""
        if isinstance(outcome, RuleChange):
            change = self.change_of(outcome.change_id)
            return change if change.state in ("DRAFT", "SUBMITTED") else None
        try:
            rule = StandingRule.from_json(self._session.get(f"/v1/rules/{outcome.rule_id}"))
        except RequestRefused as refused:
            if refused.status != _NOT_FOUND:
                raise
            return None
        return rule if rule.name == desired.name else None


def _outcome(answer: tuple[int, Mapping[str, Any]]) -> Outcome:
    status, body = answer
    return RuleChange.from_json(body) if status == _ACCEPTED else StandingRule.from_json(body)


def _key(what: str, body: object, after: int | None) -> str:
    text = json.dumps([what, body, after], sort_keys=True)
    return f"{what}-{hashlib.sha256(text.encode()).hexdigest()[:40]}"
