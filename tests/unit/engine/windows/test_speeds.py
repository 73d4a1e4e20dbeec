"""Fields that are positions, and speeds between them; against the oracle, over random histories too."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from tests.oracle.builders.shorthand import batch
from tests.oracle.generators.profile import EVERYTHING_AND_ORDER, THE_WHOLE_LANGUAGE
from tests.oracle.histories.random_history import random_history
from tests.oracle.judgement.oracle import judge
from tests.oracle.values.canonical_json import definition_hash
from tests.oracle.values.event_types import judge_by
from tests.oracle.values.model import Json, MicroBatch, Record
from tests.unit.engine.shard.test_against_oracle import assert_equal
from tests.unit.engine.support.positioned import AS_THE_ORACLE_KNOWS, LOCATED, on_the_move
from tests.unit.engine.support.shard_harness import Engine
from tripline_contracts import schemas
from tripline_contracts.event_type_checks import check

T = 1_700_000_000_000
HISTORIES = 8


def sent(number: int, position: Json, second: float | None = None, **more: Json) -> Record:
    time = T + round(1000 * (number if second is None else second))
    fields: dict[str, Json] = {
        "transactionId": f"t{number}",
        "eventTime": time,
        "payeeId": "25",
        "beneficiaryId": "12",
        "paymentAmount": "1",
        "paymentType": "CSH",
        "position": position,
        **more,
    }
    return Record(0, number, max(time, T + 1000 * number), json.dumps(fields).encode())


def rule(**changes: Any) -> bytes:
    definition = {
        "groupingKeyNames": ["payeeId"],
        "aggregatorFunctionType": "SPEED_KMH",
        "aggregateFieldName": "position",
        "limitOperatorType": ">=",
        "limit": "0",
        "windowSeconds": 3600,
        "firing": "every",
        "lateEvents": "evaluate",
        "precision": "exact",
        **changes,
    }
    event = {
        "eventId": "00000000-0000-4000-8000-000000000001",
        "type": "RulePublished",
        "position": 1,
        "occurredAt": T,
        "actor": "analyst",
        "widestWindows": [],
        "ruleId": 1,
        "version": 1,
        "definitionVersion": 1,
        "state": "ACTIVE",
        "name": "as the crow flies",
        "definition": definition,
        "definitionHash": definition_hash(definition),
        "effectiveFrom": 0,
    }
    return json.dumps(event).encode()


def both(batches: list[MicroBatch], shards: int = 1) -> Engine:
    """An engine that says what the oracle says."""
    with judge_by(AS_THE_ORACLE_KNOWS):
        expected = judge(batches)
    engine = Engine(shards=shards, event_type=LOCATED)
    engine.run(batches)
    assert_equal(engine, expected)
    return engine


def values(event: bytes, *records: Record, cut: int | None = None) -> dict[str, str | None]:
    """By transaction the value of its alert."""
    cuts = [records[:cut], records[cut:]] if cut else [records]
    engine = both([batch(events=[event]), *(batch(records=list(part)) for part in cuts)])
    return {alert["transaction"]["transactionId"]: alert["value"] for alert in engine.alerts()}


def test_positions_are_read_into_one_form_or_rejected_with_a_reason() -> None:
    check(LOCATED)
    written: dict[Json, str | None] = {
        "52.520008,13.404954": "52.520008,13.404954",
        "-33.870, 151.2000": "-33.87,151.2",
        "-0.0,-180": "0,180",
        "90,17": "90,0",
        "": None,
        None: None,
    }
    wrong: list[Json] = [
        "91,0",
        "0,180.000001",
        "1,2,3",
        "1.1234567,2",
        "here",
        7,
        True,
        ["1,2"],
        {"a": 1},
    ]
    records = [sent(n, position) for n, position in enumerate([*written, *wrong])]
    counted = rule(aggregatorFunctionType="COUNT", aggregateFieldName=None)
    engine = both([batch(events=[counted]), batch(records=records)])
    assert [alert["transaction"]["position"] for alert in engine.alerts()] == [*written.values()]
    rejected = [record for record in engine.out if record.topic == "rejected-transactions.v1"]
    assert len(rejected) == len(wrong)
    for record in rejected:
        detail = dict(record.headers)["detail"].decode()
        assert detail.startswith("position: expected latitude and longitude in degrees"), detail


def test_from_the_position_before_over_the_time_between_them() -> None:
    # ten degrees of a meridian are 6,371.0088 km × π / 18 = 1,111.9508 km
    records = [sent(1, "50,10", 0), sent(2, "40,10", 3600), sent(3, "50,10", 3600 + 1800)]
    assert values(rule(windowSeconds=7200), *records) == {"t2": "1111.950802", "t3": "2223.901605"}


def test_equal_times_count_as_one_millisecond() -> None:
    records = [sent(1, "50,10", 1), sent(2, "40,10", 1), sent(3, "40,10", 1.001)]
    assert values(rule(), *records) == {"t2": "4003022888.244", "t3": "0"}


def test_at_the_ends_of_the_earth() -> None:
    records = [
        sent(1, "90,0"), sent(2, "-90,0"), sent(3, "-89.999999,0"), sent(4, "-89.999999,180"), sent(5, "0,180"),
        sent(6, "0,-179.999999"), sent(7, "0,-179.999999"), sent(8, "0,0"),
    ]  # fmt: skip
    assert values(rule(), *records) == {
        "t2": "72054260.44992",
        "t3": "0.400284",
        "t4": "0.800532",
        "t5": "36027205.594596",
        "t6": "0.400248",
        "t7": "0",
        "t8": "72054197.679312",
    }


def test_the_fastest_that_there_is() -> None:
    assert values(rule(), sent(1, "90,0", 1), sent(2, "-90,0", 1)) == {"t2": "72054260449.92"}


@pytest.mark.parametrize("limit", ["0", "1"])
def test_without_a_position_on_either_end_there_is_no_value(limit: str) -> None:
    records = [
        sent(1, "50,10"),
        sent(2, None),
        sent(3, "50,10"),
        sent(4, ""),
        sent(5, "50,10"),
        sent(6, "50,10"),
    ]
    operator = {"limitOperatorType": "!="}
    assert values(rule(limit=limit, **operator), *records) == ({} if limit == "0" else {"t6": "0"})


def test_a_late_one_comes_from_where_it_was_then() -> None:
    records = [sent(1, "0,0", 0), sent(2, "0,2", 100), sent(3, "0,1", 50), sent(4, "0,3", 150)]
    for cut in (None, 2, 3):
        # two degrees of the equator in 100 s, though the second comes to lie half-way; then one in 50 s each
        speeds = {"t2": "8006.045775", "t3": "8006.045774", "t4": "8006.045774"}
        assert values(rule(), *records, cut=cut) == speeds


def test_contributors_are_those_of_the_window_with_their_positions() -> None:
    chained = json.loads(rule())
    one = {name: chained["definition"].pop(name) for name in list(chained["definition"])[:6]}
    chained["definition"]["conditions"] = {"all": [one, {**one, "aggregatorFunctionType": "CHANGED"}]}
    chained["definitionHash"] = definition_hash(chained["definition"])
    records = [sent(1, None), sent(2, "1,1"), sent(3, "1,2")]
    engine = both([batch(events=[json.dumps(chained).encode()]), batch(records=records)])
    (alert,) = engine.alerts()
    listed = [contributor["value"] for contributor in alert["conditions"][0]["contributors"]["transactions"]]
    assert listed == ["1,2", "1,1", None]
    schemas.validator("alerts.v1", LOCATED)({**alert, "detectedAt": T})


REFUSED: list[dict[str, Any]] = [
    {"resetOnAlert": True},
    {"lateEvents": "reevaluate"},
    {"precision": "bucketed(60)"},
    {"aggregateFieldName": None},
    {"aggregateFieldName": "payeeId"},
    {"aggregateFieldName": "paymentAmount"},
]


@pytest.mark.parametrize("members", REFUSED, ids=str)
def test_what_is_refused_is_skipped(members: dict[str, Any]) -> None:
    assert values(rule(**members), sent(1, "1,1"), sent(2, "2,2")) == {}


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_random_histories_with_positions(record_property: Callable[[str, object], None]) -> None:
    logging.getLogger("tripline_engine").setLevel(logging.ERROR)
    seen = Counter[str]()
    for seed in range(HISTORIES):
        profile = EVERYTHING_AND_ORDER if seed % 2 else THE_WHOLE_LANGUAGE
        engine = both(on_the_move(seed, random_history(seed, profile)), shards=1 + seed % 3)
        for alert in engine.alerts():
            measured = [part["aggregatorFunctionType"] for part in alert.get("conditions", [])]
            seen["alerts"] += 1
            seen["speeds in conditions"] += "SPEED_KMH" in measured
        seen["rejects"] += len(engine.rejects())
    record_property("told", f"{HISTORIES} histories with positions equal: {dict(seen)}")
    assert seen["alerts"] > 100
    assert seen["speeds in conditions"] > 10
