"""SIGKILL of a process with several engines, each of which stands at another fault point.

So an engine is killed at each point, under steady traffic and changes of rules, and a kill costs a part of a start.
Each engine has topics, checkpoint and projection of its own, and gets the same payments, also while there is no
process. `make test` kills where some of a micro-batch's output is there and some is not, and e2e/test_rebuild.py where
all of it is. In `make soak` there are four engines for the four points, killed twice, when each stands elsewhere than
before; test_many_kills.py has one engine by itself, as `tripline-engine run`, and more of everything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path

import pytest

from bench.workload.workload import make
from tests.e2e.support.engine_process import Queries, Workplace, queries_until_killed
from tests.e2e.support.kafka_log import KafkaLog
from tests.e2e.support.verdict import orders
from tests.e2e.support.waiting import eventually
from tests.faults.support.alert_counts import SUBJECTS, expected_of, limits_of
from tests.faults.support.kill_places import PLACES, assert_is, read_place
from tests.faults.support.projected_alerts import assert_stored, projected_alerts
from tests.faults.support.traffic import Traffic, first
from tests.integration.alert_api.support.servers import committed
from tests.servers import PostgresServer
from tripline_demo.embedded.jars import Jars
from tripline_demo.embedded.java import Java
from tripline_engine.spark.checkpoint.checkpoint import spark_folder
from tripline_engine.spark.checkpoint.spark_offsets import last_commit

pytestmark = [pytest.mark.faults, pytest.mark.slow]

RATE = 200
LONGEST_SECONDS = 600
FEWEST_ALERTS, FEWEST_PAYMENTS = 100, 40 * RATE
MOST_PER_BATCH = 20_000
SHARDS = 2
PAYEES_OF_KILLS = 9_000_000_000
"""From here on; no other payee or amount is written with these digits."""


@dataclass(slots=True)
class Member:
    """One of the engines.

    :ivar number: by which it is told from the others
    :ivar places: of all kills
    """

    number: int
    places: Sequence[str]
    log: KafkaLog
    spark: Path
    committed_before: int | None = None

    def start(self, process: Queries, fault: str) -> None:
        """From where the last kill found it."""
        self.committed_before = last_commit(self.spark)
        process.start(self.log.prefix, SHARDS, MOST_PER_BATCH, fault)

    def is_under_way(self) -> bool:
        """Whether it is through a micro-batch since it was started."""
        return last_commit(self.spark) != self.committed_before

    def stands_at(self, kill: int) -> str:
        """Where this kill is to find it."""
        return self.places[(self.number + kill) % len(self.places)]


@pytest.fixture
def workplace(java: Java, jars: Jars, kafka: str, tmp_path: Path) -> Workplace:
    settings = {
        # a query that stands still keeps its cores
        "TRIPLINE_SPARK_MASTER": f"local[{4 * len(PLACES)}]",
        "TRIPLINE_CLOCK": "wall",
        "TRIPLINE_FAULT_POINT": "one for each query",
    }
    return Workplace(java, jars, kafka, tmp_path, SHARDS, settings)


@pytest.fixture
def members(workplace: Workplace, places: Sequence[str], kills_each: int) -> list[Member]:
    running = []
    for number in range(len(places)):
        log = KafkaLog(workplace.kafka, f"company-{kills_each}-{number}-")
        log.create()
        running.append(Member(number, places, log, spark_folder(workplace.checkpoint / log.prefix)))
    return running


@pytest.mark.timeout(LONGEST_SECONDS)
@pytest.mark.parametrize(
    ("places", "kills_each"),
    [(("task", "flush"), 1), pytest.param(PLACES, 2, marks=pytest.mark.soak)],
    ids=["where some is out", "everywhere, twice"],
)
def test_kills_in_company_change_no_alert(
    workplace: Workplace,
    members: list[Member],
    postgres: PostgresServer,
    places: Sequence[str],
    kills_each: int,
    record_property: Callable[[str, object], None],
) -> None:
    load = make(RATE, 0, RATE * LONGEST_SECONDS, seed=20_261_123)
    with Traffic([member.log for member in members], load, limits_of(first(load, RATE * 60))) as traffic:
        kills = sum((killed(workplace, members, traffic, kill) for kill in range(kills_each)), Counter[str]())
        with queries_until_killed(workplace) as process:
            start(members, process, repeat(""))
            # when they were killed soon
            eventually(
                lambda: traffic.sent >= FEWEST_PAYMENTS,
                "enough was sent for the alerts to say something",
                120,
            )
            traffic.stop()
            eventually(
                lambda: all(traffic.is_taken(member.spark, member.log.prefix) for member in members),
                "all that was sent is taken",
                120,
            )

    expected = [stored(member, postgres, traffic) for member in members]
    record_property(
        "told",
        f"killed at {', '.join(f'{where} {count} times' for where, count in kills.items())}; {traffic.sent} payments"
        f" in {traffic.seconds:.0f} s for each of {len(members)} engines; {len(traffic.versions)} versions of"
        f" {len(SUBJECTS)} rules; alerts expected: {', '.join(map(str, expected))}",
    )
    assert kills == dict.fromkeys(places, kills_each)
    assert min(expected) >= FEWEST_ALERTS


def killed(workplace: Workplace, members: list[Member], traffic: Traffic, kill: int) -> Counter[str]:
    """The engines take what has come meanwhile, then a payment comes for which each goes to its point."""
    payee, folder = PAYEES_OF_KILLS + kill, workplace.folder / f"kill-{kill}"
    folder.mkdir()
    markers = [folder / f"{member.number}.stands" for member in members]
    faults = [
        f"{member.stands_at(kill)}:{payee}:{marker} {len(members)}"
        for member, marker in zip(members, markers, strict=True)
    ]
    with queries_until_killed(workplace) as process:
        start(members, process, faults)
        traffic.mark(payee)
        eventually(
            lambda: not process.alive(), f"kill {kill}, of engines that all stand at their points", 180
        )
    for member, marker in zip(members, markers, strict=True):
        assert_is(read_place(member.spark, marker, SHARDS), member.stands_at(kill))
    return Counter(member.stands_at(kill) for member in members)


def start(members: list[Member], process: Queries, faults: Iterable[str]) -> None:
    """All engines. They are few: Spark gives up on a query whose Python process isn't there within ten seconds."""
    for member, fault in zip(members, faults, strict=False):
        member.start(process, fault)
    eventually(
        lambda: all(member.is_under_way() for member in members) or not process.alive(),
        "all engines are under way",
        180,
    )
    assert process.alive()


def stored(member: Member, postgres: PostgresServer, traffic: Traffic) -> int:
    """How many alerts are expected. They are in Postgres, each once and with its value, and nothing was rejected."""
    expected = expected_of(traffic, orders(member.log))
    written, topic = sum(member.log.ends("alerts.v1").values()), member.log.prefix + "alerts.v1"
    with projected_alerts(postgres, member.log.kafka, topic) as owner:
        eventually(
            lambda: committed(member.log.kafka, topic, topic) == written,
            "the projector reads all alerts",
            120,
        )
        assert_stored(owner, expected)
    assert sum(member.log.ends("rejected-transactions.v1").values()) == 0
    return len(expected)
