"""Why there is no proof, each with what a caller is told."""

from __future__ import annotations

from tripline_engine.errors import EngineError


class NoProof(EngineError):
    """There is no proof; the message is one sentence."""


class HistoryMissing(NoProof):
    """Transactions, ticks or order that would be needed are neither in the topic nor in the archive."""


class TooMuch(NoProof):
    """More records, or more time, than one proof may take."""


class NothingThere(NoProof):
    """No record of that name was judged."""


class Busy(NoProof):
    """As many proofs are under way as there may be at once."""
