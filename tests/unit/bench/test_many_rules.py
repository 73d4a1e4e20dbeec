"""A thousand rules are what they are said to be, and what they should say is counted as the specification says."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest

from bench.throughput import workload
from bench.workload import many_rules
from bench.workload.rules import UNREACHABLE, Passing, Subject
from bench.workload.workload import Workload, values
from tripline_contracts.rules import rule_definition
from tripline_contracts.rules.anchors import anchor_of
from tripline_contracts.rules.rule_definition import Function

COUNT = 400


def load(seed: int = 1) -> Workload:
    """Payments between few, one a second."""
    return replace(workload(COUNT, 4, seed), rate=1, labels=many_rules.labels(COUNT, seed))


def test_there_are_twenty_grouping_sets_on_all_anchors() -> None:
    rules = many_rules.subjects(1_000, seed=1)
    assert len({rule.grouping for rule in rules}) == 20
    anchors = Counter(
        anchor_of(
            rule_definition.parse(
                {k: v for k, v in rule.body(UNREACHABLE, 0).items() if k not in ("name", "effectiveFrom")},
                many_rules.EVENT_TYPE,
            ),
            many_rules.EVENT_TYPE,
        )
        for rule in rules
    )
    assert anchors == {"payeeId": 400, "beneficiaryId": 300, "global": 300}


def test_windows_aggregates_and_filters_are_mixed() -> None:
    rules = many_rules.subjects(1_000, seed=1)
    assert {rule.window_seconds for rule in rules} == set(range(60, 3_660, 60))
    assert {rule.function for rule in rules} == {"SUM", "AVG", "MIN", "MAX", "COUNT", "COUNT_DISTINCT"}
    assert 150 < sum(rule.passing is not None for rule in rules) < 250
    assert many_rules.subjects(1_000, seed=1) == rules


def test_one_rule_of_each_grouping_set_is_to_alert() -> None:
    versions = many_rules.versions(load(), many_rules.subjects(60, seed=1), 5)
    alerting = [version.subject.grouping for version in versions if version.limit != UNREACHABLE]
    assert len(alerting) == len(set(alerting)) == 20


def test_labels_are_sent() -> None:
    workload = load()
    (sent,) = values(workload, 7, 8, [1_000])
    for name in ("channel", "currency"):
        assert f'"{name}":"{workload.text(name, 7)}"'.encode() in sent[1]


def slowly(workload: Workload, subject: Subject, passes: list[bool], e: int) -> tuple[Decimal | None, int]:
    """Section 3 of the specification, read aloud: value and number of contributors."""
    if not passes[e]:
        return None, 0
    window = [
        x
        for x in range(e + 1)
        if passes[x]
        and x >= e - subject.window_seconds
        and all(workload.text(name, x) == workload.text(name, e) for name in subject.grouping)
    ]
    amounts = [Decimal(int(workload.cents[x])) / 100 for x in window]
    total = sum(amounts, Decimal(0))
    slow = {
        "SUM": total,
        "AVG": (total / len(amounts)).quantize(Decimal("0.000001")),
        "MIN": min(amounts),
        "MAX": max(amounts),
        "COUNT": Decimal(len(window)),
        "COUNT_DISTINCT": Decimal(len({workload.text(subject.counted, x) for x in window})),
    }
    return slow[subject.function], len(window)


@pytest.mark.parametrize("function", ["SUM", "AVG", "MIN", "MAX", "COUNT", "COUNT_DISTINCT"])
@pytest.mark.parametrize("passing", [None, *many_rules.FILTERS])
@pytest.mark.parametrize("grouping", [(), ("payeeId",), ("channel", "payeeId")])
def test_what_a_rule_should_say(
    function: Function, passing: Passing | None, grouping: tuple[str, ...]
) -> None:
    workload = load()
    subject = Subject(1, "one", function, grouping, 60, passing, "currency")
    number, asked = np.arange(COUNT), np.arange(COUNT - 40, COUNT)
    windows = subject.held(workload, number * 1_000, number, asked)
    passes = (np.ones(COUNT, bool) if passing is None else passing.passes(workload)).tolist()
    everything = subject.over(windows, Decimal(0))
    for probe, e in enumerate(asked.tolist()):
        value, count = slowly(workload, subject, passes, e)
        assert (value is not None) == everything[probe]
        assert count == windows.count[probe]
        if value is not None:
            assert Decimal(subject.value(windows, probe)) == value
            assert not subject.over(windows, value)[probe] or function == "AVG"
