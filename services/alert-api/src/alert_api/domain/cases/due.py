"""When a case is due: so long after it was opened, or reopened, as its severity lets it wait.

The severity is the worst of its rules', as it is now. So a rule that turns out worse makes its cases due earlier, and
a fold of the log, which knows neither severities nor settings, comes out the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Self

from alert_api.domain.cases.case import Case
from alert_api.domain.cases.severity import SEVERITIES, Severity

DEFAULT: Final = "critical=1h,high=4h,medium=1d,low=3d"
_UNITS_MS: Final = {"m": 60_000, "h": 3_600_000, "d": 86_400_000}
_TERM: Final = re.compile(r"([a-z]+)=([1-9][0-9]{0,5})([mhd])", re.ASCII)
_MOST_MS: Final = 3_650 * _UNITS_MS["d"]


@dataclass(frozen=True, slots=True)
class DuePolicy:
    """How long a case may wait, in ms, by severity; one that is missing may wait for ever."""

    by_severity: Mapping[Severity, int]

    @classmethod
    def parse(cls, text: str) -> Self:
        """From `critical=1h,high=4h`, or `none`. Raises ValueError with what is wrong."""
        if text.strip() == "none":
            return cls({})
        waits: dict[Severity, int] = {}
        for term in text.split(","):
            read = _TERM.fullmatch(term.strip())
            severity = next((known for known in SEVERITIES if read and read[1] == known), None)
            if read is None or severity is None:
                raise ValueError(
                    f"{term.strip()!r} is not one of {', '.join(SEVERITIES)} with =, a whole number, and m, h or d"
                )
            if severity in waits:
                raise ValueError(f"{severity} is there twice")
            waits[severity] = int(read[2]) * _UNITS_MS[read[3]]
            if waits[severity] > _MOST_MS:
                raise ValueError(f"{term.strip()!r} is more than ten years")
        return cls(waits)

    def due_at(self, case: Case, severity: Severity | None) -> int | None:
        """In ms since the epoch; None of a resolved case, and of one that may wait for ever."""
        wait = None if severity is None else self.by_severity.get(severity)
        return case.active_at + wait if wait is not None and case.unresolved else None


def worst(severities: Iterable[Severity | None]) -> Severity | None:
    """The worst of them; None of none."""
    said = set(severities)
    return next((severity for severity in SEVERITIES if severity in said), None)
