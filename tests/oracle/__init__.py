"""The test oracle: a direct, slow reading of the specification that shares nothing with the engine."""

from tests.oracle.judgement.oracle import judge
from tests.oracle.values.model import MicroBatch, Outcome, Record, Reject

__all__ = ["MicroBatch", "Outcome", "Record", "Reject", "judge"]
