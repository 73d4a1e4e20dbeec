"""The payments of `bench.wide`, and when they happen.

preloaded, over the whole window           backlog         live
|------------------- … -------------------|---------------|- - - - - - - -|
                                the engine is killed       at its rate, on a clock
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from bench.throughput import RATE, RULES, workload
from bench.workload.rules import Subject, Version, limits
from bench.workload.workload import Column, Workload

POPULATION: Final = 100_000
_ALERTS_PER_RULE: Final = 3_000
_DAY: Final = 86_400


@dataclass(frozen=True, slots=True)
class Form:
    """Windows as wide as they get: each of the five rules has this one.

    :ivar bucket_seconds: None for exact windows
    """

    name: str
    window_seconds: int
    bucket_seconds: int | None

    @property
    def rules(self) -> tuple[Subject, ...]:
        """The five rules of `bench.throughput`, with this window."""
        return tuple(
            replace(
                rule,
                name=f"{rule.function} by {' and '.join(rule.grouping)}, {self.name}",
                window_seconds=self.window_seconds,
                bucket_seconds=self.bucket_seconds,
            )
            for rule in RULES
        )


FORMS: Final = {
    "exact": Form("24 hours, exact", _DAY, None),
    "bucketed": Form("30 days in buckets of a day", 30 * _DAY, _DAY),
}


@dataclass(frozen=True, slots=True)
class Wide:
    """A workload and its parts.

    :ivar times: event and record times (ms) of the preload and the backlog; the live ones are sent on a clock
    """

    form: Form
    load: Workload
    times: Column

    @property
    def preload(self) -> Column:
        """The times of the first part."""
        return self.times[: self.load.preloaded]

    @property
    def backlog(self) -> Column:
        """The times of the second."""
        return self.times[self.load.preloaded :]

    def versions(self) -> list[Version]:
        """The only versions of its rules: there from the beginning, in force from the backlog on."""
        rules, live = self.form.rules, len(self.load) - self.times.size
        planned = np.concatenate(
            [self.times, self.times[-1] + (1 + np.arange(live)) * 1_000 // self.load.rate]
        )
        reachable = limits(self.load, _ALERTS_PER_RULE, rules, planned)
        since = int(self.backlog[0])
        return [
            Version(rule, 1, log_position, reachable[rule.rule_id], since)
            for log_position, rule in enumerate(rules)
        ]


def wide(form: Form, sizes: Sequence[int], live_rate: int, until_ms: int, seed: int) -> Wide:
    """So many preloaded that the window ends at `until_ms`, so many as a backlog, so many live."""
    preloaded, backlog, live = sizes
    load = replace(
        workload(preloaded + backlog + live, POPULATION, seed), preloaded=preloaded, rate=live_rate
    )
    before = until_ms - (preloaded - np.arange(preloaded)) * (form.window_seconds * 1_000) // preloaded
    after = until_ms + (1 + np.arange(backlog)) * 1_000 // RATE
    return Wide(form, load, np.concatenate([before, after]))
