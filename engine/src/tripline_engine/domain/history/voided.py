"""Transactions that operators have declared void."""

from __future__ import annotations

from typing import NamedTuple


class Voided(NamedTuple):
    """A transaction that is void.

    :ivar position: of the command
    :ivar lateness_floor: as it was then, ms: of what stood singly then nothing is left in buckets either
    """

    sequence: int
    position: int
    lateness_floor: int
