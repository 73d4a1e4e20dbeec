"""Reading a Kafka record as an alert, or as a record that is kept aside with the reason.

The bytes come from a topic that anybody with a producer can write to: every way they can be wrong ends in an
``Unreadable``. Commands are read in ``commands``, with the same care.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NoReturn

from alert_api.domain.cases.alert_facts import AlertFacts, Measured, measured_of
from alert_api.domain.events import AlertId
from tripline_contracts.errors import SchemaViolation
from tripline_contracts.exact_json import unique_members
from tripline_contracts.record_batches.records import Cut

MAX_RECORD_BYTES = 1 << 20
"""A whole alert with 100 contributors is some 20 KB, one of 16 conditions with as many each some 300 KB; more than a
mebibyte is not one of ours."""

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")

Reason = Literal["empty", "too_long", "not_json", "invalid", "bad_text", "not_storable"]


@dataclass(frozen=True, slots=True)
class Record:
    """One Kafka record with its place.

    :ivar headers: by name, the last of each; of a record that was read as it is stored there are none
    :ivar cut: what is known of a value of which only the beginning is here, more than MAX_RECORD_BYTES of it
    """

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    cut: Cut | None = None
    headers: Mapping[str, bytes] = field(default_factory=dict, hash=False)

    @property
    def length(self) -> int:
        """Bytes of the value as it was sent."""
        return self.cut.length if self.cut else len(self.value or b"")


@dataclass(frozen=True, slots=True)
class ReceivedAlert:
    """An alert as it came: ``content`` is the record's own text, the rest is what filters need of it."""

    alert_id: AlertId
    rule_id: int
    rule_version: int
    group: dict[str, str]
    event_time: int
    detected_at: int
    transaction_id: str
    amount: str | None
    content: str
    window_ms: int
    measured: Measured | None
    record: Record
    is_shadow: bool = False

    def facts(self, position: int) -> AlertFacts:
        """What folding needs of it, once it has a position in the log."""
        return AlertFacts(
            position,
            self.alert_id,
            self.rule_id,
            self.group,
            self.event_time,
            self.detected_at,
            self.window_ms,
            self.measured,
        )


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A record that is no alert, and why; ``detail`` is safe to store and to log."""

    record: Record
    reason: Reason
    detail: str


Validate = Callable[[object], None]
"""Raises SchemaViolation for a decoded value that does not keep its schema."""


class Refused(Exception):
    """The reason why a record cannot be read; it becomes an ``Unreadable``."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


def read_record(
    record: Record, validate: Validate, id_field: str, amount_field: str | None = None
) -> ReceivedAlert | Unreadable:
    """The alert in ``record``, or what is wrong with it; the fields are what the event type calls id and amount."""
    try:
        return _read(record, validate, id_field, amount_field)
    except Refused as refused:
        return unreadable(record, refused.reason, str(refused))


def unreadable(record: Record, reason: Reason, detail: str) -> Unreadable:
    """``record`` set aside; ``detail`` is cut and freed of what a database or a log line cannot take."""
    safe = detail.encode("utf-8", "backslashreplace").decode("utf-8").replace("\x00", "\\u0000")
    return Unreadable(record, reason, safe[:500])


def decoded(record: Record) -> tuple[str, Any]:
    """The record's text and its JSON. Raises Refused."""
    if not record.value:
        raise Refused("empty", "the record has no value")
    if record.length > MAX_RECORD_BYTES:
        raise Refused("too_long", f"{record.length} bytes, at most {MAX_RECORD_BYTES} are read")
    return _decode(record.value)


def check(text: str, value: Any, validate: Validate) -> None:
    """Return if the decoded value keeps its schema and can be stored. Raises Refused."""
    try:
        validate(value)
    except SchemaViolation as violation:
        raise Refused("invalid", str(violation)) from violation
    if "\\u" in text:  # neither can be there without an escape
        _check_text(value)


def _read(record: Record, validate: Validate, id_field: str, amount_field: str | None) -> ReceivedAlert:
    text, alert = decoded(record)
    check(text, alert, validate)
    return ReceivedAlert(
        alert_id=AlertId(alert["alertId"]),
        rule_id=alert["ruleId"],
        rule_version=alert["ruleVersion"],
        group=alert["group"],
        event_time=alert["eventTime"],
        detected_at=alert["detectedAt"],
        transaction_id=alert["transaction"][id_field],
        # A partial alert has the fields that its rule uses: the amount may be none of them.
        amount=None if amount_field is None else alert["transaction"].get(amount_field),
        content=text,
        window_ms=alert["windowEnd"] - alert["windowStart"],
        measured=measured_of(alert),
        record=record,
        is_shadow=alert["mode"] == "shadow",
    )


def _decode(value: bytes) -> tuple[str, Any]:
    """Strict JSON: UTF-8 without a mark, no doubled names, no NaN, nothing after the end."""
    try:
        text = value.decode("utf-8")
        hooks: dict[str, Any] = {"parse_float": _no_fraction, "parse_constant": _no_constant}
        return text, json.loads(text, object_pairs_hook=unique_members, **hooks)
    except (ValueError, RecursionError) as error:
        raise Refused("not_json", str(error) or type(error).__name__) from error


def _no_fraction(number: str) -> NoReturn:
    # Decimals travel as text. Read as a float, 1.0 would pass for an integer.
    raise Refused("invalid", f"{number} is no whole number, and there are no other ones here")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _check_text(alert: Any) -> None:
    """Postgres holds neither U+0000 nor lone surrogates in text; JSON can spell both with an escape."""
    pending = [alert]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            pending.extend(value)
            pending.extend(value.values())
        elif isinstance(value, list):
            pending.extend(value)
        elif isinstance(value, str) and _UNSTORABLE.search(value):
            raise Refused("bad_text", "a text contains U+0000 or half of a surrogate pair")
