"""Scenarios: what a few accounts, devices and beneficiaries do so that the seeded rules trip, by accumulation.

Every scenario owns one lane of the stream: of each `period` activities one is its next step. Steps make episodes of
accounts, devices or beneficiaries that the background does not know. Only the last two steps of an episode are over a
limit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from tripline_demo.generator.chance import Indices, Integers, between, beyond

SCENARIOS: Final = ("account-takeover", "shared-guesses", "guessed-password", "mule")
FAILED, PASSED, PAID, ADDRESS, EMAIL, PASSWORD, PHONE = range(7)
"""What happens: a log-in fails or passes, a payment, a change of that part of the profile."""
NOBODY: Final = 0
"""No device, and no beneficiary."""


@dataclass(frozen=True, slots=True)
class Crowd:
    """Sizes of the background's populations: accounts (1 to `accounts`) and beneficiaries (1 to `beneficiaries`)."""

    accounts: int
    beneficiaries: int


@dataclass(frozen=True, slots=True)
class Steps:
    """Columns, one entry per step: what happens; numbers of account, device and beneficiary; cents."""

    what: Integers
    account: Integers
    device: Integers
    beneficiary: Integers
    cents: Integers


@dataclass(frozen=True, slots=True)
class Scenario:
    """`length` steps make an episode; `play(seed, steps, crowd)` gives what happens at those step numbers."""

    length: int
    play: Callable[[int, Indices, Crowd], Steps]


def _all(step: Indices, value: int) -> Integers:
    return np.full(step.size, value, np.int64)


def _of_episode(step: Indices, length: int) -> tuple[Indices, Integers]:
    """Each step's episode, and its place in that."""
    return step // np.uint64(length), (step % np.uint64(length)).astype(np.int64)


def _takeover(seed: int, step: Indices, crowd: Crowd) -> Steps:
    """Payments as ever, then somebody logs in elsewhere, changes the password, and pays: first to one who has been paid
    before, then to one who has not."""
    episode, turn = _of_episode(step, TAKEOVER.length)
    usual = turn < TAKEN_OVER_AT
    what = np.select([turn == TAKEN_OVER_AT, turn == TAKEN_OVER_AT + 1], [PASSED, PASSWORD], PAID)
    device = np.where(
        usual, beyond(seed, 301, episode, crowd.accounts), beyond(seed, 302, episode, crowd.accounts)
    )
    known, new = (beyond(seed, purpose, episode, crowd.beneficiaries) for purpose in (303, 304))
    beneficiary = np.where(turn == TAKEOVER.length - 1, new, known)
    return Steps(
        what.astype(np.int64),
        beyond(seed, 300, episode, crowd.accounts),
        device,
        np.where(what == PAID, beneficiary, NOBODY),
        np.where(what == PAID, between(seed, 305, step, 20_00, 200_00), 0),
    )


def _shared_guesses(seed: int, step: Indices, crowd: Crowd) -> Steps:
    """One device tries one password at account after account: COUNT_DISTINCT of accounts by device, filtered."""
    episode, _ = _of_episode(step, GUESSES.length)
    return Steps(
        _all(step, FAILED),
        beyond(seed, 310, step, crowd.accounts),
        beyond(seed, 311, episode, crowd.accounts),
        _all(step, NOBODY),
        _all(step, 0),
    )


def _guessed_password(seed: int, step: Indices, crowd: Crowd) -> Steps:
    """Password after password is tried at one account, until one fits: two counts by account, each filtered."""
    episode, turn = _of_episode(step, GUESSED.length)
    return Steps(
        np.where(turn == GUESSED.length - 1, PASSED, FAILED).astype(np.int64),
        beyond(seed, 320, episode, crowd.accounts),
        beyond(seed, 321, episode, crowd.accounts),
        _all(step, NOBODY),
        _all(step, 0),
    )


def _mule(seed: int, step: Indices, crowd: Crowd) -> Steps:
    """Account after account pays medium amounts to one beneficiary: SUM by beneficiary."""
    episode, _ = _of_episode(step, MULE.length)
    return Steps(
        _all(step, PAID),
        beyond(seed, 330, step, crowd.accounts),
        _all(step, NOBODY),
        beyond(seed, 331, episode, crowd.beneficiaries),
        between(seed, 332, step, 740_00, 800_00),
    )


TAKEN_OVER_AT: Final = 6
"""The step of a takeover at which somebody else logs in."""
TAKEOVER: Final = Scenario(10, _takeover)
GUESSES: Final = Scenario(10, _shared_guesses)
GUESSED: Final = Scenario(12, _guessed_password)
MULE: Final = Scenario(12, _mule)
BY_NAME: Final = dict(zip(SCENARIOS, (TAKEOVER, GUESSES, GUESSED, MULE), strict=True))
