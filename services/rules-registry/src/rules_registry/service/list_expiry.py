"""Removing entries whose end has come: the registry's clock decides when, and an event says so to everybody.

So a replay of the log takes each entry away where it was taken away the first time, whatever the time is then.
"""

from __future__ import annotations

import threading
from itertools import groupby
from operator import itemgetter
from typing import Final, Protocol

import structlog

from rules_registry.domain.actor import Actor
from rules_registry.domain.commands import ChangeEntries
from rules_registry.domain.named.list_entries import removals
from rules_registry.errors import ConcurrentChange, StoreUnavailable
from rules_registry.service.registry import Registry

log = structlog.get_logger(__name__)

INTERVAL_SECONDS: Final = 1.0
AT_ONCE: Final = 10_000
"""Entries of one transaction, during which nobody else can change anything."""
_ACTOR: Final = Actor("rules-registry", reason="the end of these entries has come")


class OverduePort(Protocol):
    """What tells, without holding up any writer, whether there is something to do."""

    def has_overdue(self, now_ms: int) -> bool: ...


class ListExpiry:
    """Looks once a second. Several may: the log has one writer at a time, and the second finds nothing left."""

    def __init__(self, registry: Registry, overdue: OverduePort, stop: threading.Event) -> None:
        self._registry, self._overdue, self._stop = registry, overdue, stop

    def run(self) -> None:
        """Removes what is overdue until stopped."""
        while not self._stop.wait(INTERVAL_SECONDS):
            try:
                while self._overdue.has_overdue(self._registry.clock()) and not self._stop.is_set():
                    self.step()
            except (StoreUnavailable, ConcurrentChange) as error:
                log.warning("entries of lists are not expired", reason=str(error))

    def step(self) -> int:
        """Removes entries whose end has come, some if there are many; how many."""
        registry = self._registry
        with registry.store.writing() as opened:
            overdue = sorted(opened.lists.overdue(registry.clock(), AT_ONCE))
            for name, entries in groupby(overdue, itemgetter(0)):
                for change in removals(value for _, value in entries):
                    registry.change_entries_in(opened, _ACTOR, ChangeEntries(name, None, change))
        if overdue:
            log.info("entries of lists have ended", entries=len(overdue))
        return len(overdue)
