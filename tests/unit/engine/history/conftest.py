"""A count of what is pruned in memory: it shows nowhere else."""

from __future__ import annotations

from collections import Counter

import pytest

from tripline_engine.domain.history.column_pruning import ColumnPruning


@pytest.fixture
def pruned(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """The rows that are pruned in memory, by field."""
    seen: Counter[str] = Counter()
    extend = ColumnPruning.extend

    def counted(self: ColumnPruning, field: str, until: int) -> None:
        seen[field] += until - self.pruned_until(field)
        extend(self, field, until)

    monkeypatch.setattr(ColumnPruning, "extend", counted)
    return seen
