"""The whole line: a CSV file replayed into live traffic, rules over HTTP, alerts in Postgres.

While payments flow, the first rules ever on paymentType, on paymentAmount and on no key at all are posted, and the
engine isn't restarted. In the end the alerts in Postgres equal the oracle's over the same log, read back from Kafka.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

from tests.e2e.support.line import Line, Rule
from tests.e2e.support.stored_alerts import stored_alerts, stored_names
from tests.e2e.support.verdict import assert_same, read_verdict, taken
from tests.e2e.support.waiting import eventually
from tests.stack import RunningStack

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

FIRST = [
    Rule("pair", ("payeeId", "beneficiaryId"), "SUM", "9000", 60),
    Rule("average", ("beneficiaryId",), "AVG", "300", 90),
]
LATER = [
    Rule("type", ("paymentType",), "SUM", "20000", 15),
    Rule("amount", ("paymentAmount",), "COUNT", "1", 300),
    Rule("all", (), "COUNT", "30", 5),
]
LIVE = {
    "rate": 20,
    "payees": 4,
    "beneficiaries": 3,
    "lateShare": 0.1,
    "duplicateShare": 0.1,
    "brokenShare": 0.05,
}
NAMES = {rule.name for rule in FIRST + LATER}
CSV_LINES = 240


@pytest.fixture(scope="module")
def line(running_stack: RunningStack) -> Line:
    """The shared one before others use it (conftest.py sees to that): rules that are the first ever need one that has
    seen none."""
    assert running_stack.file["eventType"] == "transaction"
    return Line(running_stack)


@pytest.mark.timeout(600)
def test_alerts_in_postgres_are_the_oracles(
    line: Line, record_property: Callable[[str, object], None]
) -> None:
    engines = line.engines()
    with line.rules(FIRST), line.traffic(seed=20, **LIVE):
        replay = line.replay(recording(), speed=1)
        eventually(lambda: stored_names(line.postgres), "the first alerts are stored")
        with line.rules(LATER) as later:
            eventually(lambda: replay() == "finished", "the file has been replayed")
            eventually(lambda: stored_names(line.postgres).keys() >= NAMES, "each rule has raised an alert")
    eventually(lambda: taken(line.log), "the engine has judged all payments")

    verdict = read_verdict(line.log)
    verdict.assert_equal()
    expected = verdict.expected.alerts
    eventually(lambda: sum(stored_names(line.postgres).values()) == len(expected), "all alerts are stored")
    assert_same(stored_alerts(line.postgres), expected)
    assert first_rules(line) == set(later)
    assert line.engines() == engines != set()
    eventually(lambda: line.engine_metric("tripline_engine_alerts_total") == len(expected), "all are counted")
    assert line.engine_metric("tripline_engine_rebuilds_total") == 0
    record_property("told", f"{dict(verdict.shares())}")


@pytest.mark.timeout(120)
def test_the_record_clock_ticks_about_once_a_second(line: Line) -> None:
    before = len(line.log.read("engine-ticks.v1"))
    with line.traffic(rate=20):
        eventually(lambda: len(line.log.read("engine-ticks.v1")) >= before + 6, "six ticks")
    ticks = line.log.read("engine-ticks.v1")[before:]
    apart = sorted(after.time - tick.time for tick, after in pairwise(ticks))
    # the middle one: a busy machine may delay some, and hastens none
    assert 800 < apart[len(apart) // 2] < 15_000


@pytest.mark.timeout(120)
def test_a_recording_that_is_played_again_is_known(line: Line) -> None:
    content = b"\n".join(recording().replace(b"csv-", b"again-").splitlines()[:17])
    nothing = {"taken": 0, "known": 0, "refused": [], "waiting": 0, "unheard": None}
    with line.rules(FIRST[:1]):
        assert line.reception(content) == {**nothing, "taken": 16}
        before = line.engine_metric("tripline_engine_duplicates_total")
        assert line.reception(content) == {**nothing, "known": 16}
        # by anchor
        eventually(
            lambda: line.engine_metric("tripline_engine_duplicates_total") - before in (16, 32, 48),
            "it is counted",
        )
        assert line.reception(content, ids="new") == {**nothing, "taken": 16}
        old = {**nothing, "refused": [{"reason": "too_late", "count": 16}]}
        assert line.reception(content, ids="new", shift="none") == old


def first_rules(line: Line) -> set[int]:
    """The ids of the first rules ever on paymentType, on paymentAmount and on no key."""
    first: dict[tuple[str, ...], int] = {}
    for event in line.log.read_json("rules.v1"):
        if event["type"] == "RulePublished":
            first.setdefault(tuple(event["definition"]["groupingKeyNames"]), event["ruleId"])
    return {first[tuple(sorted(rule.by))] for rule in LATER}


def recording() -> bytes:
    """Sixteen lines a second, a quarter of a minute, with two that nobody can read.

    Replayed at that speed they don't take the line into the future: others are to use it.
    """
    lines = ["transactionId,eventTime,payeeId,beneficiaryId,paymentType,paymentAmount,ingestionTimestamp"]
    for number in range(CSV_LINES):
        minute, second = divmod(number // 16, 60)
        kind = "CSH" if number % 3 else "CRD"
        amount = f"{number * 97 % 60 * 25}.{number % 5}"  # equal ones come, for the rule on paymentAmount
        lines.append(
            f"csv-{number},2021-06-01 12:{minute:02}:{second:02},{number % 4},{number % 3},{kind},{amount}"
        )
    lines[50:50] = ["csv-broken,2021-06-01 25:00:00,1,1,CSH,1", "no payment at all"]
    return "\n".join(lines).encode()
