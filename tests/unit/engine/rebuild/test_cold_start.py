"""When a new engine may begin: with all there ever was, or with all that its windows need."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.unit.engine.archive.support.memory_store import START
from tests.unit.engine.rebuild.support.recorded_run import Recording
from tripline_engine.rebuild.cold_start import lacking
from tripline_engine.topic_names import RULES, TRANSACTIONS

MINUTE = 60_000
WINDOW = 10
"""Minutes; with what may be late, disordered or ahead, half an hour is needed."""


def recording(folder: Path | None = None) -> Recording:
    """A payment a minute, for an hour."""
    rule = Registry().publish(1, draft(seconds=WINDOW * 60), 0, START)
    records = [payment(minute, START + minute * MINUTE) for minute in range(60)]
    return Recording([batch(events=[rule], records=records)], [], folder)


NOW = START + 60 * MINUTE


@pytest.mark.parametrize(
    ("low", "wall", "may_begin", "reason"),
    [
        (0, NOW, True, "all there ever was"),
        (29, NOW, True, "the oldest one is in no window any more"),
        (31, NOW, False, "the one before it is needed"),
        (31, NOW + 10 * MINUTE, True, "an hour later it is not"),
        (28, None, True, "old data: the newest one has the time"),
        (31, None, False, "old data"),
        (60, NOW, False, "nothing is there, and nobody knows what was"),
    ],
)
def test_the_topic_alone(low: int, wall: int | None, may_begin: bool, reason: str) -> None:
    subject = recording()
    subject.topics[TRANSACTIONS].low[0] = low
    assert (lacking(subject.journals, wall) is None) == may_begin, reason


def test_the_sentence_says_what_is_missing_and_whether_the_archive_has_it(tmp_path: Path) -> None:
    subject = recording()
    subject.topics[TRANSACTIONS].low[0] = 45
    said = lacking(subject.journals, NOW)
    assert said == (
        "transactions.v1 partition 0 begins at offset 45, and windows of up to 600 s (rule 1) need what was there since"
        " 2025-11-21T02:23:20.000Z; no archive has it"
    )
    kept = recording(tmp_path)
    kept.archive(TRANSACTIONS, 0, [45])
    said = lacking(kept.journals, NOW)
    assert said is not None
    assert said.endswith("; the archive has it from offset 0 on")


def test_an_empty_topic_is_no_matter_when_the_archive_knows_that_all_of_it_was_old(tmp_path: Path) -> None:
    subject = recording(tmp_path)
    subject.archive(TRANSACTIONS, 0, [60])
    assert lacking(subject.journals, NOW) is not None
    assert lacking(subject.journals, NOW + 30 * MINUTE) is None


def test_without_rules_nothing_is_needed() -> None:
    subject = recording()
    subject.topics[TRANSACTIONS].low[0] = 45
    subject.topics[RULES].kept[0].clear()
    assert lacking(subject.journals, NOW) is None


def test_each_partition_counts() -> None:
    subject = recording()
    kept = subject.topics[TRANSACTIONS].kept
    kept[1] = [replace(record, partition=1) for record in kept[0]]
    subject.topics[TRANSACTIONS].low[1] = 45
    said = lacking(subject.journals, NOW)
    assert said is not None
    assert said.startswith("transactions.v1 partition 1 begins at offset 45")
