"""The API over cases in memory."""

from __future__ import annotations

import threading
from collections.abc import Iterable

from flask import Flask
from prometheus_client import CollectorRegistry

from alert_api.adapters.fernet_seal import FernetSeal
from alert_api.api.application import Cases, Doors, Stores, Streaming, build
from alert_api.api.console_data import Line
from alert_api.service.sessions import SessionDesk
from tests.unit.alert_api.support.fake_cases import FakeCases
from tests.unit.alert_api.support.fake_performance import FakePerformance
from tests.unit.alert_api.support.fake_sessions import FakeSessions
from tests.unit.alert_api.support.fake_snoozes import FakeSnoozes
from tests.unit.alert_api.support.fake_views import FakeShadows, FakeViews
from tests.unit.alert_api.support.rejected_samples import FakeRejected
from tests.unit.alert_api.support.samples import NOWHERE, FakeAlerts, FakeOverview
from tripline_contracts import event_type_loader
from tripline_http.application import Access
from tripline_http.keys.key_file import ApiKey


def case_app(
    cases: FakeCases,
    keys: Iterable[ApiKey],
    clock: int,
    performance: FakePerformance | None = None,
    snoozes: FakeSnoozes | None = None,
    alerts: FakeAlerts | None = None,
) -> Flask:
    """The app, whose clock stands still."""
    snoozes = snoozes or FakeSnoozes()
    return build(
        stores=Stores(
            alerts or FakeAlerts(),
            FakeOverview(),
            Cases(cases, cases, snoozes, snoozes),
            FakeRejected(),
            performance or FakePerformance(),
            FakeViews(),
            FakeShadows(),
        ),
        line=Line(NOWHERE),
        doors=Doors(Access(keys), SessionDesk(FakeSessions(), FernetSeal(), lambda: clock)),
        registry=CollectorRegistry(),
        event_type=event_type_loader.load(),
        clock=lambda: clock,
        streaming=Streaming(threading.Event()),
    ).app
