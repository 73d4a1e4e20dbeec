"""The generator's settings, read from the environment once."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from environs import Env, EnvError

from tripline_contracts.errors import ContractError
from tripline_contracts.event_type import DEFAULT, EventType
from tripline_contracts.installed import installed
from tripline_contracts.kafka.cluster import KafkaCluster, kafka_cluster
from tripline_demo.generator.errors import InvalidSettings
from tripline_demo.generator.trades import trade_of
from tripline_demo.generator.traffic import MAX_RATE, MAX_SEED, Traffic, no_traffic
from tripline_http.bind_address import (
    HOSTS,
    METRICS_BIND,
    Bind,
    KnownHosts,
    parse_bind,
    parse_hosts,
    parse_metrics_bind,
)
from tripline_http.errors import ConfigurationError
from tripline_http.tokens.issuer import Issuer, read_issuer

DEFAULT_BIND: Final = "127.0.0.1:8083"


@dataclass(frozen=True, slots=True)
class Settings:
    """TRIPLINE_KAFKA, _EVENT_TYPE, _API_KEYS_FILE, _HTTP_*, _LOG_LEVEL, _OIDC_* and _GENERATOR_*.

    :ivar hosts: the names in `Host` that it answers to
    """

    kafka: KafkaCluster
    api_keys_file: Path
    bind: Bind
    hosts: KnownHosts
    log_level: str
    traffic: Traffic
    event_type: EventType
    issuer: Issuer | None = None
    api_metrics_bind: Bind | None = None


def read_settings(env: Env) -> Settings:
    """Raises InvalidSettings with one sentence that names the variable."""
    try:
        bind = parse_bind("TRIPLINE_HTTP_BIND", env.str("TRIPLINE_HTTP_BIND", DEFAULT_BIND))
        if not bind.is_loopback and not env.bool("TRIPLINE_GENERATOR_ALLOW_REMOTE", False):
            raise InvalidSettings(
                f"TRIPLINE_HTTP_BIND is {bind}: the generator is for demonstrations and listens on loopback only; "
                "set TRIPLINE_GENERATOR_ALLOW_REMOTE=true if others may reach it."
            )
        event_type = read_event_type(env)
        level = env.str("TRIPLINE_LOG_LEVEL", "info")
        return Settings(
            kafka=read_kafka(),
            api_keys_file=_api_keys_file(env),
            bind=bind,
            hosts=parse_hosts(bind, env.str(HOSTS, "")),
            api_metrics_bind=parse_metrics_bind(bind, env.str(METRICS_BIND, ""), "127.0.0.1:9113"),
            log_level=level,
            traffic=_traffic(env, event_type),
            event_type=event_type,
            issuer=read_issuer(os.environ),
        )
    except (EnvError, ConfigurationError) as error:
        raise InvalidSettings(str(error)) from error


def read_kafka() -> KafkaCluster:
    """Where to send to, as whom. Raises InvalidSettings."""
    try:
        return kafka_cluster(os.environ)
    except ContractError as error:
        raise InvalidSettings(str(error)) from error


def read_event_type(env: Env) -> EventType:
    """The event type of this installation. Raises InvalidSettings."""
    try:
        return installed(env.str("TRIPLINE_EVENT_TYPE", DEFAULT))
    except ContractError as error:
        raise InvalidSettings(str(error)) from error


def _api_keys_file(env: Env) -> Path:
    name = env.str("TRIPLINE_API_KEYS_FILE", "").strip()
    if not name:
        raise InvalidSettings("TRIPLINE_API_KEYS_FILE is not set: give the file of API keys.")
    return Path(name)


def _traffic(env: Env, event_type: EventType) -> Traffic:
    rate = env.int("TRIPLINE_GENERATOR_RATE", 0)
    seed = env.int("TRIPLINE_GENERATOR_SEED", 1)
    if not 0 <= rate <= MAX_RATE:
        raise InvalidSettings(f"TRIPLINE_GENERATOR_RATE is {rate}; expected 0 to {MAX_RATE} a second.")
    if rate and not trade_of(event_type).has_traffic:
        raise InvalidSettings(f"TRIPLINE_GENERATOR_RATE is {rate}: {no_traffic(trade_of(event_type))}.")
    if not 0 <= seed <= MAX_SEED:
        raise InvalidSettings(f"TRIPLINE_GENERATOR_SEED is {seed}; expected 0 to {MAX_SEED}.")
    return Traffic(rate=rate, seed=seed)
