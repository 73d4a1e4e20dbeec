"""Voided transactions: those that an operator has declared void."""

from __future__ import annotations

from typing import NamedTuple

from tripline_engine.domain.memory.array_types import Millis


class Voided(NamedTuple):
    """A voided transaction.

    :ivar sequence: its sequence number of acceptance
    :ivar position: the command's position in rules.v1
    :ivar lateness_floor: as it was then: a transaction that was in no bucket by then never gets into one
    """

    sequence: int
    position: int
    lateness_floor: Millis
