"""The prover's API: the key, what is asked, and what is said where there is no proof."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.unit.engine.archive.support.memory_store import START
from tests.unit.engine.prover.support.fake_backtest import fake_job
from tests.unit.engine.prover.support.proofs import Run, judged
from tests.unit.engine.support.shard_harness import TRANSACTION
from tripline_contracts.kafka.cluster import KafkaCluster
from tripline_engine.archive.journal import Journal
from tripline_engine.errors import BadSettings, KafkaSilent
from tripline_engine.prover.backtest_desk import BacktestDesk
from tripline_engine.prover.prover import Prover
from tripline_engine.prover.server import MAX_BODY_BYTES, ProverApplication
from tripline_engine.prover.settings import ProverSettings, from_environment
from tripline_engine.topic_names import ORDER, TRANSACTIONS

KEY = "k" * 43


@pytest.fixture(scope="module")
def run() -> Run:
    rule = Registry().publish(1, draft("SUM", ">", "149", seconds=3600), 0, START)
    records = [payment(n, START + n, "1") for n in range(150)]
    return judged([batch(events=[rule], ticks=[START]), batch(records=records)])


class Asked:
    """The application over a run."""

    def __init__(self, run: Run, *, broken: Exception | None = None, transactions: int = 10_000) -> None:
        self.opened = 0

        def journals() -> AbstractContextManager[Mapping[str, Journal]]:
            return self._journals(run, broken)

        settings = ProverSettings(
            kafka=KafkaCluster("nowhere:9"),
            event_type=TRANSACTION,
            clock="data",
            archive=None,
            topic_prefix="",
            host="127.0.0.1",
            port=0,
            key=KEY,
            transactions=transactions,
            seconds=60,
            backtest_seconds=60,
            log_level="info",
        )
        self.prover = Prover(settings, journals)
        self._application = ProverApplication(self.prover, KEY, BacktestDesk(fake_job))

    @contextmanager
    def _journals(self, run: Run, broken: Exception | None) -> Iterator[Mapping[str, Journal]]:
        self.opened += 1
        if broken is not None:
            raise broken
        yield run.recording.journals

    def ask(self, path: str, body: Any, key: str = KEY, method: str = "POST") -> tuple[str, dict[str, Any]]:
        """The status, and the answer."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        environ = {
            "PATH_INFO": path,
            "REQUEST_METHOD": method,
            "CONTENT_LENGTH": str(len(data)),
            "HTTP_AUTHORIZATION": f"Bearer {key}",
            "wsgi.input": io.BytesIO(data),
        }
        said: list[str] = []

        def start_response(status: str, *_: object) -> Callable[[bytes], object]:
            said.append(status)
            return io.BytesIO().write

        answer = b"".join(self._application(environ, start_response))
        return said[0], json.loads(answer)


def test_a_verification(run: Run) -> None:
    (alert,) = run.alerts
    status, answer = Asked(run).ask("/v1/verifications", {"alert": alert})
    assert status == "200 OK"
    assert answer.pop("read").keys() == {"transactions", "selected", "seconds"}
    assert answer == {
        "outcome": "match",
        "differences": [],
        "derived": {**alert, "detectedAt": 0},
        "engine": "engine-under-test",
        "microBatch": 2,
        "evaluator": version("tripline-engine"),
    }
    _, answer = Asked(run).ask("/v1/verifications", {"alert": {**alert, "value": "151"}})
    assert answer["outcome"] == "mismatch"
    assert answer["differences"] == [{"kind": "member", "member": "value", "stored": "151", "derived": "150"}]


def test_all_contributors_page_by_page_derived_once(run: Run) -> None:
    (alert,) = run.alerts
    asked = Asked(run)
    items: list[dict[str, Any]] = []
    answer: dict[str, Any] = {"next": 0}
    while answer["next"] is not None:
        question = {"alert": alert, "condition": 0, "of": "value", "after": answer["next"], "limit": 60}
        status, answer = asked.ask("/v1/windows", question)
        assert status == "200 OK"
        items += answer["items"]
    assert [item["transactionId"] for item in items] == [f"t{n}" for n in reversed(range(150))]
    assert items[0] | {"transaction": {}} == {
        "transactionId": "t149", "eventTime": START + 149, "value": "1", "transaction": {},
        "partition": 0, "offset": 149,
    }  # fmt: skip
    assert items[0]["transaction"]["paymentAmount"] == "1"
    assert (answer["count"], answer["listed"], asked.opened) == (150, 150, 1)


@pytest.mark.parametrize(
    ("path", "body", "status", "detail"),
    [
        ("/v1/verifications", b"{", "400 Bad Request", "body: expected JSON"),
        ("/v1/verifications", b"[]", "400 Bad Request", "body: expected an object"),
        ("/v1/verifications", {}, "400 Bad Request", "alert: expected an object"),
        ("/v1/verifications", {"alert": {}}, "400 Bad Request", "transaction: expected dict"),
        ("/v1/verifications", b"x" * (MAX_BODY_BYTES + 1), "400 Bad Request", "body: expected at most"),
        ("/v1/windows", {"alert": {}, "condition": -1}, "400 Bad Request", "condition: expected an integer"),
        (
            "/v1/windows",
            {"alert": {}, "condition": 0, "of": 1},
            "400 Bad Request",
            "of: expected value or limit",
        ),
        ("/v1/anything", {}, "404 Not Found", "There is nothing here."),
    ],
)
def test_what_cannot_be_read(run: Run, path: str, body: Any, status: str, detail: str) -> None:
    said, answer = Asked(run).ask(path, body)
    assert said == status
    assert detail in answer["detail"]


def test_without_the_key_nothing_is_read(run: Run) -> None:
    asked = Asked(run)
    status, answer = asked.ask("/v1/verifications", {"alert": run.alerts[0]}, key="another")
    assert (status, answer["reason"], asked.opened) == ("401 Unauthorized", "key", 0)
    status, answer = asked.ask("/v1/verifications", {}, method="GET")
    assert (status, answer["reason"]) == ("405 Method Not Allowed", "method")


class TestNoProof:
    def test_history_is_gone(self, run: Run) -> None:
        fresh = run.fresh()
        fresh.recording.topics[TRANSACTIONS].low[0] = 100
        status, answer = Asked(fresh).ask("/v1/verifications", {"alert": run.alerts[0]})
        assert (status, answer["reason"]) == ("409 Conflict", "history-missing")

    def test_it_is_too_much(self, run: Run) -> None:
        status, answer = Asked(run, transactions=149).ask("/v1/verifications", {"alert": run.alerts[0]})
        assert (status, answer["reason"]) == ("422 Unprocessable Entity", "too-much")

    def test_nobody_has_judged(self, run: Run) -> None:
        fresh = run.fresh()
        fresh.recording.topics[ORDER].kept[0].clear()
        status, answer = Asked(fresh).ask("/v1/verifications", {"alert": run.alerts[0]})
        assert (status, answer["reason"]) == ("404 Not Found", "nothing-there")

    def test_kafka_is_silent(self, run: Run) -> None:
        asked = Asked(run, broken=KafkaSilent("rules.v1: Kafka doesn't say its partitions"))
        status, answer = asked.ask("/v1/verifications", {"alert": run.alerts[0]})
        assert (status, answer["reason"]) == ("503 Service Unavailable", "unavailable")

    def test_another_one_is_under_way(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("tripline_engine.prover.prover._WAIT_SECONDS", 0.01)
        asked, inside, going_on = Asked(run), threading.Event(), threading.Event()

        def hold() -> None:
            with asked.prover._turns():
                inside.set()
                going_on.wait(30)

        holder = threading.Thread(target=hold)
        holder.start()
        assert inside.wait(30)
        status, answer = asked.ask("/v1/verifications", {"alert": run.alerts[0]})
        going_on.set()
        holder.join()
        assert (status, answer["reason"]) == ("503 Service Unavailable", "busy")


def test_a_key_that_is_short_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "prover.key"
    file.write_text("short\n")
    monkeypatch.setenv("TRIPLINE_KAFKA", "127.0.0.1:9")
    monkeypatch.setenv("TRIPLINE_PROVER_KEY_FILE", str(file))
    with pytest.raises(BadSettings, match="at least 32 ASCII characters"):
        from_environment()
    file.write_text(KEY + "\n")
    assert from_environment().key == KEY


def test_a_judgement(run: Run) -> None:
    status, answer = Asked(run).ask("/v1/judgements", {"transactionId": "t5", "eventTime": START + 5})
    assert status == "200 OK"
    assert [(rule["ruleId"], rule["reason"], rule["value"]) for rule in answer["rules"]] == [
        (1, "limit", "6")
    ]
    status, answer = Asked(run).ask("/v1/judgements", {"transactionId": "t999", "eventTime": None})
    assert (status, answer["reason"]) == ("404 Not Found", "nothing-there")
    for body in ({}, {"transactionId": ""}, {"transactionId": "t5", "eventTime": -1}):
        assert Asked(run).ask("/v1/judgements", body)[0] == "400 Bad Request"
