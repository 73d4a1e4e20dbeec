"""Records on alerts.v1 that an earlier release let in, compressed, and that are hundreds of megabytes in a client.

Each size and each codec once; in `make soak` each size in each codec.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from tests.e2e.support.kafka_log import Sent
from tests.e2e.support.large_records import BEFORE_PROTECTION, LargeRecordLog, large_value
from tests.e2e.support.waiting import eventually
from tests.integration.alert_api.conftest import AlertsDatabase
from tests.integration.alert_api.support.servers import count, projector, rows
from tests.unit.alert_api.support.samples import alert
from tripline_contracts import topics as contract
from tripline_contracts.kafka.cluster import KafkaCluster
from tripline_demo import topics

pytestmark = [pytest.mark.integration, pytest.mark.slow]

Bombs = list[tuple[int, str]]
SOME: Bombs = [(64, "lz4"), (200, "gzip"), (400, "zstd")]
EACH: Bombs = [(mebibytes, codec) for mebibytes in (64, 200, 400) for codec in ("gzip", "zstd", "lz4")]
MOST_RESIDENT = 300
"""MiB; a projector without any such record comes to some 110."""
DEAD_LETTERS = (
    "SELECT kafka_partition, kafka_offset, reason, value_length, value_sha256, length(record_value)"
    " FROM alerts.unreadable_records"
)
KEPT = 512 * 1024


def new_topic(kafka: str) -> str:
    """As an earlier release made it."""
    alerts = contract.load("alerts.v1")
    name = f"alerts.v1-{uuid4().hex}"
    topics.create(
        KafkaCluster(kafka), [replace(alerts, name=name, config={**alerts.config, **BEFORE_PROTECTION})]
    )
    return name


def peak(pid: int) -> int:
    """The largest resident memory that a process has come to, in MiB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM:"))


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "bombs", [pytest.param(SOME, id="some"), pytest.param(EACH, id="each", marks=pytest.mark.soak)]
)
def test_each_is_a_dead_letter_and_every_alert_is_stored(
    kafka: str, alerts_database: AlertsDatabase, bombs: Bombs, record_property: Callable[[str, object], None]
) -> None:
    topic, numbers = new_topic(kafka), iter(range(1, 1_000))
    log = LargeRecordLog(kafka)

    def good(partition: int) -> Sent:
        return Sent(topic, json.dumps(alert(next(numbers))).encode(), partition)

    wanted = set()
    for number, (mebibytes, codec) in enumerate(bombs):
        partition, value = number % 2, large_value(mebibytes)
        log.send([good(partition) for _ in range(5)])
        offset = log.ends(topic)[partition] + 1
        log.send_batch(codec, [good(partition), Sent(topic, value, partition), good(partition)])
        digest = hashlib.sha256(value).hexdigest()
        wanted.add((partition, offset, "too_long", len(value), digest, KEPT))
    log.send([good(partition) for partition in (0, 1)])
    alerts = next(numbers) - 1
    with projector(kafka, topic, alerts_database.projector) as running:
        eventually(lambda: count(alerts_database.owner, "alerts") == alerts, "every alert is stored")
        log.send([good(partition) for partition in (0, 1)])
        eventually(lambda: count(alerts_database.owner, "alerts") == alerts + 2, "it goes on")
        resident = peak(running.pid)
    record_property("told", f"{resident} MiB")
    assert set(rows(alerts_database.owner, DEAD_LETTERS)) == wanted
    assert resident < MOST_RESIDENT
