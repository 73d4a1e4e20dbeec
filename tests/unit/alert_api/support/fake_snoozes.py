"""Snoozes in memory with the contract of the Postgres ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from alert_api.domain.cases.snooze import Snooze, SnoozeState, after
from alert_api.domain.cases.snooze_commands import (
    RequestSnooze,
    SnoozeCommand,
    SnoozePolicy,
    decide_request,
    decide_step,
)
from alert_api.errors import KeyReused, SnoozeNotFound, StaleSnooze
from alert_api.service.cases.case_work import Origin
from alert_api.service.snoozes.snooze_queries import SnoozeCounts, SnoozePage, StoredSnooze


class FakeSnoozes:
    """Reader and desk; `alerts` are counted by whoever tests with it."""

    def __init__(self, *, four_eyes: bool = True) -> None:
        self.policy = SnoozePolicy(four_eyes=four_eyes)
        self.snoozes: dict[int, Snooze] = {}
        self.alerts: dict[int, int] = {}
        self.marks: dict[str, int] = {}
        self.origins: dict[tuple[str, int | None, str], tuple[str | None, int]] = {}

    @property
    def four_eyes(self) -> bool:
        return self.policy.four_eyes

    def page(self, state: SnoozeState | None, now: int, before: int | None, limit: int) -> SnoozePage:
        chosen = [
            self.get(snooze_id)
            for snooze_id, snooze in sorted(self.snoozes.items(), reverse=True)
            if (before is None or snooze_id < before) and state in (None, snooze.state(now))
        ]
        last = chosen[limit - 1].snooze.snooze_id if len(chosen) > limit else None
        return SnoozePage(chosen[:limit], last)

    def counts(self, now: int) -> SnoozeCounts:
        states = {snooze_id: snooze.state(now) for snooze_id, snooze in self.snoozes.items()}
        in_force = [snooze_id for snooze_id, state in states.items() if state == "in_force"]
        suppressed = sum(self.alerts.get(snooze_id, 0) for snooze_id in in_force)
        return SnoozeCounts(list(states.values()).count("requested"), len(in_force), suppressed)

    def covering(self, alert_ids: Sequence[str]) -> Mapping[str, int]:
        return {alert_id: self.marks[alert_id] for alert_id in alert_ids if alert_id in self.marks}

    def get(self, snooze_id: int) -> StoredSnooze:
        if snooze_id not in self.snoozes:
            raise SnoozeNotFound(snooze_id)
        snooze = self.snoozes[snooze_id]
        name = None if snooze.request.scope.rule_id is None else "Large sums"
        return StoredSnooze(snooze, self.alerts.get(snooze_id, 0), rule_name=name)

    def request(self, command: RequestSnooze, origin: Origin) -> int:
        known = self._repeated(command.actor, None, origin)
        if known is not None:
            return known
        snooze_id = 10 * len(self.snoozes) + 10
        self.snoozes[snooze_id] = Snooze(snooze_id, decide_request(command, self.policy))
        self._keep(command.actor, None, origin, snooze_id)
        return snooze_id

    def step(
        self, snooze_id: int, command: SnoozeCommand, expects: Callable[[int], bool], origin: Origin
    ) -> None:
        snooze = self.get(snooze_id).snooze
        if self._repeated(command.actor, snooze_id, origin) is not None:
            return
        if not expects(snooze.version):
            raise StaleSnooze(snooze_id, snooze.version)
        self.snoozes[snooze_id] = after(snooze, decide_step(snooze, command))
        self._keep(command.actor, snooze_id, origin, snooze_id)

    def _repeated(self, actor: str, of: int | None, origin: Origin) -> int | None:
        if origin.key is None or (actor, of, origin.key) not in self.origins:
            return None
        request_hash, snooze_id = self.origins[actor, of, origin.key]
        if request_hash != origin.request_hash:
            raise KeyReused
        return snooze_id

    def _keep(self, actor: str, of: int | None, origin: Origin, snooze_id: int) -> None:
        if origin.key is not None:
            self.origins[actor, of, origin.key] = (origin.request_hash, snooze_id)
