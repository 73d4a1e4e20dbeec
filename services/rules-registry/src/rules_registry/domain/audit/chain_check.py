"""Checking a chain of audit entries: what was altered, left out or put in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from rules_registry.domain.audit.audit_entry import AuditEntry, ChainHead
from tripline_contracts.canonical import sha256_hex


class ChainCheck:
    """Follows the entries in order; afterwards `head` is the last one's."""

    def __init__(self, since: ChainHead | None = None) -> None:
        self.head = since or ChainHead()

    def problems(self, entries: Iterable[AuditEntry]) -> Iterator[str]:
        """A sentence for each entry that does not stand where and as it was written."""
        for entry in entries:
            yield from self.follow(entry, entry.members())

    def follow(self, entry: AuditEntry, members: Mapping[str, object]) -> Iterator[str]:
        """The same for the next entry, whose text has been read already."""
        due = self.head.sequence + 1
        if entry.sequence != due:
            yield f"entry {due} is missing: entry {entry.sequence} comes in its place"
        if sha256_hex(entry.text.encode()) != entry.hash:
            yield f"entry {entry.sequence} is not the text that its hash was taken of"
        if members.get("sequence") != entry.sequence:
            yield f"entry {entry.sequence} says of itself that it is entry {members.get('sequence')}"
        if members.get("previousHash") != self.head.hash:
            yield f"entry {entry.sequence} does not follow on entry {self.head.sequence}"
        self.head = ChainHead(entry.sequence, entry.hash)
