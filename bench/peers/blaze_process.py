"""The five rules in BlazeRules, over the same topic: a process of its own, in an environment of its own.

`python -m bench.peers.blaze_process <file>` takes a `Run` as JSON and writes one line of JSON: a `Figures`. Of this
project it imports what needs nothing, because that environment holds BlazeRules and nothing else.

    transactions.v1 ─ its Kafka consumer ─ pyarrow reads JSON, joins keys ─ its engine ─ rules that hold ─ alerts
                      └───────── the next batch ─────────┘                  └ this batch ┘

Its own loop over Kafka takes payments neither with whole numbers as keys nor with amounts as texts, and no entity of
two fields; so what it is given is made here, by Arrow, in a thread beside it.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from bench.figures.rates import rate_of

TOPIC: Final = "transactions.v1"
_POLL_MS: Final = 1_000


@dataclass(frozen=True, slots=True)
class Rule:
    """What is watched; the limit is in whole units of the amount, or a count."""

    rule_id: int
    function: str
    grouping: tuple[str, ...]
    window_seconds: int
    limit: float


@dataclass(frozen=True, slots=True)
class Run:
    """What is to be done.

    :ivar name: of the consumer group
    :ivar per_batch: payments that are evaluated together, at most; none of them is in the windows of another
    """

    name: str
    kafka: str
    alerts: str
    payments: int
    rules: tuple[Rule, ...]
    per_batch: int
    deadline_seconds: float

    def text(self) -> str:
        """As JSON."""
        return json.dumps(asdict(self))


@dataclass(frozen=True, slots=True)
class Figures:
    """What a run came to.

    :ivar rate: payments a second, without the first quarter
    :ivar whole: with all of them
    :ivar cpu_us: processor time for a payment, the start included
    """

    rate: float
    whole: float
    cpu_us: float


def read(text: str) -> Run:
    """What `Run.text` wrote."""
    parsed = json.loads(text)
    rules = tuple(Rule(**{**rule, "grouping": tuple(rule["grouping"])}) for rule in parsed["rules"])
    return Run(**{**parsed, "rules": rules})


def ruleset(rules: Sequence[Rule]) -> str:
    """The rules as BlazeRules reads them, in JSON."""
    entities = {_entity(rule.grouping): {"type": "entity_key", "nullable": False} for rule in rules}
    return json.dumps(
        {
            "schema_version": "2.1",
            "fields": {**entities, "amount": {"type": "float64", "nullable": False}},
            "ruleset": {"name": "bench", "version": "1", "rules": [_rule(rule) for rule in rules]},
        }
    )


def _rule(rule: Rule) -> dict[str, Any]:
    amount = {"SUM": "sum_field", "AVG": "sum_field", "MAX": "value_field"}
    window = {
        "entity_field": _entity(rule.grouping),
        "function": rule.function.lower(),
        **({amount[rule.function]: "amount"} if rule.function in amount else {}),
        "duration_seconds": rule.window_seconds,
        "op": "gt",
        "value": rule.limit,
    }
    return {"id": str(rule.rule_id), "action": "flag", "conditions": {"window": window}}


def _entity(grouping: tuple[str, ...]) -> str:
    return "_".join(grouping)


def main(run: Run) -> None:
    """Runs until every payment has been evaluated and every alert is in Kafka."""
    import blazerules  # noqa: PLC0415  # the tests of the above have no BlazeRules
    import blazerules_io  # noqa: PLC0415

    config = blazerules.EngineConfig()
    # the cheapest that says which rule holds at which payment
    config.output_detail = blazerules.OutputDetail.BITMASKS
    engine = blazerules.RuleEngine(config)
    engine.load_rules_from_string(ruleset(run.rules), blazerules.RuleFileFormat.JSON)
    # commits nothing: a restart would have no windows to go on with
    consumer = blazerules_io.KafkaConsumer(
        run.kafka, run.name, [TOPIC], {"auto.offset.reset": "earliest", "enable.auto.commit": "false"}
    )
    producer = blazerules_io.KafkaProducer(run.kafka, {"compression.type": "lz4", "linger.ms": "20"})
    names = [str(rule.rule_id) for rule in run.rules]
    samples: list[tuple[float, int]] = []
    taken, deadline = 0, time.monotonic() + run.deadline_seconds
    with ThreadPoolExecutor(1) as ahead:
        coming = ahead.submit(_next, consumer, run)
        while taken < run.payments:
            identities, batch = coming.result()
            coming = ahead.submit(_next, consumer, run)
            if batch is not None:
                evaluated = engine.evaluate_batch(batch, validate=False)
                _tell(producer, run.alerts, names, evaluated, identities)
                taken += batch.num_rows
                samples.append((time.monotonic(), taken))
            if time.monotonic() > deadline:
                raise SystemExit(f"{run.name} took {taken:,} of {run.payments:,} payments")
    if not producer.flush(30_000):
        raise SystemExit(f"{run.name}: alerts could not be sent")
    used = resource.getrusage(resource.RUSAGE_SELF)
    cpu_us = (used.ru_utime + used.ru_stime) * 1e6 / run.payments
    print(json.dumps(asdict(Figures(rate_of(samples), rate_of(samples, without=0), cpu_us))))


def _next(consumer: Any, run: Run) -> tuple[Any, Any]:
    """The identities of the next payments, and what the engine needs of them; None if none have come."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.compute as pc  # noqa: PLC0415
    from pyarrow import json as arrow_json  # noqa: PLC0415

    values = consumer.poll_batch(run.per_batch, _POLL_MS)
    if not values:
        return None, None
    whole, text = pa.int64(), pa.string()
    fields = pa.schema(
        [("transactionId", text), ("payeeId", whole), ("beneficiaryId", whole), ("paymentAmount", text)]
    )
    lines = b"\n".join(values)
    payments = arrow_json.read_json(
        pa.py_buffer(lines),
        read_options=arrow_json.ReadOptions(block_size=len(lines)),
        parse_options=arrow_json.ParseOptions(explicit_schema=fields, unexpected_field_behavior="ignore"),
    ).combine_chunks()
    columns = {"amount": pc.cast(payments["paymentAmount"], pa.float64())}
    for grouping in {rule.grouping for rule in run.rules}:
        keys = [pc.cast(payments[name], text) for name in grouping]
        columns[_entity(grouping)] = keys[0] if len(keys) == 1 else pc.binary_join_element_wise(*keys, ",")
    return payments["transactionId"], pa.table(columns).combine_chunks().to_batches()[0]


def _tell(producer: Any, topic: str, names: Sequence[str], evaluated: Any, identities: Any) -> None:
    for name in names:
        for row in evaluated.indices_for_rule(name).tolist():
            alert = {"ruleId": int(name), "transactionId": identities[row].as_py()}
            producer.produce(topic, json.dumps(alert))


if __name__ == "__main__":
    main(read(Path(sys.argv[1]).read_text(encoding="utf-8")))
