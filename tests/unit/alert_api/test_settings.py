"""Settings: what is missing is named in one sentence, and the process does not start."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from alert_api.cli import main
from alert_api.service.past_months import AlertPolicy
from alert_api.service.retention import RetentionPolicy
from alert_api.settings import api_settings, projector_settings, retention_settings
from tripline_http.errors import ConfigurationError

GIVEN = {"ALERTS_DSN": "postgresql://a@127.0.0.1/x", "API_KEYS_FILE": "x", "KAFKA": "x"}


def test_the_defaults_are_the_documented_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_BIND", "METRICS_BIND", "REGISTRY_URL", "LOG_LEVEL"):
        monkeypatch.delenv(f"TRIPLINE_{name}", raising=False)
    for name in ("ALERTS_DSN", "API_KEYS_FILE", "KAFKA"):
        monkeypatch.setenv(f"TRIPLINE_{name}", GIVEN[name])
    assert (str(api_settings().bind), api_settings().log_level) == ("127.0.0.1:8082", "info")
    assert str(projector_settings().metrics_bind) == "127.0.0.1:9104"
    assert str(retention_settings().metrics_bind) == "127.0.0.1:9106"
    assert retention_settings().policy == RetentionPolicy(days=90, records=100_000, bytes=1024**3)
    assert retention_settings().alerts == AlertPolicy(days=None, unarchived=False), "all alerts are kept"
    assert retention_settings().alert_archive is None


def test_the_api_listens_beyond_loopback_behind_a_proxy_only(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ALERTS_DSN", "API_KEYS_FILE"):
        monkeypatch.setenv(f"TRIPLINE_{name}", GIVEN[name])
    monkeypatch.setenv("TRIPLINE_HTTP_BIND", "[::]:8082")
    monkeypatch.delenv("TRIPLINE_HTTP_ALLOW_REMOTE", raising=False)
    with pytest.raises(ConfigurationError, match="set TRIPLINE_HTTP_ALLOW_REMOTE=true where a proxy"):
        api_settings()
    monkeypatch.setenv("TRIPLINE_HTTP_ALLOW_REMOTE", "maybe")
    with pytest.raises(
        ConfigurationError, match="TRIPLINE_HTTP_ALLOW_REMOTE is 'maybe'; expected true or false"
    ):
        api_settings()
    monkeypatch.setenv("TRIPLINE_HTTP_ALLOW_REMOTE", "true")
    monkeypatch.delenv("TRIPLINE_HTTP_HOSTS", raising=False)
    with pytest.raises(ConfigurationError, match="TRIPLINE_HTTP_HOSTS is not set, and others can reach"):
        api_settings()
    monkeypatch.setenv("TRIPLINE_HTTP_HOSTS", "alerts.example")
    assert str(api_settings().bind) == "[::]:8082"
    assert api_settings().hosts.names == {("alerts.example", None)}


@pytest.mark.parametrize("name", ["REGISTRY_URL", "ENGINE_METRICS_URL", "GENERATOR_URL"])
@pytest.mark.parametrize("address", ["registry:8081", "", "ftp://x"])
def test_an_address_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, address: str) -> None:
    for required in ("ALERTS_DSN", "API_KEYS_FILE"):
        monkeypatch.setenv(f"TRIPLINE_{required}", GIVEN[required])
    monkeypatch.setenv(f"TRIPLINE_{name}", address)
    with pytest.raises(ConfigurationError, match=f"TRIPLINE_{name}"):
        api_settings()


def test_what_is_for_the_console_only_may_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ENGINE_METRICS_URL", "GENERATOR_URL", "KAFKA"):
        monkeypatch.delenv(f"TRIPLINE_{name}", raising=False)
    for name in ("ALERTS_DSN", "API_KEYS_FILE"):
        monkeypatch.setenv(f"TRIPLINE_{name}", GIVEN[name])
    settings = api_settings()
    assert (settings.engine_metrics_url, settings.generator_url, settings.kafka) == (None, None, None)


def test_a_database_elsewhere_has_to_be_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in GIVEN.items():
        monkeypatch.setenv(f"TRIPLINE_{name}", value)
    monkeypatch.setenv("TRIPLINE_ALERTS_DSN", "postgresql://a@db/x")
    for read in (api_settings, projector_settings, retention_settings):
        monkeypatch.delenv("TRIPLINE_DATABASE_ALLOW_UNVERIFIED", raising=False)
        with pytest.raises(ConfigurationError, match="TRIPLINE_ALERTS_DSN names db, beyond this machine"):
            read()
        monkeypatch.setenv("TRIPLINE_DATABASE_ALLOW_UNVERIFIED", "true")
        assert read().dsn == "postgresql://a@db/x"


@pytest.mark.parametrize("name", ["DEAD_LETTER_DAYS", "DEAD_LETTER_RECORDS", "DEAD_LETTER_BYTES"])
@pytest.mark.parametrize("value", ["0", "-1", "many", "1.5", str(10**18)])
def test_a_bound_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv("TRIPLINE_ALERTS_DSN", GIVEN["ALERTS_DSN"])
    monkeypatch.setenv(f"TRIPLINE_{name}", value)
    with pytest.raises(ConfigurationError, match=f"TRIPLINE_{name} is '{value}'; expected a whole number"):
        retention_settings()


def test_the_event_type_is_the_installations(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ALERTS_DSN", "API_KEYS_FILE", "KAFKA"):
        monkeypatch.setenv(f"TRIPLINE_{name}", GIVEN[name])
    assert api_settings().event_type.name == projector_settings().event_type.name == "transaction"
    monkeypatch.setenv("TRIPLINE_EVENT_TYPE", "card-authorisation")
    assert api_settings().event_type.name == projector_settings().event_type.name == "card-authorisation"
    monkeypatch.setenv("TRIPLINE_EVENT_TYPE", "cards")
    for read in (api_settings, projector_settings):
        with pytest.raises(
            ConfigurationError, match="TRIPLINE_EVENT_TYPE is cards: expected activity, card-authorisation"
        ):
            read()


@pytest.mark.parametrize("value", [None, "", "  "])
@pytest.mark.parametrize("command", ["api", "projector"])
def test_a_process_without_its_database_ends_with_a_sentence(
    monkeypatch: pytest.MonkeyPatch, command: str, value: str | None
) -> None:
    monkeypatch.delenv("TRIPLINE_ALERTS_DSN", raising=False)
    if value is not None:
        monkeypatch.setenv("TRIPLINE_ALERTS_DSN", value)
    result = CliRunner().invoke(main, [command])
    assert result.exit_code == 2
    assert "TRIPLINE_ALERTS_DSN" in result.stderr
    assert "Traceback" not in result.output
