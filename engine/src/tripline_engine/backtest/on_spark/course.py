"""How far a job is: its finished tasks, and how far those that run are likely to be."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import structlog

from tripline_engine.backtest.tried import Progressed
from tripline_engine.backtest.tried_rules import TriedRule
from tripline_engine.rebuild.inputs import ReplayBatch
from tripline_engine.rebuild.progress import Progress

_log = structlog.get_logger(__name__)

PLANNED: Final = 300
READ: Final = 1_000
"""The work of going through a recorded order, and of reading."""

_ANY_RULES, _A_RULE = 1_200, 120
"""The work of judging: by whatever rules, and by each of them besides, as measured with one rule and with ten."""

_LOG_SECONDS: Final = 5.0
_NEARLY: Final = 0.95
"""No task that runs is taken to be further."""


def judged_work(rules: Sequence[TriedRule]) -> int:
    """The work of judging by these rules; other limits of a rule share its windows."""
    return _ANY_RULES + _A_RULE * sum(not rule.is_counted for rule in rules)


@dataclass(slots=True)
class _Stage:
    """A stage that has begun: its tasks run in waves, of as many as can run at once.

    :ivar begun: when, in seconds of a steady clock
    :ivar whole: seconds that all of it is likely to take; None: nobody knows
    :ivar left: seconds that are likely to be left
    :ivar share: how much of it is done
    """

    begun: float
    whole: float | None
    left: float = 0.0
    share: float = 0.0
    _done: int = 0

    def look(self, done: int, of: int, at_once: int, now: float) -> None:
        """See how many of its tasks are finished."""
        elapsed, waves, active = now - self.begun, -(-of // at_once), min(at_once, of - done)
        if done > self._done:
            self._done = done
            self.whole = elapsed * waves / -(-done // at_once)
        if self.whole is not None:
            # the wave that runs is not over
            self.whole = max(self.whole, elapsed * waves / min(waves, done // at_once + 1))
            passed = elapsed / self.whole if self.whole else 1.0
            self.share = min(max(passed, done / of), (done + _NEARLY * active) / of)
            self.left = self.whole * (1 - self.share)


@dataclass(slots=True)
class Course:
    """Told now and then what the tasks are at, it tells how far the job is, which never goes back.

    While the first tasks of judging run there is nothing to go by: all of judging is taken to need as much longer than
    reading as its work says, until it has taken longer.

    :ivar at_once: tasks that can run at a time
    :ivar judged: the work of judging
    :ivar before: work that was done before the job
    """

    progressed: Progressed
    at_once: int
    judged: int
    before: int = 0
    clock: Callable[[], float] = time.monotonic
    _stages: list[_Stage] = field(default_factory=list)
    _logged: float | None = None
    _done: int = 0

    def tell(self, tasks: Sequence[tuple[int, int]]) -> None:
        """Finished tasks, of how many, of each stage: reading, judging. Once all is done there may be none."""
        now = self.clock()
        for number, (done, of) in enumerate(tasks):
            if number and self._stages[0].share < 1:
                break
            self._stage(number, now).look(done, of, self.at_once, now)
        work = sum(of * stage.share for of, stage in zip((READ, self.judged), self._stages, strict=False))
        self._done = max(self._done, self.before + round(work))
        self.progressed(self._done, self.whole, 0)
        self._logged = now if self._logged is None else self._logged
        if tasks and now - self._logged >= _LOG_SECONDS and (left := self.seconds_left) is not None:
            self._logged = now
            told = [f"{done} of {of}" for done, of in tasks]
            _log.info("backtesting", tasks=told, seconds_left=round(left))

    @property
    def whole(self) -> int:
        """All the work there is."""
        return self.before + READ + self.judged

    @property
    def seconds_left(self) -> float | None:
        """What is likely to be left; None while nothing is done yet."""
        match self._stages:
            case [reading] if reading.whole is not None:
                return reading.left + reading.whole * self.judged / READ
            case [reading, judging, *_]:
                return reading.left + judging.left
        return None

    def _stage(self, number: int, now: float) -> _Stage:
        if number == len(self._stages):
            reading = self._stages[0].whole if number else None
            self._stages.append(_Stage(now, reading and reading * self.judged / READ))
        return self._stages[number]


def planning(
    heads: Iterable[ReplayBatch], batches: int, judged: int, progressed: Progressed
) -> Iterator[ReplayBatch]:
    """Micro-batches as they are gone through, of about so many; `judged` is the work of judging."""
    progress = Progress(time.monotonic, batches, "planning")
    for head in heads:
        yield head
        progress.batch_done(sum(part.until - part.first for part in head.recorded.transactions))
        share = min(1.0, progress.batches / max(1, batches))
        progressed(round(PLANNED * share), PLANNED + READ + judged, 0)
