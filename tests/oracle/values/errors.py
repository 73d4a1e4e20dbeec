"""Everything the oracle may raise or refuse."""

from __future__ import annotations


class OracleError(Exception):
    """The input cannot be judged at all: a test that feeds it is itself wrong."""


class HashMismatch(OracleError):
    """A rule event's definitionHash is not the hash of its definition."""


class OutOfScope(OracleError):
    """A definition asks for something this oracle does not know; guessing would be worse than stopping."""


class Unreadable(Exception):
    """One value cannot be read: a record becomes a reject, a rule event is skipped, a tick ignored."""
