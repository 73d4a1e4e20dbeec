"""Records that nobody should accept: what really arrives on topics that others write to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tripline_demo.generator.stream import Payment

_OVERSIZED: Final = 600_000
_RARELY: Final = 500


def broken_value(payment: Payment, good: bytes) -> bytes:
    """`good` spoilt in one of the ways below; which one is decided by the payment's number."""
    if payment.number % _RARELY == 0:
        return good[:-1] + b',"note":"' + b"x" * _OVERSIZED + b'"}'
    return _WAYS[payment.number % len(_WAYS)](good)


def _truncated(good: bytes) -> bytes:
    return good[: len(good) // 2]


def _binary(good: bytes) -> bytes:
    return bytes((byte * 151 + 13) % 256 for byte in good)


def _without_amount(good: bytes) -> bytes:
    return good.replace(b'"paymentAmount"', b'"amount"')


def _without_id(good: bytes) -> bytes:
    return good.replace(b'"transactionId"', b'"id"')


def _time_as_text(good: bytes) -> bytes:
    before, after = good.split(b'"eventTime":', 1)
    return before + b'"eventTime":"yesterday"' + after[after.index(b",") :]


def _amount_as_words(good: bytes) -> bytes:
    before, after = good.split(b'"paymentAmount":"', 1)
    return before + b'"paymentAmount":"twelve' + after[after.index(b'"') :]


def _amount_too_fine(good: bytes) -> bytes:
    before, after = good.split(b'"paymentAmount":"', 1)
    return before + b'"paymentAmount":"0.1234567' + after[after.index(b'"') :]


def _unknown_type(good: bytes) -> bytes:
    return good.replace(b'"CSH"', b'"CHK"').replace(b'"CRD"', b'"CHK"')


def _list(good: bytes) -> bytes:
    return b"[" + good + b"]"


def _two_in_one(good: bytes) -> bytes:
    return good + b"\n" + good


def _empty(good: bytes) -> bytes:
    return good[:0]


_WAYS: Final[tuple[Callable[[bytes], bytes], ...]] = (
    _truncated,
    _binary,
    _without_amount,
    _without_id,
    _time_as_text,
    _amount_as_words,
    _amount_too_fine,
    _unknown_type,
    _list,
    _two_in_one,
    _empty,
)
