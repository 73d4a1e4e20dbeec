"""A payment on its way into a record."""

from __future__ import annotations

import json
from dataclasses import dataclass
from random import Random

from tests.oracle.generators.json_spellings import amount_text, identifier_text, object_text
from tests.oracle.generators.world import World


@dataclass(frozen=True, slots=True)
class Payment:
    """Times in ms, amount in millionths; a key is None for null, `backfill` for no such header."""

    transaction_id: str
    event_time: int
    record_time: int
    payee: str | None
    beneficiary: str | None
    payment_type: str | None
    amount: int
    backfill: str | None = None


def random_payment(
    rng: Random, world: World, transaction_id: str, event_time: int, record_time: int
) -> Payment:
    """Keys and amount drawn from the world's small pools."""
    return Payment(
        transaction_id,
        event_time,
        record_time,
        rng.choice(world.payees),
        rng.choice(world.beneficiaries),
        rng.choice(["CSH", "CRD"]),
        rng.choice(world.amounts),
    )


def payment_value(rng: Random, payment: Payment) -> bytes:
    """The record's JSON, in any spelling that means this payment."""
    members = [
        ("transactionId", identifier_text(rng, payment.transaction_id)),
        ("eventTime", str(payment.event_time)),
        ("paymentAmount", amount_text(rng, payment.amount)),
        *_payee(rng, payment.payee),
    ]
    if payment.beneficiary is not None:
        members.append(("beneficiaryId", identifier_text(rng, payment.beneficiary)))
    elif rng.random() < 0.7:
        members.append(("beneficiaryId", rng.choice(["null", '""'])))
    if payment.payment_type is not None or rng.random() < 0.5:
        members.append(("paymentType", json.dumps(payment.payment_type)))
    if rng.random() < 0.5:
        ingested = max(0, payment.record_time - rng.randint(0, 50))
        members.append(("ingestionTimestamp", rng.choice([str(ingested), str(ingested), "null"])))
    return object_text(rng, members)


def _payee(rng: Random, payee: str | None) -> list[tuple[str, str]]:
    style = rng.random()
    if payee is None:
        return [(name, rng.choice(["null", '""'])) for name in ("payeeId", "payerId") if rng.random() < 0.5]
    if style < 0.6:
        return [("payeeId", identifier_text(rng, payee))]
    if style < 0.85:
        return [("payerId", identifier_text(rng, payee))]
    if style < 0.95:
        return [("payeeId", identifier_text(rng, payee)), ("payerId", identifier_text(rng, payee))]
    return [("payeeId", "null"), ("payerId", identifier_text(rng, payee))]
