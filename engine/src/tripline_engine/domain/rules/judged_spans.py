"""What a version with `lateEvents: reevaluate` has judged, and what it has alerted for.

A late transaction makes the version judge again what it has judged before and not alerted for. What it has judged
follows from when it was listening: spans of the order of acceptance with the event times that were its own then.
They change with rule events only, and are kept with the rules. What it has alerted for is firing state.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tripline_engine.domain.rules.rule_version import RuleVersionKey

OPEN: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Span:
    """Transactions that a version judged.

    :ivar first: with ``until`` (exclusive; OPEN while it lasts), sequence numbers of acceptance
    :ivar since: with ``before`` (exclusive), event times in ms
    """

    first: int
    until: int
    since: int
    before: int


class JudgedSpans:
    """The spans of all versions that judge again."""

    def __init__(self, spans: Mapping[RuleVersionKey, list[Span]] | None = None) -> None:
        self._spans = dict(spans or {})

    def of(self, key: RuleVersionKey) -> npt.NDArray[np.int64]:
        """The spans of a version (int64, n × 4)."""
        rows = [(span.first, span.until, span.since, span.before) for span in self._spans.get(key, [])]
        return np.array(rows, np.int64).reshape(-1, 4)

    def add(self, key: RuleVersionKey, span: Span) -> None:
        """What the version has judged besides."""
        self._spans.setdefault(key, []).append(span)

    def follow(self, key: RuleVersionKey, times: tuple[int, int] | None, accepted: int, first: int) -> None:
        """From now on the version judges these event times (ms, the second exclusive), or nothing.

        :param accepted: how many transactions have been accepted on its anchor
        :param first: the sequence number of the oldest that is retained
        """
        spans = [span for span in self._spans.get(key, []) if span.until > first]
        listening = spans and spans[-1].until == OPEN
        if listening and (spans[-1].since, spans[-1].before) != times:
            spans[-1] = replace(spans[-1], until=accepted)
            listening = False
        if times is not None and not listening:
            spans.append(Span(accepted, OPEN, *times))
        self._spans[key] = spans

    def keep(self, keys: Iterable[RuleVersionKey]) -> None:
        """Forget all other versions."""
        wanted = set(keys)
        self._spans = {key: spans for key, spans in self._spans.items() if key in wanted}

    def to_json(self) -> list[Any]:
        """As stored with the rules."""
        return [
            [*key, [[span.first, span.until, span.since, span.before] for span in spans]]
            for key, spans in self._spans.items()
        ]

    @staticmethod
    def of_json(stored: Iterable[Any]) -> JudgedSpans:
        """As ``to_json`` gave it."""
        return JudgedSpans(
            {(rule, version): [Span(*span) for span in spans] for rule, version, spans in stored}
        )
