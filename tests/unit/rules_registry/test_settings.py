"""Settings of the registry's processes: defaults, and one sentence for what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from environs import Env

from rules_registry.cli import main
from rules_registry.settings import read_api_settings, read_projector_settings, read_relay_settings
from tripline_http.errors import ConfigurationError

WHOLE = {
    "TRIPLINE_REGISTRY_DSN": "postgresql:///x",
    "TRIPLINE_KAFKA": "k:9092",
    "TRIPLINE_API_KEYS_FILE": "/k",
}


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in (
        *WHOLE,
        "TRIPLINE_HTTP_BIND",
        "TRIPLINE_HTTP_ALLOW_REMOTE",
        "TRIPLINE_HTTP_HOSTS",
        "TRIPLINE_METRICS_BIND",
        "TRIPLINE_HTTP_THREADS",
        "TRIPLINE_DATABASE_ALLOW_UNVERIFIED",
    ):
        monkeypatch.delenv(name, raising=False)
    for name, value in WHOLE.items():
        monkeypatch.setenv(name, value)
    return monkeypatch


def test_defaults_listen_on_loopback_only() -> None:
    api, relay, projector = (
        read_api_settings(Env()),
        read_relay_settings(Env()),
        read_projector_settings(Env()),
    )
    assert (str(api.bind), str(relay.metrics_bind), str(projector.metrics_bind)) == (
        "127.0.0.1:8081",
        "127.0.0.1:9101",
        "127.0.0.1:9102",
    )
    assert api.bind.is_loopback
    assert (api.threads, api.log_level, projector.consumer_group) == (16, "info", "rules-registry-status")
    assert api.api_keys_file == Path("/k")
    assert api.event_type.name == "transaction"


def test_a_proxy_in_front_lets_the_api_listen_beyond_loopback(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("TRIPLINE_HTTP_BIND", "0.0.0.0:8081")
    environment.setenv("TRIPLINE_HTTP_ALLOW_REMOTE", "true")
    environment.setenv("TRIPLINE_HTTP_HOSTS", "registry,rules.example:8443")
    settings = read_api_settings(Env())
    assert str(settings.bind) == "0.0.0.0:8081"
    assert settings.hosts.names == {("registry", None), ("rules.example", 8443)}


WRONG: list[tuple[Callable[[Env], Any], Mapping[str, str], str]] = [
    (read_api_settings, {"TRIPLINE_REGISTRY_DSN": " "}, "TRIPLINE_REGISTRY_DSN is not set."),
    (read_api_settings, {"TRIPLINE_API_KEYS_FILE": ""}, "TRIPLINE_API_KEYS_FILE is not set."),
    (
        read_api_settings,
        {"TRIPLINE_EVENT_TYPE": "cards"},
        "TRIPLINE_EVENT_TYPE is cards: expected activity, card-auth",
    ),
    (read_api_settings, {"TRIPLINE_HTTP_BIND": "8081"}, "expected host:port"),
    (
        read_api_settings,
        {"TRIPLINE_HTTP_BIND": "0.0.0.0:8081"},
        "set TRIPLINE_HTTP_ALLOW_REMOTE=true where a proxy",
    ),
    (read_api_settings, {"TRIPLINE_HTTP_ALLOW_REMOTE": "maybe"}, "TRIPLINE_HTTP_ALLOW_REMOTE"),
    (
        read_api_settings,
        {"TRIPLINE_HTTP_BIND": "0.0.0.0:8081", "TRIPLINE_HTTP_ALLOW_REMOTE": "true"},
        "TRIPLINE_HTTP_HOSTS is not set, and others can reach 0.0.0.0:8081",
    ),
    (read_api_settings, {"TRIPLINE_HTTP_HOSTS": "a b"}, "TRIPLINE_HTTP_HOSTS has 'a b'; expected names"),
    (read_api_settings, {"TRIPLINE_HTTP_THREADS": "0"}, "expected 1 to 64"),
    (read_api_settings, {"TRIPLINE_HTTP_THREADS": "many"}, "TRIPLINE_HTTP_THREADS"),
    (read_api_settings, {"TRIPLINE_REGISTRY_DSN": "postgresql://db/x"}, "beyond this machine"),
    (read_relay_settings, {"TRIPLINE_REGISTRY_DSN": "postgresql://db/x"}, "beyond this machine"),
    (read_projector_settings, {"TRIPLINE_REGISTRY_DSN": "postgresql://db/x"}, "beyond this machine"),
    (
        read_relay_settings,
        {"TRIPLINE_DATABASE_ALLOW_UNVERIFIED": "maybe"},
        "TRIPLINE_DATABASE_ALLOW_UNVERIFIED",
    ),
    (read_relay_settings, {"TRIPLINE_KAFKA": ""}, "TRIPLINE_KAFKA is not set: give the brokers'"),
    (read_relay_settings, {"TRIPLINE_METRICS_BIND": "127.0.0.1:99999"}, "expected host:port"),
    (read_projector_settings, {"TRIPLINE_KAFKA": ""}, "TRIPLINE_KAFKA is not set: give the brokers'"),
]


@pytest.mark.parametrize(("read", "changes", "said"), WRONG)
def test_what_is_wrong_is_said_in_a_sentence(
    read: Callable[[Env], Any],
    changes: Mapping[str, str],
    said: str,
    environment: pytest.MonkeyPatch,
) -> None:
    for name, value in changes.items():
        environment.setenv(name, value)
    with pytest.raises(ConfigurationError) as refused:
        read(Env())
    assert said in str(refused.value)
    assert str(refused.value).endswith(".")


def test_a_process_with_bad_settings_ends_with_the_sentence(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("TRIPLINE_KAFKA", "")
    ended = CliRunner().invoke(main, ["relay"])
    assert ended.exit_code == 2
    assert ended.stderr == "TRIPLINE_KAFKA is not set: give the brokers' addresses, like 127.0.0.1:9092.\n"
