"""The port of work on cases: load, decide, append and fold are one transaction behind it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from alert_api.domain.cases.work import Command
from alert_api.service.cases.case_queries import CaseFilter

MOST_AT_ONCE = 1_000
"""Cases that one command may be for."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The request that a command came with; of equal keys and hashes the second one changes nothing."""

    request_id: str | None = None
    key: str | None = None
    request_hash: str | None = None


class CaseDesk(Protocol):
    """Where people's work on cases is taken in. All raise StoreUnavailable when the database is away."""

    def work(self, case_id: int, command: Command, expects: Callable[[int], bool], origin: Origin) -> None:
        """Do it, where ``expects`` takes the case's version.

        Raises CaseNotFound, StaleCase, CaseStateConflict, CaseInTheWay and KeyReused.
        """

    def work_on_all(self, case_filter: CaseFilter, expected: int, command: Command, origin: Origin) -> int:
        """Do it with all cases of the filter, or with none; gives the number of those that were not so already.

        Raises CountChanged where they are not as many as expected, and CaseStateConflict.
        """
