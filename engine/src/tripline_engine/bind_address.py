"""Parser of the listen address setting."""

from __future__ import annotations

from tripline_engine.errors import BadSettings


def parse_bind(text: str) -> tuple[str, int]:
    """Host and port of TRIPLINE_METRICS_BIND. Raises BadSettings."""
    host, separator, port = text.rpartition(":")
    if not separator or not port.isdigit() or int(port) > 65_535:
        raise BadSettings(f"TRIPLINE_METRICS_BIND: expected host:port, not {text!r}")
    return host, int(port)
