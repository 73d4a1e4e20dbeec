"""Named lists and parameters: what held for each transaction, and what is kept of it."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from tripline_engine.domain.rules.named_values import NamedValues

SETS = st.frozensets(st.sampled_from("abcd"))
CHANGES = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), SETS), max_size=8)


def told(
    changes: list[tuple[int, int, frozenset[str]]],
) -> tuple[NamedValues, list[tuple[int, int, frozenset[str]]]]:
    """The changes taken after so many transactions more on either anchor, and where each begins to count."""
    named, left, right, story = NamedValues(), 0, 0, []
    for more_left, more_right, values in changes:
        left, right = left + more_left, right + more_right
        named.set_list("watched", values, {"left": left, "right": right})
        named.set_parameter("high", 10**24 - len(values), {"left": left, "right": right})
        story.append((left, right, values))
    return named, story


def at(named: NamedValues, anchor: str, number: int) -> frozenset[str]:
    ((first, until, values),) = named.list("watched").runs(anchor, number, number + 1)
    assert (first, until) == (number, number + 1)
    return values


@given(CHANGES, st.integers(0, 45))
def test_each_transaction_has_what_held_at_its_acceptance(
    changes: list[tuple[int, int, frozenset[str]]], number: int
) -> None:
    named, story = told(changes)
    for anchor in ("left", "right"):
        before = [each for each in story if (each[0] if anchor == "left" else each[1]) <= number]
        expected = before[-1][2] if before else frozenset()
        assert at(named, anchor, number) == expected
        ((_, _, value),) = named.parameter("high").runs(anchor, number, number + 1)
        assert value == (10**24 - len(expected) if before else None)


@given(CHANGES, st.integers(0, 20), st.integers(0, 20))
def test_runs_follow_each_other_without_a_gap(
    changes: list[tuple[int, int, frozenset[str]]], first: int, more: int
) -> None:
    named, _ = told(changes)
    runs = list(named.list("watched").runs("left", first, first + more))
    numbers = [number for start, until, _ in runs for number in range(start, until)]
    assert numbers == list(range(first, first + more))
    for start, until, values in runs:
        assert all(at(named, "left", number) == values for number in range(start, until))


@given(CHANGES, st.integers(0, 40), st.integers(0, 40))
def test_forgetting_and_storing_change_nothing_for_what_is_retained(
    changes: list[tuple[int, int, frozenset[str]]], left: int, right: int
) -> None:
    named, _ = told(changes)
    expected = [[at(named, "left", left + i), at(named, "right", right + i)] for i in range(10)]
    named.compact({"left": left, "right": right})
    again = NamedValues.of_json(json.loads(json.dumps(named.to_json())))
    for each in (named, again):
        assert [[at(each, "left", left + i), at(each, "right", right + i)] for i in range(10)] == expected


def test_what_counts_for_all_that_is_retained_is_no_longer_kept() -> None:
    named, _ = told([(1, 1, frozenset("a")), (1, 1, frozenset("ab"))])
    named.compact({"left": 2, "right": 2})
    assert named.to_json()["lists"]["watched"] == [["a", "b"], []]


def test_what_had_no_event_is_empty() -> None:
    assert list(NamedValues().list("nobody").runs("left", 3, 5)) == [(3, 5, frozenset())]
    assert list(NamedValues().parameter("nothing").runs("left", 3, 5)) == [(3, 5, None)]
