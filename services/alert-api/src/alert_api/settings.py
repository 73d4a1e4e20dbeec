"""Settings of the two processes, read from the environment once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from environs import Env, EnvError

from tripline_http.binding import Bind, parse_bind
from tripline_http.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class ApiSettings:
    """What `alert-api api` needs. Without a registry address the console shows no rules and says so."""

    dsn: str
    keys_file: Path
    bind: Bind
    registry_url: str
    log_level: str


@dataclass(frozen=True, slots=True)
class ProjectorSettings:
    """What `alert-api projector` needs."""

    dsn: str
    kafka: str
    metrics_bind: Bind
    log_level: str


def api_settings() -> ApiSettings:
    """From the environment. Raises ConfigurationError naming the variable."""
    env = _environment()
    registry_url = _text(env, "REGISTRY_URL", "http://127.0.0.1:8081").rstrip("/")
    if not registry_url.startswith(("http://", "https://")):
        raise ConfigurationError(f"TRIPLINE_REGISTRY_URL is {registry_url!r}; expected http://host:port.")
    return ApiSettings(
        dsn=_text(env, "ALERTS_DSN"),
        keys_file=Path(_text(env, "API_KEYS_FILE")),
        bind=parse_bind("TRIPLINE_HTTP_BIND", _text(env, "HTTP_BIND", "127.0.0.1:8082")),
        registry_url=registry_url,
        log_level=_text(env, "LOG_LEVEL", "info"),
    )


def projector_settings() -> ProjectorSettings:
    """From the environment. Raises ConfigurationError naming the variable."""
    env = _environment()
    return ProjectorSettings(
        dsn=_text(env, "ALERTS_DSN"),
        kafka=_text(env, "KAFKA"),
        metrics_bind=parse_bind("TRIPLINE_METRICS_BIND", _text(env, "METRICS_BIND", "127.0.0.1:9104")),
        log_level=_text(env, "LOG_LEVEL", "info"),
    )


def _environment() -> Env:
    return Env(prefix="TRIPLINE_")


def _text(env: Env, name: str, default: str | None = None) -> str:
    try:
        value = env.str(name) if default is None else env.str(name, default)
    except EnvError as error:
        raise ConfigurationError(f"TRIPLINE_{name} is not set.") from error
    if not value.strip():
        raise ConfigurationError(f"TRIPLINE_{name} is empty.")
    return value
