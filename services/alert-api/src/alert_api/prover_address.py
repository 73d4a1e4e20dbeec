"""Where the prover is, and the key that it asks for."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tripline_http.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class ProverAddress:
    """Its base address, and the key that it asks for."""

    url: str
    key: str = field(repr=False)


def read_prover_address(url: str, key_file: Path) -> ProverAddress:
    """The address, with the key in that file (TRIPLINE_PROVER_KEY_FILE). Raises ConfigurationError."""
    try:
        key = key_file.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"TRIPLINE_PROVER_KEY_FILE: {key_file} cannot be read: {error}") from error
    if not key:
        raise ConfigurationError(f"TRIPLINE_PROVER_KEY_FILE: {key_file} is empty.")
    return ProverAddress(url, key)
