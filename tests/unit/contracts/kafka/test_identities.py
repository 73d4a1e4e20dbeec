"""Who may do what on Kafka, compared with what the topics say about themselves."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from tripline_contracts import topics
from tripline_contracts.errors import InvalidKafkaAccess
from tripline_contracts.kafka import access as kafka_access
from tripline_contracts.kafka.access import Quotas

PROCESS: Final = {
    "tripline-engine": ("engine", "verification"),
    "tripline-archiver": ("archiver",),
    "tripline-prover": ("prover",),
    "tripline-relay": ("rules-registry relay",),
    "tripline-status": ("rules-registry status-projector",),
    "tripline-alert-projector": ("alert-api projector",),
    "tripline-alert-api": ("alert-api api",),
    "tripline-redrive": ("alert-api redrive",),
    "tripline-notifier": ("alert-api notifier",),
    "tripline-generator": ("tripline-generator",),
    "tripline-source": ("source systems",),
    "tripline-operator": ("operators",),
}
"""What the topics call a process, by its identity."""


def test_a_process_has_one_identity() -> None:
    assert [identity.name for identity in kafka_access.identities()] == list(PROCESS)


@pytest.mark.parametrize("topic", topics.all_topics(), ids=lambda topic: topic.name)
def test_who_writes_a_topic_are_its_producers(topic: topics.Topic) -> None:
    writers = {
        word
        for identity in kafka_access.identities()
        for word in PROCESS[identity.name]
        if topic.name in identity.writes
    }
    assert writers - {"verification"} == set(topic.producers)


@pytest.mark.parametrize("topic", topics.all_topics(), ids=lambda topic: topic.name)
def test_who_reads_a_topic_are_its_consumers(topic: topics.Topic) -> None:
    readers = {
        word
        for identity in kafka_access.identities()
        for word in PROCESS[identity.name]
        if topic.name in identity.reads
    }
    # operators may look at everything, whoever else does; what the engine's identity may, its verification may
    assert set(topic.consumers) - {"operators", "verification"} == readers - {"operators", "verification"}
    assert "operators" in readers


def test_the_page_says_what_the_file_says() -> None:
    page = (Path(__file__).parents[4] / "docs" / "kafka-access.md").read_text(encoding="utf-8")
    table = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines() if "|" in line]
    [head, *rows] = [row for row in table if len(row) == 1 + len(PROCESS) and "---" not in row]
    identities = kafka_access.identities()
    assert head[1:] == [identity.name.removeprefix("tripline-") for identity in identities]
    assert rows == [
        [
            topic.name,
            *(
                "r" * (topic.name in identity.reads) + "w" * (topic.name in identity.writes)
                for identity in identities
            ),
        ]
        for topic in topics.all_topics()
    ]
    for identity in identities:
        assert all(f"`{group}…`" in page for group in identity.groups)


def test_whom_quotas_are_for_has_none() -> None:
    unbounded = {one.name for one in kafka_access.identities() if one.quotas == Quotas()}
    assert unbounded == {"tripline-engine", "tripline-relay"}
    for identity in kafka_access.identities():
        if identity.name not in unbounded:
            assert identity.quotas.thread_percent
            assert bool(identity.quotas.write_bytes) == bool(identity.writes)
            assert bool(identity.quotas.read_bytes) == bool(identity.reads)


def test_the_page_says_the_quotas_of_the_file() -> None:
    page = (Path(__file__).parents[4] / "docs" / "kafka-access.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(tripline-[\w-]+)` \| (.*?) \| (.*?) \| (.*?) \|$", page, re.MULTILINE)
    assert rows == [
        (
            one.name,
            *(
                f"{size // 2**20} MiB" if size else ""
                for size in (one.quotas.write_bytes, one.quotas.read_bytes)
            ),
            f"{one.quotas.thread_percent} %" if one.quotas.thread_percent else "",
        )
        for one in kafka_access.identities()
    ]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "expected a mapping of identities"),
        ({}, "expected a mapping of identities"),
        ({"a": {"reads": ["rules.v1"]}}, "a: expected a mapping with its purpose"),
        ({"a": {"purpose": "p", "reads": ["x"], "deletes": ["x"]}}, "a: unknown deletes"),
        ({"a": {"purpose": "p", "groups": ["g"]}}, "a: it may neither read nor write"),
        ({"a": {"purpose": "p", "reads": ["x"], "groups": [""]}}, "a: groups is a list of names"),
        ({"a": {"purpose": "p", "reads": "x"}}, "a: reads is a list of names"),
        ({"a": {"purpose": "p", "reads": ["x"], "quotas": [5]}}, "a: quotas are whole numbers above zero"),
        ({"a": {"purpose": "p", "reads": ["x"], "quotas": {"threadPercent": 0}}}, "whole numbers above zero"),
        (
            {"a": {"purpose": "p", "reads": ["x"], "quotas": {"threadPercent": 1.5}}},
            "whole numbers above zero",
        ),
        (
            {"a": {"purpose": "p", "reads": ["x"], "quotas": {"threadPercent": True}}},
            "whole numbers above zero",
        ),
        ({"a": {"purpose": "p", "reads": ["x"], "quotas": {"bytes": 1}}}, "a: unknown bytes in quotas"),
    ],
)
def test_a_broken_file_is_refused(data: object, message: str) -> None:
    with pytest.raises(InvalidKafkaAccess, match=message):
        kafka_access.from_mapping(data)
