"""CloudEvents attributes as Kafka headers."""

from __future__ import annotations

import pytest

from tripline_contracts import cloudevents


def test_headers_of_the_kafka_binding() -> None:
    type_ = cloudevents.type_of("RulePublished")
    assert cloudevents.headers("e-1", type_, "/rules-registry", 1763690000000) == [
        ("ce_specversion", b"1.0"),
        ("ce_id", b"e-1"),
        ("ce_type", b"tripline.RulePublished.v1"),
        ("ce_source", b"/rules-registry"),
        ("ce_time", b"2025-11-21T01:53:20.000Z"),
        ("content-type", b"application/json"),
    ]


@pytest.mark.parametrize(
    ("time_ms", "expected", "reason"),
    [
        (0, "1970-01-01T00:00:00.000Z", "the epoch"),
        (7, "1970-01-01T00:00:00.007Z", "ms with zeros before them"),
        (253402300799999, "9999-12-31T23:59:59.999Z", "the last ms, that a float would round up"),
        (-1, "1969-12-31T23:59:59.999Z", "before the epoch"),
    ],
)
def test_time(time_ms: int, expected: str, reason: str) -> None:
    assert cloudevents.rfc3339(time_ms) == expected, reason


@pytest.mark.parametrize("empty", ["id", "type", "source"])
def test_an_empty_attribute_is_refused(empty: str) -> None:
    attributes = {"id": "e-1", "type": "t", "source": "s", empty: ""}
    with pytest.raises(ValueError, match=f"attribute {empty} must not be empty"):
        cloudevents.headers(**attributes, time_ms=0)


def test_a_time_beyond_the_calendar_is_refused() -> None:
    with pytest.raises(OverflowError):
        cloudevents.rfc3339(253402300800000)
