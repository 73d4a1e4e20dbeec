"""History reopened for backfills: floors lowered to what windows can reach, and what had been let go until then.

    event time   |.......hidden.......|------visible------|
                 ^ new floor          ^ floor until then
                 lateness floor less the window

What was accepted before the reopening and lies below the floor until then may be gone, wholly or in part, so it stays
invisible, whether it is gone or not. What a backfill brings from then on is accepted later, and visible.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tripline_engine.domain.rules.exclusions import LetGo
from tripline_engine.domain.transactions.columns import MIN_TIME


@dataclass(frozen=True, slots=True)
class Reopening:
    """One reopening of an anchor's history.

    :ivar before: the anchor had accepted so many transactions
    :ivar floors: by field, the floor until then (ms)
    :ivar warm: the same, but for what a backfill has completed since
    """

    before: int
    floors: dict[str, int]
    warm: dict[str, int]

    def completed(self, since: int) -> Reopening:
        """Nothing is missing from that event time on."""
        return replace(self, warm={name: min(floor, since) for name, floor in self.warm.items()})

    def to_json(self) -> list[Any]:
        """The JSON that is stored in the head record."""
        return [self.before, self.floors, self.warm]


def risen(
    floors: Mapping[str, Mapping[str, int]], lateness_floor: int, widest: Mapping[tuple[str, str], int]
) -> dict[str, dict[str, int]]:
    """Floors (ms) by anchor and field, as a tick raises them: to what is needed from before the lateness floor."""
    return {
        anchor: {
            name: max(floor, lateness_floor - widest.get((anchor, name), 0))
            for name, floor in of_anchor.items()
        }
        for anchor, of_anchor in floors.items()
    }


def hidden_below(reopenings: Iterable[Reopening], fields: Iterable[str]) -> int:
    """The event time below which some transaction may be hidden from a rule that uses these fields."""
    names = list(fields)
    return max((reopening.floors[name] for reopening in reopenings for name in names), default=MIN_TIME)


def warm_above(reopenings: Iterable[Reopening], fields: Iterable[str]) -> int:
    """The event time from which nothing is missing that no backfill has completed."""
    names = list(fields)
    return max((reopening.warm[name] for reopening in reopenings for name in names), default=MIN_TIME)


def let_go(reopenings: Iterable[Reopening], fields: Iterable[str], reach: int) -> tuple[LetGo, ...]:
    """What is hidden from a rule with these fields that sees nothing before ``reach``; nothing that others include."""
    names = list(fields)
    pairs = [
        LetGo(reopening.before, max(reopening.floors[name] for name in names)) for reopening in reopenings
    ]
    return tuple(_needed([pair for pair in pairs if pair.until > reach]))


def _needed(pairs: list[LetGo]) -> Iterator[LetGo]:
    highest = MIN_TIME
    needed = []
    # a later one that reaches as high includes the earlier
    for pair in sorted(pairs, reverse=True):
        if pair.until > highest:
            highest = pair.until
            needed.append(pair)
    yield from reversed(needed)
