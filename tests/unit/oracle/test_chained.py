"""Chained conditions, each sentence by a case small enough to do by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.oracle import Outcome, Record, judge
from tests.oracle.builders.drafts import Branch, Draft, DraftTree, chained, definition_document
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.oracle.malformed.chains import wrong_chains
from tests.oracle.values.canonical_json import definition_hash
from tests.oracle.values.model import Json, MicroBatch
from tests.oracle.values.rule_counts import Counts

T = 1_700_000_000_000
MINUTE = 60_000
CASH: Json = {"field": "paymentType", "operator": "=", "value": "CSH"}
CARD: Json = {"field": "paymentType", "operator": "=", "value": "CRD"}
LARGE: Json = {"field": "paymentAmount", "operator": ">=", "value": "100"}
PAYEE, BOTH = ("payeeId",), ("beneficiaryId", "payeeId")


def at(offset: int, seconds: float, amount: str = "1", accepted: float | None = None, **more: Json) -> Record:
    """A payment at T + seconds, on record at T + accepted where that is later."""
    later = seconds if accepted is None else accepted
    return payment(
        offset, T + int(1000 * seconds), amount, record_time=T + int(1000 * later), more=dict(more)
    )


def count(limit: int = 1, operator: str = ">=", by: tuple[str, ...] = PAYEE, **more: Any) -> Draft:
    """A condition: so many in the last minute."""
    return draft("COUNT", operator, str(limit), by=by, **{"seconds": 60, **more})


def total(limit: str, operator: str = ">", by: tuple[str, ...] = PAYEE, **more: Any) -> Draft:
    return draft("SUM", operator, limit, by=by, **{"seconds": 60, **more})


def all_of(*parts: DraftTree, **options: Any) -> Draft:
    return replace(chained(Branch("all", parts)), **options)


def any_of(*parts: DraftTree, **options: Any) -> Draft:
    return replace(chained(Branch("any", parts)), **options)


def no(part: DraftTree) -> Branch:
    return Branch("not", (part,))


def steps(*parts: bytes | Record | int) -> Outcome:
    """Rule events, ticks and payments, each a micro-batch of its own."""
    batches: list[MicroBatch] = []
    for part in parts:
        if isinstance(part, bytes):
            batches.append(batch(events=[part]))
        else:
            batches.append(batch(ticks=[part]) if isinstance(part, int) else batch(records=[part]))
    return judge(batches)


def judged(what: Draft, *records: Record | int) -> Outcome:
    return steps(Registry().publish(1, what, 0, 0), *records)


def ids(outcome: Outcome) -> list[str]:
    """The transaction of each alert."""
    return [str(_dict(alert["transaction"])["transactionId"]) for alert in outcome.alerts]


def values(alert: dict[str, Json], name: str = "value") -> list[Json]:
    """Of each condition, in the alert's order."""
    conditions = alert["conditions"]
    assert isinstance(conditions, list)
    return [_dict(condition)[name] for condition in conditions]


def all_values(outcome: Outcome, name: str = "value") -> list[list[Json]]:
    return [values(alert, name) for alert in outcome.alerts]


def _dict(value: Json) -> dict[str, Json]:
    assert isinstance(value, dict)
    return value


# --- its form (83 to 86)


def test_a_normalised_definition() -> None:
    what = all_of(
        count(3, only=CASH),
        no(any_of(total("1.5", by=BOTH, seconds=3600)).chain or count()),
        condition=LARGE,
        cooldown=5,
    )
    assert definition_document(what) == {
        "conditions": {
            "all": [
                {
                    "groupingKeyNames": ["payeeId"],
                    "aggregatorFunctionType": "COUNT",
                    "aggregateFieldName": None,
                    "limitOperatorType": ">=",
                    "limit": "3",
                    "windowSeconds": 60,
                    "filter": CASH,
                },
                {
                    "not": {
                        "any": [
                            {
                                "groupingKeyNames": ["beneficiaryId", "payeeId"],
                                "aggregatorFunctionType": "SUM",
                                "aggregateFieldName": "paymentAmount",
                                "limitOperatorType": ">",
                                "limit": "1.5",
                                "windowSeconds": 3600,
                            }
                        ]
                    }
                },
            ]
        },
        "firing": "every",
        "lateEvents": "evaluate",
        "precision": "exact",
        "filter": LARGE,
        "cooldownSeconds": 5,
    }


def with_definition(definition: Json) -> bytes:
    event = json.loads(Registry().publish(1, count(), 0, 0))
    event.update(definition=definition, definitionHash=definition_hash(definition))
    return json.dumps(event).encode()


@pytest.mark.parametrize("number", range(len(wrong_chains(definition_document(count())))))
def test_what_is_refused_is_skipped_and_takes_its_position(number: int) -> None:
    wrong = with_definition(wrong_chains(definition_document(count()))[number])
    outcome = steps(wrong, Registry().publish(2, count(), 0, 0), at(1, 0))
    assert (outcome.alerts, outcome.skipped_rule_events) == ([], 1)


def deep(levels: int) -> DraftTree:
    return count() if levels == 1 else no(deep(levels - 1))


@pytest.mark.parametrize(
    ("tree", "skipped"),
    [
        (deep(6), 0),
        (deep(7), 1),
        (Branch("any", (count(),) * 16), 0),
        (Branch("any", (count(),) * 17), 1),
        (Branch("all", (Branch("any", (count(),) * 8), Branch("any", (count(),) * 9))), 1),
        (count(by=()), 0),
        (no(count(by=())), 0),
        (Branch("any", (count(by=()), count(by=()))), 1),
        (Branch("any", (count(by=BOTH), count(by=("payeeId", "paymentType")))), 0),
        (Branch("any", (count(by=BOTH), count(by=PAYEE), count(by=("beneficiaryId",)))), 1),
    ],
)
def test_bounds_and_groupings(tree: DraftTree, skipped: int) -> None:
    outcome = judged(chained(tree), at(1, 0))
    assert outcome.skipped_rule_events == skipped
    if skipped:
        assert outcome.counts == {}
    else:
        assert outcome.counts == {1: Counts(evaluations=1)}


@pytest.mark.parametrize(
    ("options", "skipped"),
    [
        ({"firing": "crossing"}, 0),
        ({"cooldown": 5}, 0),
        ({"late_events": "store"}, 0),
        ({"reset_on_alert": True}, 1),
        ({"late_events": "reevaluate"}, 1),
    ],
)
def test_the_options_it_goes_with(options: dict[str, Any], skipped: int) -> None:
    outcome = judged(all_of(count(), count(), **options), at(1, 0))
    assert (outcome.skipped_rule_events, len(outcome.alerts)) == (skipped, 1 - skipped)


def test_nothing_said_beside_the_conditions_is_the_default() -> None:
    document = definition_document(all_of(count()))
    definition: Json = {"conditions": document["conditions"], "filter": None, "resetOnAlert": False}
    assert len(steps(with_definition(definition), at(1, 0)).alerts) == 1


def test_the_tree_decides() -> None:
    yes, never = count(1), count(99)
    table: list[tuple[DraftTree, bool]] = [
        (yes, True),
        (never, False),
        (no(never), True),
        (no(yes), False),
        (Branch("all", (yes, never)), False),
        (Branch("any", (never, yes)), True),
        (Branch("any", (never, never)), False),
        (Branch("all", (yes, no(Branch("any", (never, no(yes)))))), True),
        (Branch("any", (never, Branch("all", (yes, no(yes))))), False),
    ]
    for tree, expected in table:
        outcome = judged(chained(tree), at(1, 0))
        assert bool(outcome.alerts) is expected, tree
        for alert in outcome.alerts:
            assert values(alert, "holds") == [limit == "1" for limit in values(alert, "limit")]


def test_the_group_is_the_union_of_the_groupings() -> None:
    what = all_of(count(by=("payeeId", "paymentType")), count(by=BOTH))
    (alert,) = judged(what, at(1, 0)).alerts
    assert alert["group"] == {"beneficiaryId": "12", "payeeId": "25", "paymentType": "CSH"}
    assert list(_dict(alert["group"])) == ["beneficiaryId", "payeeId", "paymentType"]


def test_the_anchor_is_that_of_the_shared_fields() -> None:
    """By beneficiary: t1 is new there with another beneficiary, and no duplicate, though its payee is the same."""
    what = all_of(count(by=BOTH), count(by=("beneficiaryId",)))
    outcome = judged(what, at(1, 0), at(1, 1, beneficiaryId=13), at(1, 2, payeeId=7))
    assert all_values(outcome) == [["1", "1"], ["1", "1"]]
    assert outcome.counts == {1: Counts(evaluations=2, duplicates=1)}


def test_where_they_share_no_anchor_it_is_the_global_one() -> None:
    what = all_of(count(by=("payeeId", "paymentType")), count(by=("beneficiaryId", "paymentType")))
    outcome = judged(what, at(1, 0), at(1, 1, payeeId=7, beneficiaryId=13))
    assert outcome.counts == {1: Counts(evaluations=1, duplicates=1)}


# --- what triggers it (87), and its counters (94)


def test_it_is_evaluated_for_what_passes_the_rule_s_filter_and_some_condition_s() -> None:
    what = any_of(
        count(0, only=CASH), count(0, only=LARGE), condition={"not": {"field": "payeeId", "in": ["7"]}}
    )
    records = [
        at(1, 0),
        at(2, 1, "100", paymentType="CRD"),
        at(3, 2, paymentType="CRD"),
        at(4, 3, payeeId=7),
        at(5, 4, "100"),
    ]
    outcome = judged(what, *records)
    assert ids(outcome) == ["t1", "t2", "t5"]
    assert outcome.counts == {1: Counts(evaluations=3)}


def test_a_condition_without_a_filter_passes_everything() -> None:
    what = any_of(count(1, only=LARGE), count(1))
    assert ids(judged(what, at(1, 0), at(2, 1, "100"))) == ["t1", "t2"]


def test_a_null_in_any_grouping_is_a_null_group_if_it_passes() -> None:
    what = all_of(count(1), count(1, by=BOTH), condition=CASH)
    records = [
        at(1, 0, beneficiaryId=None),
        at(2, 1, payeeId=None),
        at(3, 2, beneficiaryId=None, paymentType="CRD"),
        at(4, 3),
    ]
    outcome = judged(what, *records)
    assert (outcome.null_groups, ids(outcome)) == (2, ["t4"])
    assert outcome.counts == {1: Counts(evaluations=1, null_groups=2)}


def test_a_null_group_that_passes_no_condition_s_filter_is_none() -> None:
    what = all_of(count(1, only=CASH), count(1, by=BOTH, only=LARGE))
    outcome = judged(what, at(1, 0, paymentType="CRD", beneficiaryId=None))
    assert (outcome.null_groups, outcome.counts) == (0, {})


def test_duplicates_and_equal_times_go_by_what_triggers() -> None:
    what = any_of(count(9, only=CASH), count(9, by=BOTH, only=LARGE))
    records = [
        at(1, 0),
        at(1, 0, accepted=1),
        at(2, 0, "100", accepted=1, paymentType="CRD"),
        at(3, 0, accepted=1, paymentType="CRD"),
        at(3, 0, accepted=2, paymentType="CRD"),
        at(4, 0, accepted=2, beneficiaryId=13),
    ]
    assert judged(what, *records).counts == {1: Counts(evaluations=3, equal_times=1, duplicates=1)}


# --- a condition's window (88, 89)


def test_each_condition_has_its_own_window() -> None:
    what = all_of(count(1, seconds=10), total("0", seconds=60))
    outcome = judged(what, at(1, 0, "1"), at(2, 50, "2"), at(3, 60, "4"), at(4, 61, "8"))
    assert all_values(outcome) == [["1", "1"], ["1", "3"], ["2", "7"], ["2", "14"]]
    assert values(outcome.alerts[3], "windowStart") == [T + 51_000, T + 1_000]


def test_each_condition_has_its_own_group() -> None:
    what = any_of(count(1), count(1, by=BOTH), count(1, by=("payeeId", "paymentType")))
    records = [at(1, 0), at(2, 1, beneficiaryId=13), at(3, 2, paymentType="CRD"), at(4, 3, payeeId=7)]
    assert all_values(judged(what, *records)) == [
        ["1", "1", "1"],
        ["2", "1", "2"],
        ["3", "2", "1"],
        ["1", "1", "1"],
    ]


def test_what_passes_both_filters_counts_and_the_event_itself_only_so() -> None:
    what = any_of(count(0, only=CASH), count(0, only=LARGE), count(0), condition={"not": LARGE_CARD})
    records = [
        at(1, 0),
        at(2, 1, "100"),
        at(3, 2, paymentType="CRD"),
        at(4, 3, "100", paymentType="CRD"),
        at(5, 4, paymentType="CRD"),
    ]
    outcome = judged(what, *records)
    assert ids(outcome) == ["t1", "t2", "t3", "t5"]
    assert all_values(outcome) == [["1", "0", "1"], ["2", "1", "2"], ["2", "1", "3"], ["2", "1", "4"]]


LARGE_CARD: Json = {"all": [LARGE, CARD]}


def test_nulls_in_the_rule_s_other_fields_do_not_matter_to_a_condition() -> None:
    what = all_of(count(1), count(1, by=BOTH))
    outcome = judged(what, at(1, 0, beneficiaryId=None), at(2, 1))
    assert (ids(outcome), all_values(outcome)) == (["t2"], [["2", "1"]])


@pytest.mark.parametrize(
    ("function", "field", "operator", "limit", "value", "held"),
    [
        ("SUM", "paymentAmount", "<=", "0", "0", True),
        ("COUNT", "paymentAmount", "=", "0", "0", True),
        ("COUNT", "paymentAmount", ">", "0", "0", False),
        ("COUNT_DISTINCT", "payeeId", "<", "1", "0", True),
        ("AVG", "paymentAmount", "<", "5", None, False),
        ("MIN", "paymentAmount", "<", "5", None, False),
        ("MAX", "paymentAmount", "!=", "5", None, False),
    ],
)
def test_of_nothing(function: str, field: str, operator: str, limit: str, value: Json, *, held: bool) -> None:
    nothing = draft(function, operator, limit, by=PAYEE, seconds=60, only=CARD, field=field)
    outcome = judged(any_of(nothing, no(nothing), count(99)), at(1, 0))
    (alert,) = outcome.alerts
    assert values(alert) == [value, value, "1"]
    assert values(alert, "holds") == [held, held, False]
    assert values(alert, "contributors")[0] == {"count": 0, "transactions": [], "truncated": False}


def test_a_condition_that_counts_distinct_values_shows_them() -> None:
    distinct = draft("COUNT_DISTINCT", ">=", "2", by=PAYEE, seconds=60, field="beneficiaryId")
    outcome = judged(all_of(distinct), at(1, 0), at(2, 1, beneficiaryId=None), at(3, 2, beneficiaryId=13))
    assert (ids(outcome), all_values(outcome)) == (["t3"], [["2"]])
    assert values(outcome.alerts[0], "aggregateFieldName") == ["beneficiaryId"]
    assert values(outcome.alerts[0], "contributors") == [
        {
            "count": 2,
            "transactions": [
                {"transactionId": "t3", "eventTime": T + 2_000, "value": "13"},
                {"transactionId": "t1", "eventTime": T, "value": "12"},
            ],
            "truncated": False,
        }
    ]


# --- late (90), and what goes by the rule's group


def test_late_is_for_the_rule_s_group_and_what_triggers() -> None:
    what = any_of(count(0, only=CASH), count(0, by=BOTH, only=LARGE))
    records = [
        at(1, 10),
        at(2, 20, beneficiaryId=13),
        at(3, 30, paymentType="CRD"),
        at(4, 9, accepted=30),
        at(5, 15, "100", accepted=30, paymentType="CRD"),
        at(6, 12, accepted=30),
    ]
    outcome = judged(what, *records)
    assert [(name, alert["late"]) for name, alert in zip(ids(outcome), outcome.alerts, strict=True)] == [
        ("t1", None),
        ("t2", None),
        ("t4", {"newestEventTime": T + 10_000}),
        ("t5", None),
        ("t6", {"newestEventTime": T + 15_000}),
    ]
    assert outcome.counts[1] == Counts(evaluations=5, late_evaluated=2)


def test_store_keeps_late_ones_for_those_that_come() -> None:
    what = all_of(count(1), count(1, by=BOTH), late_events="store")
    outcome = judged(
        what, at(1, 10), at(2, 9, accepted=10), at(3, 9, accepted=10, beneficiaryId=13), at(4, 11)
    )
    # t3 is late for the payee, but not for the rule's group.
    assert (ids(outcome), all_values(outcome)) == (
        ["t1", "t3", "t4"],
        [["1", "1"], ["2", "1"], ["4", "3"]],
    )
    assert outcome.counts[1] == Counts(evaluations=3, late_stored=1)


def test_crossing_is_of_the_rule_s_group_and_lasts_the_widest_window() -> None:
    what = all_of(count(1, seconds=10), count(1, by=BOTH, seconds=30), firing="crossing")
    records = [
        at(1, 0),
        at(2, 5),
        at(3, 6, beneficiaryId=13),
        at(4, 30),
        at(5, 60),
        at(6, 90.001),
    ]
    # t4 and t5 come 25 s and exactly 30 s after the last of their group, t6 comes later than that.
    assert ids(judged(what, *records)) == ["t1", "t3", "t6"]


def test_crossing_again_after_it_did_not_hold() -> None:
    what = all_of(count(2), no(total("10")), firing="crossing")
    records = [at(1, 0), at(2, 1), at(3, 2), at(4, 3, "50"), at(5, 4, "-50"), at(6, 5)]
    outcome = judged(what, *records)
    assert (ids(outcome), all_values(outcome)) == (["t2", "t5"], [["2", "2"], ["5", "3"]])


def test_the_cooldown_is_of_the_rule_s_group() -> None:
    what = all_of(count(1), count(1, by=BOTH), cooldown=10)
    records = [
        at(1, 0),
        at(2, 5),
        at(3, 6, beneficiaryId=13),
        at(4, 10),
        at(5, 15),
        at(6, 16, beneficiaryId=13),
    ]
    assert ids(judged(what, *records)) == ["t1", "t3", "t4", "t6"]


# --- windows and fields of the whole (91)


def test_warm_from_goes_by_the_widest_window() -> None:
    what = all_of(count(1, seconds=10), count(1, seconds=60))
    registry = Registry()
    outcome = steps(T, registry.publish(1, what, 0, 0), at(1, 59.999), at(2, 60))
    assert [status["warmFrom"] for status in outcome.statuses] == [T + MINUTE]
    assert [alert["warm"] for alert in outcome.alerts] == [False, True]


@pytest.mark.parametrize(("seconds", "expected"), [(3600, ["2"]), (60, [])])
def test_the_widest_window_keeps_the_history_of_all_its_fields(seconds: int, expected: list[str]) -> None:
    """A new rule over an hour finds what a chained one kept, which needs the fields for its widest window."""
    registry = Registry()
    keeper = all_of(count(99, seconds=10, only=CASH), count(99, by=BOTH, seconds=seconds))
    narrow = draft("COUNT", ">=", "2", by=PAYEE, seconds=3600, only=CASH)
    clock = T + 50 * MINUTE
    outcome = steps(
        registry.publish(1, keeper, 0, 0),
        T,
        at(1, 0),
        clock,
        registry.publish(2, narrow, T + 1, 0),
        at(2, 3000),
    )
    assert [alert["value"] for alert in outcome.alerts] == expected


@pytest.mark.parametrize(("only", "expected"), [(None, ["2", "2"]), (CASH, ["1", "1"])])
def test_it_sees_what_is_kept_of_every_field_that_it_uses(only: Json, expected: list[Json]) -> None:
    """Nobody kept paymentType: where one condition asks for it, the other sees no more than that one."""
    registry = Registry()
    later = all_of(count(1, seconds=3600), count(1, seconds=3600, only=only))
    outcome = steps(
        registry.publish(1, count(99, seconds=3600), 0, 0),
        T,
        at(1, 0),
        T + 50 * MINUTE,
        registry.publish(2, later, T + 1, 0),
        at(2, 3000),
    )
    assert all_values(outcome) == [expected]


def test_widest_windows_have_each_condition_s_grouping_with_the_window_of_the_whole() -> None:
    registry = Registry()
    registry.publish(1, count(1, seconds=120), 0, 0)
    what = all_of(count(1, seconds=60), count(1, by=BOTH, seconds=3600), count(1, by=BOTH, seconds=5))
    event = json.loads(registry.publish(2, what, 0, 0))
    assert event["widestWindows"] == [
        {"groupingKeyNames": ["beneficiaryId", "payeeId"], "windowSeconds": 3600, "ruleId": 2, "version": 1},
        {"groupingKeyNames": ["payeeId"], "windowSeconds": 3600, "ruleId": 2, "version": 1},
    ]


# --- catch-up


def test_catch_up_judges_it_like_any_other() -> None:
    what = all_of(count(2), total("0", by=BOTH, only=CASH), firing="crossing", late_events="store")
    records = [at(1, 0), at(2, 1), at(3, 2), at(4, 1.5, accepted=2), at(5, 100), at(6, 101, payeeId=None)]
    outcome = steps(*records, Registry().publish(1, what, T, 0), at(7, 102))
    assert (ids(outcome), all_values(outcome)) == (["t2", "t7"], [["2", "2"], ["2", "2"]])
    assert [alert["partial"] for alert in outcome.alerts] == [True, False]
    assert outcome.counts == {1: Counts(evaluations=5, late_stored=1)}
    assert outcome.null_groups == 0


# --- the alert and the trace (92, 93)


def test_an_alert_whole() -> None:
    what = all_of(
        total("10", by=BOTH, seconds=20, only=CASH),
        no(draft("AVG", ">", "5", by=PAYEE, seconds=60, only=CARD)),
        condition=None,
    )
    registry = Registry()
    outcome = steps(registry.publish(7, what, 0, 0), at(1, 0, "10.5"), at(2, 30, "10.25"))
    first, second = outcome.alerts
    assert second == {
        "alertId": second["alertId"],
        "ruleId": 7,
        "ruleVersion": 1,
        "ruleName": "rule 7 as of 1",
        "definitionHash": definition_hash(definition_document(what)),
        "group": {"beneficiaryId": "12", "payeeId": "25"},
        "transaction": {
            "transactionId": "t2",
            "eventTime": T + 30_000,
            "payeeId": "25",
            "beneficiaryId": "12",
            "paymentAmount": "10.25",
            "paymentType": "CSH",
            "ingestionTimestamp": None,
        },
        "partial": False,
        "value": None,
        "operator": None,
        "limit": None,
        "windowStart": T - 30_000,
        "windowEnd": T + 30_000,
        "contributors": None,
        "conditions": [
            {
                "groupingKeyNames": ["beneficiaryId", "payeeId"],
                "aggregatorFunctionType": "SUM",
                "aggregateFieldName": "paymentAmount",
                "group": {"beneficiaryId": "12", "payeeId": "25"},
                "value": "10.25",
                "operator": ">",
                "limit": "10",
                "windowSeconds": 20,
                "windowStart": T + 10_000,
                "windowEnd": T + 30_000,
                "holds": True,
                "contributors": {
                    "count": 1,
                    "transactions": [{"transactionId": "t2", "eventTime": T + 30_000, "value": "10.25"}],
                    "truncated": False,
                },
            },
            {
                "groupingKeyNames": ["payeeId"],
                "aggregatorFunctionType": "AVG",
                "aggregateFieldName": "paymentAmount",
                "group": {"payeeId": "25"},
                "value": None,
                "operator": ">",
                "limit": "5",
                "windowSeconds": 60,
                "windowStart": T - 30_000,
                "windowEnd": T + 30_000,
                "holds": False,
                "contributors": {"count": 0, "transactions": [], "truncated": False},
            },
        ],
        "late": None,
        "warm": False,
        "mode": "live",
        "eventTime": T + 30_000,
        "ingestedAt": T + 30_000,
    }
    assert first["alertId"] != second["alertId"]


def test_a_plain_alert_has_no_conditions_and_one_condition_alone_has() -> None:
    registry = Registry()
    events = [registry.publish(1, count(), 0, 0), registry.publish(2, chained(count()), 0, 0)]
    outcome = steps(*events, registry.trace(1, T + 9, 0), registry.trace(2, T + 9, 0), at(1, 0))
    assert ["conditions" in alert for alert in outcome.alerts] == [False, True]
    assert ["conditions" in trace for trace in outcome.traces] == [False, True]


def test_a_partial_alert_has_the_fields_of_all_conditions_and_filters() -> None:
    before = at(1, 0)
    for what, fields in (
        (all_of(count(), count(only=CASH)), {"payeeId", "paymentType"}),
        (all_of(count(), total("0")), {"payeeId", "paymentAmount"}),
        (all_of(count(), count(by=BOTH)), {"payeeId", "beneficiaryId"}),
        (all_of(count(), condition={"not": CARD}), {"payeeId", "paymentType"}),
    ):
        (alert,) = steps(before, Registry().publish(1, what, T, 0)).alerts
        assert set(_dict(alert["transaction"])) == {"transactionId", "eventTime", *fields}


def test_a_trace_whole() -> None:
    registry = Registry()
    what = all_of(
        total("10", seconds=20, only=CARD), no(draft("MAX", ">", "5", by=BOTH, seconds=60, only=CARD))
    )
    what = any_of(what.chain or count(), count(1, only=CASH), firing="crossing")
    events = [registry.publish(7, what, 0, 0), registry.trace(7, T + MINUTE, 0)]
    outcome = judge([batch(events=events, records=[at(1, 0, "3"), at(2, 30, "2")])])
    conditions: list[Json] = [
        {"value": "0", "limit": "10", "limitOperatorType": ">", "contributingCount": 0, "holds": False},
        {"value": None, "limit": "5", "limitOperatorType": ">", "contributingCount": 0, "holds": False},
        {"value": "2", "limit": "1", "limitOperatorType": ">=", "contributingCount": 2, "holds": True},
    ]
    assert outcome.traces[1] == {
        "ruleId": 7,
        "version": 1,
        "transactionId": "t2",
        "eventTime": T + 30_000,
        "recordTime": T + 30_000,
        "partition": 0,
        "offset": 2,
        "group": {"beneficiaryId": "12", "payeeId": "25"},
        "windowStart": T - 30_000,
        "windowEnd": T + 30_000,
        "value": None,
        "contributingCount": 0,
        "limit": None,
        "limitOperatorType": None,
        "holds": True,
        "alerted": False,
        "late": False,
        "conditions": conditions,
    }
    assert [trace["alerted"] for trace in outcome.traces] == [True, False]


def test_the_conditions_share_the_hundred_contributors_that_are_listed() -> None:
    what = all_of(count(34), count(1, seconds=30), total("0", by=BOTH))
    outcome = judged(what, *(at(i, i) for i in range(34)))
    (alert,) = outcome.alerts
    found = [_dict(each) for each in values(alert, "contributors")]
    listed = [each["transactions"] for each in found]
    assert [len(each) for each in listed if isinstance(each, list)] == [33, 31, 33]
    assert [(each["count"], each["truncated"]) for each in found] == [(34, True), (31, False), (34, True)]
