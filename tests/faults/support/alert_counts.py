"""Rules for steady traffic, and which alerts they have to raise: counted as the benchmark counts, for the oracle would
take days for so many payments."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Final

from bench.independent.expected import Expected, expected_alerts, order_of
from bench.workload.rules import Subject, limits
from bench.workload.workload import Workload
from tests.faults.support.traffic import Traffic

SUBJECTS: Final = (
    Subject(1, "SUM by payee and beneficiary, a minute", "SUM", ("beneficiaryId", "payeeId"), 60),
    Subject(2, "COUNT by payee, half a minute", "COUNT", ("payeeId",), 30),
    Subject(3, "AVG by beneficiary, 20 seconds", "AVG", ("beneficiaryId",), 20),
    Subject(4, "MAX by payee, a minute", "MAX", ("payeeId",), 60),
    Subject(5, "SUM by payment type, 10 seconds", "SUM", ("paymentType",), 10),
)


def limits_of(load: Workload) -> dict[Subject, Decimal]:
    """Under which each rule alerts at about one payment in a thousand, the last at ten."""
    reachable = limits(load, len(load) // 1_000, SUBJECTS)
    return {subject: reachable[subject.rule_id] for subject in SUBJECTS}


def expected_of(traffic: Traffic, order: Sequence[dict[str, Any]]) -> dict[str, Expected]:
    """By alert id, from what was sent and the engine's record of the order."""
    part, event_time = traffic.part(), traffic.event_time[: traffic.sent]
    taken = order_of(part, event_time, order, len(traffic.versions))
    return expected_alerts(part, event_time, taken, traffic.versions, SUBJECTS)
