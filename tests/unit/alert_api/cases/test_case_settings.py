"""How alerts fold, as the installation has it."""

from __future__ import annotations

import pytest

from alert_api.domain.cases.policy import CasePolicy
from alert_api.domain.cases.subject import Subject, subject_of
from alert_api.settings import projector_settings
from tripline_http.errors import ConfigurationError

DAY = 86_400_000


@pytest.fixture(autouse=True)
def _projector(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("ALERTS_DSN", "postgresql://a@127.0.0.1/x"), ("KAFKA", "x")):
        monkeypatch.setenv(f"TRIPLINE_{name}", value)
    for name in ("EPISODE_GAP_MINUTES", "CASE_SUBJECT_FIELDS", "CASE_REOPEN_DAYS", "EVENT_TYPE"):
        monkeypatch.delenv(f"TRIPLINE_{name}", raising=False)


def test_without_settings_the_rules_windows_and_the_types_anchors_decide(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert projector_settings().policy == CasePolicy(None, ("account", "payeeId", "beneficiaryId"), 7 * DAY)
    monkeypatch.setenv("TRIPLINE_EVENT_TYPE", "card-authorisation")
    fields = projector_settings().policy.subject_fields
    assert fields
    assert "payeeId" not in fields


def test_settings_replace_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIPLINE_EPISODE_GAP_MINUTES", "30")
    monkeypatch.setenv("TRIPLINE_CASE_SUBJECT_FIELDS", " paymentType , payeeId,payeeId")
    monkeypatch.setenv("TRIPLINE_CASE_REOPEN_DAYS", "0")
    assert projector_settings().policy == CasePolicy(30 * 60_000, ("paymentType", "payeeId"), 0)
    monkeypatch.setenv("TRIPLINE_CASE_SUBJECT_FIELDS", "account, paymentType")
    policy = projector_settings().policy
    assert policy.party_sides == (("account", ("payeeId", "beneficiaryId")),)
    assert CasePolicy.from_json(policy.to_json()) == policy


@pytest.mark.parametrize(
    ("setting", "group", "subject"),
    [
        ("", {"account": "25", "beneficiaryId": "12"}, ("account", "25")),
        ("", {"payeeId": "25"}, ("payeeId", "25")),
        ("account", {"account": "25"}, ("account", "25")),
        ("account", {"beneficiaryId": "25"}, ("account", "25")),
        ("account", {"beneficiaryId": "25", "payeeId": "12"}, ("account", "12")),
        ("payeeId,account", {"payeeId": "25"}, ("payeeId", "25")),
    ],
)
def test_of_a_party_and_of_its_sides(
    monkeypatch: pytest.MonkeyPatch, setting: str, group: dict[str, str], subject: tuple[str, str]
) -> None:
    monkeypatch.setenv("TRIPLINE_CASE_SUBJECT_FIELDS", setting)
    assert subject_of(7, group, projector_settings().policy) == Subject.of_field(*subject)


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("EPISODE_GAP_MINUTES", "0", "expected a whole number from 1 to 1152000"),
        ("EPISODE_GAP_MINUTES", "soon", "expected a whole number from 1 to 1152000"),
        ("CASE_REOPEN_DAYS", "-1", "expected a whole number from 0 to 36500"),
        ("CASE_SUBJECT_FIELDS", "payeeId,nobody", "names 'nobody'; expected fields that rules can group by"),
        ("CASE_SUBJECT_FIELDS", "transactionId", "names 'transactionId'; expected fields"),
    ],
)
def test_what_is_no_setting_is_refused(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, told: str
) -> None:
    monkeypatch.setenv(f"TRIPLINE_{name}", value)
    with pytest.raises(ConfigurationError, match=f"TRIPLINE_{name} .*{told}"):
        projector_settings()
    assert CasePolicy.from_json(CasePolicy(5, ("a",), 1).to_json()) == CasePolicy(5, ("a",), 1)
