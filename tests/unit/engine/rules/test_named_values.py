"""Named parameters: the value at each transaction, and the changes that are kept; and names that nothing has."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from tripline_engine.domain.rules.named_values import NamedValues
from tripline_engine.domain.transactions.hash_key import HashKey

CHANGES = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(-9, 9)), max_size=8)


def changed(changes: list[tuple[int, int, int]]) -> tuple[NamedValues, list[tuple[int, int, int]]]:
    """The values after these changes, each so many transactions later, and where each begins to count."""
    named, left, right, history = NamedValues(), 0, 0, []
    for more_left, more_right, value in changes:
        left, right, scaled = left + more_left, right + more_right, 10**24 + value
        named.set_parameter("high", scaled, {"left": left, "right": right})
        history.append((left, right, scaled))
    return named, history


def value_at(named: NamedValues, anchor: str, number: int) -> int | None:
    ((first, until, value),) = named.parameter("high").runs(anchor, number, number + 1)
    assert (first, until) == (number, number + 1)
    return value


@given(CHANGES, st.integers(0, 45))
def test_each_transaction_has_the_value_at_its_acceptance(
    changes: list[tuple[int, int, int]], number: int
) -> None:
    named, history = changed(changes)
    for anchor in ("left", "right"):
        before = [change for change in history if (change[0] if anchor == "left" else change[1]) <= number]
        assert value_at(named, anchor, number) == (before[-1][2] if before else None)


@given(CHANGES, st.integers(0, 20), st.integers(0, 20))
def test_runs_have_no_gaps(changes: list[tuple[int, int, int]], first: int, more: int) -> None:
    named, _ = changed(changes)
    runs = list(named.parameter("high").runs("left", first, first + more))
    numbers = [number for start, until, _ in runs for number in range(start, until)]
    assert numbers == list(range(first, first + more))
    for start, until, value in runs:
        assert all(value_at(named, "left", number) == value for number in range(start, until))


@given(CHANGES, st.integers(0, 40), st.integers(0, 40))
def test_compaction_and_storage_change_nothing_for_retained_transactions(
    changes: list[tuple[int, int, int]], left: int, right: int
) -> None:
    named, _ = changed(changes)
    expected = [[value_at(named, "left", left + i), value_at(named, "right", right + i)] for i in range(10)]
    named.compact({"left": left, "right": right})
    again = NamedValues.of_json(json.loads(json.dumps(named.to_json())), {})
    for names in (named, again):
        assert [
            [value_at(names, "left", left + i), value_at(names, "right", right + i)] for i in range(10)
        ] == expected


def test_a_change_that_counts_for_all_retained_transactions_is_compacted() -> None:
    named, _ = changed([(1, 1, 5), (1, 1, 6)])
    named.compact({"left": 2, "right": 2})
    assert named.to_json()["parameters"]["high"] == [str(10**24 + 6), []]


def test_a_name_without_an_event_has_nothing() -> None:
    assert list(NamedValues().parameter("nothing").runs("left", 3, 5)) == [(3, 5, None)]
    listed, key = NamedValues().list("nobody"), HashKey(1, 2)
    moments = listed.moment_of("left", 3, 5)
    assert listed.hold(*key.of_all(["a", ""]), moments, key).tolist() == [False, False]
