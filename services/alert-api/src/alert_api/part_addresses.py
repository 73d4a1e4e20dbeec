"""TRIPLINE_PARTS: where the processes of the line have their probes and metrics."""

from __future__ import annotations

from typing import Final

from tripline_http.errors import ConfigurationError

NAMED: Final = (
    "relay", "status-projector", "archiver", "prover", "projector", "redrive", "retention", "guard", "notifier",
)  # fmt: skip
"""Parts that the setting may name. The registry and the engine have settings of their own; the rest has no address."""


def read_parts(text: str) -> dict[str, str]:
    """Addresses by part, of `part=http://host:port` with commas between. Raises ConfigurationError."""
    parts: dict[str, str] = {}
    for entry in filter(None, (entry.strip() for entry in text.split(","))):
        name, _, address = (piece.strip() for piece in entry.partition("="))
        if name not in NAMED:
            raise ConfigurationError(f"TRIPLINE_PARTS names {name!r}; expected one of {', '.join(NAMED)}.")
        if not address.startswith(("http://", "https://")):
            raise ConfigurationError(
                f"TRIPLINE_PARTS has {address!r} for {name}; expected {name}=http://host:port."
            )
        if name in parts:
            raise ConfigurationError(f"TRIPLINE_PARTS names {name} twice.")
        parts[name] = address.rstrip("/")
    return parts
