"""The trace of a rule: what is told of an evaluation, from when until when, and how much at most."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.oracle.builders.drafts import Branch, chained
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.oracle.parsers.rule_events import Settings
from tests.oracle.values.model import MicroBatch, Record
from tests.unit.engine.support.shard_harness import KEEPING_ALL, TRANSACTION, Engine
from tripline_contracts import exact_json, schemas
from tripline_engine.domain.judging.trace_sample import MAX_RECORDS
from tripline_engine.domain.rules.rule_book import RuleBook
from tripline_engine.domain.shard.ports import OutRecord

T = 1_700_000_000_000
MINUTE = 60_000
SUM = draft("SUM", ">", "1000")


def written(engine: Engine) -> list[OutRecord]:
    return [record for record in engine.out if record.topic == "rule-traces.v1"]


def traced(engine: Engine) -> list[tuple[int, str]]:
    """Rule and transaction of each record."""
    return [(trace["ruleId"], trace["transactionId"]) for trace in engine.traces()]


def traced_rule_1(registry: Registry, until: int = T + MINUTE) -> MicroBatch:
    return batch(events=[registry.publish(1, SUM, 0, 0), registry.trace(1, until, T)], ticks=[T])


def test_what_weights_came_to_is_told_where_they_are_not_enough() -> None:
    registry, engine = Registry(), Engine(shards=2)
    tree = Branch("weighted", (SUM, draft("COUNT", ">=", "1")), ("45", "-5.50"), "45")
    rule = registry.publish(1, chained(tree), 0, 0)
    events = [rule, registry.trace(1, T + MINUTE, T)]
    engine.run([batch(events=events, ticks=[T]), batch(records=[payment(4, T, "600"), payment(5, T, "401")])])
    below, short = engine.traces()
    assert [trace["weighted"][0]["sum"] for trace in (below, short)] == ["-5.5", "39.5"]
    assert short["weighted"] == [
        {
            "sum": "39.5",
            "atLeast": "45",
            "holds": False,
            "weights": [
                {"weight": "45", "holds": True, "conditions": [1]},
                {"weight": "-5.5", "holds": True, "conditions": [2]},
            ],
        }
    ]
    assert not short["holds"]


def test_a_whole_record() -> None:
    registry, engine = Registry(), Engine(shards=2)
    start = traced_rule_1(registry)
    engine.run([start, batch(records=[payment(4, T, "600"), payment(5, T - 1, "401", record_time=T + 9)])])
    (first, late) = written(engine)
    assert (first.key, dict(first.headers)["ce_type"]) == (b"1", b"tripline.EvaluationTraced.v1")
    assert dict(late.headers)["ce_id"] == b"1-1-0-5"
    assert json.loads(late.value) == {
        "ruleId": 1,
        "version": 1,
        "transactionId": "t5",
        "eventTime": T - 1,
        "recordTime": T + 9,
        "partition": 0,
        "offset": 5,
        "group": {"beneficiaryId": "12", "payeeId": "25"},
        "windowStart": T - 1 - 20 * MINUTE,
        "windowEnd": T - 1,
        "value": "401",
        "contributingCount": 1,
        "limit": "1000",
        "limitOperatorType": ">",
        "holds": False,
        "alerted": False,
        "late": True,
        "judgedAt": 0,
    }
    for record in (first, late):
        schemas.validator("rule-traces.v1")(exact_json.loads(record.value))


def test_a_rule_that_fires_at_crossings_may_hold_and_not_alert() -> None:
    registry, engine = Registry(), Engine()
    crossing = registry.publish(1, draft("COUNT", ">=", "2", firing="crossing"), 0, 0)
    records = [payment(n, T + n) for n in range(3)]
    engine.run([batch(events=[crossing, registry.trace(1, T + MINUTE, T)], records=records)])
    told = [(trace["value"], trace["holds"], trace["alerted"]) for trace in engine.traces()]
    assert told == [("1", False, False), ("2", True, True), ("3", True, False)]


@pytest.mark.parametrize(
    ("lower", "upper", "told"), [(0, 0, []), (0, 1, ["t0"]), (2, 1, ["t0"]), (1, 2, ["t0", "t1"])]
)
def test_until_a_record_time_by_the_last_command(lower: int, upper: int, told: list[str]) -> None:
    registry, engine = Registry(), Engine()
    commands = [registry.publish(1, SUM, 0, 0)]
    commands += [registry.trace(1, T + until, T) for until in (lower, upper)]
    engine.run([batch(events=commands, records=[payment(n, T + n) for n in range(3)])])
    assert [trace["transactionId"] for trace in engine.traces()] == told


def test_nothing_is_told_before_of_others_or_of_rules_that_are_not_there() -> None:
    registry, engine = Registry(), Engine()
    before = registry.trace(1, T + MINUTE, T)
    rules = [registry.publish(number, SUM, 0, 0) for number in (1, 2)]
    engine.run([batch(events=[before, *rules], records=[payment(1, T)])])
    assert traced(engine) == []
    engine.run([batch(events=[registry.trace(2, T + MINUTE, T)], records=[payment(2, T)])])
    assert traced(engine) == [(2, "t2")]
    assert engine.counters["trace_records_omitted"] == 0


def test_it_outlives_a_clear_lost_memory_a_pause_and_a_new_definition() -> None:
    registry, engine = Registry(), Engine()
    engine.take(traced_rule_1(registry))
    engine.forget()
    engine.take(batch(events=[registry.control("CLEAR_STATE_ALL", T)], records=[payment(1, T)]))
    engine.forget()
    pause = registry.move("RulePaused", "PAUSED", 1, T)
    engine.take(batch(events=[pause], records=[payment(2, T)]))
    resume = registry.move("RuleResumed", "ACTIVE", 1, T)
    engine.take(batch(events=[resume, registry.publish(1, SUM, T, T)], records=[payment(3, T)]))
    assert [(trace["version"], trace["transactionId"]) for trace in engine.traces()] == [(1, "t1"), (4, "t3")]


def test_deleting_the_rule_ends_it() -> None:
    registry, engine = Registry(), Engine()
    engine.take(traced_rule_1(registry))
    deletion = registry.move("RuleDeleted", "DELETED", 1, T)
    engine.take(batch(events=[deletion, registry.trace(1, T + MINUTE, T)], records=[payment(1, T)]))
    assert traced(engine) == []
    assert b'"traced":[]' in engine.logs[0].committed["rules"]


def test_what_is_caught_up_is_not_told_and_what_is_stored_neither() -> None:
    registry, engine = Registry(), Engine(event_type=KEEPING_ALL)
    first = batch(events=[registry.change_settings(Settings(), 0)], ticks=[T], records=[payment(1, T)])
    rule = registry.publish(1, draft("COUNT", ">=", "1", late_events="store"), 0, 0)
    trace = registry.trace(1, T + MINUTE, T)
    later = [payment(2, T + 2), payment(3, T + 1)]
    engine.run([first, batch(events=[rule, trace], records=later)])
    assert engine.counts()[1]["evaluations"] == 2
    assert engine.counts()[1]["late_stored"] == 1
    assert traced(engine) == [(1, "t2")]


def many(count: int) -> list[Record]:
    """Payments on two partitions, by turns of record time."""
    return [
        payment(number, T, record_time=T + number, partition=number % 2, more={"payeeId": number % 7})
        for number in range(count)
    ]


def test_more_than_so_many_are_counted_and_not_told() -> None:
    registry, engine = Registry(), Engine()
    # on two anchors, and the rule that is told first of each transaction published last
    rules = [registry.publish(2, draft("COUNT", ">", "5", by=("beneficiaryId",)), 0, 0)]
    rules.append(registry.publish(1, draft("MAX", ">", "5", by=("payeeId",)), 0, 0))
    traces = [registry.trace(rule, T + 2 * MAX_RECORDS, T) for rule in (1, 2)]
    engine.run([batch(events=[*rules, *traces], records=many(MAX_RECORDS - 1))])
    expected = [(rule, f"t{number}") for number in range(MAX_RECORDS // 2) for rule in (1, 2)]
    assert traced(engine) == expected
    assert engine.counters["trace_records_omitted"] == MAX_RECORDS - 2
    engine.run([batch(records=[payment(5000, T, record_time=T + 1500)])])
    assert traced(engine)[MAX_RECORDS:] == [(1, "t5000"), (2, "t5000")]


def test_of_one_payment_the_rules_are_told_by_id() -> None:
    registry, engine = Registry(), Engine()
    rules = [registry.publish(rule, draft("COUNT", ">", "5", by=("payeeId",)), 0, 0) for rule in (3, 1, 2)]
    traces = [registry.trace(rule, T + 2 * MAX_RECORDS, T) for rule in (1, 2, 3)]
    engine.run([batch(events=[*rules, *traces], records=many(MAX_RECORDS // 2))])
    expected = [(rule, f"t{number}") for number in range(MAX_RECORDS // 2) for rule in (1, 2, 3)]
    assert traced(engine) == expected[:MAX_RECORDS]


def test_exactly_so_many_are_told() -> None:
    registry, engine = Registry(), Engine()
    engine.take(traced_rule_1(registry, T + 2 * MAX_RECORDS))
    engine.take(batch(records=many(MAX_RECORDS)))
    assert len(traced(engine)) == MAX_RECORDS
    assert engine.counters["trace_records_omitted"] == 0


def test_each_shard_has_its_own_measure(tmp_path: Path) -> None:
    registry, engine = Registry(), Engine(shards=3, directory=tmp_path)
    rule = registry.publish(1, draft("COUNT", ">", "5", by=("payeeId",)), 0, 0)
    engine.take(batch(events=[rule, registry.trace(1, T + 9000, T)], records=many(3000)))
    told, omitted = len(traced(engine)), engine.counters["trace_records_omitted"]
    assert told + omitted == 3000
    assert MAX_RECORDS < told <= 3 * MAX_RECORDS


def test_a_book_that_was_written_before_rules_could_be_traced() -> None:
    book = RuleBook(TRANSACTION)
    stored = json.loads(book.to_bytes())
    del stored["traced"]
    assert RuleBook.of_bytes(json.dumps(stored).encode(), TRANSACTION).traced == {}


@pytest.mark.parametrize("wrong", [{"ruleId": "1"}, {"traceUntil": None}, {"ruleId": 2**53}])
def test_a_command_that_cannot_be_read_is_skipped(wrong: dict[str, object]) -> None:
    registry, engine = Registry(), Engine()
    event = {**json.loads(registry.trace(1, T + MINUTE, T)), **wrong}
    engine.take(batch(events=[json.dumps(event).encode(), registry.publish(1, SUM, 0, 0)]))
    assert engine.counters["unreadable_rule_events"] == 1
    engine.take(batch(records=[payment(1, T)]))
    assert traced(engine) == []
