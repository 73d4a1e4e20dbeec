"""The payments of the widest windows, their rules, and the rate of a backlog."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

from bench.figures.rates import rate_of
from bench.throughput import RULES
from bench.workload.wide_load import FORMS, Form, wide
from bench.workload.workload import PARTITIONS

SIZES = PRELOADED, BACKLOG, LIVE = 6_000, 2_000, 1_000
UNTIL_MS = 1_700_000_000_000


@pytest.fixture(params=FORMS.values(), ids=lambda form: form.name)
def form(request: pytest.FixtureRequest) -> Form:
    form: Form = request.param
    return form


def test_the_preload_fills_the_window_and_the_backlog_follows(form: Form) -> None:
    made = wide(form, SIZES, 500, UNTIL_MS, seed=1)
    assert (made.preload.size, made.backlog.size, len(made.load)) == (PRELOADED, BACKLOG, sum(SIZES))
    assert made.load.preloaded == PRELOADED
    assert made.load.rate == 500
    assert made.preload[0] == UNTIL_MS - form.window_seconds * 1_000
    assert made.preload[-1] < UNTIL_MS <= made.backlog[0]
    assert (np.diff(made.times) >= 0).all()
    for partition in range(PARTITIONS):
        mine = made.load.partition == partition
        assert made.load.offset[mine].tolist() == list(range(int(mine.sum())))


def test_the_rules_are_there_before_and_judge_from_the_backlog_on(form: Form) -> None:
    made = wide(form, SIZES, 500, UNTIL_MS, seed=1)
    versions = made.versions()
    assert {version.effective_from for version in versions} == {int(made.backlog[0])}
    assert [version.subject.rule_id for version in versions] == [rule.rule_id for rule in RULES]
    for version in versions:
        body = version.subject.body(version.limit, 0)
        assert body["windowSeconds"] == form.window_seconds
        assert ("precision" in body) == (form.bucket_seconds is not None)


def test_the_bucketed_form_says_its_buckets() -> None:
    rule, limit = FORMS["bucketed"].rules[0], Decimal(1)
    assert rule.body(limit, 0)["precision"] == "bucketed(86400)"


def test_the_first_quarter_of_a_backlog_is_not_timed() -> None:
    progress = [(0.0, 10), (30.0, 25), (31.0, 60), (32.5, 100)]
    assert rate_of(progress) == pytest.approx(30.0)
    assert rate_of(progress, without=2) == pytest.approx(40 / 1.5)
