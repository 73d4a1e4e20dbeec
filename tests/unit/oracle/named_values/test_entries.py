"""Lists that change by single entries, each by a case done by hand."""

from __future__ import annotations

import json

import pytest

from tests.oracle.builders.registry import Registry
from tests.oracle.malformed.named_values import wrong_entries
from tests.oracle.parsers.named_values import MOST_VALUES
from tests.oracle.values.model import Json
from tests.unit.oracle.support.named_values import WATCHED, Script, count, ids, rows
from tests.unit.oracle.support.timeline import pay, play


def entries(script: Registry, added: list[Json], removed: list[Json], until: Json = None) -> bytes:
    return script.change_entries("watched", added, removed, 0, until)


def test_the_event_as_rules_v1_has_it() -> None:
    script = Script()
    script.watch("25")
    event = json.loads(entries(script, ["12"], ["25"], until=5))
    assert (event["type"], event["name"], event["version"], event["position"]) == (
        "ListEntriesChanged", "watched", 2, 2,
    )  # fmt: skip
    assert (event["added"], event["removed"]) == ([{"value": "12", "until": 5}], ["25"])


def test_entries_come_and_go_one_by_one() -> None:
    script = Script()
    outcome = play(
        script.rule(count(only=WATCHED)),
        script.watch("12"),
        pay(1, 0),
        entries(script, ["25"], []),
        pay(2, 1),
        entries(script, ["7"], ["12"]),
        pay(3, 2),
        entries(script, [], ["25"]),
        pay(4, 3),
    )
    # what did not pass when it was accepted is in no window later on
    assert rows(outcome, "value") == [("t2", "1"), ("t3", "2")]


def test_a_list_that_nobody_made_begins_with_its_first_entry() -> None:
    script = Script()
    assert ids(play(script.rule(count(only=WATCHED)), entries(script, ["25"], []), pay(1, 0))) == ["t1"]


def test_what_is_there_and_what_is_not_there_stay_as_they_are() -> None:
    script = Script()
    events = [script.watch("25"), entries(script, ["25"], ["12"]), entries(script, [], ["12"])]
    assert ids(play(*events, script.rule(count(only=WATCHED)), pay(1, 0))) == ["t1"]


def test_a_whole_list_replaces_what_came_by_entries() -> None:
    script = Script()
    events = [entries(script, ["25", "12"], []), script.watch("12"), script.rule(count(only=WATCHED))]
    assert ids(play(*events, pay(1, 0))) == []


def test_an_end_decides_nothing_by_itself() -> None:
    script = Script()
    events = [entries(script, ["25"], [], until=0), script.rule(count(only=WATCHED))]
    outcome = play(*events, pay(1, 0), entries(script, [], ["25"]), pay(2, 1))
    assert ids(outcome) == ["t1"]


def test_several_of_one_micro_batch_are_taken_in_their_order() -> None:
    script = Script()
    events = [
        entries(script, ["25"], []),
        entries(script, [], ["25"]),
        entries(script, ["25"], []),
        script.rule(count(only=WATCHED)),
    ]
    assert ids(play(*events, pay(1, 0))) == ["t1"]


def test_a_rule_made_later_looks_at_the_entries_of_before() -> None:
    script = Script()
    outcome = play(
        entries(script, ["25"], []),
        pay(1, 0),
        entries(script, [], ["25"]),
        pay(2, 1),
        entries(script, ["25"], []),
        script.rule(count(only=WATCHED)),
        pay(3, 2),
    )
    assert rows(outcome, "value")[-1] == ("t3", "2")


@pytest.mark.parametrize("number", range(len(wrong_entries(0))))
def test_a_change_that_cannot_be_read_is_skipped_and_takes_no_position(number: int) -> None:
    script = Script()
    wrong = json.dumps({**wrong_entries(0)[number], "position": 2}).encode()
    outcome = play(script.watch("25"), wrong, script.rule(count(only=WATCHED)), pay(1, 0))
    assert (ids(outcome), outcome.skipped_rule_events) == (["t1"], 1)


@pytest.mark.parametrize(
    ("added", "removed", "skipped"),
    [
        ([25, "25"], [], 0),
        ([], [], 0),
        ([*map(str, range(MOST_VALUES))], [], 0),
        ([*map(str, range(MOST_VALUES))], ["x"], 1),
        (["z" * 64, "\U0001d4b3" * 64], [], 0),
    ],
)
def test_what_one_event_may_change(added: list[Json], removed: list[Json], skipped: int) -> None:
    script = Script()
    events = [script.watch("25"), entries(script, added, removed)]
    if skipped:
        script.position -= 1
    outcome = play(*events, script.rule(count(only=WATCHED)), pay(1, 0))
    assert (ids(outcome), outcome.skipped_rule_events) == (["t1"], skipped)
