"""The limit of retained transactions."""

from __future__ import annotations

from tripline_engine.spark.driver.history_limit import HistoryLimit


def test_full_at_the_limit_and_until_a_tenth_is_free_again() -> None:
    limit, stopped = HistoryLimit(1000), [False]
    stopped[0] = limit.full
    for shard, held in ((0, 600), (1, 399), (1, 400), (0, 500), (0, 499), (0, 599)):
        limit.record(shard, held)
        stopped.append(limit.full)
    # in all nothing, 600, 999, 1000, 900, 899, 999
    assert stopped == [False, False, False, True, True, False, False]


def test_the_sentence_says_how_many_and_what_to_do() -> None:
    limit = HistoryLimit(1000)
    limit.record(0, 1234)
    assert "holds 1,234 transactions" in limit.sentence
    assert "TRIPLINE_MAX_HISTORY=1000" in limit.sentence
