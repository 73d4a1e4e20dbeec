"""The settings of the three processes, read from the environment once."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from environs import Env, EnvError
from marshmallow.validate import Range

from rules_registry.domain.backtests.backtest_bounds import BacktestBounds
from rules_registry.domain.estimates.estimate import EstimateBounds
from rules_registry.domain.history_quota import HistoryQuota
from rules_registry.domain.quotas import Quota, Quotas
from rules_registry.prover_address import PROVER_URL, ProverAddress, read_prover
from tripline_contracts.errors import ContractError
from tripline_contracts.event_type import DEFAULT, EventType
from tripline_contracts.installed import installed
from tripline_contracts.kafka.cluster import KafkaCluster, kafka_cluster
from tripline_http.bind_address import (
    HOSTS,
    METRICS_BIND,
    Bind,
    KnownHosts,
    parse_api_bind,
    parse_bind,
    parse_hosts,
    parse_metrics_bind,
)
from tripline_http.database_address import ALLOW_UNVERIFIED, checked_dsn
from tripline_http.errors import ConfigurationError
from tripline_http.keys.rate_limit import RateLimit, read_rate_limit
from tripline_http.tokens.issuer import Issuer, read_issuer

T = TypeVar("T")
# What the engine holds where nothing else is set for it.
_MAX_HISTORY = 100_000_000
QUOTAS: Final[Mapping[Quota, tuple[str, int]]] = {
    "activeRules": ("TRIPLINE_MAX_ACTIVE_RULES", 5_000),
    "rules": ("TRIPLINE_MAX_RULES", 20_000),
    "lists": ("TRIPLINE_MAX_LISTS", 1_000),
    "parameters": ("TRIPLINE_MAX_PARAMETERS", 5_000),
    "listBytes": ("TRIPLINE_MAX_LIST_BYTES", 64 * 1024 * 1024),
}
"""The variable of each quota, and its bound where that is not set."""


@dataclass(frozen=True, slots=True)
class ApiSettings:
    """`rules-registry api`."""

    log_level: str
    event_type: EventType
    dsn: str
    api_keys_file: Path
    bind: Bind
    hosts: KnownHosts
    api_metrics_bind: Bind | None
    threads: int
    quotas: Quotas
    rate_limit: RateLimit
    issuer: Issuer | None
    four_eyes: bool
    backtests: BacktestBounds
    estimates: EstimateBounds
    prover: ProverAddress | None


@dataclass(frozen=True, slots=True)
class RelaySettings:
    """`rules-registry relay`."""

    log_level: str
    dsn: str
    kafka: KafkaCluster
    metrics_bind: Bind


@dataclass(frozen=True, slots=True)
class ProjectorSettings:
    """`rules-registry status-projector`."""

    log_level: str
    dsn: str
    kafka: KafkaCluster
    metrics_bind: Bind
    consumer_group: str


def read_api_settings(env: Env) -> ApiSettings:
    """Raises `ConfigurationError` with one sentence."""
    return _read(lambda: _api_settings(env))


def _api_settings(env: Env) -> ApiSettings:
    bind = parse_api_bind(
        env.str("TRIPLINE_HTTP_BIND", "127.0.0.1:8081"),
        allow_remote=env.bool("TRIPLINE_HTTP_ALLOW_REMOTE", False),
    )
    return ApiSettings(
        log_level=_log_level(env),
        event_type=read_event_type(env),
        dsn=_database(env),
        api_keys_file=Path(_required(env, "TRIPLINE_API_KEYS_FILE")),
        bind=bind,
        hosts=parse_hosts(bind, env.str(HOSTS, "")),
        api_metrics_bind=parse_metrics_bind(bind, env.str(METRICS_BIND, ""), "127.0.0.1:9111"),
        threads=env.int("TRIPLINE_HTTP_THREADS", 16, validate=_from_1_to_64),
        quotas=_quotas(env),
        rate_limit=read_rate_limit(os.environ),
        issuer=read_issuer(os.environ),
        four_eyes=env.bool("TRIPLINE_FOUR_EYES", True),
        backtests=BacktestBounds(
            connected=bool(env.str(PROVER_URL, "")),
            days=env.int("TRIPLINE_BACKTEST_DAYS", 92, validate=Range(1, 3_660)),
            kept_days=env.int("TRIPLINE_BACKTEST_KEPT_DAYS", 30, validate=Range(1, 3_660)),
            alerts=env.int("TRIPLINE_BACKTEST_ALERTS", 10_000, validate=Range(0, 1_000_000)),
        ),
        estimates=EstimateBounds(
            days=env.int("TRIPLINE_ESTIMATE_DAYS", 7, validate=Range(0, 366)),
            transactions=env.int("TRIPLINE_ESTIMATE_TRANSACTIONS", 1_000_000, validate=Range(1_000, 10**10)),
            seconds=env.int("TRIPLINE_ESTIMATE_SECONDS", 300, validate=Range(1, 86_400)),
        ),
        prover=read_prover(env),
    )


@dataclass(frozen=True, slots=True)
class VerificationSettings:
    """`rules-registry audit verify`; without `kafka` the topic is not asked."""

    dsn: str
    kafka: KafkaCluster | None


def read_verification_settings(env: Env) -> VerificationSettings:
    """Raises `ConfigurationError` with one sentence."""
    return _read(
        lambda: VerificationSettings(
            dsn=_database(env), kafka=kafka_cluster(os.environ) if env.str("TRIPLINE_KAFKA", "") else None
        )
    )


def read_event_type(env: Env) -> EventType:
    """The event type of this installation. Raises `ConfigurationError` with one sentence."""
    return _read(lambda: installed(env.str("TRIPLINE_EVENT_TYPE", DEFAULT)))


def read_relay_settings(env: Env) -> RelaySettings:
    """Raises `ConfigurationError` with one sentence."""
    return _read(
        lambda: RelaySettings(
            log_level=_log_level(env),
            dsn=_database(env),
            kafka=kafka_cluster(os.environ),
            metrics_bind=_bind(env, "TRIPLINE_METRICS_BIND", "127.0.0.1:9101"),
        )
    )


def read_projector_settings(env: Env) -> ProjectorSettings:
    """Raises `ConfigurationError` with one sentence."""
    return _read(
        lambda: ProjectorSettings(
            log_level=_log_level(env),
            dsn=_database(env),
            kafka=kafka_cluster(os.environ),
            metrics_bind=_bind(env, "TRIPLINE_METRICS_BIND", "127.0.0.1:9102"),
            consumer_group=env.str("TRIPLINE_STATUS_GROUP", "rules-registry-status"),
        )
    )


def _read(build: Callable[[], T]) -> T:
    try:
        return build()
    except EnvError as error:
        raise ConfigurationError(f"{str(error).rstrip('.')}.") from error
    except ContractError as error:
        raise ConfigurationError(str(error)) from error


def _required(env: Env, name: str) -> str:
    value = env.str(name, "").strip()
    if not value:
        raise ConfigurationError(f"{name} is not set.")
    return value


def _database(env: Env) -> str:
    name = "TRIPLINE_REGISTRY_DSN"
    return checked_dsn(name, _required(env, name), allow_unverified=env.bool(ALLOW_UNVERIFIED, False))


def _log_level(env: Env) -> str:
    return env.str("TRIPLINE_LOG_LEVEL", "info")


def _bind(env: Env, name: str, default: str) -> Bind:
    return parse_bind(name, env.str(name, default))


def _quotas(env: Env) -> Quotas:
    limits = {
        quota: env.int(name, usual, validate=Range(0, 10**12)) for quota, (name, usual) in QUOTAS.items()
    }
    rate = env.int("TRIPLINE_EXPECTED_RATE", None, validate=Range(1, 10**7))
    max_transactions = env.int("TRIPLINE_MAX_HISTORY", _MAX_HISTORY, validate=Range(1_000, 10**12))
    return Quotas(
        limits, None if rate is None else HistoryQuota(max_transactions, rate, read_event_type(env))
    )


def _from_1_to_64(value: int) -> None:
    if not 1 <= value <= 64:
        raise EnvError(f"TRIPLINE_HTTP_THREADS is {value}; expected 1 to 64")
