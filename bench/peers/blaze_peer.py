"""BlazeRules over the payments that the engine takes, under the same five rules.

BlazeRules is what a Python user finds on PyPI for rules over many payments at once: C++, columns, no cluster. It gets
what a competent user of it would give: its own Kafka consumer, columns made by Arrow in a thread beside its engine, the
cheapest output that says which rule holds where, batches of two sizes by turns. Its best run counts.

What favours it: its windows are in memory alone, and it commits no offsets, for there would be nothing to go on from;
its alerts name a rule and a payment, the engine's the value, the contributors and the version as well.

What it lacks beside the engine, whatever its speed (0.5.4, tried):
- Windows go by the machine's clock, in whole seconds, whatever time a payment says it happened. A payment that comes
  late counts as of now, and a backlog or a history played again is judged otherwise than it was. (The payments here
  span minutes, so that no window would have lost any of them.)
- A payment is judged by what the batches before it left: neither it nor the others of its batch are in its windows. So
  which alerts there are depends on how payments fell into batches.
- What a window holds is compared in 32-bit floats: 16,777,217 is not above 16,777,216.
- Rules that are loaded again, with another limit or one more of them, begin with empty windows; so does its hot reload.
- No state outlives the process. Nothing is told of the value, or of the payments that made it.
- An entity is one field, and a text; a grouping of several has to be joined before.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Final

import numpy as np

from bench.figures import results
from bench.figures.results import Result
from bench.harness.backlog import Workplace
from bench.peers import blaze_process, peer_process
from bench.workload.rules import Version
from bench.workload.workload import Column, Workload, number_of

VERSION: Final = "0.5.4"
NAME: Final = f"BlazeRules {VERSION}"
PER_BATCH: Final = (2_000, 50_000)
_DEADLINE_SECONDS: Final = 300.0

Alert = tuple[int, int]
"""Rule, and number of the payment."""


def measured(workplace: Workplace, say: Callable[[str], None]) -> tuple[float, list[Result]]:
    """Payments a second of its best run over the backlog that is there, and all that was found."""
    python = peer_process.installed("blazerules", VERSION)
    load, rules = workplace.backlog.load, workplace.backlog.versions
    expected = expected_alerts(load, workplace.event_time, rules)
    measured_rows: list[Result] = []
    best = 0.0
    for per_batch in PER_BATCH:
        name = f"{NAME}, {per_batch:,} in a batch"
        say(f"{name}; the best so far {best:,.0f}/s")
        run = _run(workplace, rules, per_batch)
        peer_process.create(workplace.kafka, run.alerts)
        rate, rows = peer_process.measured(python, "bench.peers.blaze_process", workplace.folder, run, name)
        measured_rows += [
            *rows,
            *compared(expected, told(peer_process.records(workplace.kafka, run.alerts), load.preloaded)),
        ]
        best = max(best, rate)
    return best, measured_rows


def _run(workplace: Workplace, rules: Iterable[Version], per_batch: int) -> blaze_process.Run:
    name = f"blaze-{per_batch}"
    return blaze_process.Run(
        name=name,
        kafka=workplace.kafka,
        alerts=f"{name}-alerts",
        payments=len(workplace.backlog.load),
        rules=tuple(_rule(version) for version in rules),
        per_batch=per_batch,
        deadline_seconds=_DEADLINE_SECONDS,
    )


def _rule(version: Version) -> blaze_process.Rule:
    subject = version.subject
    return blaze_process.Rule(
        subject.rule_id, subject.function, subject.grouping, subject.window_seconds, float(version.limit)
    )


def expected_alerts(load: Workload, event_time: Column, rules: Iterable[Version]) -> set[Alert]:
    """Those of the last third's payments, counted independently, as if all were taken in the order they were made."""
    rank = np.arange(len(load))
    asked = rank[load.preloaded :]
    return {
        (version.subject.rule_id, number)
        for version in rules
        for number in asked[
            version.subject.over(version.subject.held(load, event_time, rank, asked), version.limit)
        ].tolist()
    }


def told(records: Iterable[tuple[bytes, bytes]], since: int) -> set[Alert]:
    """The peer's alerts at payments from that number on."""
    alerts = (json.loads(value) for _, value in records)
    raised = {(int(alert["ruleId"]), number_of(alert["transactionId"])) for alert in alerts}
    return {alert for alert in raised if alert[1] >= since}


def compared(expected: set[Alert], raised: set[Alert]) -> list[Result]:
    """How far the peer's alerts are those of the count; nothing is required of them."""
    return [
        results.told(
            "its alerts that the independent count has", len(raised & expected), "alerts", len(expected)
        ),
        results.told("of the count's missing", len(expected - raised), "alerts"),
        results.told("alerts that should not be", len(raised - expected), "alerts"),
    ]
