"""Whom the client talks to, and by which key. The key comes from a file or the environment, never from an argument:
those are in every list of processes."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import SplitResult, urlsplit

from tripline_contracts.errors import ContractError
from tripline_contracts.event_type import EventType
from tripline_contracts.installed import SETTING, installed
from tripline_http.errors import ConfigurationError

URL: Final = "TRIPLINE_REGISTRY_URL"
KEY: Final = "TRIPLINE_REGISTRY_KEY"
KEY_FILE: Final = "TRIPLINE_REGISTRY_KEY_FILE"
DEFAULT_URL: Final = "http://127.0.0.1:8081"
ALERTS_URL: Final = "TRIPLINE_ALERTS_URL"
DEFAULT_ALERTS_URL: Final = "http://127.0.0.1:8082"
_OPEN_MODES: Final = stat.S_IWGRP | stat.S_IRWXO
_VISIBLE: Final = re.compile(r"[!-~]{1,4096}", re.ASCII)


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """The registry's address without a slash at its end, and an API key, or a token of a trusted issuer."""

    url: str
    key: str = field(repr=False)


def read_client_settings(
    environment: Mapping[str, str], url: str, key_file: Path | None, name: str = URL
) -> ClientSettings:
    """`name` is the variable that the address has. Raises ConfigurationError with one sentence, which never has the
    key."""
    parts = _split(url)
    if (
        parts is None
        or parts.scheme not in ("http", "https")
        or not parts.hostname
        or parts.username
        or parts.query
    ):
        raise ConfigurationError(f"{name} is {url!r}; expected http://host:port or https://host.")
    key = _read(key_file) if key_file is not None else environment.get(KEY, "").strip()
    if not key:
        raise ConfigurationError(f"No API key: set {KEY_FILE} to a file that holds it, or {KEY}.")
    if not _VISIBLE.fullmatch(key):
        source = KEY if key_file is None else str(key_file)
        raise ConfigurationError(f"{source} holds something else than one key of visible ASCII characters.")
    return ClientSettings(url.rstrip("/"), key)


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        # where it is no number, asking for it says so
        _ = parts.port
    except ValueError:
        return None
    return parts


def _read(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            mode, content = os.fstat(opened.fileno()).st_mode, opened.read(8192)
    except OSError as error:
        raise ConfigurationError(f"{KEY_FILE} {file} cannot be read: {error.strerror}.") from error
    if mode & _OPEN_MODES and stat.S_ISREG(mode):
        raise ConfigurationError(
            f"{KEY_FILE} {file} has mode {stat.S_IMODE(mode):04o}: group and others must not write it, others not "
            "read it. Set it to 0600, or to 0640 where a group reads it."
        )
    return content.decode("ascii", "replace").strip()


def event_type_of(environment: Mapping[str, str]) -> EventType:
    """The event type that rules are about. Raises ConfigurationError with one sentence."""
    try:
        return installed(environment.get(SETTING, ""))
    except ContractError as error:
        raise ConfigurationError(str(error)) from error
