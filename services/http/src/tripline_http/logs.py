"""Structured logs: one JSON object per line on stderr, the standard library's loggers included.

Secrets don't get in: values under telling names are masked, and so are keys and passwords inside of texts.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import MutableMapping
from typing import Any

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from tripline_http.errors import ConfigurationError

MASK = "***"
_SECRET_NAME = re.compile(r"authorization|passw|secret|token|api_?key|dsn|cookie", re.IGNORECASE)
# Callers choose texts (a path, a header), so masking takes linear time: possessive repeats give nothing back, and runs
# are matched whole, with or without the @ that makes one an address with a password.
_RUN = re.compile(r"[^\s@]++@?")
_ADDRESS = re.compile(r"(://[^:/]++:).+@")
_IN_TEXT = (
    (re.compile(r"(?i)(bearer\s++)\S++"), r"\1***"),
    (re.compile(r"(?i)(password\s*+=\s*+)(?:'[^']*+'|\S++)"), r"\1***"),
)


def configure_logs(level: str, process: str) -> None:
    """Sets up structlog and logging for a process. `level` is a name of `logging` in any case; `process` is
    in every line. Raises `ConfigurationError` for an unknown level."""
    number = logging.getLevelNamesMapping().get(level.upper())
    if number is None:
        raise ConfigurationError(f"TRIPLINE_LOG_LEVEL is {level!r}; use debug, info, warning or error.")
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _named(process),
        structlog.processors.format_exc_info,
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_formatter(shared))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(number)


def _formatter(shared: list[Processor]) -> logging.Formatter:
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            mask_secrets,
            structlog.processors.JSONRenderer(default=str),
        ],
    )


def _named(process: str) -> Processor:
    def add(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        event["process"] = process
        return event

    return add


def mask_secrets(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """The processor that keeps secrets out, whatever depth they come at."""
    return _mask_mapping(event)


def _mask_mapping(values: MutableMapping[str, Any]) -> dict[str, Any]:
    return {
        name: MASK if _SECRET_NAME.search(str(name)) and value is not None else _mask(value)
        for name, value in values.items()
    }


def _mask(value: Any) -> Any:
    if isinstance(value, str):
        if "://" in value:
            value = _RUN.sub(_mask_password, value)
        for pattern, replacement in _IN_TEXT:
            value = pattern.sub(replacement, value)
        return value
    if isinstance(value, dict):
        return _mask_mapping(value)
    if isinstance(value, list | tuple):
        return [_mask(inner) for inner in value]
    return value


def _mask_password(run: re.Match[str]) -> str:
    text = run[0]
    return _ADDRESS.sub(r"\1***@", text, count=1) if text.endswith("@") else text
