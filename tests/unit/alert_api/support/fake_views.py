"""Saved views in memory, with the contract of those in Postgres."""

from __future__ import annotations

from collections.abc import Sequence

from alert_api.errors import TooManyViews, ViewNotFound
from alert_api.service.saved_views import MOST_VIEWS, SavedView


class FakeViews:
    """Views by owner and name."""

    def __init__(self) -> None:
        self.kept: dict[str, dict[str, SavedView]] = {}

    def of(self, actor: str) -> Sequence[SavedView]:
        return [view for _, view in sorted(self.kept.get(actor, {}).items())]

    def save(self, actor: str, view: SavedView) -> None:
        mine = self.kept.setdefault(actor, {})
        if view.name not in mine and len(mine) >= MOST_VIEWS:
            raise TooManyViews(MOST_VIEWS)
        mine[view.name] = view

    def remove(self, actor: str, name: str) -> None:
        if self.kept.get(actor, {}).pop(name, None) is None:
            raise ViewNotFound(name)
