"""The stream of activities: activity number n is a pure function of (seed, shape, n)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tripline_demo.generator.activities.scenarios import (
    ADDRESS,
    BY_NAME,
    FAILED,
    NOBODY,
    PAID,
    PASSED,
    PHONE,
    SCENARIOS,
    Crowd,
    Steps,
)
from tripline_demo.generator.amounts import ordinary_cents
from tripline_demo.generator.chance import Indices, between, popular, shares
from tripline_demo.generator.shape import Kind, Made, Shape, fates, in_lane, place

ACCOUNTS: Final = 20_000
BENEFICIARIES: Final = 5_000

_FAILS, _LOGS_IN, _AT_WORK = 0.03, 0.6, 0.9
"""Shares, summed up: log-ins that fail, those that pass, what else is done from a device."""
_MINDING: Final = 10
"""One account in so many minds its profile and pays nothing: an hour after a change of a password is longer than the
stream has been running, and nobody has been paid before its beginning."""


@dataclass(frozen=True, slots=True)
class Activity(Made):
    """One activity of the stream: what happens; numbers of account, device and beneficiary (NOBODY: none)."""

    what: int
    account: int
    device: int
    beneficiary: int
    cents: int


def activities(shape: Shape, start: int, count: int) -> list[Activity]:
    """Transactions number `start` to `start + count - 1`."""
    index = np.arange(start, start + count, dtype=np.uint64)
    crowd = Crowd(*shape.sizes)
    made = _background(shape.seed, index, crowd)
    kind, age = fates(shape, index)
    for name in shape.scenarios:
        lane = in_lane(index, shape.period, place(SCENARIOS, name, shape.period))
        if lane.size:
            steps = BY_NAME[name].play(shape.seed, index[lane] // np.uint64(shape.period), crowd)
            made.what[lane], made.account[lane], made.device[lane] = steps.what, steps.account, steps.device
            made.beneficiary[lane], made.cents[lane] = steps.beneficiary, steps.cents
            # mischief takes from the background only: a scenario that loses a step would trip nothing
            kind[lane], age[lane] = Kind.PLAIN, 0
    columns = (index, age, kind, made.what, made.account, made.device, made.beneficiary, made.cents)
    return list(map(Activity, *(column.tolist() for column in columns)))


def _background(seed: int, index: Indices, crowd: Crowd) -> Steps:
    account = popular(seed, 30, index, crowd.accounts)
    drawn = shares(seed, 31, index)
    changed = between(seed, 32, index, ADDRESS, PHONE)
    does = np.where(account % _MINDING == 0, changed, PAID)
    what = np.select([drawn < _FAILS, drawn < _LOGS_IN], [FAILED, PASSED], does)
    beneficiary = np.where(what == PAID, popular(seed, 33, index, crowd.beneficiaries), NOBODY)
    # a household of two accounts has one device; a standing order, and what staff enter, has none
    device = np.where(drawn < _AT_WORK, (account + 1) // 2, NOBODY)
    cents = np.where(what == PAID, ordinary_cents(seed, 34, index), 0)
    return Steps(what, account, device, beneficiary, cents)
