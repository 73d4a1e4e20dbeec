"""What a rule version does not look at, because an operator has cleared the rule or one of its groups.

CLEAR_RULE             x1      x2   |    x3      e
                  -----|-------|----|----|-------|-----> order of acceptance
                       0       1         2       3        before = 2: x1 and x2 are in no list of the rule
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tripline_engine.domain.filtering import Test
from tripline_engine.domain.history import History


@dataclass(frozen=True, slots=True)
class Forgotten:
    """Transactions of an anchor that are for a version as if they had never been.

    :ivar before: sequence numbers of acceptance; all transactions below it
    """

    before: int = 0

    @property
    def suffix(self) -> str:
        """For the names of what is kept of the others; empty where nothing is forgotten."""
        return f".since.{self.before}" if self.before else ""

    def of_retained(self, first: int) -> Forgotten:
        """What of it counts while nothing is retained below the sequence number ``first``."""
        return self if self.before > first else NOTHING_FORGOTTEN

    def to_json(self) -> dict[str, Any]:
        """As stored with the rules."""
        return {"before": self.before}

    @staticmethod
    def of_json(stored: Mapping[str, Any] | None) -> Forgotten:
        """As ``to_json`` gave it, or None."""
        return Forgotten(stored["before"]) if stored else NOTHING_FORGOTTEN


NOTHING_FORGOTTEN = Forgotten()


def remembered(forgotten: Forgotten, test: Test | None) -> Test | None:
    """Besides, the transaction is not forgotten."""
    if not forgotten.before:
        return test

    def accepted_since(history: History, start: int, end: int) -> npt.NDArray[np.bool_]:
        result = np.arange(start, end) + history.offset >= forgotten.before
        return result if test is None else result & test(history, start, end)

    return accepted_since
