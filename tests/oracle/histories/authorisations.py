"""A random history of payments told as one of card authorisations: the same shape under another event type.

Two of the three keys of an authorisation stand for payer and beneficiary, whichever the seed says; what a payment has
not is put in, from small pools. A payment without a key that a card needs becomes a record that nobody accepts.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any
from zlib import crc32

from tests.oracle.values.canonical_json import definition_hash
from tests.oracle.values.errors import OracleError
from tests.oracle.values.model import MicroBatch, Record

_KEYS = ("cardId", "merchantId", "deviceId")
_ALWAYS = {
    "transactionId": "authorisationId",
    "eventTime": "authorisedAt",
    "paymentAmount": "amount",
    "paymentType": "entryMode",
    "CSH": "CHIP",
    "CRD": "ONLINE",
}
_POOL = ("25", "12", "z", "bank é")


def as_authorisations(seed: int, history: list[MicroBatch]) -> list[MicroBatch]:
    """The history, always the same for a seed."""
    first, second = Random(f"authorisations {seed}").sample(_KEYS, 2)
    words = {**_ALWAYS, "payeeId": first, "payerId": first, "beneficiaryId": second}
    missing = [name for name in (*_KEYS, "merchantCategory") if name not in words.values()]
    return retold_events(history, words, lambda record, told: _record(record, told, missing))


def retold_events(
    history: list[MicroBatch], words: dict[str, str], record_of: Callable[[Record, bytes], Record]
) -> list[MicroBatch]:
    """The history in other words; `record_of` makes a record of the one before and its value in these words."""
    return [
        MicroBatch(
            tuple(_rule_event(value, words) for value in batch.rule_events),
            batch.ticks,
            tuple(
                record if record.value is None else record_of(record, _told(record.value, words))
                for record in batch.records
            ),
        )
        for batch in history
    ]


def _record(record: Record, value: bytes, missing: list[str]) -> Record:
    drawn = crc32(record.value or b"")
    members = b"".join(
        b'"%s":%s,' % (name.encode(), _drawn(name, drawn >> 3 * i)) for i, name in enumerate(missing)
    )
    before, brace, after = value.partition(b"{")
    whole = brace and not before.strip() and after.strip() not in (b"", b"}")
    return replace(record, value=before + brace + members + after if whole else value)


def _drawn(name: str, number: int) -> bytes:
    if name == "deviceId" and number % 8 < 3:
        return b"null"
    return json.dumps(_POOL[number % len(_POOL)]).encode()


def _told(value: bytes, words: dict[str, str]) -> bytes:
    """The same text with other words; what is spelled with escapes stays as it is."""
    for old, new in words.items():
        value = value.replace(f'"{old}"'.encode(), f'"{new}"'.encode())
    return value


def _rule_event(value: bytes, words: dict[str, str]) -> bytes:
    """With its definition's hash, if it had that: the texts that are sorted are sorted again."""
    try:
        event = json.loads(value)
        had = event["definitionHash"] == definition_hash(event["definition"])
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError, OracleError):
        return _told(value, words)
    if not had:
        return _command(value, words)
    told = json.loads(_told(json.dumps(event["definition"]).encode(), words))
    event["definition"] = _sorted(told, frozenset(words.values()))
    event["definitionHash"] = definition_hash(event["definition"])
    return json.dumps(event).encode()


def _command(value: bytes, words: dict[str, str]) -> bytes:
    """Commands keep the names of their members; the group that one clears has fields of the type."""
    try:
        event = json.loads(value)
        event["group"] = json.loads(_told(json.dumps(event["group"]).encode(), words))
    except (ValueError, RecursionError, KeyError, TypeError):
        members = {word: words[word] for word in words if word not in ("transactionId", "eventTime")}
        return _told(value, members)
    return json.dumps(event).encode()


def _sorted(value: Any, texts: frozenset[str]) -> Any:
    if isinstance(value, list):
        return [_sorted(item, texts) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        name: sorted(inner)
        if name in ("groupingKeyNames", "in") and _sorts(inner, texts)
        else _sorted(inner, texts)
        for name, inner in value.items()
    }


def _sorts(value: Any, texts: frozenset[str]) -> bool:
    """Field names and values of the enum: numbers keep their order, which is none of texts."""
    return isinstance(value, list) and all(isinstance(item, str) and item in texts for item in value)
