"""`python -m bench.throughput`: payments a second out of a backlog, beside what Spark's own operators take of it.

Kafka and the engine alone, as separate processes: under five rules, by population; under these and one whose two groups
hold everything; and under a thousand. Alerts are compared with the independent count. The first quarter of the
payments is not timed. Writes var/throughput.json; exit code 1 if a bar is missed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import click
import numpy as np
from rich.console import Console

from bench.figures import results
from bench.figures.results import Result
from bench.harness.backlog import Backlog, Workplace, filled, limit, taken
from bench.workload import many_rules
from bench.workload.rules import FIVE, Subject, Version, limits
from bench.workload.workload import PARTITIONS, Workload
from tripline_demo import paths

RULES: Final = (
    *FIVE[:4],
    Subject(5, "SUM by beneficiary and payee, 30 minutes", "SUM", ("beneficiaryId", "payeeId"), 1_800),
)
BY_TYPE: Final = Subject(6, "SUM by payment type, 30 minutes", "SUM", ("paymentType",), 1_800)
RATE: Final = 5_000
"""Payments a second of event time."""
OF_THE_LIMIT, OF_THE_LINE_ABOVE, WITH_BY_TYPE = 0.5, 0.9, 0.8
UNDER_MANY_RULES: Final = 20_000
"""Payments a second."""
_MANY_MINUTES: Final = 90
_ALERTS_PER_RULE: Final = 300
_ALERTS_PER_RULE_OF_MANY: Final = 400
_BATCHES: Final = 10
_ROWS: Final = ("populations", "payment-type", "many-rules")

Say = Callable[[str], None]


@dataclass(slots=True)
class Run:
    """What has been found so far.

    :ivar first: payments a second of the best engine with the first population
    """

    shards: Sequence[int]
    say: Say
    secured: bool = False
    found: list[Result] = field(default_factory=list)
    first: float | None = None

    def populations(self, payments: int, payees: Sequence[int], seed: int) -> None:
        """The five rules, with so many payees and beneficiaries by turns."""
        for population in payees:
            load, name = workload(payments, population, seed), f"{population:,} payees"
            with filled(Backlog(load, versions(load, RULES)), secured=self.secured) as workplace:
                self.say(f"{name}: the limit")
                most = limit(workplace, payments // _BATCHES)
                self.found.append(results.told(f"{name}: Spark's own operators", most, "payments/s"))
                best = self._best(workplace, name, most)
            reference, share = (most, OF_THE_LIMIT) if self.first is None else (self.first, OF_THE_LINE_ABOVE)
            self._bar(f"{name}: the best of these", best, share * reference, reference)
            self.first = best if self.first is None else self.first

    def payment_type(self, payments: int, population: int, seed: int) -> None:
        """A rule more, whose two groups hold everything."""
        load, name = (
            workload(payments, population, seed),
            f"{population:,} payees, and a rule by payment type",
        )
        with filled(Backlog(load, versions(load, (*RULES, BY_TYPE))), secured=self.secured) as workplace:
            best = self._best(workplace, name, self.first)
        if self.first is None:
            self.found.append(results.told(f"{name}: the best of these", best, "payments/s"))
        else:
            self._bar(f"{name}: the best of these", best, WITH_BY_TYPE * self.first, self.first)

    def many_rules(self, payments: int, rules: int, population: int, seed: int) -> None:
        """A thousand rules over 90 minutes of payments, so that every window slides."""
        load = replace(
            workload(payments, population, seed),
            rate=max(1, payments // (60 * _MANY_MINUTES)),
            labels=many_rules.labels(payments, seed),
        )
        self.say(f"{rules:,} rules: limits")
        published = many_rules.versions(load, many_rules.subjects(rules, seed), _ALERTS_PER_RULE_OF_MANY)
        name = f"{rules:,} rules on {len(many_rules.GROUPINGS)} grouping sets"
        with filled(Backlog(load, published, many_rules.EVENT_TYPE_FILE), secured=self.secured) as workplace:
            best = self._best(workplace, name, None)
        self._bar(f"{name}: the best of these", best, UNDER_MANY_RULES, None)

    def _best(self, workplace: Workplace, name: str, reference: float | None) -> float:
        best = 0.0
        for count in self.shards:
            self.say(f"{name}; shards: {count}; the best so far {best:,.0f}/s")
            done = taken(workplace, count)
            told = results.told(f"{name}: the engine, shards: {count}", done.rate, "payments/s", reference)
            later = results.told(
                "… of the second half of the payments", done.second_half, "payments/s", reference
            )
            self.found += [told, later, *done.checked]
            best = max(best, done.rate)
        return best

    def _bar(self, name: str, rate: float, bar: float, reference: float | None) -> None:
        self.found.append(results.at_least(name, rate, "payments/s", bar, reference=reference))


@click.command()
@click.option("--payments", type=click.IntRange(100_000), default=3_000_000, show_default=True)
@click.option("--payees", multiple=True, type=click.IntRange(10), default=(100_000, 1_000), show_default=True)
@click.option(
    "--many-payments",
    type=click.IntRange(100_000),
    default=900_000,
    show_default=True,
    help="Of the last row.",
)
@click.option("--shards", multiple=True, type=click.IntRange(1), default=(1, 2), show_default=True)
@click.option("--rows", multiple=True, type=click.Choice(_ROWS), default=_ROWS, show_default=True)
@click.option("--rules", type=click.IntRange(20), default=1_000, show_default=True, help="Of the last row.")
@click.option("--secured", is_flag=True, help="Kafka's clients over SASL and TLS, the limit's too.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True)
def main(
    *,
    payments: int,
    many_payments: int,
    payees: tuple[int, ...],
    shards: tuple[int, ...],
    rows: tuple[str, ...],
    rules: int,
    secured: bool,
    seed: int,
) -> None:
    """Measures how fast a backlog is taken, by population, rules and number of shards."""
    console, begin = Console(width=150 if not sys.stdout.isatty() else None), time.monotonic()

    def say(text: str) -> None:
        console.print(f"[dim]{time.monotonic() - begin:5.0f} s[/]  {text}")

    run = Run(shards, say, secured)
    if "populations" in rows:
        run.populations(payments, payees, seed)
    if "payment-type" in rows:
        run.payment_type(payments, payees[0], seed)
    if "many-rules" in rows:
        run.many_rules(many_payments, rules, payees[0], seed)
    results.show(run.found, console)
    results.write(run.found, paths.var_folder() / "throughput.json")
    sys.exit(0 if all(result.ok for result in run.found) else 1)


def workload(payments: int, population: int, seed: int, partitions: int = PARTITIONS) -> Workload:
    """Payments between that many payees and beneficiaries, all equally busy; the last third is what is judged."""
    random = np.random.default_rng(seed)
    payee, beneficiary = (random.integers(0, population, payments) for _ in range(2))
    partition = payee % partitions
    offset = np.zeros_like(partition)
    for one in range(partitions):
        mine = np.flatnonzero(partition == one)
        offset[mine] = np.arange(mine.size)
    kind, cents = random.integers(0, 2, payments), random.integers(1_00, 1_000_00, payments)
    return Workload(RATE, payments * 2 // 3, payee, beneficiary, kind, cents, partition, offset)


def versions(load: Workload, rules: Sequence[Subject]) -> list[Version]:
    """The only versions of these rules, in the order of rules.v1."""
    reachable = limits(load, _ALERTS_PER_RULE, rules)
    return [
        Version(rule, 1, log_position, reachable[rule.rule_id], 0) for log_position, rule in enumerate(rules)
    ]


if __name__ == "__main__":
    main()
