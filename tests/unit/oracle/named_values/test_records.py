"""Clears, statuses, exports, counters and used fields where rules have named lists and parameters."""

from __future__ import annotations

from tests.oracle.values.model import Json
from tests.oracle.values.rule_counts import Counts
from tests.unit.oracle.support.named_values import LARGE, WATCHED, Script, count, json_object, rows, total
from tests.unit.oracle.support.timeline import pay, play


def test_a_clear_leaves_them() -> None:
    script = Script()
    outcome = play(
        script.watch("25"),
        script.most("0"),
        script.rule(total(only=WATCHED)),
        script.control("CLEAR_STATE_ALL", 0),
        pay(1, 0),
    )
    assert rows(outcome, "limit") == [("t1", "0")]


def test_their_events_have_no_status_and_an_export_does_not_tell_them() -> None:
    script = Script()
    outcome = play(
        script.watch("25"), script.rule(count()), script.most("0"), script.control("EXPORT_RULES_CURRENT", 0)
    )
    assert [status["position"] for status in outcome.statuses] == [2]
    (export,) = outcome.exports
    assert export.keys() == {"kind", "commandId", "position", "rules"}
    assert outcome.skipped_rule_events == 0


def test_duplicates_and_null_groups_by_the_values_at_their_arrival() -> None:
    script = Script()
    cash: Json = {"field": "paymentType", "in": {"list": "watched"}}
    outcome = play(
        script.rule(count(only=cash)),
        script.watch("CSH"),
        pay(1, 0),
        pay(2, 0, payeeId=None),
        pay(1, 0, accepted=1),
        script.watch(),
        pay(1, 0, accepted=2),
        pay(3, 0, payeeId=None),
    )
    assert outcome.counts == {1: Counts(evaluations=1, null_groups=1, duplicates=1)}


def test_the_fields_compared_with_names_are_fields_that_the_rule_uses() -> None:
    script = Script()
    only: Json = {"all": [LARGE, {"not": {"field": "beneficiaryId", "in": {"list": "watched"}}}]}
    outcome = play(script.most("1", "large"), pay(1, 0), script.rule(count(only=only)))
    assert [set(json_object(alert["transaction"])) for alert in outcome.alerts] == [
        {"transactionId", "eventTime", "payeeId", "beneficiaryId", "paymentAmount"}
    ]
