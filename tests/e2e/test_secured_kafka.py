"""The engine over SASL and TLS, with the rights of its identity and no others: with Spark's source and its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import secured_kafka
from tests.e2e.support.engine_process import Workplace, running_engine
from tests.e2e.support.garbage import payment
from tests.e2e.support.kafka_log import Sent
from tests.e2e.support.large_records import BEFORE_PROTECTION, LargeRecordLog, large_value
from tests.e2e.support.verdict import read_verdict, taken
from tests.e2e.support.waiting import eventually
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import draft
from tests.secured_kafka import SecuredKafka
from tripline_demo import kafka_passwords
from tripline_demo.embedded.jars import Jars
from tripline_demo.embedded.java import Java

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(300)]

T = 1_763_690_000_000


@pytest.fixture(scope="module")
def secured(java: Java, jars: Jars, servers_folder: Path) -> Iterator[SecuredKafka]:
    with secured_kafka.running(java, jars.broker, servers_folder / "secured-kafka-of-engine") as running:
        yield running


def test_it_judges_as_the_oracle_does(java: Java, jars: Jars, secured: SecuredKafka, tmp_path: Path) -> None:
    log = LargeRecordLog(secured.administrator)
    log.create(**BEFORE_PROTECTION)
    event = Registry().publish(1, draft("COUNT", ">=", "3", by=("payeeId",), seconds=3_600), 0, T)
    log.send([Sent("rules.v1", event)])
    good = [Sent("transactions.v1", payment(n, T + n), n % 2, T + n) for n in range(60)]
    log.send(good[:20])
    # an earlier release let it in; what reads it is not Spark's source
    log.send_batch("gzip", [good[20], Sent("transactions.v1", large_value(20), 0, T + 20), good[22]])
    engine = secured.as_identity("tripline-engine")
    workplace = Workplace(java, jars, engine.servers, tmp_path, more=engine.variables())
    with running_engine(workplace, {}):
        eventually(lambda: taken(log), "what was there before is judged")
        log.send(good[23:])
        eventually(lambda: taken(log), "what comes is judged")
    verdict = read_verdict(log)
    verdict.assert_equal()
    assert [record.headers["reason"] for record in verdict.rejects.values()] == [b"oversized"]
    said = workplace.log.read_text(encoding="utf-8", errors="replace")
    for name in kafka_passwords.names():
        assert kafka_passwords.password_of(secured.folder, name) not in said
