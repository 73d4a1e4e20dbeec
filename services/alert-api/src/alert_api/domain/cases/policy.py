"""What an installation decides about folding. It is an event of the log like others: what is folded anew from the log
comes out the same, whatever the settings are by then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class CasePolicy:
    """:ivar gap_ms: an episode ends when nothing comes for so long; None: for the alert's own longest window
    :ivar subject_fields: a case is about the value of the first of these fields or parties that is in the alert's group
    :ivar party_sides: of some of these parties the fields of their sides, whose alerts are about the party too
    :ivar reopen_ms: a resolved case is reopened by what comes within this time of its resolution; 0: by nothing
    """

    gap_ms: int | None = None
    subject_fields: tuple[str, ...] = ()
    reopen_ms: int = 7 * 86_400_000
    party_sides: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def fields_of(self, name: str) -> tuple[str, ...]:
        """The members of a group that say the value of that subject, in order: its own name, then sides."""
        return (name, *dict(self.party_sides).get(name, ()))

    def to_json(self) -> dict[str, Any]:
        sides = {name: list(fields) for name, fields in self.party_sides}
        return {
            "gapMs": self.gap_ms,
            "subjectFields": list(self.subject_fields),
            "reopenMs": self.reopen_ms,
            **({"partySides": sides} if sides else {}),
        }

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Self:
        sides = tuple((name, tuple(fields)) for name, fields in body.get("partySides", {}).items())
        return cls(body["gapMs"], tuple(body["subjectFields"]), body["reopenMs"], sides)
