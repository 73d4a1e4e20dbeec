"""An alert's JSON, its identity, and canonical JSON itself."""

from __future__ import annotations

import hashlib
import uuid

import pytest

from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.oracle.values.canonical_json import alert_id, canonical
from tests.oracle.values.errors import OracleError
from tests.oracle.values.model import Json
from tests.unit.oracle.support.agreement import judge

T = 1_700_000_000_000


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": [1, None, True], "a": {}}, '{"a":{},"b":[1,null,true]}'),
        ('\u20ac$\u000f\nA\'B"\\\\"/\x7f', '"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/\x7f"'),
        ({"\ufb33": 1, "\U0001f600": 2, "\u20ac": 3}, '{"\u20ac":3,"\U0001f600":2,"\ufb33":1}'),
        ("\b\t\n\f\r", '"\\b\\t\\n\\f\\r"'),
    ],
)
def test_canonical_json(value: Json, text: str) -> None:
    assert canonical(value) == text


def test_no_integer_that_a_double_cannot_hold() -> None:
    with pytest.raises(OracleError):
        canonical(2**53)


def test_alert_id() -> None:
    space = uuid.uuid5(uuid.NAMESPACE_URL, "urn:tripline:alert")
    expected = uuid.uuid5(space, '[1,2,{"beneficiaryId":"12","payeeId":"25"},"t1",5]')
    assert alert_id(1, 2, {"payeeId": "25", "beneficiaryId": "12"}, "t1", 5) == str(expected)


def test_a_whole_alert() -> None:
    rule = Registry().publish(7, draft("SUM", ">", "1.50", by=("paymentAmount",), seconds=60), 0, 0)
    record = payment(1, T, "2.5000", record_time=T + 3, more={"beneficiaryId": None})
    definition = (
        '{"aggregateFieldName":"paymentAmount","aggregatorFunctionType":"SUM","firing":"every",'
        '"groupingKeyNames":["paymentAmount"],"lateEvents":"evaluate","limit":"1.5","limitOperatorType":">",'
        '"precision":"exact","windowSeconds":60}'
    )
    assert judge([batch(events=[rule], records=[record])]).alerts == [
        {
            "alertId": alert_id(7, 1, {"paymentAmount": "2.5"}, "t1", T),
            "ruleId": 7,
            "ruleVersion": 1,
            "ruleName": "rule 7 as of 1",
            "definitionHash": hashlib.sha256(definition.encode()).hexdigest(),
            "group": {"paymentAmount": "2.5"},
            "transaction": {
                "transactionId": "t1",
                "eventTime": T,
                "payeeId": "25",
                "beneficiaryId": None,
                "paymentAmount": "2.5",
                "paymentType": "CSH",
                "ingestionTimestamp": None,
            },
            "partial": False,
            "value": "2.5",
            "operator": ">",
            "limit": "1.5",
            "windowStart": T - 60_000,
            "windowEnd": T,
            "contributors": {
                "count": 1,
                "transactions": [{"transactionId": "t1", "eventTime": T, "value": "2.5"}],
                "truncated": False,
            },
            "late": None,
            "warm": False,
            "mode": "live",
            "eventTime": T,
            "ingestedAt": T + 3,
        }
    ]


def test_ingestion_time_goes_before_record_time() -> None:
    rule = Registry().publish(1, draft("COUNT", ">=", "1", by=(), seconds=60), 0, 0)
    records = [payment(1, T, record_time=T + 3, more={"ingestionTimestamp": T + 1})]
    assert judge([batch(events=[rule], records=records)]).alerts[0]["ingestedAt"] == T + 1


@pytest.mark.parametrize(("number", "truncated"), [(100, False), (101, True)])
def test_contributors_newest_first_and_at_most_a_hundred(number: int, truncated: bool) -> None:
    rule = Registry().publish(1, draft("COUNT", ">=", str(number), by=(), seconds=60), 0, 0)
    # Pairs of equal times: of each the last accepted comes first.
    records = [payment(n, T + n // 2) for n in range(number)]
    (alert,) = judge([batch(events=[rule], records=records)]).alerts
    newest = [f"t{n}" for n in sorted(range(number), key=lambda n: (n // 2, n), reverse=True)][:100]
    contributors = alert["contributors"]
    assert isinstance(contributors, dict)
    listed = contributors["transactions"]
    assert isinstance(listed, list)
    assert [one["transactionId"] for one in listed if isinstance(one, dict)] == newest
    assert all(one["value"] is None for one in listed if isinstance(one, dict))
    assert (contributors["count"], contributors["truncated"]) == (number, truncated)
