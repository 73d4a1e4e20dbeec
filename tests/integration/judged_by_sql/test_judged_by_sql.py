"""The engine against PostgreSQL: what window functions say of 20,000 payments in order, it says too.

The oracle is ours, as the engine is, and who misreads a specification once may misread it twice. PostgreSQL is others'.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from decimal import ROUND_HALF_EVEN, Decimal
from random import Random
from typing import Any

import psycopg
import pytest

from tests.integration.judged_by_sql.judged_rule import JudgedRule
from tests.integration.judged_by_sql.party_rules import ENTRIES, OF_PARTIES
from tests.integration.judged_by_sql.speed_rules import HAVERSINE, OF_SPEEDS, positions
from tests.integration.judged_by_sql.sql_rules import OF_FIELDS
from tests.oracle.builders.shorthand import batch, payment
from tests.oracle.values.model import MicroBatch
from tests.unit.engine.support.positioned import LOCATED
from tests.unit.engine.support.shard_harness import Engine
from tripline_contracts.rules import rule_definition

pytestmark = [pytest.mark.integration, pytest.mark.slow]

RULES = (*OF_FIELDS, *OF_PARTIES, *OF_SPEEDS)
PAYMENTS, MICRO_BATCHES = 20_000, 8
T = 1_700_000_000_000
_TABLE = """
CREATE TABLE p (n int PRIMARY KEY, t bigint UNIQUE, payer text, beneficiary text, amount numeric, kind text,
  latitude float8, longitude float8);
CREATE INDEX ON p (payer, t) INCLUDE (amount);
CREATE FUNCTION local_time(t bigint, zone text) RETURNS timestamp LANGUAGE sql IMMUTABLE
RETURN to_timestamp(t / 1000) AT TIME ZONE zone;
"""
Told = dict[tuple[int, str | None], list[Decimal | None]]
"""By number and side, which rules by fields have none of, the values of conditions and the sums of weights."""

Payment = tuple[int, int, str | None, str | None, str, str]
"""Number, event time in ms, payer, beneficiary, amount, type."""


def payments() -> list[Payment]:
    """In order, no two at one time; over eleven days, so that no two windows are always alike."""
    rng, elsewhere, time, made = Random(41), Random(42), T, []
    for number in range(PAYMENTS):
        time += rng.choice([1, 999, 1000, 5_000, 20_000, 60_000, 240_000])
        payer = None if rng.random() < 0.02 else f"p{rng.randrange(40)}"
        beneficiary = f"b{rng.randrange(25)}"
        if rng.random() < 0.05:
            beneficiary = payer or beneficiary
        elif elsewhere.random() < 0.3:
            beneficiary = f"p{elsewhere.randrange(40)}"
        cents = rng.choice(
            [rng.randrange(-20_000, 90_000), 5_000 * rng.randrange(-4, 18), rng.randrange(2_000)]
        )
        made.append(
            (
                number,
                time,
                payer,
                None if rng.random() < 0.02 else beneficiary,
                str(Decimal(cents) / 100),
                rng.choice(["CSH", "CRD", "CRD"]),
            )
        )
    return made


@pytest.fixture(scope="module")
def alerts() -> dict[str, Told]:
    """By rule, what the engine says of each payment, or entry, with an alert."""
    made = payments()
    size = PAYMENTS // MICRO_BATCHES
    engine = Engine(shards=2, event_type=LOCATED)
    somewhere = positions(PAYMENTS)
    engine.take(_rules())
    for first in range(0, PAYMENTS, size):
        part = made[first : first + size]
        records = [
            payment(
                number,
                time,
                amount,
                more={
                    "payeeId": payer,
                    "beneficiaryId": beneficiary,
                    "paymentType": kind,
                    "position": somewhere[number],
                },
            )
            for number, time, payer, beneficiary, amount, kind in part
        ]
        engine.take(batch(ticks=[part[0][1]], records=records))
    told: dict[str, Told] = {rule.name: {} for rule in RULES}
    for alert in engine.alerts():
        judged = int(alert["transaction"]["transactionId"].removeprefix("t")), alert.get("side")
        assert judged not in told[alert["ruleName"]]
        values = [one["value"] for one in alert.get("conditions", [alert])]
        sums = [one["sum"] for one in alert.get("weighted", [])]
        told[alert["ruleName"]][judged] = [_number(value) for value in (*values, *sums)]
    return told


@pytest.fixture(scope="module")
def connection(database: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(database, autocommit=True) as opened:
        opened.execute(_TABLE)
        opened.execute(HAVERSINE)
        with opened.cursor().copy("COPY p FROM STDIN") as copy:
            for row, position in zip(payments(), positions(PAYMENTS), strict=True):
                copy.write_row((*row, *(position.split(",") if position else (None, None))))
        opened.execute("ANALYZE p")
        opened.execute(ENTRIES)
        yield opened


@pytest.mark.parametrize("rule", RULES, ids=[rule.name for rule in RULES])
def test_sql_says_the_same(
    rule: JudgedRule,
    connection: psycopg.Connection[Any],
    alerts: dict[str, Told],
    record_property: Callable[[str, object], None],
) -> None:
    told = {
        (number, side[0] if side else None): [_reported(value) for value in values]
        for number, values, *side in connection.execute(rule.sql)
    }
    record_property("told", f"{rule.name}: {len(told)} of {PAYMENTS} payments")
    engine = alerts[rule.name]
    assert engine.keys() == told.keys()
    apart = {judged: (engine[judged], values) for judged, values in told.items() if engine[judged] != values}
    assert not {judged: both for judged, both in apart.items() if not _near(*both, rule.within)}
    assert 3 <= len(told) <= PAYMENTS / 4


def _rules() -> MicroBatch:
    events: list[dict[str, Any]] = [
        {"type": "ParameterChanged", "name": "much", "version": 1, "value": "-0.25"}
    ]
    for number, rule in enumerate(RULES, 1):
        definition = rule_definition.parse(rule.definition, LOCATED)
        events.append(
            {
                "type": "RulePublished",
                "ruleId": number,
                "version": 1,
                "definitionVersion": 1,
                "state": "ACTIVE",
                "name": rule.name,
                "definition": definition.to_json(),
                "definitionHash": definition.hash,
                "effectiveFrom": 0,
            }
        )
    common = {"occurredAt": T, "actor": "analyst", "widestWindows": []}
    return batch(
        events=[
            json.dumps({"eventId": str(position), "position": position, **common, **event}).encode()
            for position, event in enumerate(events, 1)
        ]
    )


def _near(ours: list[Decimal | None], theirs: list[Decimal | None], within: Decimal) -> bool:
    """Whether no value is farther from SQL's than this share of it; a null is near to none."""
    pairs = list(zip(ours, theirs, strict=True))
    return all(
        one is not None and other is not None and abs(one - other) <= within * abs(other)
        for one, other in pairs
    )


def _number(text: str | None) -> Decimal | None:
    return None if text is None else Decimal(text)


def _reported(value: Decimal | None) -> Decimal | None:
    """Averages are told to six places, half-even."""
    return None if value is None else Decimal(value).quantize(Decimal("0.000001"), ROUND_HALF_EVEN)
