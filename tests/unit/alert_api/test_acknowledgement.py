"""Acknowledging against a log that somebody else may write to at the same moment."""

from __future__ import annotations

import pytest

from alert_api.domain.events import AlertAcknowledged, AlertVoided
from alert_api.errors import AlertNotFound, AlreadyAcknowledged
from alert_api.service.acknowledgement import acknowledge
from tests.unit.alert_api.support.samples import FakeAlerts, alert_id, voiding


def test_the_event_is_appended_with_the_time_of_the_clock() -> None:
    alerts = FakeAlerts(1)
    acknowledge(alerts, alert_id(1), "ada", "seen", lambda: 77)
    assert alerts.logs[alert_id(1)][1:] == [AlertAcknowledged(alert_id(1), 77, "ada", "seen")]


def test_repetition_appends_nothing() -> None:
    alerts = FakeAlerts(1)
    for comment in ("seen", "seen again"):
        acknowledge(alerts, alert_id(1), "ada", comment, lambda: 77)
    assert len(alerts.logs[alert_id(1)]) == 2


def test_an_unknown_alert_cannot_be_acknowledged() -> None:
    with pytest.raises(AlertNotFound):
        acknowledge(FakeAlerts(1), alert_id(2), "ada", None, lambda: 77)


def test_losing_the_race_names_the_winner() -> None:
    alerts = FakeAlerts(1)
    alerts.rival = AlertAcknowledged(alert_id(1), 76, "bob", None)
    with pytest.raises(AlreadyAcknowledged) as refusal:
        acknowledge(alerts, alert_id(1), "ada", None, lambda: 77)
    assert refusal.value.first_by == "bob"


def test_what_is_voided_at_the_same_moment_holds_nobody_up() -> None:
    alerts = FakeAlerts(1)
    alerts.rival = voided = AlertVoided(alert_id(1), 76, "ops", voiding())
    acknowledge(alerts, alert_id(1), "ada", None, lambda: 77)
    assert alerts.logs[alert_id(1)][1:] == [voided, AlertAcknowledged(alert_id(1), 77, "ada", None)]


def test_losing_the_race_against_oneself_is_no_error() -> None:
    alerts = FakeAlerts(1)
    alerts.rival = AlertAcknowledged(alert_id(1), 76, "ada", None)
    acknowledge(alerts, alert_id(1), "ada", None, lambda: 77)
    assert len(alerts.logs[alert_id(1)]) == 2
