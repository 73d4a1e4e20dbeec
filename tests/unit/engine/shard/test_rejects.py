"""What rejected-transactions.v1 holds of a payment that was read, and then refused for its times."""

from __future__ import annotations

import base64
import json
from hashlib import sha256

import pytest

from tests.oracle.builders.shorthand import batch, payment
from tests.oracle.values.model import Record
from tests.unit.engine.support.shard_harness import Engine
from tripline_contracts import schemas

T = 1_700_000_000_000
MINUTE = 60_000
REFUSED = [
    ("too_late", payment(7, T - 11 * MINUTE, record_time=T)),
    ("future_event", payment(7, T + 6 * MINUTE, record_time=T)),
    ("out_of_order", payment(7, T - 6 * MINUTE)),
]


@pytest.mark.parametrize(("reason", "record"), REFUSED, ids=[case[0] for case in REFUSED])
def test_its_value_is_the_transaction_as_it_was_read(reason: str, record: Record) -> None:
    engine = Engine(shards=3)
    engine.run([batch(ticks=[T], records=[record])])
    (reject,) = [out for out in engine.out if out.topic == "rejected-transactions.v1"]
    sent = json.loads(record.value or b"")
    assert json.loads(reject.value) == {
        "transactionId": "t7",
        "eventTime": sent["eventTime"],
        "payeeId": "25",
        "beneficiaryId": "12",
        "paymentAmount": "1",
        "paymentType": "CSH",
        "ingestionTimestamp": None,
    }
    headers = {
        name: text.decode() for name, text in reject.headers if not name.startswith(("ce_", "content"))
    }
    detail = headers.pop("detail")
    assert headers == {
        "reason": reason,
        "topic": "transactions.v1",
        "partition": "0",
        "offset": "7",
        "length": str(len(reject.value)),
        "sha256": sha256(reject.value).hexdigest(),
    }
    assert str(record.record_time) in detail
    schemas.validator("rejected-transactions.v1")(
        {"headers": {**headers, "detail": detail}, "valueBase64": base64.b64encode(reject.value).decode()}
    )


def test_undeclared_fields_are_gone_and_its_own_spelling_too() -> None:
    more = {"note": "x" * 1000, "paymentAmount": "1e3", "payeeId": None, "payerId": 25}
    engine = Engine()
    engine.run([batch(records=[payment(1, T, record_time=T + 11 * MINUTE, more=more)])])
    (reject,) = [out for out in engine.out if out.topic == "rejected-transactions.v1"]
    parsed = json.loads(reject.value)
    assert "note" not in parsed
    assert (parsed["paymentAmount"], parsed["payeeId"]) == ("1000", "25")


def test_it_is_reported_once_however_many_shards_it_goes_to() -> None:
    records = [
        payment(n, T, record_time=T + 11 * MINUTE, more={"payeeId": payee, "beneficiaryId": beneficiary})
        for n, (payee, beneficiary) in enumerate([(n, 2 * n) for n in range(20)] + [(None, 5), (None, None)])
    ]
    engine = Engine(shards=3)
    engine.run([batch(records=records)])
    assert sorted(engine.rejects()) == [(0, n, "too_late") for n in range(22)]
