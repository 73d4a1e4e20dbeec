"""The prover's own application over what an engine in memory has judged, on a real port."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from prometheus_client import CollectorRegistry

from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.unit.alert_api.support.samples import EPOCH
from tests.unit.engine.prover.support.fake_backtest import fake_job
from tests.unit.engine.prover.support.proofs import Run, judged
from tests.unit.engine.support.shard_harness import TRANSACTION
from tripline_contracts.kafka.cluster import KafkaCluster
from tripline_engine.archive.journal import Journal
from tripline_engine.errors import KafkaSilent
from tripline_engine.http_endpoint import serving
from tripline_engine.prover.backtest_desk import BacktestDesk
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
    """The settings with which an alert API or a registry reaches it; its backtests are made up."""
    run = a_run(payments)

    @contextmanager
    def journals() -> Iterator[Mapping[str, Journal]]:
        yield run.recording.journals

    with _served(journals, folder) as settings:
        yield settings


@contextmanager
def made_up_backtests(folder: Path, port: int = 0) -> Iterator[dict[str, str]]:
    """The same of a prover that runs made-up backtests, and proves nothing."""

    def journals() -> AbstractContextManager[Mapping[str, Journal]]:
        raise KafkaSilent("there is no Kafka")

    with _served(journals, folder, port) as settings:
        yield settings


@contextmanager
def _served(
    journals: Callable[[], AbstractContextManager[Mapping[str, Journal]]], folder: Path, port: int = 0
) -> Iterator[dict[str, str]]:
    file = folder / "prover.key"
    file.write_text(KEY)
    settings = ProverSettings(
        kafka=KafkaCluster("nowhere:9"),
        event_type=TRANSACTION,
        clock="data",
        archive=None,
        topic_prefix="",
        host="127.0.0.1",
        port=port,
        key=KEY,
        transactions=100_000,
        seconds=60,
        backtest_seconds=60,
        log_level="warning",
    )
    desk = BacktestDesk(fake_job)
    application = ProverApplication(Prover(settings, journals), KEY, desk)
    try:
        with serving("127.0.0.1", port, CollectorRegistry(), _fine, _fine, 100, application) as bound:
            yield {
                "TRIPLINE_PROVER_URL": f"http://127.0.0.1:{bound}",
                "TRIPLINE_PROVER_KEY_FILE": str(file),
            }
    finally:
        desk.close()


def _fine() -> None:
    return None
