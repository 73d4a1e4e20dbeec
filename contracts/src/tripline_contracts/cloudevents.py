"""CloudEvents 1.0 attributes as Kafka headers (binary content mode: the value is the data alone).

Format: CloudEvents Kafka protocol binding 1.0.2, sections 3.2.1 to 3.2.3.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def headers(
    id: str,  # noqa: A002  # the attribute's own name
    type: str,  # noqa: A002
    source: str,
    time_ms: int,
    content_type: str = "application/json",
) -> list[tuple[str, bytes]]:
    """The headers of one record.

    `type` is an event's name as `type_of` spells it, `source` a URI reference naming the process
    ("/rules-registry"), `time_ms` ms since the epoch. Raises ValueError for an empty attribute, OverflowError
    for a time beyond the year 9999.
    """
    for name, value in (("id", id), ("type", type), ("source", source)):
        if not value:
            raise ValueError(f"the CloudEvents attribute {name} must not be empty")
    return [
        ("ce_specversion", b"1.0"),
        ("ce_id", id.encode("utf-8")),
        ("ce_type", type.encode("utf-8")),
        ("ce_source", source.encode("utf-8")),
        ("ce_time", rfc3339(time_ms).encode("ascii")),
        ("content-type", content_type.encode("ascii")),
    ]


def type_of(event: str) -> str:
    """The CloudEvents type of an event named in a topic file: RulePublished is tripline.RulePublished.v1."""
    return f"tripline.{event}.v1"


def rfc3339(time_ms: int) -> str:
    """ms since the epoch as "2025-11-21T07:33:20.000Z", without a float on the way."""
    moment = _EPOCH + timedelta(milliseconds=time_ms)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{time_ms % 1000:03d}Z".rjust(24, "0")
