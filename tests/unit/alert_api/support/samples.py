"""Alerts to test with, and fakes of the ports."""

from __future__ import annotations

import copy
import hashlib
import json
import threading
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from flask import Flask
from prometheus_client import CollectorRegistry

from alert_api.adapters.fernet_seal import FernetSeal
from alert_api.adapters.upstream import Upstream
from alert_api.api.alerts import Alerts
from alert_api.api.application import Doors, Overview, Stores, Streaming, build
from alert_api.api.console_data import Line
from alert_api.domain.events import AlertEvent, AlertId, AlertRaised, Voiding
from alert_api.errors import AlertNotFound
from alert_api.service.alert_counts import Counted, Span
from alert_api.service.alert_queries import AlertFilter, Page, Place, StoredAlert
from alert_api.service.alert_stream import StreamBatch, StreamedEvent, StreamPlace
from alert_api.service.records import ReceivedAlert, Record, read_record
from alert_api.service.sessions import SessionDesk
from alert_api.service.verifications import KeptVerification
from alert_api.service.void_commands import VoidCommand, read_command
from tests.unit.alert_api.support.fake_cases import no_cases
from tests.unit.alert_api.support.fake_performance import FakePerformance
from tests.unit.alert_api.support.fake_sessions import FakeSessions
from tests.unit.alert_api.support.fake_views import FakeShadows, FakeViews
from tests.unit.alert_api.support.rejected_samples import FakeRejected
from tripline_contracts import event_type_loader, schemas
from tripline_contracts.event_type import EventType
from tripline_http.application import Access
from tripline_http.keys.key_file import ApiKey

EPOCH = 1_763_690_000_000
NOWHERE = Upstream("The rules registry", "http://127.0.0.1:9")  # one for all: its client reads certificates


def alert_id(number: int) -> AlertId:
    return AlertId(str(uuid.uuid5(uuid.NAMESPACE_URL, f"urn:test:{number}")))


def alert(number: int = 1, **changes: Any) -> dict[str, Any]:
    """A valid alert, different for each number."""
    event_time = EPOCH + number
    made = {
        "alertId": alert_id(number),
        "ruleId": 1,
        "ruleVersion": 1,
        "ruleName": "Large sums",
        "definitionHash": "ab" * 32,
        "group": {"payeeId": "25"},
        "transaction": {
            "transactionId": f"t{number}",
            "eventTime": event_time,
            "payeeId": "25",
            "beneficiaryId": None,
            "paymentAmount": "1000.01",
            "paymentType": "CSH",
            "ingestionTimestamp": None,
        },
        "partial": False,
        "value": "1000.01",
        "operator": ">",
        "limit": "1000",
        "windowStart": event_time - 60_000,
        "windowEnd": event_time,
        "contributors": {
            "count": 1,
            "transactions": [{"transactionId": f"t{number}", "eventTime": event_time, "value": "1000.01"}],
            "truncated": False,
        },
        "late": None,
        "warm": True,
        "mode": "live",
        "eventTime": event_time,
        "ingestedAt": event_time + 5,
        "detectedAt": event_time + 80,
    }
    return {**made, **changes}


def trace(number: int = 1, **changes: Any) -> dict[str, Any]:
    """A valid trace of rule 7, different for each number."""
    event_time = EPOCH + number
    made = {
        "ruleId": 7,
        "version": 2,
        "transactionId": f"t{number}",
        "eventTime": event_time,
        "recordTime": event_time + 20,
        "partition": number % 2,
        "offset": number,
        "group": {"payeeId": "25"},
        "windowStart": event_time - 60_000,
        "windowEnd": event_time,
        "value": "1000.01",
        "contributingCount": 3,
        "limit": "1000",
        "limitOperatorType": ">",
        "holds": True,
        "alerted": True,
        "late": False,
        "judgedAt": event_time + 90,
    }
    return {**made, **changes}


def void(number: int = 1, name: int = 1, **changes: Any) -> dict[str, Any]:
    """A valid VOID_TRANSACTION, different for each `name`, of the transaction that triggered alert `number`."""
    made = {
        "eventId": str(uuid.uuid5(uuid.NAMESPACE_URL, f"urn:test:event:{name}")),
        "type": "ControlCommand",
        "position": 100 + name,
        "occurredAt": EPOCH + 5_000 + name,
        "actor": "ops",
        "widestWindows": [],
        "command": "VOID_TRANSACTION",
        "commandId": command_id(name),
        "transactionId": f"t{number}",
        "eventTime": EPOCH + number,
    }
    return {**made, **changes}


def command_id(name: int) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"urn:test:command:{name}"))


def voiding(number: int = 1, name: int = 1) -> Voiding:
    """What `void(number, name)` marks an alert with."""
    return Voiding(f"t{number}", EPOCH + number, command_id(name), 100 + name)


def commanded(made: dict[str, Any]) -> VoidCommand:
    read = read_command(rules_record(made), schemas.validator("rules.v1"))
    assert isinstance(read, VoidCommand), read
    return read


def rules_record(value: Any, offset: int = 0) -> Record:
    """A record of rules.v1."""
    return replace(record(value, offset), topic="rules.v1")


def without(member: str) -> dict[str, Any]:
    made = alert()
    del made[member]
    return made


def with_late(late: Any) -> dict[str, Any]:
    return {**copy.deepcopy(alert()), "late": late}


def record(value: Any, offset: int = 0, partition: int = 0) -> Record:
    """A Kafka record with these bytes, or with this value as JSON."""
    raw = value if isinstance(value, bytes) or value is None else json.dumps(value).encode()
    return Record("alerts.v1", partition, offset, b"key", raw)


def received(made: dict[str, Any], offset: int = 0) -> ReceivedAlert:
    read = read_record(record(made, offset), schemas.validator("alerts.v1"), "transactionId", "paymentAmount")
    assert isinstance(read, ReceivedAlert), read
    return read


def stored(
    content: dict[str, Any], voided: tuple[Voiding, ...] = (), case_id: int | None = None
) -> StoredAlert:
    """An alert that nobody has in hand."""
    return StoredAlert(
        AlertId(content["alertId"]), content["eventTime"], content["ruleId"], content["group"], json.dumps(content),
        None, None, None, voided, case_id=case_id,
    )  # fmt: skip


class FakeAlerts:
    """Alerts in memory with the contract of the Postgres ones; `before_append` runs once, as a rival would."""

    def __init__(self, *numbers: int) -> None:
        self.logs: dict[AlertId, list[AlertEvent]] = {
            alert_id(number): [AlertRaised(alert_id(number), EPOCH)] for number in numbers
        }
        self.contents = {alert_id(number): alert(number) for number in numbers}
        self.voided: dict[AlertId, tuple[Voiding, ...]] = {}
        self.verifications: dict[AlertId, list[KeptVerification]] = {}
        self.rival: AlertEvent | None = None
        self.broken: Exception | None = None
        self.case_ids: dict[AlertId, int] = {}

    def events_of(self, alert_id: AlertId) -> Sequence[AlertEvent]:
        self.check()
        return tuple(self.logs.get(alert_id, ()))

    def append(self, event: AlertEvent, version: int) -> bool:
        log = self.logs[event.alert_id]
        if self.rival is not None:
            log.append(self.rival)
            self.rival = None
        if version != len(log) + 1:
            return False
        log.append(event)
        return True

    def get(self, alert_id: AlertId) -> StoredAlert:
        self.check()
        if alert_id not in self.contents:
            raise AlertNotFound(alert_id)
        content, voided = self.contents[alert_id], self.voided.get(alert_id, ())
        case_id = self.case_ids.get(alert_id)
        return stored(content, voided, case_id)

    def keep_verification(self, alert_id: AlertId, kept: KeptVerification) -> None:
        self.verifications.setdefault(alert_id, []).insert(0, kept)

    def verifications_of(self, alert_id: AlertId, limit: int) -> Sequence[KeptVerification]:
        return self.verifications.get(alert_id, [])[:limit]

    def page(self, wanted: AlertFilter, after: Place | None, limit: int) -> Page:
        self.check()
        self.asked = (wanted, after, limit)
        alerts = tuple(self.get(alert_id) for alert_id in list(self.contents)[:limit])
        return Page(alerts, alerts[-1].place if len(self.contents) > limit else None)

    def check(self) -> None:
        if self.broken is not None:
            raise self.broken


class FakeOverview:
    """What happened and how much, in memory; `after` gives what `tell` was told, in order."""

    def __init__(self) -> None:
        self.told: list[StreamedEvent] = []
        self.counts = Counted({}, {}, {})
        self.broken: Exception | None = None
        self.counted: tuple[Span, list[int]] | None = None
        self.asked = AlertFilter()

    def tell(self, number: int, kind: str = "AlertRaised") -> None:
        self.told.append(StreamedEvent(StreamPlace(len(self.told) + 1, 1), kind, stored(alert(number))))

    def present(self) -> StreamPlace:
        if self.broken is not None:
            raise self.broken
        return StreamPlace(len(self.told) + 1, 0)

    def after(self, after: StreamPlace, limit: int) -> StreamBatch:
        if self.broken is not None:
            raise self.broken
        left = [event for event in self.told if event.place > after][:limit]
        return StreamBatch(left, left[-1].place if len(left) == limit else self.present())

    def count(self, asked: AlertFilter) -> Counted:
        self.counted = (Span(asked.earliest or 0, asked.latest or 0), list(asked.rule_ids))
        self.asked = asked
        return self.counts


def app(
    *,
    alerts: Alerts | None = None,
    overview: Overview | None = None,
    line: Line | None = None,
    keys: Iterable[ApiKey] = (),
    clock: int = 0,
    streaming: Streaming | None = None,
    declared: EventType | None = None,
    sessions: SessionDesk | None = None,
) -> Flask:
    """The API over what is given, and over nothing where it is not; of the default event type or another one."""
    others = no_cases(), FakeRejected(), FakePerformance(), FakeViews(), FakeShadows()
    return build(
        stores=Stores(alerts or FakeAlerts(), overview or FakeOverview(), *others),
        line=line or Line(NOWHERE),
        doors=Doors(Access(keys), sessions or SessionDesk(FakeSessions(), FernetSeal(), lambda: clock)),
        registry=CollectorRegistry(),
        event_type=declared or event_type_loader.load(),
        clock=lambda: clock,
        streaming=streaming or Streaming(threading.Event()),
    ).app


def key(name: str, *scopes: str) -> tuple[ApiKey, dict[str, str]]:
    """An API key and the header that carries it."""
    digest = hashlib.sha256(f"secret key of {name}".encode()).hexdigest()
    return ApiKey(name, digest, frozenset(scopes)), {"Authorization": f"Bearer secret key of {name}"}
