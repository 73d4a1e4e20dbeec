"""Payments of the stream as Kafka records, at 20,000 a second beside everything else: plain formatting."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Final

from tripline_contracts import backfill, cloudevents
from tripline_demo.generator.breakage import broken_value
from tripline_demo.generator.outlet import Headers, Record
from tripline_demo.generator.stream import Kind, Payment

SOURCE: Final = "/generator"
EVENT_TYPE: Final = cloudevents.type_of("TransactionMade")

_TYPES: Final = ("CSH", "CRD")
_RECENT: Final = 64


def json_value(payment: Payment, transaction_id: str, now: int) -> bytes:
    """The transaction as JSON; `now` (ms) is its record time, from which its age counts back."""
    whole, cents = divmod(payment.cents, 100)
    return (
        f'{{"transactionId":"{transaction_id}","eventTime":{now - payment.age_ms},"payeeId":{payment.payee},'
        f'"beneficiaryId":{payment.beneficiary},"paymentAmount":"{whole}.{cents:02d}",'
        f'"paymentType":"{_TYPES[payment.payment_type]}","ingestionTimestamp":{now}}}'
    ).encode()


class Renderer:
    """Turns payments into records; keeps the last few to send them again where the stream asks for it.

    `run` begins every transaction id and is new for every start of the process and every new stream: ids that
    came again within minutes would be taken for duplicates by the engine.
    """

    def __init__(self, run: str) -> None:
        self._run = run
        self._recent: deque[Record] = deque(maxlen=_RECENT)

    def records(self, payments: Iterable[Payment], now: int) -> Iterator[Record]:
        """One record per payment, all with the record time `now`."""
        attributes = headers_without_id(now)
        for payment in payments:
            kind = payment.kind
            if kind == Kind.BROKEN:
                yield Record(None, broken_value(payment, self._good(payment, now, attributes).value), now)
            elif kind == Kind.DUPLICATE and self._recent:
                again = self._recent[payment.cents % len(self._recent)]
                yield Record(again.key, again.value, now, again.headers)
            else:
                good = self._good(payment, now, attributes)
                self._recent.append(good)
                yield good

    def _good(self, payment: Payment, now: int, attributes: Headers) -> Record:
        transaction_id = f"{self._run}-{payment.number}"
        return Record(
            b"%d" % payment.payee,
            json_value(payment, transaction_id, now),
            now,
            [("ce_id", transaction_id.encode()), *attributes],
        )


def backfill_headers(backfill_id: str | None) -> Headers:
    """The header of a record that belongs to this backfill; none where there is none."""
    return [] if backfill_id is None else [(backfill.HEADER, backfill_id.encode())]


def headers_without_id(now: int) -> Headers:
    """The CloudEvents attributes that all records of one moment (ms) share."""
    shared = cloudevents.headers("-", EVENT_TYPE, SOURCE, now)
    return [header for header in shared if header[0] != "ce_id"]
