"""Record values of every kind that nobody should send, and some odd ones that are all right."""

from __future__ import annotations

import json
from random import Random

BIG = 2 << 20
DEEP = 20_000


def payment(number: int, time: int, **more: object) -> bytes:
    """A good one, unless `more` spoils it."""
    fields = {
        "transactionId": f"good-{number}",
        "eventTime": time,
        "payeeId": 25,
        "beneficiaryId": 12,
        "paymentAmount": 1,
        "paymentType": "CSH",
    }
    return json.dumps(fields | more).encode()


def anything(rng: Random) -> list[bytes | None]:
    """Values for any topic."""
    return [
        None, b"", b" ", b"\n", b"\x00", b"\xff\xfe\x00", b"\xef\xbb\xbf{}", bytes(range(256)),
        b"{", b"}", b"[]", b"{}", b"null", b"true", b"12", b"-0", b"1e400", b'"text"', b"NaN", b"(1),(active)",
        b"{}{}", b"{} {}", b"{}\n{}", b"{'a':1}", b'{"a":1,}', b'{"a":"\n"}', b'{"a":"\\ud800"}', b'{"a":"\xff"}',
        b"[" * DEEP, b"[" * DEEP + b"]" * DEEP, b'{"a":' * DEEP + b"1" + b"}" * DEEP, b"9" * DEEP,
        rng.randbytes(10), rng.randbytes(1000), rng.randbytes(70_000), b"x" * BIG, b'{"a":"' + b"x" * BIG + b'"}',
    ]  # fmt: skip


def transactions(rng: Random, time: int) -> list[bytes | None]:
    """Near misses; the last few are read, or refused for another reason than their form."""
    good = payment(0, time)
    return [
        good + good, good + b"\n" + good, good + b"\x00", good[:-1], b"[" + good + b"]", good.decode().encode("utf-16"),
        good.replace(b"good", b"go\nod"), good.replace(b"good", b"go\x00od"), good.replace(b"good", b"go\xffod"),
        good + b" " * BIG, payment(1, time, note="x" * BIG), payment(2, time, note="x" * 600_000),
        payment(3, time, note=[[]] * 100)[:-1] + b"," + b'"deep":' + b"[" * DEEP + b"]" * DEEP + b"}",
        payment(4, time, eventTime=2**63), payment(5, time, eventTime=-1), payment(6, time, eventTime=True),
        payment(7, time, paymentAmount=True), payment(8, time, paymentAmount=[1]), payment(9, time, payeeId={}),
        payment(10, time).replace(b'"paymentAmount": 1', b'"paymentAmount": 1e999999999'),
        payment(11, time).replace(b'"paymentAmount": 1', b'"paymentAmount": ' + b"1" * DEEP),
        payment(12, time, transactionId=rng.randbytes(40).hex()), payment(13, time, transactionId=2**70),
        b"\n\t " + payment(14, time) + b"\r\n", payment(15, time).replace(b", ", b",\n"),
        payment(16, 0), payment(17, time + 10**9),
    ]  # fmt: skip


def rule_events(event: bytes) -> list[bytes | None]:
    """Spoilt versions of a good event, all with its position or one that can't be read."""
    good = json.loads(event)
    definition = good["definition"]
    spoilt: list[dict[str, object]] = [
        {**good, "type": "RuleSung"}, {**good, "type": None}, {**good, "position": "1"}, {**good, "position": 1.5},
        {**good, "position": True}, {**good, "position": -1}, {**good, "ruleId": "x"}, {**good, "ruleId": None},
        {**good, "ruleId": 2**53}, {**good, "version": 2**70}, {**good, "position": 2**63},
        {**good, "effectiveFrom": 2**63}, {**good, "definition": None}, {**good, "definition": []},
        {**good, "version": []}, {**good, "effectiveFrom": "now"}, {**good, "state": "ASLEEP"},
        {**good, "definition": {**definition, "windowSeconds": 0}},
        {**good, "definition": {**definition, "limit": "many"}},
        {**good, "definition": {**definition, "groupingKeyNames": ["shoeSize"]}},
        {**good, "definition": {**definition, "aggregatorFunctionType": "MEDIAN"}},
        {**good, "type": "SettingsChanged", "settings": {"allowedLatenessSeconds": "soon"}},
        {**good, "type": "SettingsChanged"},
    ]  # fmt: skip
    return [event[:-1], event + event, *(json.dumps(spoiled_event).encode() for spoiled_event in spoilt)]


def ticks(clock: int) -> list[bytes | None]:
    """Ticks that nobody can read, or that are too low to mean anything."""
    return [
        b'{"clock":-5}', b'{"clock":true}', b'{"clock":null}', b'{"clock":"%d"}' % clock, b'{"clock":%d.0}' % clock,
        b'{"clock":%de0}' % clock, b'{"clock":%d.5}' % clock, b'{"clock":9223372036854775808}', b'{"clock":1e400}',
        b'{"clock":%s}' % (b"9" * DEEP), b'{"clok":%d}' % clock, b'{"clock":%d} {}' % clock, b'[%d]' % clock,
        b'{"clock":1}', b'{"clock":[%d]}' % clock,
    ]  # fmt: skip
