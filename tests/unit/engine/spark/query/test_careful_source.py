"""Offsets of the source for what Spark's own cannot read: none beyond its end, shares of a limit, new partitions."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows

from tripline_engine.spark.query.careful_source import CarefulReader, Offsets, Span, Stretch
from tripline_engine.spark.query.sources import NOWHERE, Careful

STARTS: Offsets = {"t": {"0": 10, "1": 5}}
UNTIL: Offsets = {"t": {"0": 110, "1": 25, "2": 40}}


def reader(limit: int = -1) -> CarefulReader:
    return CarefulReader(
        {
            "kafka": "{}",
            "keep": "1",
            "limit": str(limit),
            "initial": json.dumps(STARTS | {"t": STARTS["t"] | {"2": 3}}),
            "until": json.dumps(UNTIL),
        }
    )


def test_without_a_limit_all_at_once() -> None:
    assert reader().getDefaultReadLimit() == ReadAllAvailable()
    assert reader().latestOffset(STARTS, ReadAllAvailable()) == UNTIL
    assert reader().partitions(STARTS, UNTIL) == [
        Span("t", 0, 10, 110),
        Span("t", 1, 5, 25),
        Span("t", 2, 3, 40),
    ]


def test_what_is_read_is_not_read_again() -> None:
    assert reader().latestOffset(UNTIL, ReadAllAvailable()) == UNTIL
    assert reader().partitions(UNTIL, UNTIL) == []
    # a planned micro-batch may end further on, and in topics that have nothing to be read with care
    beyond: Offsets = {"t": {"0": 500, "1": 25, "2": 40}, "u": {"0": 7}}
    assert reader().latestOffset(beyond, ReadAllAvailable()) == beyond


def test_a_limit_of_nothing_pauses_it() -> None:
    limit = reader(0).getDefaultReadLimit()
    assert limit == ReadMaxRows(0)
    start = reader().initialOffset()
    assert reader().latestOffset(start, limit) == start


@given(st.integers(1, 200))
def test_every_partition_comes_to_its_end(limit: int) -> None:
    position, steps = reader().initialOffset(), 0
    while position != UNTIL:
        end = reader().latestOffset(position, ReadMaxRows(limit))
        spans = reader().partitions(position, end)
        read = sum(span.until - span.first for span in spans if isinstance(span, Span))
        assert 0 < read <= limit + len(UNTIL["t"])
        position, steps = end, steps + 1
    assert steps <= 157 // limit + 1


def test_a_stretch_is_ahead_until_every_partition_is_judged() -> None:
    stretch = Stretch({}, {"t": {0: 110, 1: 25}})
    careful = Careful(events=None, transactions=stretch)
    assert careful.ahead({}) == careful
    assert careful.ahead({"t": {0: 110, 1: 24}}) == careful
    assert careful.ahead({"t": {0: 200, 1: 25}}) == NOWHERE
