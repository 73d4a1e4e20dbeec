"""The prover's own application over what an engine in memory has judged, on a real port."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from prometheus_client import CollectorRegistry

from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.unit.alert_api.support.samples import EPOCH
from tests.unit.engine.prover.support.proofs import Run, judged
from tests.unit.engine.support.shard_harness import TRANSACTION
from tripline_contracts.kafka.cluster import KafkaCluster
from tripline_engine.archive.journal import Journal
from tripline_engine.http_endpoint import serving
from tripline_engine.prover.prover import Prover
from tripline_engine.prover.server import ProverApplication
from tripline_engine.prover.settings import ProverSettings

KEY = "a-key-that-only-tests-of-the-api-know"


def a_run(payments: int) -> Run:
    """Rules 1 to 3, and as many payments as the samples' alerts are about, each over the limit of the first rule."""
    registry = Registry()
    groupings = (("payeeId",), ("paymentType",), ())
    rules = [
        registry.publish(number, draft("SUM", ">", "1000", by=by, seconds=60), 0, EPOCH)
        for number, by in enumerate(groupings, start=1)
    ]
    records = [payment(n, EPOCH + n, "1000.01") for n in range(payments)]
    return judged([batch(events=rules, ticks=[EPOCH]), batch(records=records)])


@contextmanager
def in_memory_prover(payments: int, folder: Path) -> Iterator[dict[str, str]]:
    """The settings with which an alert API reaches it."""
    run, file = a_run(payments), folder / "prover.key"
    file.write_text(KEY)
    settings = ProverSettings(
        kafka=KafkaCluster("nowhere:9"),
        event_type=TRANSACTION,
        clock="data",
        archive=None,
        topic_prefix="",
        host="127.0.0.1",
        port=0,
        key=KEY,
        transactions=100_000,
        seconds=60,
        log_level="warning",
    )

    @contextmanager
    def journals() -> Iterator[Mapping[str, Journal]]:
        yield run.recording.journals

    application = ProverApplication(Prover(settings, journals), KEY)
    with serving("127.0.0.1", 0, CollectorRegistry(), _fine, _fine, 100, application) as port:
        yield {
            "TRIPLINE_PROVER_URL": f"http://127.0.0.1:{port}",
            "TRIPLINE_PROVER_KEY_FILE": str(file),
        }


def _fine() -> None:
    return None
