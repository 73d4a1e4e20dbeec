"""An accepted transaction with its sequence number."""

from __future__ import annotations

from typing import NamedTuple

from tests.oracle.parsers.transactions import Transaction


class Void(NamedTuple):
    """The position of the command, and the event time below which nothing was accepted any more there."""

    position: int
    settled: int | None


class AcceptedTransaction(NamedTuple):
    """A transaction with its sequence number in an anchor's order of acceptance, which never changes."""

    sequence: int
    transaction: Transaction
    void: Void | None = None
