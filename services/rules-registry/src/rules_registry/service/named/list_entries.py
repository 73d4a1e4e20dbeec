"""Changing entries of a list: those that are wanted, and an event only of what is not so already."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rules_registry.domain.commands import ChangeEntries
from rules_registry.domain.named.list_entries import decide_entries
from rules_registry.domain.named_value import NamedEntry
from rules_registry.domain.quotas import Usage
from rules_registry.service.event_appender import EventAppender
from rules_registry.service.ports import Log
from tripline_contracts.filters.list_entries import EntriesChange


@dataclass(frozen=True, slots=True)
class EntriesOutcome:
    """The list's head as it stands now, and how many entries came or got another end, and went.

    `position` is that of the event, None where there was nothing to change.
    """

    named: NamedEntry
    added: int = 0
    removed: int = 0
    position: int | None = None


@dataclass(frozen=True, slots=True)
class ImportedEntries:
    """What an import has come to: the list after the last event, and events and entries of all of them."""

    last: EntriesOutcome | None = None
    added: int = 0
    removed: int = 0
    events: int = 0

    def followed_by(self, outcome: EntriesOutcome) -> ImportedEntries:
        """With one more change."""
        is_event = outcome.position is not None
        added, removed = self.added + outcome.added, self.removed + outcome.removed
        return ImportedEntries(outcome, added, removed, self.events + is_event)


def usage_after(log: Log, name: str, changes: Sequence[EntriesChange]) -> tuple[Usage, Usage]:
    """What lists come to now, and what they come to with all of these entries."""
    before = log.named_usage()
    more = 0
    for change in changes:
        values = [entry.value for entry in change.added]
        standing = log.lists.standing(name, values)
        new = [value for value in values if value not in standing]
        more += len(json.dumps(new, ensure_ascii=False, separators=(",", ":")).encode()) - 1 if new else 0
    return before, {**before, "listBytes": before["listBytes"] + more}


def change_entries(writer: EventAppender, command: ChangeEntries) -> EntriesOutcome:
    """Appends the change, if it is one. Raises `NameNotFound` and `StaleVersion`."""
    lists, change = writer.log.lists, command.change
    current = lists.head(command.name)
    values = [entry.value for entry in change.added]
    standing = lists.standing(command.name, [*values, *change.removed])
    event = decide_entries(current, command, standing, writer.clock())
    assert current is not None  # decided on
    if event is None:
        return EntriesOutcome(current)
    recorded = writer.append(event, None, current)
    new = sum(entry.value not in standing for entry in event.change.added)
    changed = replace(
        current,
        version=event.version,
        position=recorded.position,
        changed_at=recorded.occurred_at,
        changed_by=recorded.actor,
        long=current.long + new - len(event.change.removed),
    )
    lists.keep(changed, event.change)
    return EntriesOutcome(changed, len(event.change.added), len(event.change.removed), recorded.position)
