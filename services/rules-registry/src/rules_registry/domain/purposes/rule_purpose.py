"""The purpose of a rule: what people write beside it for people. Nothing of it reaches the engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

Severity = Literal["info", "low", "medium", "high", "critical"]

MAX_DESCRIPTION: Final = 2000
MAX_TAGS: Final = 20
MAX_OWNER: Final = 100
MAX_PLAYBOOK: Final = 500
TAG_PATTERN: Final = "^[a-z0-9][a-z0-9._:-]{0,39}$"
PLAYBOOK_PATTERN: Final = (
    r"^https://[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?(/[A-Za-z0-9._~:/?#@!$&'()*+,;=%-]*)?$"
)
"""An address that a console can make a link of: https, and no user before the host that would look like the host."""


@dataclass(frozen=True, slots=True)
class Purpose:
    """What a rule is for. `tags` are each there once; `playbook` is the address of what to do about an alert."""

    description: str | None = None
    severity: Severity | None = None
    tags: tuple[str, ...] = ()
    owner: str | None = None
    playbook: str | None = None

    def to_json(self) -> dict[str, Any]:
        """As it stands in answers and in the audit trail."""
        return {
            "description": self.description,
            "severity": self.severity,
            "tags": list(self.tags),
            "owner": self.owner,
            "playbook": self.playbook,
        }


@dataclass(frozen=True, slots=True)
class KeptPurpose:
    """The purpose of a rule as it stands; version 0 is that of a rule of which nobody has said any."""

    version: int = 0
    purpose: Purpose = field(default_factory=Purpose)


def purpose_json(members: Mapping[str, Any] | None) -> dict[str, Any]:
    """The purpose of a rule for which there may be none, as JSON that was made by `to_json`."""
    return Purpose().to_json() if members is None else dict(members)
