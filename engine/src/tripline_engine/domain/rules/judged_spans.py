"""Judged spans: the transactions that a version with `lateEvents: reevaluate` has judged.

A late transaction makes the version reevaluate what it has judged before and not alerted for. What it has judged
follows from when it was in force: spans of the order of acceptance, each with the event times that it judged then.
They change with rule events only, and are stored with the rules. What it has alerted for is firing state.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from tripline_engine.domain.memory.array_types import Int64Array
from tripline_engine.domain.rules.rule_version import RuleVersionKey

OPEN: Final = 2**63 - 1
"""The end of a span while the version is in force: a sequence number after all."""


@dataclass(frozen=True, slots=True)
class Span:
    """Transactions that a version judged.

    :ivar first: with ``until`` (exclusive, or OPEN), sequence numbers of acceptance
    :ivar since: with ``before`` (exclusive), event times in ms
    """

    first: int
    until: int
    since: int
    before: int


class JudgedSpans:
    """The spans of all versions that reevaluate."""

    def __init__(self, spans: Mapping[RuleVersionKey, list[Span]] | None = None) -> None:
        self._spans = dict(spans or {})

    def of(self, key: RuleVersionKey) -> Int64Array:
        """The spans of a version (int64, n × 4)."""
        rows = [(span.first, span.until, span.since, span.before) for span in self._spans.get(key, [])]
        return np.array(rows, np.int64).reshape(-1, 4)

    def add(self, key: RuleVersionKey, span: Span) -> None:
        """Add a span that the version has judged."""
        self._spans.setdefault(key, []).append(span)

    def record(self, key: RuleVersionKey, times: tuple[int, int] | None, accepted: int, first: int) -> None:
        """Record that from now on the version judges these event times (ms, the second exclusive), or none.

        :param accepted: the transactions accepted so far on its anchor
        :param first: the sequence number of the oldest that is retained
        """
        spans = [span for span in self._spans.get(key, []) if span.until > first]
        in_force = spans and spans[-1].until == OPEN
        if in_force and (spans[-1].since, spans[-1].before) != times:
            spans[-1] = replace(spans[-1], until=accepted)
            in_force = False
        if times is not None and not in_force:
            spans.append(Span(accepted, OPEN, *times))
        self._spans[key] = spans

    def keep(self, keys: Iterable[RuleVersionKey]) -> None:
        """Drop the spans of all other versions."""
        kept = set(keys)
        self._spans = {key: spans for key, spans in self._spans.items() if key in kept}

    def to_json(self) -> list[Any]:
        """The JSON that is stored with the rules."""
        return [
            [*key, [[span.first, span.until, span.since, span.before] for span in spans]]
            for key, spans in self._spans.items()
        ]

    @staticmethod
    def of_json(stored: Iterable[Any]) -> JudgedSpans:
        """The spans of stored JSON."""
        return JudgedSpans(
            {(rule, version): [Span(*span) for span in spans] for rule, version, spans in stored}
        )
