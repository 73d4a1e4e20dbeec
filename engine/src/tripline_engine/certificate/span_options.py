"""The options `--from` and `--to`: a span of event times."""

from __future__ import annotations

from datetime import datetime

from tripline_engine.certificate.span import Span
from tripline_engine.errors import BadSettings


def span_of(first: str | None, until: str | None) -> Span:
    """The span of `--from` and `--to`. Raises BadSettings."""
    if first is None or until is None:
        raise BadSettings("--from and --to: both are needed, or, to prove, --check with a certificate")
    span = Span(_moment("--from", first), _moment("--to", until))
    if span.first >= span.until:
        raise BadSettings("--to: expected a time after --from")
    return span


def _moment(option: str, text: str) -> int:
    """Milliseconds since the epoch. Raises BadSettings for a time without an offset, too: whose would it be?"""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        time = None
    if time is None or time.tzinfo is None:
        raise BadSettings(
            f"{option}: expected a time with an offset, as in 2026-05-01T00:00:00Z, not {text!r}"
        )
    return round(time.timestamp() * 1000)
