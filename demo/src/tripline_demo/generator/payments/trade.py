"""The trade of payments."""

from __future__ import annotations

from typing import Final

from tripline_contracts import event_type_loader
from tripline_demo.generator.payments.frauds import CAST, FRAUDS
from tripline_demo.generator.payments.scenarios import SCENARIOS
from tripline_demo.generator.payments.stream import BENEFICIARIES, PAYEES, Payment, payments
from tripline_demo.generator.trade import Trade

_TYPES: Final = ("CSH", "CRD")


def json_value(payment: Payment, transaction_id: str, now: int) -> bytes:
    """The transaction as JSON; `now` (ms) is its record time, from which its age counts back."""
    whole, cents = divmod(payment.cents, 100)
    return (
        f'{{"transactionId":"{transaction_id}","eventTime":{now - payment.age_ms},"payeeId":{payment.payee},'
        f'"beneficiaryId":{payment.beneficiary},"paymentAmount":"{whole}.{cents:02d}",'
        f'"paymentType":"{_TYPES[payment.payment_type]}","ingestionTimestamp":{now}}}'
    ).encode()


def _key(payment: Payment) -> bytes:
    return b"%d" % payment.payee


PAYMENTS: Final = Trade(
    event_type_loader.load("transaction"),
    populations={"payees": PAYEES, "beneficiaries": BENEFICIARIES},
    scenarios=SCENARIOS,
    make=payments,
    json_value=json_value,
    key=_key,
    cast=CAST,
    frauds=FRAUDS,
)
