from __future__ import annotations

import json

import pytest

from tripline_contracts import event_type_loader, exact_json
from tripline_demo.generator.breakage import Breakage
from tripline_demo.generator.errors import InvalidInput
from tripline_demo.generator.output.record_renderer import Renderer
from tripline_demo.generator.payments.stream import Payment, payments
from tripline_demo.generator.payments.trade import PAYMENTS
from tripline_demo.generator.shape import Kind
from tripline_demo.generator.traffic import Traffic, shape_of
from tripline_demo.generator.transaction_input import read

NOW = 1_763_700_000_000


def made(kind: Kind = Kind.PLAIN, number: int = 3, age_ms: int = 40) -> Payment:
    return Payment(number, age_ms, kind, payee=25, beneficiary=12, payment_type=1, cents=1_234_05)


def test_a_payment_is_a_transaction_of_the_contract() -> None:
    (record,) = Renderer("run", PAYMENTS).records([made()], NOW)
    value = json.loads(record.value)
    assert value == {
        "transactionId": "run-3", "eventTime": NOW - 40, "payeeId": 25, "beneficiaryId": 12,
        "paymentAmount": "1234.05", "paymentType": "CRD", "ingestionTimestamp": NOW,
    }  # fmt: skip
    assert (record.key, record.time) == (b"25", NOW)
    assert dict(record.headers)["ce_id"] == b"run-3"
    assert dict(record.headers)["ce_type"] == b"tripline.TransactionMade.v1"
    assert read(exact_json.loads(record.value), event_type_loader.load())["payeeId"] == "25"


def test_a_duplicate_is_an_earlier_record_byte_for_byte() -> None:
    renderer = Renderer("run", PAYMENTS)
    first, again = renderer.records([made(), made(Kind.DUPLICATE, 4)], NOW)
    assert (again.key, again.value) == (first.key, first.value)
    (later,) = renderer.records([made(Kind.DUPLICATE, 5)], NOW + 5_000)
    assert (later.value, later.time) == (first.value, NOW + 5_000)


def test_without_an_earlier_record_a_duplicate_is_a_payment_of_its_own() -> None:
    (record,) = Renderer("run", PAYMENTS).records([made(Kind.DUPLICATE)], NOW)
    assert json.loads(record.value)["transactionId"] == "run-3"


@pytest.mark.parametrize("number", [*range(1, 24), 500])
def test_nothing_broken_passes_for_a_transaction(number: int) -> None:
    (good,) = Renderer("run", PAYMENTS).records([made()], NOW)
    broken = Breakage(PAYMENTS.event_type).broken(number, good.value)
    assert broken != good.value
    # too long by far is broken too, though it would parse
    if len(broken) < 512 * 1024:
        with pytest.raises(ValueError):  # noqa: PT012  # unreadable, or read and refused
            read(exact_json.loads(broken), event_type_loader.load())
            raise InvalidInput([]) if b"\n" in broken else AssertionError(broken)


def test_every_payment_of_a_mischievous_stream_is_rendered() -> None:
    shape = shape_of(Traffic(late_share=0.2, duplicate_share=0.2, broken_share=0.2), PAYMENTS)
    stream = payments(shape, 0, 3_000)
    records = list(Renderer("run", PAYMENTS).records(stream, NOW))
    assert len(records) == len(stream)
    assert sum(record.key is None for record in records) == sum(p.kind == Kind.BROKEN for p in stream)
