"""TRIPLINE_PROVER_URL and TRIPLINE_PROVER_KEY_FILE: who runs backtests, and the key that it asks for."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from environs import Env

from tripline_http.errors import ConfigurationError

PROVER_URL: Final = "TRIPLINE_PROVER_URL"
KEY_FILE: Final = "TRIPLINE_PROVER_KEY_FILE"


@dataclass(frozen=True, slots=True)
class ProverAddress:
    """Without a slash at its end."""

    url: str
    key: str = field(repr=False)


def read_prover(env: Env) -> ProverAddress | None:
    """None where there is none. Raises `ConfigurationError` with one sentence."""
    url = env.str(PROVER_URL, "").strip().rstrip("/")
    if not url:
        return None
    if not url.startswith(("http://", "https://")):
        raise ConfigurationError(f"{PROVER_URL} is {url!r}; expected http://host:port.")
    file = Path(env.str(KEY_FILE, ""))
    try:
        key = file.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{KEY_FILE}: {file} cannot be read: {error}.") from error
    if not key:
        raise ConfigurationError(f"{KEY_FILE}: {file} is empty.")
    return ProverAddress(url, key)
