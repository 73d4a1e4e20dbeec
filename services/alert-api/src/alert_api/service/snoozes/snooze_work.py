"""The port of what people do about snoozes: load, decide and append are one transaction behind it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from alert_api.domain.cases.snooze_commands import RequestSnooze, SnoozeCommand
from alert_api.service.cases.case_work import Origin


class SnoozeDesk(Protocol):
    """Where requests and decisions are taken in. Both raise StoreUnavailable when the database is away."""

    @property
    def four_eyes(self) -> bool:
        """Whether a second person has to approve."""

    def request(self, command: RequestSnooze, origin: Origin) -> int:
        """Take a request in; gives the snooze's id. Raises SnoozeNotPossible and KeyReused."""

    def step(
        self, snooze_id: int, command: SnoozeCommand, expects: Callable[[int], bool], origin: Origin
    ) -> None:
        """Do it, where ``expects`` takes the snooze's version.

        Raises SnoozeNotFound, StaleSnooze, SnoozeStateConflict, SecondPersonNeeded, AnotherContent and KeyReused.
        """
