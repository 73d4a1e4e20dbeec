"""Filters of the list of cases that a person keeps under names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

MOST_VIEWS: Final = 30
"""Of one person: more than anybody finds again."""


@dataclass(frozen=True, slots=True)
class SavedView:
    """A name and the filter under it, as callers sent it. The time is ms since the epoch."""

    name: str
    filter: Mapping[str, Any]
    saved_at: int


class SavedViews(Protocol):
    """The views of everybody, each seen by its owner alone. All raise StoreUnavailable."""

    def of(self, actor: str) -> Sequence[SavedView]:
        """All of one person, by name."""

    def save(self, actor: str, view: SavedView) -> None:
        """Keeps it in place of the one of that name. Raises TooManyViews where it would be one more than MOST_VIEWS."""

    def remove(self, actor: str, name: str) -> None:
        """Forgets it. Raises ViewNotFound."""
