"""An accepted transaction in its place."""

from __future__ import annotations

from typing import NamedTuple

from tests.oracle.parsers.transactions import Transaction


class Void(NamedTuple):
    """The position of the command, and the event time below which nothing was accepted any more there."""

    position: int
    settled: int | None


class AcceptedTransaction(NamedTuple):
    """A transaction at its place in an anchor's order of acceptance, which it keeps for ever."""

    place: int
    transaction: Transaction
    void: Void | None = None
