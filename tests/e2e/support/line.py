"""What these tests do with a running line: rules, traffic, files, and looks at the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from tests.e2e.support.engine_process import metric_sum
from tests.e2e.support.kafka_log import KafkaLog
from tests.e2e.support.waiting import eventually
from tests.stack import RunningStack, processes
from tripline_contracts.kafka.cluster import kafka_cluster
from tripline_demo.processes import ports
from tripline_demo.stack.plan import script


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that alerts above its limit; its name tells it from those of other tests."""

    name: str
    by: tuple[str, ...]
    function: str
    limit: str
    seconds: int


class Line:
    """A running line, its topics, its database."""

    def __init__(self, stack: RunningStack) -> None:
        self._stack = stack
        self.log = KafkaLog(kafka_cluster(stack.file["kafkaAdministrator"]))
        self.postgres: str = stack.file["postgres"]

    def engines(self) -> set[int]:
        """The processes `tripline-engine run` that live."""
        return {
            p.pid
            for p in processes(self._stack.places)
            if p.cmdline()[1:3] == [script("tripline-engine"), "run"]
        }

    def engine_metric(self, name: str) -> float:
        """The sum of a metric over its labels."""
        return metric_sum(ports.load(self._stack.places.run / "ports.json")["engine"], name)

    @contextmanager
    def rules(self, rules: Sequence[Rule]) -> Iterator[list[int]]:
        """Over HTTP, in force from now on; gives their ids once the engine has applied them, deletes them after."""
        with self._stack.registry() as client:
            ids = [
                int(_checked(client.post("/v1/rules", json=_body(rule))).json()["ruleId"]) for rule in rules
            ]
            try:
                eventually(lambda: set(ids) <= applied(client), "the rules are applied")
                yield ids
            finally:
                for rule_id in ids:
                    tag = _checked(client.get(f"/v1/rules/{rule_id}")).headers["ETag"]
                    _checked(client.delete(f"/v1/rules/{rule_id}", headers={"If-Match": tag}))

    @contextmanager
    def traffic(self, **settings: Any) -> Iterator[None]:
        """The generator's stream as told, and none after the block."""
        with self._stack.generator() as client:
            before = _checked(client.get("/v1/traffic")).json()
            _checked(client.put("/v1/traffic", json=settings))
            try:
                yield
            finally:
                restored = {name: before[name] for name in settings} | {"rate": 0}
                _checked(client.put("/v1/traffic", json=restored))

    def replay(self, content: bytes, speed: int) -> Callable[[], str]:
        """Starts to replay a CSV file, moved to now; gives a question for its state."""

        def ask(method: str, path: str, **more: Any) -> Any:
            with self._stack.generator() as client:
                return _checked(client.request(method, path, **more)).json()

        csv = {"headers": {"Content-Type": "text/csv"}, "content": content, "params": {"speed": speed}}
        replay = ask("POST", "/v1/replays", **csv)["replayId"]
        return lambda: str(ask("GET", f"/v1/replays/{replay}")["state"])

    def reception(self, content: bytes, media: str = "text/csv", **options: str) -> dict[str, Any]:
        """What the engine made of a recording that is played as fast as possible, moved to now."""
        with self._stack.generator() as client:
            answer = client.post(
                "/v1/replays",
                headers={"Content-Type": media},
                content=content,
                params={"speed": "max"} | options,
            )
            path = _checked(answer).headers["Location"]
            said: list[dict[str, Any]] = []

            def is_said() -> bool:
                said[:] = [_checked(client.get(path)).json()["engine"]]
                return said[0] is not None

            eventually(is_said, "the engine has judged the recording")
        return said[0]


def _body(rule: Rule) -> dict[str, Any]:
    return {
        "name": rule.name,
        "groupingKeyNames": rule.by,
        "aggregatorFunctionType": rule.function,
        "aggregateFieldName": None if rule.function == "COUNT" else "paymentAmount",
        "limitOperatorType": ">",
        "limit": rule.limit,
        "windowSeconds": rule.seconds,
    }


def applied(client: httpx.Client) -> set[int]:
    """The rules whose published version all shards have taken."""
    items = _checked(client.get("/v1/rule-status")).json()["items"]
    return {item["ruleId"] for item in items if item["appliedVersion"] == item["publishedVersion"]}


def _checked(answer: httpx.Response) -> httpx.Response:
    assert answer.is_success, f"{answer.request.method} {answer.request.url}: {answer.text}"
    return answer
