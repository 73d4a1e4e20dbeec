"""Settings of the processes, read from the environment once."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from environs import Env, EnvError
from marshmallow.validate import Range

from alert_api.case_settings import party_sides, read_due, subject_fields
from alert_api.domain.cases.due import DuePolicy
from alert_api.domain.cases.policy import CasePolicy
from alert_api.domain.cases.snooze_commands import DAY_MS, SnoozePolicy
from alert_api.part_addresses import read_parts
from alert_api.prover_address import ProverAddress, read_prover_address
from alert_api.service.past_months import AlertPolicy
from alert_api.service.retention import RetentionPolicy
from alert_api.webhook_settings import WebhookSettings, read_console_url, read_webhook_settings
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

EVIDENCE_KEY = "TRIPLINE_EVIDENCE_KEY_FILE"


@dataclass(frozen=True, slots=True)
class ApiSettings:
    """Settings of `alert-api api`.

    The addresses of engine metrics and generator are for the console only, Kafka's is for it and for traces: where one
    is None, it is said that it is not connected.
    """

    dsn: str
    event_type: EventType
    keys_file: Path
    bind: Bind
    hosts: KnownHosts
    api_metrics_bind: Bind | None
    registry_url: str
    engine_metrics_url: str | None
    parts: Mapping[str, str]
    generator_url: str | None
    prover: ProverAddress | None
    evidence_key: Path | None
    kafka: KafkaCluster | None
    log_level: str
    rate_limit: RateLimit
    issuer: Issuer | None
    webhooks: WebhookSettings | None
    snoozes: SnoozePolicy
    due: DuePolicy


@dataclass(frozen=True, slots=True)
class ProjectorSettings:
    """Settings of `alert-api projector`."""

    dsn: str
    event_type: EventType
    kafka: KafkaCluster
    metrics_bind: Bind
    policy: CasePolicy
    log_level: str


@dataclass(frozen=True, slots=True)
class RedriveSettings:
    """Settings of `alert-api redrive`."""

    dsn: str
    kafka: KafkaCluster
    metrics_bind: Bind
    log_level: str


@dataclass(frozen=True, slots=True)
class NotifierSettings(RedriveSettings):
    """Settings of `alert-api notifier`: those that the redrive has, and two more."""

    webhooks: WebhookSettings | None
    console_url: str | None


@dataclass(frozen=True, slots=True)
class RetentionSettings:
    """Settings of `alert-api retention`."""

    dsn: str
    metrics_bind: Bind
    policy: RetentionPolicy
    alerts: AlertPolicy
    alert_archive: Path | None
    log_level: str


def api_settings() -> ApiSettings:
    """From the environment. Raises ConfigurationError naming the variable."""
    env = _environment()
    bind = parse_api_bind(
        _text(env, "HTTP_BIND", "127.0.0.1:8082"), allow_remote=_switch(env, "HTTP_ALLOW_REMOTE")
    )
    return ApiSettings(
        dsn=_database(env),
        event_type=installed_type(),
        keys_file=Path(_text(env, "API_KEYS_FILE")),
        bind=bind,
        hosts=parse_hosts(bind, env.str(HOSTS.removeprefix("TRIPLINE_"), "")),
        api_metrics_bind=parse_metrics_bind(
            bind, env.str(METRICS_BIND.removeprefix("TRIPLINE_"), ""), "127.0.0.1:9112"
        ),
        registry_url=_address(env, "REGISTRY_URL") or "http://127.0.0.1:8081",
        engine_metrics_url=_address(env, "ENGINE_METRICS_URL"),
        parts=read_parts(env.str("PARTS", "")),
        generator_url=_address(env, "GENERATOR_URL"),
        prover=_prover(env),
        evidence_key=_file(env, EVIDENCE_KEY),
        kafka=_kafka() if env.str("KAFKA", "").strip() else None,
        log_level=_text(env, "LOG_LEVEL", "info"),
        rate_limit=read_rate_limit(os.environ),
        issuer=read_issuer(os.environ),
        webhooks=read_webhook_settings(env),
        snoozes=SnoozePolicy(
            four_eyes=_switch(env, "FOUR_EYES", usual=True),
            longest_ms=_bound(env, "SNOOZE_DAYS", 90, 3_650) * DAY_MS,
        ),
        due=read_due(env.str("CASE_DUE", "")),
    )


def projector_settings() -> ProjectorSettings:
    """From the environment. Raises ConfigurationError naming the variable."""
    env = _environment()
    declared = installed_type()
    return ProjectorSettings(
        dsn=_database(env),
        event_type=declared,
        kafka=_kafka(),
        metrics_bind=parse_bind("TRIPLINE_METRICS_BIND", _text(env, "METRICS_BIND", "127.0.0.1:9104")),
        policy=_case_policy(env, declared),
        log_level=_text(env, "LOG_LEVEL", "info"),
    )


def redrive_settings() -> RedriveSettings:
    """From the environment. Raises ConfigurationError naming the variable."""
    env = _environment()
    return RedriveSettings(
        dsn=_database(env),
        kafka=_kafka(),
        metrics_bind=parse_bind("TRIPLINE_METRICS_BIND", _text(env, "METRICS_BIND", "127.0.0.1:9108")),
        log_level=_text(env, "LOG_LEVEL", "info"),
    )


def notifier_settings() -> NotifierSettings:
    """From the environment. Raises ConfigurationError naming the variable."""
    env = _environment()
    return NotifierSettings(
        dsn=_database(env),
        kafka=_kafka(),
        metrics_bind=parse_bind("TRIPLINE_METRICS_BIND", _text(env, "METRICS_BIND", "127.0.0.1:9110")),
        log_level=_text(env, "LOG_LEVEL", "info"),
        webhooks=read_webhook_settings(env),
        console_url=read_console_url(env),
    )


def retention_settings() -> RetentionSettings:
    """From the environment. Raises ConfigurationError naming the variable."""
    env = _environment()
    return RetentionSettings(
        dsn=_database(env),
        metrics_bind=parse_bind("TRIPLINE_METRICS_BIND", _text(env, "METRICS_BIND", "127.0.0.1:9106")),
        policy=RetentionPolicy(
            days=_bound(env, "DEAD_LETTER_DAYS", 90, 36_500),
            records=_bound(env, "DEAD_LETTER_RECORDS", 100_000, 10**9),
            bytes=_bound(env, "DEAD_LETTER_BYTES", 2**30, 2**50),
        ),
        alerts=AlertPolicy(
            days=_bound(env, "ALERT_DAYS", 1, 36_500) if env.str("ALERT_DAYS", "").strip() else None,
            unarchived=_switch(env, "ALERT_DROP_UNARCHIVED"),
        ),
        alert_archive=_file(env, "TRIPLINE_ALERT_ARCHIVE"),
        log_level=_text(env, "LOG_LEVEL", "info"),
    )


def rebuild_dsn() -> str:
    """The database of `alert-api cases`, as the projector reaches it. Raises ConfigurationError."""
    return _database(_environment())


def _case_policy(env: Env, declared: EventType) -> CasePolicy:
    gap, subjects = env.str("EPISODE_GAP_MINUTES", "").strip(), env.str("CASE_SUBJECT_FIELDS", "")
    return CasePolicy(
        gap_ms=_bound(env, "EPISODE_GAP_MINUTES", 1, 1_152_000) * 60_000 if gap else None,
        subject_fields=subject_fields(subjects, declared),
        reopen_ms=_bound(env, "CASE_REOPEN_DAYS", 7, 36_500, least=0) * 86_400_000,
        party_sides=party_sides(subjects, declared),
    )


def _database(env: Env) -> str:
    allowed = _switch(env, ALLOW_UNVERIFIED.removeprefix("TRIPLINE_"))
    return checked_dsn("TRIPLINE_ALERTS_DSN", _text(env, "ALERTS_DSN"), allow_unverified=allowed)


def _environment() -> Env:
    return Env(prefix="TRIPLINE_")


def installed_type() -> EventType:
    """The event type of this installation, from the environment. Raises ConfigurationError with a sentence."""
    env = _environment()
    try:
        return installed(env.str("EVENT_TYPE", DEFAULT))
    except ContractError as error:
        raise ConfigurationError(str(error)) from error


def _kafka() -> KafkaCluster:
    try:
        return kafka_cluster(os.environ)
    except ContractError as error:
        raise ConfigurationError(str(error)) from error


def _address(env: Env, name: str) -> str | None:
    """A base address without a slash at the end, or None where nothing is set."""
    if env.str(name, None) is None:
        return None
    address = _text(env, name).rstrip("/")
    if not address.startswith(("http://", "https://")):
        raise ConfigurationError(f"TRIPLINE_{name} is {address!r}; expected http://host:port.")
    return address


def _file(env: Env, variable: str) -> Path | None:
    """The path that a variable names; None where it is not set."""
    name = variable.removeprefix("TRIPLINE_")
    return None if env.str(name, None) is None else Path(_text(env, name))


def _prover(env: Env) -> ProverAddress | None:
    url = _address(env, "PROVER_URL")
    return None if url is None else read_prover_address(url, Path(_text(env, "PROVER_KEY_FILE")))


def _switch(env: Env, name: str, *, usual: bool = False) -> bool:
    try:
        return env.bool(name, usual)
    except EnvError as error:
        raise ConfigurationError(f"TRIPLINE_{name} is {env.str(name)!r}; expected true or false.") from error


def _bound(env: Env, name: str, usual: int, most: int, least: int = 1) -> int:
    try:
        return env.int(name, usual, validate=Range(least, most))
    except EnvError as error:
        raise ConfigurationError(
            f"TRIPLINE_{name} is {env.str(name)!r}; expected a whole number from {least} to {most}."
        ) from error


def _text(env: Env, name: str, default: str | None = None) -> str:
    try:
        value = env.str(name) if default is None else env.str(name, default)
    except EnvError as error:
        raise ConfigurationError(f"TRIPLINE_{name} is not set.") from error
    if not value.strip():
        raise ConfigurationError(f"TRIPLINE_{name} is empty.")
    return value
