"""Writing the audit trail: what happened, as the entry that follows on the last one."""

from __future__ import annotations

from rules_registry.domain.audit.audit_entry import Happening, entry_after
from rules_registry.service.ports import Log


def tell(log: Log, happening: Happening) -> None:
    """Appends the entry, in the log's transaction."""
    log.append_audit(entry_after(log.audit_head(), happening))
