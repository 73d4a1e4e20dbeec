"""Records that are refused before they are a transaction, and odd ones that are not."""

from __future__ import annotations

from random import Random

_GOOD = {
    "transactionId": '"x"',
    "eventTime": "{now}",
    "payeeId": '"25"',
    "beneficiaryId": '"12"',
    "paymentAmount": '"10.5"',
    "paymentType": '"CSH"',
}

_WRONG_MEMBERS: tuple[tuple[str, str | None], ...] = (
    ("transactionId", None),
    ("transactionId", "null"),
    ("transactionId", '""'),
    ("transactionId", "true"),
    ("transactionId", "1.0"),
    ("transactionId", f'"{"y" * 65}"'),
    ("transactionId", '"a\\u0000b"'),
    ("transactionId", '"\\ud800"'),
    ("eventTime", None),
    ("eventTime", "null"),
    ("eventTime", '"{now}"'),
    ("eventTime", "{now}.0"),
    ("eventTime", "1e12"),
    ("eventTime", "-1"),
    ("eventTime", "253402300800000"),
    ("eventTime", "9" * 5000),
    ("payeeId", "true"),
    ("payeeId", "1.5"),
    ("payeeId", "[]"),
    ("payeeId", "1" * 65),
    ("payerId", '"26"'),
    ("beneficiaryId", "{}"),
    ("beneficiaryId", f'"{"é" * 65}"'),
    ("paymentAmount", None),
    ("paymentAmount", "null"),
    ("paymentAmount", "NaN"),
    ("paymentAmount", "-Infinity"),
    ("paymentAmount", '"NaN"'),
    ("paymentAmount", '"+1"'),
    ("paymentAmount", '" 1"'),
    ("paymentAmount", '"1_000"'),
    ("paymentAmount", '"1."'),
    ("paymentAmount", '".5"'),
    ("paymentAmount", '"\u0661"'),
    ("paymentAmount", "01"),
    ("paymentAmount", "1e18"),
    ("paymentAmount", '"-1000000000000000000"'),
    ("paymentAmount", "0.0000001"),
    ("paymentAmount", "1e-7"),
    ("paymentAmount", "1e999999999999"),
    ("paymentAmount", "1e-999999999999"),
    ("paymentAmount", "false"),
    ("paymentType", '"csh"'),
    ("paymentType", '""'),
    ("paymentType", "1"),
    ("ingestionTimestamp", '"{now}"'),
    ("ingestionTimestamp", "-1"),
    ("ingestionTimestamp", "1.5"),
    ("note", '"\\udc00"'),
    ("note", "undefined"),
)

_WRONG_WHOLES: tuple[bytes | None, ...] = (
    None,
    b"",
    b"{",
    b"[]",
    b"null",
    b'"text"',
    b"\xff",
    b"\xef\xbb\xbf{}",
    b'{"transactionId":"x"} {}',
    b"{'transactionId':'x'}",
    b"(1),(active)",
)


def broken_value(rng: Random, now: int) -> bytes | None:
    """A record value that must be rejected as unparseable or oversized; `now` in ms would be its time."""
    style = rng.random()
    if style < 0.12:
        return _padded(now, 65_537 + rng.randint(0, 3))
    if style < 0.4:
        return rng.choice(_WRONG_WHOLES)
    name, text = rng.choice(_WRONG_MEMBERS)
    members = {**_GOOD, name: text}
    return _written(members, now)


def largest_value(now: int) -> bytes:
    """A good record of exactly the largest size."""
    return _padded(now, 65_536)


def _padded(now: int, size: int) -> bytes:
    whole = _written(dict(_GOOD), now)
    return whole + b" " * (size - len(whole))


def _written(members: dict[str, str | None], now: int) -> bytes:
    texts = [f'"{name}":{text}' for name, text in members.items() if text is not None]
    return ("{" + ",".join(texts) + "}").replace("{now}", str(now)).encode()
