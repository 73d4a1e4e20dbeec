"""Saved views in memory, with the contract of those in Postgres."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from alert_api.errors import TooManyViews, ViewNotFound
from alert_api.service.alert_counts import Span
from alert_api.service.saved_views import MOST_VIEWS, SavedView
from alert_api.service.shadows.shadow_comparison import ShadowComparison


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


@dataclass(slots=True)
class FakeShadows:
    """Says the same of every shadow, and notes what it was asked."""

    comparison: ShadowComparison = field(default_factory=lambda: ShadowComparison([], [], []))
    asked: list[tuple[int, int, Span]] = field(default_factory=list)

    def compare(self, rule_id: int, version: int, span: Span) -> ShadowComparison:
        self.asked.append((rule_id, version, span))
        return self.comparison
