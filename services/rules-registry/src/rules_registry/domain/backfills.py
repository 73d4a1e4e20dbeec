"""Backfills: each stands from the command that opens it to the one that ends it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BackfillEnd:
    """The end of a backfill; times in ms. From `complete_from` on history is whole, where that was said."""

    position: int
    ended_at: int
    ended_by: str
    complete_from: int | None


@dataclass(frozen=True, slots=True)
class Backfill:
    """A backfill under the id of its START_BACKFILL; time in ms. Without `end` it stands."""

    backfill_id: str
    position: int
    started_at: int
    started_by: str
    end: BackfillEnd | None = None
