"""Named lists and parameters: the value at each transaction, and the changes that are kept."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from tripline_engine.domain.rules.named_values import NamedValues

SETS = st.frozensets(st.sampled_from("abcd"))
CHANGES = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), SETS), max_size=8)


def changed(
    changes: list[tuple[int, int, frozenset[str]]],
) -> tuple[NamedValues, list[tuple[int, int, frozenset[str]]]]:
    """The values after these changes, each so many transactions later, and where each begins to count."""
    named, left, right, history = NamedValues(), 0, 0, []
    for more_left, more_right, values in changes:
        left, right = left + more_left, right + more_right
        named.set_list("watched", values, {"left": left, "right": right})
        named.set_parameter("high", 10**24 - len(values), {"left": left, "right": right})
        history.append((left, right, values))
    return named, history


def at(named: NamedValues, anchor: str, number: int) -> frozenset[str]:
    ((first, until, values),) = named.list("watched").runs(anchor, number, number + 1)
    assert (first, until) == (number, number + 1)
    return values


@given(CHANGES, st.integers(0, 45))
def test_each_transaction_has_the_value_at_its_acceptance(
    changes: list[tuple[int, int, frozenset[str]]], number: int
) -> None:
    named, history = changed(changes)
    for anchor in ("left", "right"):
        before = [change for change in history if (change[0] if anchor == "left" else change[1]) <= number]
        expected = before[-1][2] if before else frozenset()
        assert at(named, anchor, number) == expected
        ((_, _, value),) = named.parameter("high").runs(anchor, number, number + 1)
        assert value == (10**24 - len(expected) if before else None)


@given(CHANGES, st.integers(0, 20), st.integers(0, 20))
def test_runs_have_no_gaps(changes: list[tuple[int, int, frozenset[str]]], first: int, more: int) -> None:
    named, _ = changed(changes)
    runs = list(named.list("watched").runs("left", first, first + more))
    numbers = [number for start, until, _ in runs for number in range(start, until)]
    assert numbers == list(range(first, first + more))
    for start, until, values in runs:
        assert all(at(named, "left", number) == values for number in range(start, until))


@given(CHANGES, st.integers(0, 40), st.integers(0, 40))
def test_compaction_and_storage_change_nothing_for_retained_transactions(
    changes: list[tuple[int, int, frozenset[str]]], left: int, right: int
) -> None:
    named, _ = changed(changes)
    expected = [[at(named, "left", left + i), at(named, "right", right + i)] for i in range(10)]
    named.compact({"left": left, "right": right})
    again = NamedValues.of_json(json.loads(json.dumps(named.to_json())))
    for names in (named, again):
        assert [[at(names, "left", left + i), at(names, "right", right + i)] for i in range(10)] == expected


def test_a_change_that_counts_for_all_retained_transactions_is_compacted() -> None:
    named, _ = changed([(1, 1, frozenset("a")), (1, 1, frozenset("ab"))])
    named.compact({"left": 2, "right": 2})
    assert named.to_json()["lists"]["watched"] == [["a", "b"], []]


def test_a_name_without_an_event_is_empty() -> None:
    assert list(NamedValues().list("nobody").runs("left", 3, 5)) == [(3, 5, frozenset())]
    assert list(NamedValues().parameter("nothing").runs("left", 3, 5)) == [(3, 5, None)]
