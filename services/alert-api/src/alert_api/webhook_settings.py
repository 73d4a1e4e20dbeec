"""Settings of webhooks: the same for the API, which takes them in, and the notifier, which sends."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from environs import Env, EnvError

from alert_api.domain.webhooks.reach import Reach
from tripline_http.errors import ConfigurationError

_HOST: Final = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?")
_KEY: Final = re.compile(r"[A-Za-z0-9_-]{43}=?")


@dataclass(frozen=True, slots=True)
class WebhookSettings:
    """Where webhooks may go, and the key that their secrets are sealed with."""

    reach: Reach
    key: str = field(repr=False)


def read_webhook_settings(env: Env) -> WebhookSettings | None:
    """None where no host is named: then there are no webhooks. Raises ConfigurationError naming the variable."""
    hosts = frozenset(
        filter(None, (host.strip().lower() for host in env.str("WEBHOOK_HOSTS", "").split(",")))
    )
    for host in hosts:
        if not _HOST.fullmatch(host):
            raise ConfigurationError(
                f"TRIPLINE_WEBHOOK_HOSTS names {host!r}; expected names or addresses with commas between, no ports."
            )
    reach = Reach(hosts, _switch(env, "WEBHOOK_PRIVATE"), _switch(env, "WEBHOOK_PLAIN"))
    path = env.str("WEBHOOK_KEY_FILE", "").strip()
    if not hosts:
        return None
    if not path:
        raise ConfigurationError("TRIPLINE_WEBHOOK_KEY_FILE is not set, and TRIPLINE_WEBHOOK_HOSTS is.")
    try:
        key = Path(path).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"TRIPLINE_WEBHOOK_KEY_FILE: {path} cannot be read: {error}") from error
    if not _KEY.fullmatch(key):
        raise ConfigurationError(
            f"TRIPLINE_WEBHOOK_KEY_FILE: {path} has no key; expected 32 bytes as base64url."
        )
    return WebhookSettings(reach, key.rstrip("="))


def read_console_url(env: Env) -> str | None:
    """Where people reach the console, for links; None where it is not set."""
    url = env.str("CONSOLE_URL", "").strip().rstrip("/")
    if url and not re.fullmatch(r"https?://[^\s<>|]+", url):
        raise ConfigurationError(f"TRIPLINE_CONSOLE_URL is {url!r}; expected https://host.")
    return url or None


def _switch(env: Env, name: str) -> bool:
    try:
        return env.bool(name, False)
    except EnvError as error:
        raise ConfigurationError(f"TRIPLINE_{name} is {env.str(name)!r}; expected true or false.") from error
